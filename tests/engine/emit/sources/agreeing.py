"""A source read in straight lines, as a script has them, beside the same source read strictly."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from engine.catalogue import Data, load_catalogue
from engine.catalogue.emitter import build
from engine.catalogue.identifiers import NameBook
from engine.data.open.opening import Opened
from engine.data.portable import names_read, portable_names, portable_source
from engine.document.graph import Node
from engine.emit.loading import loaders
from engine.emit.names import LIBRARY, OWN
from engine.emit.sources.straight import Reading
from engine.emit.sources.writers import straight
from engine.emit.statements import WIDTH, Statement, printed, under

Splits = dict[str, dict[str, Any]]


def data_of(opened: Opened, changes: Mapping[str, Any] | None = None) -> Data:
    """The data node of what was opened, with other values of parameters."""
    made = load_catalogue().make(Node("n1", opened.type, "data", {**opened.params, **(changes or {})}))
    assert isinstance(made, Data)
    return made


def strictly(data: Data) -> Splits:
    """As the application reads."""
    loader = build(data, "data", {}).loader
    folder = data.folder()
    assert loader is not None and folder is not None
    found: Splits = loader[0](folder, "cpu", **loader[1])
    return found


def text_of(data: Data, *wanted: str) -> str:
    """The part of a script that reads these columns, or all; what it carries may be carried."""
    loader = build(data, "data", {}).loader
    assert loader is not None
    allowed = loaders("n1", data)
    outside = NameBook((*LIBRARY, *OWN, *portable_names(allowed)))
    columns = wanted or tuple(one.name for one in data.columns())
    found = straight(loader[0], Reading(data, loader[1], columns, NameBook(outer=outside), outside))
    assert found is not None, "the loader is carried"
    assert set(found.carries) <= set(allowed)
    load = under("def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:",
                 [*found.lines, Statement(found.value, target="return")])  # fmt: skip
    parts = [printed(part) for part in (*found.beside, [load])]
    body = "\n\n\n".join(
        [*portable_source(found.carries), *("\n".join(line.plain for line in part) for part in parts)]
    )
    used = {name for part in ast.parse(body).body for name in names_read(part)}
    imports = [line for name, line in LIBRARY.items() if name in used]
    lines = ["from __future__ import annotations", "", *imports, "", "", *body.split("\n"), ""]
    assert max(map(len, lines)) <= WIDTH, max(lines, key=len)
    return "\n".join(lines)


def load_of(data: Data, *wanted: str) -> Callable[[Path, str], Splits]:
    """The function `load` of the script."""
    names: dict[str, Any] = {"__name__": "script"}
    exec(compile(text_of(data, *wanted), "script", "exec"), names)
    found: Callable[[Path, str], Splits] = names["load"]
    return found


def straightly(data: Data, *wanted: str) -> Splits:
    """As a script reads."""
    folder = data.folder()
    assert folder is not None
    return load_of(data, *wanted)(folder, "cpu")


def same(found: Splits, expected: Splits) -> None:
    """All splits and columns are equal to the last bit, with their types and devices."""
    assert list(found) == list(expected)
    for split, columns in expected.items():
        assert set(found[split]) == set(columns)
        for name, column in columns.items():
            got, want = found[split][name], column
            assert (len(got), got.shape, got.dtype, got.device) == (
                len(want),
                want.shape,
                want.dtype,
                want.device,
            ), (split, name)
            assert torch.equal(got[:], want[:]) or _both_nan(got[:], want[:]), (split, name)
            rows = torch.arange(len(want))  # batches lie in memory alike, as sums depend on it
            assert got.index_select(0, rows).stride() == want.index_select(0, rows).stride(), (split, name)


def _both_nan(got: torch.Tensor, want: torch.Tensor) -> bool:
    return torch.equal(got.isnan(), want.isnan()) and torch.equal(got.nan_to_num(), want.nan_to_num())
