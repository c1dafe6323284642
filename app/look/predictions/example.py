"""The example that goes through the network, with the class it belongs to."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look.arrays import rows_of
from app.look.base import LiveView, Probes, Snapshots, Subject, Table
from app.look.controls import stacked
from app.look.playground.example_view import ExampleView
from app.look.registry import view_kind
from app.workspace.classes import Classes, classes_of, data_of
from engine.catalogue import Column
from engine.feed.feed import Probe, Snapshot


def hangs_on_data(subject: Subject) -> bool:
    """Whether something goes in that is not the node's own."""
    return subject.kind != "data" and bool(data_of(subject.workspace, subject.node_id))


@view_kind(
    "example",
    "Input",
    "The validation example that goes through the network now, and its class.",
    "Answers",
    hangs_on_data,
    rank=1,
)
class Example(LiveView):
    """The image, sequence or numbers of one example."""

    card_size = (170, 200)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._source = data_of(subject.workspace, subject.node_id)
        self._classes: Classes = classes_of(subject.workspace, self._source)
        self._array: np.ndarray | None = None
        self.view = ExampleView()
        self.view.setObjectName("inputExample")
        stacked(self, self.view)

    def probes(self) -> Probes:
        return frozenset({Probe(self._source, "activations")} if self._source else ())

    def draw(self, found: Snapshots) -> None:
        snapshot = found[Probe(self._source, "activations")]
        self._array = best_shown(snapshot)
        ports = snapshot.extra.get("ports") or {}
        row = {name: np.asarray(values) for name, values in ports.items()}
        shown = next((name for name, values in ports.items() if values is self._array), "")
        self.view.show_row(
            {**row, shown: self._array},
            Column(shown, self._array.shape, classes=self._classes.get(shown, ())),
        )
        self.set_note(class_words(snapshot, self._classes))

    def table(self) -> Table | None:
        return None if self._array is None else rows_of(self._array)


def best_shown(snapshot: Snapshot) -> np.ndarray:
    """The column of a data node's example that shows best: an image, else the largest."""
    ports = snapshot.extra.get("ports") or {}
    arrays = [np.asarray(array) for array in ports.values()] or [np.asarray(snapshot.array)]
    return max([np.asarray(snapshot.array), *arrays], key=_worth_showing)


def _worth_showing(array: np.ndarray) -> tuple[bool, int]:
    return array.ndim == 3, array.size


def class_words(snapshot: Snapshot, classes: Classes) -> str:
    """The class of the example: `digit 5`."""
    for port, array in (snapshot.extra.get("ports") or {}).items():
        names = classes.get(port, ())
        value = np.asarray(array).reshape(-1)
        if names and len(value) == 1 and 0 <= int(value[0]) < len(names):
            name = str(names[int(value[0])])
            return name if name.startswith(port) else f"{port} {name}"
    return ""
