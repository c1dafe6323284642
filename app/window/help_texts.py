"""What Help shows: the pages of the documentation, and a report of a problem that names nobody."""

from __future__ import annotations

import getpass
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path

PAGES = {
    "First steps": "docs/first-steps.md",
    "What's new": "CHANGELOG.md",
    "Views": "docs/views.md",
    "Runs": "docs/runs.md",
    "Ways to train": "docs/training.md",
    "Procedures": "docs/procedures.md",
    "Exports": "docs/exports.md",
    "Open data": "docs/data/opening.md",
    "Project files": "docs/project-file.md",
    "Several computers": "docs/distributed.md",
    "Sources": "docs/sources.md",
}
_PARTS = ("neuroloom", "PySide6", "torch", "numpy", "polars", "safetensors")
_MOST_LINES = 200
_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[\\/][^\s\\/:\"'“”]+){2,}")


def page(title: str) -> str:
    """The text of a page of the documentation, in Markdown; a sentence where it was not installed."""
    root = Path(str(files("resources"))).parent
    for folder in (root, Path(sys.prefix) / "share" / "doc" / "neuroloom"):
        with suppress(OSError):
            return (folder / PAGES[title]).read_text(encoding="utf-8")
    return f"# {title}\n\nThis page was not installed with the program."


def report(log_file: Path) -> str:
    """The versions of the program and its parts, and the end of its log, without names and places."""
    lines = [f"{part} {_version(part)}" for part in _PARTS]
    lines.append(f"Python {platform.python_version()}, {platform.system()} {platform.release()}")
    lines += ["", "The last lines of the log:", *_log_lines(log_file)]
    return "\n".join(lines)


def _version(part: str) -> str:
    try:
        return version(part)
    except PackageNotFoundError:
        return "not installed"


def _log_lines(log_file: Path) -> Iterator[str]:
    text = ""
    with suppress(OSError):
        text = log_file.read_text(encoding="utf-8", errors="replace")
    for line in text.splitlines()[-_MOST_LINES:]:
        yield without_names(line)


def without_names(line: str) -> str:
    """A line of the log with no more of a path than the end of the program's own, and without the user."""
    line = _PATH.sub(_own_part, line)
    with suppress(OSError, KeyError):
        line = re.sub(rf"\b{re.escape(getpass.getuser())}\b", "<user>", line)
    return line


def _own_part(found: re.Match[str]) -> str:
    path = found.group().replace("\\", "/")
    for own in ("/app/", "/engine/", "/nodes/", "/site-packages/"):
        if own in path and path.endswith(".py"):
            return "…" + own + path.rpartition(own)[2]
    return "<path>"
