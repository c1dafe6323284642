"""Where your own file lies and what the script asks for, for the nodes that read one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.catalogue import Data, param


def memory_param(doc: str, mebibytes: int = 1024) -> Any:
    """Declare how much is held in memory: `memory: int = memory_param("larger data stay in their file")`."""
    return param(mebibytes, minimum=0, maximum=2**24, label="In memory up to", unit="MiB", doc=doc)


class OwnFile(Data, abstract=True):
    """Reads one file, `path`; what belongs to it lies beside it."""

    path: str

    def folder(self) -> Path | None:
        return Path(self.path).parent if self.path else None

    def held(self, size: int) -> int:
        limit = getattr(self, "memory", None)
        return size if limit is None or size <= limit * 2**20 else 0

    def holds(self) -> tuple[str, ...]:
        return (Path(self.path).name,) if self.path else ()
