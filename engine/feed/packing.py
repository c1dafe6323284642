"""Snapshots as bytes and back, exactly: the numbers, their types and shapes, and the facts beside them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from engine.feed.feed import Snapshot

_OVERHEAD = 250  # bytes of the objects that hold a packed snapshot
_LEVEL = 1  # of zlib: the thread that trains waits for it
_SAMPLE, _WORTH = 4096, 0.6  # bytes that are tried first, and how small they must become
_ARRAY, _TUPLE, _DICT = "\0array", "\0tuple", "\0dict"


@dataclass(frozen=True, slots=True)
class Packed:
    """One snapshot: `head` is JSON, `body` the compressed numbers of its arrays one after the other."""

    revision: int
    step: int
    head: str
    body: bytes

    @property
    def size(self) -> int:
        """Bytes of memory that it takes."""
        return len(self.head) + len(self.body) + _OVERHEAD


def pack(snapshot: Snapshot) -> Packed:
    """Pack a snapshot without loss. Errors: `TypeError` for facts that are neither JSON nor arrays."""
    arrays: list[np.ndarray[Any, Any]] = []
    places: dict[int, int] = {}
    tree = _plain([snapshot.array, dict(snapshot.extra)], arrays, places)
    kinds = [(array.dtype.str, array.shape) for array in arrays]
    body = _squeezed(b"".join(array.tobytes() for array in arrays))
    return Packed(snapshot.revision, snapshot.step, json.dumps([tree, kinds]), body)


def _squeezed(content: bytes) -> bytes:
    """Compressed where a piece from the middle says that this is worth the time."""
    middle = max(0, (len(content) - _SAMPLE) // 2)
    sample = content[middle : middle + _SAMPLE]
    worth = len(zlib.compress(sample, _LEVEL)) < _WORTH * len(sample)
    return zlib.compress(content, _LEVEL if worth else 0)


def unpack(packed: Packed) -> Snapshot:
    """The snapshot that was packed; its arrays are for reading."""
    from engine.feed.feed import Snapshot  # which holds a history, and so this

    tree, kinds = json.loads(packed.head)
    content = zlib.decompress(packed.body)
    arrays, at = [], 0
    for dtype, shape in kinds:
        kind = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        arrays.append(np.frombuffer(content, kind, count, at).reshape(shape))
        at += count * kind.itemsize
    array, extra = _restored(tree, arrays)
    return Snapshot(packed.revision, packed.step, array, extra)


def raw_size(snapshot: Snapshot) -> int:
    """Bytes that a snapshot takes as it is."""
    seen: dict[int, int] = {}
    _count(snapshot.array, seen)
    _count(snapshot.extra, seen)
    return sum(seen.values()) + _OVERHEAD


def _count(value: object, seen: dict[int, int]) -> None:
    if isinstance(value, np.ndarray):
        seen[id(value)] = value.nbytes
    elif isinstance(value, Mapping):
        for part in value.values():
            _count(part, seen)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _count(part, seen)


def _plain(value: object, arrays: list[np.ndarray[Any, Any]], places: dict[int, int]) -> object:
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError("an array of objects cannot be packed")
        if id(value) not in places:  # the array itself often stands among the facts too
            places[id(value)] = len(arrays)
            arrays.append(value)
        return {_ARRAY: places[id(value)]}
    if isinstance(value, np.generic):
        return _plain(value.item(), arrays, places)
    if isinstance(value, tuple):
        return {_TUPLE: [_plain(part, arrays, places) for part in value]}
    if isinstance(value, list):
        return [_plain(part, arrays, places) for part in value]
    if isinstance(value, Mapping):
        pairs = [[_plain(key, arrays, places), _plain(part, arrays, places)] for key, part in value.items()]
        if all(isinstance(key, str) and not key.startswith("\0") for key in value):
            return dict(pairs)  # type: ignore[arg-type]
        return {_DICT: pairs}
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(f"{type(value).__name__} cannot be packed")


def _restored(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, list):
        return [_restored(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return arrays[value[_ARRAY]]
    if _TUPLE in value:
        return tuple(_restored(part, arrays) for part in value[_TUPLE])
    if _DICT in value:
        return {_restored(key, arrays): _restored(part, arrays) for key, part in value[_DICT]}
    return {key: _restored(part, arrays) for key, part in value.items()}
