"""What views showed through a run, within a budget of memory, for a slider that goes back in time.

The thread that takes a view records it, a window reads. What is kept is kept without loss; when there is
too much, every second snapshot of each view goes, and later ones are kept as far apart as those that
stayed. The first and the newest of each are always there.
"""

from __future__ import annotations

import io
import json
import logging
import threading
import zlib
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from engine.document.files import ordinary, write_atomically
from engine.errors import TrainingError, reason_of
from engine.feed.packing import Packed, pack, raw_size, unpack

if TYPE_CHECKING:
    from engine.feed.feed import Probe, Snapshot

log = logging.getLogger(__name__)

FILE = "pictures.npz"
DEFAULT_BUDGET = 64 * 2**20  # bytes
_FORMAT = 1
LONGEST = 1000  # snapshots of one view: a slider has no more pixels
# What reading such a file may raise that was cut, mixed up or replaced.
_DAMAGE = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(EOFError, RuntimeError, MemoryError, BadZipFile, zlib.error),
)
_JITTER = 0.75  # of the distance between two that are kept: views come only nearly as often as they should


class History:
    """Snapshots by view and step. `budget` is in bytes, and may be changed at any time."""

    def __init__(self, budget: int = DEFAULT_BUDGET) -> None:
        self.budget = budget
        self.version = 0  # grows with every change
        self._lock = threading.Lock()
        self._wanted: frozenset[Probe] = frozenset()
        self._tracks: dict[Probe, _Track] = {}

    # -- writing

    def record_only(self, probes: frozenset[Probe]) -> None:
        """Record these views from now on; what was recorded of others goes first when room is short."""
        self._wanted = probes

    def record(self, key: tuple[Any, ...], snapshot: Snapshot) -> None:
        """Take a snapshot in, if its view is recorded; one that failed or is empty is no view."""
        if key not in self._wanted or not snapshot.array.size or "failed" in snapshot.extra:
            return
        with self._lock:
            self._tracks.setdefault(key, _Track()).add(snapshot)
            self._fit()
            self.version += 1

    def cut(self, step: int) -> None:
        """Drop what later steps showed: the run has gone back."""
        with self._lock:
            for probe, track in list(self._tracks.items()):
                track.cut(step)
                if not len(track):
                    del self._tracks[probe]
            self.version += 1

    def clear(self) -> None:
        """Forget everything: another run begins."""
        with self._lock:
            self._tracks.clear()
            self.version += 1

    def _fit(self) -> None:
        while self._size() > self.budget:
            unwanted = next((probe for probe in self._tracks if probe not in self._wanted), None)
            if unwanted is not None:
                del self._tracks[unwanted]
                continue
            long = [track for track in self._tracks.values() if len(track) > 2]
            if long:
                for track in long:
                    track.thin()
                continue
            del self._tracks[max(self._tracks, key=lambda probe: self._tracks[probe].size)]

    def _size(self) -> int:
        return sum(track.size for track in self._tracks.values())

    # -- reading

    @property
    def size(self) -> int:
        """Bytes of memory in use."""
        with self._lock:
            return self._size()

    def probes(self) -> tuple[Probe, ...]:
        """The views of which something is recorded."""
        with self._lock:
            return tuple(self._tracks)

    def steps(self, probe: Probe | None = None) -> list[int]:
        """The steps that are recorded, of one view or of any, rising."""
        with self._lock:
            if probe is not None:
                track = self._tracks.get(probe)
                return [] if track is None else track.steps()
            found = [track.steps() for track in self._tracks.values()]
        return sorted(set().union(*found))

    def at(self, probe: Probe, step: int) -> Snapshot | None:
        """What a view showed at a step: the last snapshot until then, None where there is none."""
        with self._lock:
            track = self._tracks.get(probe)
            found = None if track is None else track.at(step)
        return unpack(found) if isinstance(found, Packed) else found

    # -- files

    def save(self, folder: Path) -> None:
        """Write everything into a run's folder, whole or not at all. Errors: `TrainingError`."""
        with self._lock:
            tracks = {probe: track.packed() for probe, track in self._tracks.items()}
        index, bodies = [], []
        for probe, snapshots in tracks.items():
            rows = []
            for one in snapshots:
                rows.append([one.revision, one.step, one.head, len(one.body)])
                bodies.append(one.body)
            index.append([[probe.node_id, probe.what, list(probe.detail)], rows])
        content = io.BytesIO()
        text = json.dumps({"format": _FORMAT, "pictures": index}).encode()
        np.savez(
            content, index=np.frombuffer(text, np.uint8), numbers=np.frombuffer(b"".join(bodies), np.uint8)
        )
        try:
            write_atomically(folder / FILE, content.getvalue())
        except OSError as error:
            raise TrainingError(f"The recorded views could not be saved: {reason_of(error)}.") from error

    def load(self, folder: Path) -> bool:
        """Take in what a run has kept, in place of what is here; False where it has kept nothing.

        Errors: `TrainingError` for a file that cannot be read.
        """
        from engine.feed.feed import Probe

        path = folder / FILE
        if not path.is_file():
            return False
        try:
            with ordinary(path) as file, np.load(file, allow_pickle=False) as found:
                index = json.loads(found["index"].tobytes())
                numbers = found["numbers"].tobytes()
            if index["format"] != _FORMAT:
                raise ValueError(f"format {index['format']} is unknown")
            tracks: dict[Probe, _Track] = {}
            at = 0
            for (node_id, what, detail), rows in index["pictures"]:
                snapshots = []
                for revision, step, head, size in rows:
                    packed = Packed(int(revision), int(step), str(head), numbers[at : at + size])
                    unpack(packed)  # a view that cannot be shown is found out here
                    snapshots.append(packed)
                    at += size
                tracks[Probe(node_id, what, tuple(detail))] = _Track.of(snapshots)
        except _DAMAGE as error:
            raise TrainingError(
                f"The recorded views of {folder.name} cannot be read: {reason_of(error)}."
            ) from error
        with self._lock:
            self._tracks = tracks
            self.version += 1
        return True


