"""An example as it looks: an image or bars, a text in its tokens, a cloud of points, a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QStackedLayout, QWidget

from app.charts.arrays.activations import Activations
from app.charts.arrays.clouds import Clouds
from app.charts.arrays.token_text import Token, TokenText
from app.charts.colourmaps import GREY
from app.look.playground.rows import Row
from app.workspace.token_words import READABLE, are_tokens, read_as_letters, token_words
from engine.catalogue import Column

MOST_NODES = 2000  # of a graph that is laid out while the user waits


class ExampleView(QWidget):
    """One example of the data, shown in the way that suits it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.numbers = Activations(table=GREY)
        self.shape_shown = Clouds()
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.numbers)
        self._stack.addWidget(self.shape_shown)
        self.text = TokenText()
        self._stack.addWidget(self.text)

    def show_row(self, row: Row, column: Column | None) -> None:
        """Show a row of the data; `column` is the one to show where it is neither cloud nor graph."""
        matrix = matrix_of(row)
        if matrix is not None:
            self._show_graph(matrix)
        elif column is not None and column.name in row:
            values = np.atleast_1d(row[column.name]).astype(np.float32)
            if column.name == "points" and values.ndim == 2 and values.shape[1] in (2, 3):
                mask = row.get("mask")
                there = values.any(1) if mask is None or len(mask) != len(values) else mask != 0
                self._show(values[there], f"{int(there.sum()):,} points")
            elif are_tokens(values.shape, column.classes):
                letters = read_as_letters(column.classes)
                words = token_words(values, column.classes)
                self.text.show_tokens([Token(READABLE.get(one, one) if letters else one) for one in words])
                self._stack.setCurrentWidget(self.text)
            else:
                self.numbers.show_array(values)
                self._stack.setCurrentWidget(self.numbers)

    def _show_graph(self, matrix: NDArray[Any]) -> None:
        from engine.data.graphs.positions import look_at_graph

        look = look_at_graph(matrix)
        self._show(look.places, f"{look.nodes:,} nodes, {len(look.edges):,} edges", look.edges)

    def _show(self, places: NDArray[Any], caption: str, edges: NDArray[Any] | None = None) -> None:
        self.shape_shown.show_clouds([places], [caption], None if edges is None else [edges])
        self._stack.setCurrentWidget(self.shape_shown)


def matrix_of(row: Row) -> NDArray[Any] | None:
    """Which nodes of a graph are joined, (n, n); None for a row that is no graph, or a large one."""
    joined, edges, mask = row.get("adjacency"), row.get("edges"), row.get("mask")
    if joined is not None and joined.ndim == 2 and len(joined) <= MOST_NODES:
        if mask is not None and len(mask) != len(joined):
            return None  # thinned out to be looked at
        there = np.arange(len(joined)) if mask is None else np.flatnonzero(mask)
        return joined[np.ix_(there, there)]
    if edges is None or edges.ndim != 2 or edges.shape[1] != 2 or not edges.size:
        return None
    edges = edges.astype(np.int64)
    count = int(row["sizes"].reshape(-1)[0]) if "sizes" in row else int(edges.max()) + 1
    if not 0 < count <= MOST_NODES:
        return None
    matrix = np.zeros((count, count), np.float32)
    matrix[edges[:, 1], edges[:, 0]] = 1
    return matrix
