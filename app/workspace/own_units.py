"""The units that the data of the run came in, found beside the window when a view first asks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from app.widgets.background import Background
from app.workspace.open_document import TrainableDocument
from engine.catalogue import Catalogue, Column, Data
from engine.data.tables.row_cells import Cell, cells_of
from engine.document.graph import Node, Project
from engine.errors import NeuroloomError

if TYPE_CHECKING:
    from engine.look.own_units import OwnUnits
    from engine.shapes.shapes import ShapeBook

DIGITS = 6  # below the first one of what a number spans

Known = Mapping[str, "OwnUnits"]


class OwnUnitsFinder(QObject):
    """One for each workspace; `found` comes when what is known has changed."""

    found = Signal()

    def __init__(self, workspace: TrainableDocument) -> None:
        super().__init__(workspace.owner)
        self._workspace = workspace
        self._asked: tuple[object, Node, object] | None = None
        self._known: Known | None = None
        self._worker = Background("own units", self)
        self._worker.finished.connect(self._finished)
        workspace.closing.connect(self._worker.close)

    @classmethod
    def of(cls, workspace: TrainableDocument) -> OwnUnitsFinder:
        """The workspace's own, made when it is first asked for."""
        return workspace.owner.findChild(cls) or cls(workspace)

    def known(self, project: Project, book: ShapeBook) -> Known | None:
        """What is known of the columns of the run, by name; None until its data are there and looked at.

        `project` and `book` are those of a subject `as_trained`.
        """
        trainer, place = self._workspace.trainer, data_in(project, book)
        splits = trainer.data if trainer is not None else None
        if place is None or not splits:
            return None
        node, made = place
        if not scaled(node, made, self._workspace.catalogue):
            return {}
        columns = tuple(column.name for column in made.columns())
        asked = (splits, node, columns)
        before = self._asked
        if before is None or before[0] is not splits or before[1:] != asked[1:]:
            self._asked, self._known = asked, None
            self._worker.ask(partial(_find, splits, node, made, self._workspace.catalogue))
        return self._known

    def _finished(self, answer: object, error: object) -> None:
        if self._asked is None:
            return
        splits, known = answer if isinstance(answer, tuple) else (self._asked[0], {})
        if splits is self._asked[0] and not self._worker.busy:
            self._known = known
            self.found.emit()


def data_in(project: Project, book: ShapeBook) -> tuple[Node, Data] | None:
    """The data node that feeds a network as it is trained, and its type; None where there is none."""
    for node_id, made in book.types.items():
        node = project.graph.nodes.get(node_id)
        if node is not None and isinstance(made, Data) and project.graph.outgoing(node_id):
            return node, made
    return None


def scaled(node: Node, made: Data, catalogue: Catalogue) -> bool:
    """Whether the network sees other numbers than the data hold."""
    from engine.look.own_units import scales  # torch comes with it, and is there once shapes are

    return scales(node, made, catalogue)


def own_name(project: Project, book: ShapeBook, column: str) -> str:
    """What the data call the numbers of a column that transforms have made."""
    from engine.look.own_units import own_data

    found, place = own_column(project, book, column), data_in(project, book)
    if found is None or place is None:
        return column
    return own_data(place[1]).called(found.name)


def own_column(project: Project, book: ShapeBook, column: str) -> Column | None:
    """The data's column that one of the run's was made of; None where the data know of none."""
    from engine.look.own_units import own_column as own

    place = data_in(project, book)
    return own(place[1], column) if place is not None else None


def cells_in(made: Data, own: Column) -> tuple[Cell, ...]:
    """The cells that a column of the data is made of; `made` as a run sees the data node."""
    from engine.look.own_units import own_data

    return cells_of(own_data(made), own)


def undone(units: OwnUnits, values: NDArray[Any]) -> NDArray[np.float64]:
    """Rows `(n, ...)` as the network gives them, in units of their own: `(n, *own.shape)`."""
    import torch

    rows = torch.from_numpy(np.ascontiguousarray(values, np.float32))
    found: NDArray[np.float64] = units.undo(rows).double().numpy()
    known = units.rows.double().numpy()
    reach = np.nan_to_num(np.nanmax(known, axis=0) - np.nanmin(known, axis=0)) if len(known) else 0.0
    step = 10.0 ** (np.floor(np.log10(np.where(reach > 0, reach, 1.0))) - DIGITS)
    rounded: NDArray[np.float64] = np.round(found / step) * step  # what float32 is sure of: 0, not 6e-11
    return np.where(reach > 0, rounded, found)


def _find(splits: Mapping[str, Any], node: Node, made: Data, catalogue: Catalogue) -> tuple[object, Known]:
    from engine.look.own_units import own_units

    try:
        return splits, own_units(node, made, catalogue, splits)
    except NeuroloomError:  # the file has gone meanwhile: numbers are shown as the network sees them
        return splits, {}
