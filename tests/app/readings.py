"""A node type that reads a file of numbers, and its opener: what the window does with data needs no more."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest

from engine.catalogue import Catalogue, Column, Data, Emitted, Emitter, load_catalogue, param
from engine.catalogue.params import FilePath, Rows
from engine.data.open import opening
from engine.data.open.opening import Opened, stamp
from engine.data.watch import Watch
from engine.errors import DataError


class Readings(Data):
    """Numbers of a file, one a line."""

    title = "Readings"
    aliases: ClassVar[tuple[str, ...]] = ()
    path: FilePath = param("", label="File", doc="the file that is read")
    split: str = param("random", doc="how rows are dealt")
    columns_: Rows = param((), hidden=True)
    stamp: str = param("", hidden=True)

    def columns(self) -> tuple[Column, ...]:
        return (Column("value", (1,)),)

    def folder(self) -> Path | None:
        return Path(self.path).parent if self.path else None

    def emit(self, e: Emitter) -> Emitted:
        return e.load(load_readings, file=Path(self.path).name)

    def summary(self) -> str:
        return Path(self.path).name


def load_readings(folder: Path, device: str, *, file: str):  # type: ignore[no-untyped-def]
    import torch

    lines = (folder / file).read_text().split()
    try:
        values = torch.tensor([float(line) for line in lines])[:, None]
    except ValueError as error:
        raise ValueError(f"{file}: {error}.") from error
    return {split: {"value": values[start::3]} for start, split in enumerate(("train", "validation", "test"))}


def open_readings(path: Path, watch: Watch) -> Opened:
    watch.look(0.5, "reading numbers")
    text = path.read_text()
    if "x" in text:
        raise DataError(f'Line 1 of "{path.name}" holds "x", which is no number.')
    while "forever" in text:
        watch.look(0.25, "reading numbers")
    return Opened(
        "Readings", {"path": str(path), "stamp": stamp(path)}, path.stem, (f"{path.name} is read.",)
    )


def catalogue_with_readings() -> Catalogue:
    known = load_catalogue()
    made = Catalogue([found for found in known._types.values()])
    made.add(Readings)
    return made


@pytest.fixture
def readings_opener(monkeypatch: pytest.MonkeyPatch) -> None:
    """`.val` files are opened as Readings."""
    module = ModuleType("tests.app.readings_opener")
    module.open_it = open_readings  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(opening.OPENERS, module.__name__, (".val",))
