"""An example as it looks: numbers as an image or bars, a cloud as points, a graph as nodes and edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QStackedLayout, QWidget

from app.playground.rows import Row
from app.views.activations import Activations
from app.views.clouds import Clouds
from app.views.colourmaps import GREY
from engine.catalogue import Column

MOST_NODES = 2000  # of a graph that is laid out while a person waits


class ExamplePicture(QWidget):
    """One example of the data, shown in the way that suits it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.numbers = Activations(table=GREY)
        self.shape_shown = Clouds()
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.numbers)
        self._stack.addWidget(self.shape_shown)

    def show_row(self, row: Row, column: Column | None) -> None:
        """Show a row of the data; `column` is the one to show where it is neither cloud nor graph."""
        matrix = matrix_of(row)
        if matrix is not None:
            self._show_graph(matrix)
        elif column is not None and column.name in row:
            values = np.atleast_1d(row[column.name]).astype(np.float32)
            if column.name == "points" and values.ndim == 2 and values.shape[1] in (2, 3):
                there = np.asarray(row.get("mask", np.ones(len(values)))) != 0
                self._show(values[there], f"{int(there.sum()):,} points")
            else:
                self.numbers.show_array(values)
                self._stack.setCurrentWidget(self.numbers)

    def _show_graph(self, matrix: NDArray[Any]) -> None:
        from engine.data.graph_looks import look_at_graph

        look = look_at_graph(matrix)
        self._show(look.places, f"{look.nodes:,} nodes, {len(look.edges):,} edges", look.edges)

    def _show(self, places: NDArray[Any], caption: str, edges: NDArray[Any] | None = None) -> None:
        self.shape_shown.show_clouds([places], [caption], None if edges is None else [edges])
        self._stack.setCurrentWidget(self.shape_shown)


def matrix_of(row: Row) -> NDArray[Any] | None:
    """Which nodes of a graph are joined, (n, n); None for a row that is no graph, or a large one."""
    joined, edges = row.get("adjacency"), row.get("edges")
    if joined is not None and joined.ndim == 2 and len(joined) <= MOST_NODES:
        there = np.flatnonzero(row.get("mask", np.ones(len(joined))))
        return joined[np.ix_(there, there)]
    if edges is None or edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind != "i":
        return None
    count = int(row["sizes"]) if "sizes" in row else int(edges.max(initial=-1)) + 1
    if not 0 < count <= MOST_NODES:
        return None
    matrix = np.zeros((count, count), np.float32)
    matrix[edges[:, 1], edges[:, 0]] = 1
    return matrix
