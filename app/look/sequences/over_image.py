"""Attention and positions of patches, drawn where the patches lie on the image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from app.charts.arrays.cells import Sheet, Sheets
from app.look.base import OneProbe, Subject, Table
from app.look.controls import choice, keep, offer, stacked
from app.look.registry import view_kind
from app.look.sequences.attention import Attending, attends, has_positions
from app.look.sequences.attention_map import AttentionMap
from app.look.shown import of_example
from engine.feed.feed import Snapshot
from engine.look.pixels import patches_behind

MEAN, LEADING = -2, -1  # what reads: all patches on average, or the step before them
Grid = tuple[int, int, int]


def has_patches(subject: Subject) -> bool:
    """Whether the steps that arrive at a node are patches of an image."""
    project, book = subject.as_trained
    return book is not None and patches_behind(project, book, subject.node_id) is not None


def attends_to_patches(subject: Subject) -> bool:
    """Whether the node's layer attends to patches of an image."""
    return attends(subject) and has_patches(subject)


def places_patches(subject: Subject) -> bool:
    """Whether the node's layer has a table of positions of patches."""
    return has_positions(subject) and has_patches(subject)


def place_names(grid: Grid) -> list[str]:
    """What the steps are called: those before the patches, then each patch by row and column."""
    rows, columns, before = grid
    first = ["class token"] if before == 1 else [f"step {step + 1}" for step in range(before)]
    return first + [f"row {row + 1}, column {column + 1}" for row in range(rows) for column in range(columns)]


def of_patches(weights: NDArray[Any], grid: Grid, query: int) -> NDArray[Any]:
    """What one step, or all patches on average, read of each patch: `(n, T, T)` to `(n, rows, columns)`."""
    rows, columns, before = grid
    read = weights[:, before:].mean(1) if query == MEAN else weights[:, max(0, query)]
    found: NDArray[Any] = read[:, before:].reshape(-1, rows, columns)
    return found


class Reader:
    """The choice of the step that reads, for views of patches."""

    def __init__(self, view: OneProbe) -> None:
        self.box = choice("attentionQuery", [("class token", LEADING)], "Which step reads", 132)
        self.box.activated.connect(view.redraw)

    def offer(self, grid: Grid) -> None:
        """Offer the steps that there are."""
        names = place_names(grid)
        before = [(name, step if step else LEADING) for step, name in enumerate(names[: grid[2]])]
        patches = [(name, step) for step, name in enumerate(names) if step >= grid[2]]
        offer(self.box, [*before, ("mean of patches", MEAN), *patches])

    @property
    def query(self) -> int:
        """The step, or the mean."""
        found = self.box.currentData()
        return found if isinstance(found, int) else LEADING

    @property
    def words(self) -> str:
        """Who reads, in words."""
        return f"{self.box.currentText()} reads"

    def restore(self, value: object) -> None:
        """Choose a step again."""
        if isinstance(value, int) and value >= MEAN:
            keep(self.box, value, f"step {value + 1}")


@view_kind(
    "attention-image",
    "Attention over the image",
    "Which patches of the image the class token, or a patch, attends to, head by head.",
    "Sequences",
    attends_to_patches,
    rank=4,
)
class AttentionOverImage(Attending):
    """The image, and under a map for each head; a click shows one alone."""

    card_size = (420, 260)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.sheets, self.reader = Sheets(), Reader(self)
        stacked(self, self.sheets)

    def _show(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        if "grid" not in facts:
            return
        self.reader.offer(facts["grid"])
        weights, heads = self._weights(snapshot)
        maps = of_patches(weights, facts["grid"], self.reader.query)
        mean = self._head.currentData() == MEAN
        titles = ["mean of the heads"] if mean else [f"head {head + 1}" for head in heads]
        self.sheets.show_sheets(over_image(facts["image"], maps, titles))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        super().draw_snapshot(snapshot)
        self.set_note(f"{self.reader.words} · {of_example(snapshot.extra)}")

    def controls(self) -> QWidget | None:
        return self.in_row(self._module, self._head, self.reader.box)

    def state(self) -> dict[str, object]:
        return {**super().state(), "query": self.reader.query}

    def restore(self, state: Mapping[str, object]) -> None:
        super().restore(state)
        self.reader.restore(state.get("query"))


@view_kind(
    "attention-rollout",
    "Attention rollout",
    "How much of each token reaches each other through this layer and all before it, skips included.",
    "Sequences",
    attends,
    rank=8,
)
class Rollout(OneProbe):
    """A map a depth: over the image where tokens are its patches, else of queries and keys."""

    card_size = (420, 260)
    takes = "attention_rollout"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.sheets, self.map, self.reader = Sheets(), AttentionMap(), Reader(self)
        stacked(self, self.sheets, self.map)
        self.sheets.hide()

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts, names = snapshot.extra, [f"after layer {n + 1}" for n in range(len(snapshot.array))]
        lies = "grid" in facts
        self.sheets.setVisible(lies)
        self.map.setVisible(not lies)
        words = [f"{len(names)} layers" if len(names) > 1 else "1 layer", of_example(facts)]
        if lies:
            self.reader.offer(facts["grid"])
            maps = of_patches(snapshot.array, facts["grid"], self.reader.query)
            self.sheets.show_sheets(over_image(facts["image"], maps, names))
            words.insert(0, self.reader.words)
        else:
            self.map.show_weights(snapshot.array, names=names)
        self.set_note(" · ".join(words))

    def controls(self) -> QWidget | None:
        return self.in_row(self.reader.box) if has_patches(self.subject) else None

    def table(self) -> Table | None:
        if self._found is None:
            return None
        rows = [
            (depth + 1, query + 1, key + 1, value)
            for (depth, query, key), value in np.ndenumerate(self._found.array.astype(float).round(5))
        ]
        return ("layers", "query", "key", "weight"), rows

    def state(self) -> dict[str, object]:
        return {"query": self.reader.query}

    def restore(self, state: Mapping[str, object]) -> None:
        self.reader.restore(state.get("query"))


@view_kind(
    "position-map",
    "Position map",
    "For each patch, where it lies: the cosine of its position vector with that of every other patch.",
    "Sequences",
    places_patches,
    rank=19,
)
class PositionMap(OneProbe):
    """A map of the patches for each patch, laid out as the patches are."""

    card_size = (320, 280)
    takes = "positions"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.sheets = Sheets()
        stacked(self, self.sheets)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        grid = snapshot.extra["grid"]
        if grid is None:
            self.sheets.say("There are too many positions to compare.")
            return
        rows, columns, before = grid
        likeness = snapshot.extra["likeness"][before:, before:]
        maps = likeness[: rows * columns, : rows * columns].reshape(-1, rows, columns)
        names = [f"{place // columns + 1}, {place % columns + 1}" for place in range(rows * columns)]
        self.sheets.show_sheets([Sheet(*pair) for pair in zip(names, maps, strict=True)], columns=columns)
        self.set_note(f"{rows} × {columns} patches · row, column of the patch · red: alike")

    def table(self) -> Table | None:
        if self._found is None:
            return None
        likeness = self._found.extra["likeness"]
        rows = [(one + 1, other + 1, value) for (one, other), value in np.ndenumerate(likeness.round(5))]
        return ("position", "other", "cosine"), rows


def over_image(image: NDArray[Any], maps: NDArray[Any], titles: list[str]) -> list[Sheet]:
    """The image, and each map over it."""
    laid = [Sheet(title, one, signed=False, over=image) for title, one in zip(titles, maps, strict=True)]
    return [Sheet("image", image, signed=False, plain=True), *laid]
