"""Lets who listens see how far a large image is decoded, and end it: Pillow reads a file in pieces.

Each of them asks. What a file holds in one piece (WebP, most of TIFF) is decoded in one go.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from io import FileIO
from pathlib import Path
from time import monotonic
from typing import Any, ParamSpec, TypeVar

from engine.data.images.listing import quoted_name
from engine.data.telling import tell

SILENT = 0.3  # seconds of one image, after which it is told of
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


class _Ended(BaseException):
    """Carries what a listener raised through a reader that takes every error for a damaged file."""

    def __init__(self, why: BaseException) -> None:
        self.why = why


class ToldFile(FileIO):
    """A file whose reader tells how far it is."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._size = path.stat().st_size
        self._what = f"bytes of {quoted_name(path.name)}"
        self._silent_until = monotonic() + SILENT

    def read(self, size: int | None = -1, /) -> bytes:
        if monotonic() > self._silent_until:
            try:
                tell(min(self.tell(), self._size), self._size, self._what)
            except Exception as error:
                raise _Ended(error) from error
        return super().read(-1 if size is None else size)


def told(function: Callable[[Path, bytes | None], Any]) -> Callable[[Path, bytes | None], Any]:
    """The same for the application, where a file tells how far it is read."""

    @wraps(function)
    def opened(path: Path, held: bytes | None) -> Any:
        return ToldFile(path) if held is None else function(path, held)

    return opened


def stoppable(function: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """The same for the application: what a listener raises comes out of it as it is."""

    @wraps(function)
    def asked(*given: _Given.args, **named: _Given.kwargs) -> _Found:
        try:
            return function(*given, **named)
        except _Ended as ended:
            raise ended.why from None

    return asked


def connect(names: dict[str, Any]) -> None:
    """Let the readers of images that a compiled script carries be told of and ended as well."""
    from engine.data.images.decoding import image_bytes, read_image

    for reader, made in ((image_bytes, told), (read_image, stoppable)):
        carried = names.get(reader.__name__)
        code = getattr(carried, "__code__", None)
        if carried is not None and code is not None and code.co_code == unwrap(reader).__code__.co_code:
            names[reader.__name__] = made(carried)
