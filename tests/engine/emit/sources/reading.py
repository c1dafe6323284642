"""A data node read strictly and in the lines of a script: both must give the same, or refuse its files."""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch

from engine.catalogue import Data
from engine.catalogue.emitter import build
from engine.catalogue.identifiers import NameBook
from engine.data.open.opening import Opened
from engine.emit.sources.straight import Reading
from engine.emit.sources.writers import straight
from engine.values import Value
from tests.engine.emit.sources import agreeing
from tests.engine.emit.sources.agreeing import Splits, load_of


def data_of(type_id: str, params: Mapping[str, Value]) -> Data:
    return agreeing.data_of(Opened(type_id, dict(params), "data"))


def is_carried(data: Data) -> bool:
    """Whether a script carries the loader as it is."""
    loader = build(data, "data", {}).loader
    assert loader is not None
    names = tuple(one.name for one in data.columns())
    return straight(loader[0], Reading(data, loader[1], names, NameBook(), NameBook())) is None


def assert_same(found: Splits, wanted: Splits) -> None:
    """Equal to the last bit: splits, columns, types, sizes and how they lie in memory."""
    agreeing.same(found, wanted)
    for split, columns in wanted.items():
        for name, values in columns.items():
            ours, theirs = found[split][name][:], values[:]
            assert ours.stride() == theirs.stride(), name
            assert torch.equal(ours.contiguous().view(torch.uint8), theirs.contiguous().view(torch.uint8)), (
                name
            )


def assert_alike(data: Data) -> None:
    """Both ways of reading a node's files give the same, or refuse them."""
    folder = data.folder()
    assert folder is not None
    load = load_of(data)
    try:
        wanted = agreeing.strictly(data)
    except ValueError as error:
        if refuses(load, folder):
            return
        raise AssertionError(f"the lines read what the application refuses: {error}") from error
    assert_same(load(folder, "cpu"), wanted)


def refuses(load: object, folder: Path) -> str:
    """The sentence that a file is refused with, "" where it is read."""
    assert callable(load)
    try:
        load(folder, "cpu")
    except (SystemExit, ValueError) as error:
        assert "\n" not in str(error)
        return str(error)
    return ""


def assert_clean(folder: Path, texts: Iterable[str]) -> None:
    """Scripts that ruff and mypy, strict, find nothing in.

    What mypy finds out of torch and polars is kept for the whole run of the tests.
    """
    run = next(one for one in folder.parents if re.fullmatch(r"pytest-\d+", one.name))
    name = f"lines_{zlib.crc32(str(folder).encode()):x}"
    files = []
    for number, text in enumerate(texts):
        files.append(folder / f"{name}_{number}.py")
        files[-1].write_text(text, encoding="utf-8")
    rules = ["--isolated", "--select", "E,F,B", "--line-length", "110", "--no-cache"]
    for command in (["ruff", "check", *rules], ["mypy", "--strict", "--cache-dir", str(run / "types")]):
        line = [sys.executable, "-m", *command, *map(str, files)]
        done = subprocess.run(line, capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stdout
