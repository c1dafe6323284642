"""Strict reading of one JSON object: each field has a type, what isn't known is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ProjectFileError
from engine.values import is_number


def kind_of(value: object) -> str:
    """Name a JSON value's type as the user would."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"


class Fields:
    """The fields of one JSON object; `where` names the object in error sentences ("node n3").

    A field without a default must be there. Every reader raises ProjectFileError for a wrong type.
    """

    def __init__(self, data: object, where: str) -> None:
        if not isinstance(data, dict):
            raise ProjectFileError(f"{where} should be an object, not {kind_of(data)}.")
        self._left: dict[str, Any] = dict(data)
        self.where = where

    def _take(self, name: str, wanted: str, default: object) -> Any:
        if name in self._left:
            return self._left.pop(name)
        if default is ...:
            raise ProjectFileError(f'{self.where} has no "{name}" ({wanted}).')
        return default

    def _wrong(self, name: str, wanted: str, value: object) -> ProjectFileError:
        return ProjectFileError(f'{self.where}: "{name}" should be {wanted}, not {kind_of(value)}.')

    def text(self, name: str, default: str | Any = ...) -> str:
        value = self._take(name, "text", default)
        if not isinstance(value, str):
            raise self._wrong(name, "text", value)
        return value

    def whole(self, name: str, default: int | Any = ...) -> int:
        value = self._take(name, "a whole number", default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(name, "a whole number", value)
        return value

    def whole_or_none(self, name: str, default: int | Any | None = ...) -> int | None:
        if self._left.get(name, default) is None:
            self._left.pop(name, None)
            return None
        return self.whole(name, default)

    def flag(self, name: str, default: bool | Any = ...) -> bool:
        value = self._take(name, "true or false", default)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false", value)
        return value

    def point(self, name: str, default: tuple[float, float] | Any = ...) -> tuple[float, float]:
        value = self._take(name, "two numbers", default)
        if not isinstance(value, (list, tuple)) or len(value) != 2 or not all(map(is_number, value)):
            raise ProjectFileError(f'{self.where}: "{name}" should be two numbers.')
        return float(value[0]), float(value[1])

    def items(self, name: str, default: list[Any] | Any = ...) -> list[Any]:
        value = self._take(name, "a list", default)
        if not isinstance(value, list):
            raise self._wrong(name, "a list", value)
        return value

    def mapping(self, name: str, default: Mapping[str, Any] | Any = ...) -> dict[str, Any]:
        value = self._take(name, "an object", default)
        if not isinstance(value, dict):
            raise self._wrong(name, "an object", value)
        return value

    def raw(self, name: str, default: Any = ...) -> Any:
        return self._take(name, "a value", default)

    def rest(self) -> dict[str, Any]:
        """Return the fields nobody asked for, in their order."""
        return dict(self._left)
