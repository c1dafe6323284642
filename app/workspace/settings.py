"""The user's choices, kept by key in an INI file: read by type, with the usual value for what can't be read.

Values are written as JSON and never turned into anything but text, numbers and lists of these, so nothing in
the file can run. Files of earlier versions, which Qt wrote, are read as far as they are plain text.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TypeGuard
from urllib.parse import quote, unquote

from engine.document.files import write_atomically
from engine.errors import ProjectFileError

log = logging.getLogger(__name__)

MOST_BYTES = 2**23
LARGEST = 2**31 - 1
Value = bool | int | str | list[str] | list[int]


class Settings:
    """The choices in one file, which other windows and programs write to as well; a key is `group/name`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state: tuple[int, int, int] | None = None  # of the file when it was read
        self._texts: dict[str, str] = {}

    # -- reading ----------------------------------------------------------------------------------

    def text(self, key: str, usual: str = "") -> str:
        """A choice that is text."""
        found = self._found(key)
        return found if isinstance(found, str) else usual

    def flag(self, key: str, usual: bool) -> bool:
        """A choice that is yes or no."""
        found = self._found(key)
        return found if isinstance(found, bool) else usual

    def number(self, key: str, usual: int, least: int = 0, most: int = LARGEST) -> int:
        """A choice that is a whole number; `usual` for one that is out of bounds, too."""
        found = self._found(key)
        return found if _is_whole(found) and least <= found <= most else usual

    def texts(self, key: str) -> list[str]:
        """A choice that is a list of texts; what is none is left out."""
        found = self._found(key)
        if isinstance(found, str):  # earlier versions wrote a list of one as its text
            found = found.split(", ")
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []

    def numbers(self, key: str, count: int) -> list[int]:
        """A choice that is so many whole numbers; empty where it is anything else."""
        found = self._found(key)
        if not isinstance(found, list) or len(found) != count:
            return []
        numbers = [one for one in found if _is_whole(one) and 0 <= one <= LARGEST]
        return numbers if len(numbers) == count else []

    def keys(self, group: str) -> list[str]:
        """The keys of a group, the oldest first."""
        self._look()
        return [key for key in self._texts if key.startswith(f"{group}/")]

    # -- writing ----------------------------------------------------------------------------------

    def keep(self, key: str, value: Value | Sequence[str]) -> None:
        """Keep a choice for this session and the next ones."""
        self._look()
        self._texts[key] = json.dumps(value if isinstance(value, (bool, int, str)) else list(value))
        self._write()

    def forget(self, keys: Sequence[str]) -> None:
        """Drop choices."""
        self._look()
        if known := [key for key in keys if key in self._texts]:
            for key in known:
                del self._texts[key]
            self._write()

    # -- the file ---------------------------------------------------------------------------------

    def _found(self, key: str) -> object:
        self._look()
        text = self._texts.get(key)
        if text is None:
            return None
        try:
            found: object = json.loads(text)
        except (ValueError, RecursionError):
            # Text of Qt, except for its encoded objects: those are never decoded.
            return None if text.startswith("@") else text
        return found

    def _look(self) -> None:
        """Read the file where it is another one than was read last."""
        try:
            facts = self._path.stat()
            state = facts.st_mtime_ns, facts.st_size, facts.st_ino
            if state == self._state:
                return
            self._state = state
            whole = self._path.is_file() and facts.st_size <= MOST_BYTES
            content = self._path.read_text("utf-8", "replace") if whole else ""
        except OSError as error:
            log.debug("there are no settings to read: %s", error)
            return
        self._texts = _parsed(content)

    def _write(self) -> None:
        groups: dict[str, list[str]] = {}
        for key, text in self._texts.items():
            group, _, name = key.partition("/")
            groups.setdefault(group, []).append(f"{quote(name, safe='')}={text}")
        lines = [line for group, rows in groups.items() for line in (f"[{quote(group, safe='')}]", *rows, "")]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, "\n".join(lines).encode("utf-8", "backslashreplace"))
            facts = self._path.stat()
            self._state = facts.st_mtime_ns, facts.st_size, facts.st_ino
        except (OSError, ProjectFileError) as error:
            log.info("the settings cannot be written: %s", error)


def _parsed(content: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    group = ""
    for line in content.splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            group = unquote(line[1:-1])
        elif "=" in line and not line.startswith((";", "#")):
            name, _, text = line.partition("=")
            name = unquote(name.strip()).replace("\\", "/")
            texts[f"{group}/{name}" if group else name] = text.strip()
    return texts


def _is_whole(found: object) -> TypeGuard[int]:
    return isinstance(found, int) and not isinstance(found, bool)
