"""Reads files in a process of its own, asked by `apart` a line at a time.

It imports neither torch nor Qt, so it is there at once, and ends when it is not asked for a while.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from typing import Any

MEMORY = 6 << 30  # bytes of address space, where the system can limit it
IDLE = 30.0  # seconds


def main() -> None:
    """Answer questions, a line of JSON each, until there are no more; an answer is a file."""
    with suppress(ImportError, ValueError, OSError):  # not on Windows, and not where less is allowed
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    asked = [time.monotonic()]
    threading.Thread(target=_end_when_idle, args=(asked,), daemon=True).start()
    for line in sys.stdin:
        asked.clear()
        question = json.loads(line)
        answer = Path(question["answer"])
        part = answer.with_suffix(".part")
        part.write_text(json.dumps(answer_to(question, answer.with_suffix(".arrow"))), "utf-8")
        part.rename(answer)
        asked.append(time.monotonic())


def answer_to(question: dict[str, Any], cells: Path) -> dict[str, Any]:
    """The names that come with a frame, if any, and the frame in a file; or why there is none."""
    path = Path(question["path"])
    reader = getattr(import_module(question["module"]), question["function"])
    try:
        found = unwrap(reader)(path, *question["rest"])
        names, frame = found if isinstance(found, tuple) else (None, found)
        frame.write_ipc(cells)
    except (ValueError, ImportError) as error:
        return {"error": str(error)}
    except BaseException as error:  # Rust's panics are no `Exception`
        return {"error": reader.trouble(path, error)}
    return {"names": names}


def _end_when_idle(asked: list[float]) -> None:
    while not asked or time.monotonic() - asked[0] < IDLE:
        time.sleep(1)
    os._exit(0)


if __name__ == "__main__":
    main()
