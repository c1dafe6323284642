"""Runs the cells of a notebook without Jupyter, and prints its `history` line by line as it grows."""

from __future__ import annotations

import ast
import io
import json
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, TextIO

import torch

EVERY = 0.02  # seconds between two looks at the history


class Nothing(types.ModuleType):
    """Stands for matplotlib: whatever is asked of it draws nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *arguments: object, **options: object) -> Any:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter((self, self))


def run(place: Path, data: Path | None) -> None:
    """Run the code of a notebook from top to bottom on the CPU; `data` is where its data lie now, or None."""
    for name in ("matplotlib", "matplotlib.pyplot"):
        sys.modules[name] = Nothing(name)
    for kind in (torch.cuda, torch.backends.mps):
        setattr(kind, "is_available", bool)  # noqa: B010  # as on a computer without it
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    over = threading.Event()
    watcher = threading.Thread(target=_tell, args=(main, over, sys.stdout))
    watcher.start()
    try:
        with redirect_stdout(io.StringIO()):
            for number, cell in enumerate(json.loads(place.read_text("utf-8"))["cells"]):
                if cell["cell_type"] == "code":
                    _run(main, cell, f"{place.name}, cell {number}", data)
    finally:
        over.set()
        watcher.join()


def _run(main: types.ModuleType, cell: dict[str, Any], where: str, data: Path | None) -> None:
    parsed = ast.parse("from __future__ import annotations\n" + "".join(cell["source"]))
    exec(compile(parsed, where, "exec"), main.__dict__)
    last = parsed.body[-1]
    if data is not None and "parameters" in cell["metadata"].get("tags", ()) and isinstance(last, ast.Assign):
        setattr(main, ast.unparse(last.targets[0]), data)


def _tell(main: types.ModuleType, over: threading.Event, out: TextIO) -> None:
    """Print what comes to the history, until the cells are over."""
    printed, last = 0, False
    while not last:
        last = over.wait(EVERY)
        for values in getattr(main, "history", [])[printed:]:
            out.write(json.dumps(values) + "\n")
            printed += 1
        out.flush()


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]) if sys.argv[2:] else None)
