"""The series of a feed as tracks, grouped the way the user asks for them: loss, accuracy, learning rate."""

from __future__ import annotations

from app.charts.track import Track
from engine.feed.feed import Feed

_PREFIXES = ("train_", "val_", "test_", "batch_")
LEARNING_RATE = "lr"
LOSS = "loss"
MOST_AT_ONCE = 150_000  # points that are taken in before the window gets to draw again


def quantity(series: str) -> str:
    """What a series measures: `val_accuracy` and `train_accuracy` both measure "accuracy"."""
    for prefix in _PREFIXES:
        if series.startswith(prefix):
            return series.removeprefix(prefix)
    return series


def words(name: str) -> str:
    """A quantity as it is written on screen."""
    return "learning rate" if name == LEARNING_RATE else name.replace("_", " ")


class RunCurves:
    """Follows one feed after another; `catch_up` takes in only what is new."""

    def __init__(self) -> None:
        self._feed: Feed | None = None
        self._generation = -1
        self._read: dict[str, int] = {}
        self.tracks: dict[str, Track] = {}
        self.behind = False  # whether there was more to read than one call takes in
        self.objectives: frozenset[str] = frozenset()  # the series of what a plan lowers, beside train_loss

    def catch_up(self, feed: Feed) -> bool:
        """Read what is new, of a long run the oldest part of it; True when a new run has begun."""
        begun = feed is not self._feed or feed.generation != self._generation
        if begun:
            self._feed, self._generation = feed, feed.generation
            self._read, self.tracks = {}, {}
        room, self.behind = MOST_AT_ONCE, False
        for name in feed.series():
            start = self._read.get(name, 0)
            rows = feed.read(name, start)
            self.behind |= len(rows) > room
            rows = rows[:room]
            room -= len(rows)
            if len(rows):
                track = self.tracks.get(name)
                if track is None:
                    track = self.tracks[name] = Track()
                track.extend(rows)
                self._read[name] = start + len(rows)
        return begun

    def quantities(self) -> list[str]:
        """What there is to show: the loss first, the learning rate last."""
        found = dict.fromkeys(self._quantity(name) for name in self.tracks if not name.startswith("test_"))
        return sorted(found, key=lambda name: (name == LEARNING_RATE, name != LOSS))

    def of(self, wanted: str) -> list[str]:
        """The series that measure a quantity, test scores left out."""
        return [
            name for name in self.tracks if self._quantity(name) == wanted and not name.startswith("test_")
        ]

    def _quantity(self, series: str) -> str:
        """As `quantity`; what the objectives of a plan lower belongs into one plot with the loss."""
        found = quantity(series)
        return LOSS if series in self.objectives and f"val_{found}" not in self.tracks else found