class _Track:
    """What one view showed: `_kept` at rising steps, then the newest as it came."""

    def __init__(self) -> None:
        self.size = 0
        self._kept: list[Packed] = []
        self._newest: Snapshot | None = None
        self._newest_size = 0
        self._gap = 0.0  # steps between two that are kept

    @classmethod
    def of(cls, snapshots: list[Packed]) -> _Track:
        track = cls()
        track._kept = sorted(snapshots, key=_step)
        track._settle()
        return track

    def __len__(self) -> int:
        return len(self._kept) + (self._newest is not None)

    def steps(self) -> list[int]:
        found = [one.step for one in self._kept]
        return found if self._newest is None else [*found, self._newest.step]

    def at(self, step: int) -> Packed | Snapshot | None:
        if self._newest is not None and self._newest.step <= step:
            return self._newest
        place = bisect_right(self._kept, step, key=_step)
        return self._kept[place - 1] if place else None

    def packed(self) -> list[Packed]:
        return self._kept if self._newest is None else [*self._kept, *_packed(self._newest)]

    def add(self, snapshot: Snapshot) -> None:
        last = self._newest
        if last is not None and snapshot.step < last.step:
            self.cut(snapshot.step)
            last = self._newest
        if self._kept and last is None and self._kept[-1].step >= snapshot.step:
            self._drop_last()
        if last is not None and last.step < snapshot.step and self._far_enough(last.step):
            self._kept += _packed(last)
            self._settle()
            if len(self._kept) > LONGEST:
                self.thin()
        self._hold(snapshot)

    def cut(self, step: int) -> None:
        if self._newest is not None and self._newest.step > step:
            self._hold(None)
        while self._kept and self._kept[-1].step > step:
            self._drop_last()

    def thin(self) -> None:
        """Drop every second, but neither the first nor the newest."""
        if self._newest is None:
            self._kept = [*self._kept[:-1][::2], self._kept[-1]]
        else:
            self._kept = self._kept[::2]
        steps = self.steps()
        self._gap = max(self._gap, (steps[-1] - steps[0]) / max(1, len(steps) - 1))
        self._settle()

    def _far_enough(self, step: int) -> bool:
        return not self._kept or step - self._kept[-1].step >= self._gap * _JITTER

    def _settle(self) -> None:
        self.size = sum(one.size for one in self._kept) + self._newest_size

    def _drop_last(self) -> None:
        self.size -= self._kept.pop().size

    def _hold(self, snapshot: Snapshot | None) -> None:
        self.size -= self._newest_size
        self._newest = snapshot
        self._newest_size = 0 if snapshot is None else raw_size(snapshot)
        self.size += self._newest_size


def _packed(snapshot: Snapshot) -> list[Packed]:
    try:
        return [pack(snapshot)]
    except TypeError as error:
        log.debug("a view cannot be recorded: %s", error)
        return []


def _step(one: Packed) -> int:
    return one.step


def recorded(folder: Path) -> bool:
    """Whether a run has kept views."""
    return (folder / FILE).is_file()
