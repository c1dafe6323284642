"""Where your own file lies and what the script asks for, for the nodes that read one."""

from __future__ import annotations

from pathlib import Path

from engine.catalogue import Data


class OwnFile(Data, abstract=True):
    """Reads one file, `path`; what belongs to it lies beside it."""

    path: str

    def folder(self) -> Path | None:
        return Path(self.path).parent if self.path else None

    def holds(self) -> tuple[str, ...]:
        return (Path(self.path).name,) if self.path else ()
