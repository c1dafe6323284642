"""What an export is made of, in each of its forms: one file, a package, a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from engine.emit.beside import Copies

if TYPE_CHECKING:
    from engine.emit.script import Source


class Form(StrEnum):
    """What an export is."""

    SCRIPT = "script"
    PACKAGE = "package"
    NOTEBOOK = "notebook"


@dataclass(frozen=True, slots=True)
class Export:
    """The files of an export by their places below `root`, and what lies in the folder `beside` its code.

    `runs` is the file that trains, if it `trains`, and names the `weights`, a file beside it; `shown` are the
    files as one reads them. `data` is where what it reads lies now, None where it reads no file.
    """

    form: Form
    root: Path
    files: Mapping[str, Source]
    runs: str
    copies: Copies = ()
    weights: Path | None = None
    shown: Mapping[str, Source] = field(default_factory=dict)
    trains: bool = True
    data: Path | None = None

    @property
    def beside(self) -> Path:
        """The folder of the code, with its data and weights."""
        return (self.root / self.runs).parent
