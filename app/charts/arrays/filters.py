"""The weights of a layer as plots about zero: kernels of a convolution as tiles, a matrix as one map."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.charts.arrays.tiles import Grid, Tiles
from app.charts.colourmaps import SIGNED
from app.charts.plot import number
from app.theme import current_theme
from app.widgets.labels import ElidedLabel, label
from app.workspace.open_document import TrainableDocument
from app.workspace.watching import Live, Probes
from engine.feed.feed import Probe, Snapshot

WHAT = "filters"
LEAST = 48  # pixels of a matrix's short side


class Filters(Tiles):
    """Blue is negative, white zero, red positive; all tiles have one scale."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, table=SIGNED, noun="filter", smallest=6)
        self._kind = ""
        self._inputs = 1
        self._lying = False

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show a snapshot of a "filters" probe."""
        self._kind = str(snapshot.extra.get("kind", "kernels"))
        self._inputs = int(snapshot.extra.get("in", 1))
        matrix = self._kind == "matrix"
        # A tall matrix lies down: plots have more room to the side than below.
        self._lying = matrix and snapshot.array.shape[0] > snapshot.array.shape[1]
        self.show_maps(snapshot.array.T if self._lying else snapshot.array)

    def fitted(self, grid: Grid, width: int, height: int, ratio: float) -> Grid:
        if self._kind != "matrix" or not grid.shown:
            return grid
        least = int(LEAST * ratio)  # rows of a wide matrix are stretched: nobody sees what is in a thin strip
        return grid._replace(
            tile_width=max(grid.tile_width, min(width, least)),
            tile_height=max(grid.tile_height, min(height, least)),
        )

    def describe(self, at: QPoint) -> str:
        index = self.tile_at(at)
        if index < 0 or self._kind == "matrix":
            low, high = self.scale
            sides = "rows are inputs, columns outputs" if self._lying else "rows are outputs, columns inputs"
            return f"{sides}\n{number(low)} (blue) to {number(high)} (red)"
        text = super().describe(at)
        if self._inputs > 1:
            output, given = divmod(index, self._inputs)
            head, _, rest = text.partition("\n")
            text = f"filter {output + 1}, input channel {given + 1}\n{rest}" if head else text
        return text


def caption(snapshot: Snapshot) -> str:
    """What a "filters" snapshot shows, in few words."""
    facts = snapshot.extra
    if facts.get("kind") == "matrix":
        rows, columns = snapshot.array.shape
        shape = facts.get("shape", (rows, columns))
        cut = rows < shape[0] or columns < shape[-1]
        return f"{rows} × {columns} of {shape[0]} × {shape[-1]}" if cut else f"{rows} × {columns} weights"
    out, given = int(facts.get("out", len(snapshot.array))), int(facts.get("in", 1))
    whole = f"{out} filters" if given == 1 else f"{out} × {given} kernels"
    shown = len(snapshot.array)
    return f"{shown} of {whole}" if shown < out * given else whole


class FiltersNow(QWidget):
    """The inspector's small plot of the selected layer's weights; hidden for nodes without weights."""

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("filtersNow")
        self._workspace = workspace
        self._node_id = ""
        self._seen: Snapshot | None = None
        self._title = label("Filters now", "heading")
        self._note = ElidedLabel("", "small")
        self._note.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._plot = Filters()
        self._plot.setObjectName("filtersNowPlot")
        self._plot.setFixedHeight(self._plot_height())
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.addWidget(self._title)
        head.addWidget(self._note, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self._plot)
        self._live = Live(workspace, self, self._probes, self._redraw, 500)
        workspace.selected.connect(self._selected)
        workspace.inferred.connect(self._look_for_weights)
        self._selected(workspace.selection)

    @property
    def plot(self) -> Filters:
        """The tiles."""
        return self._plot

    def show_node(self, node_id: str) -> None:
        """Show another node's weights."""
        if node_id != self._node_id:
            self._node_id = node_id
            self._seen = None
            self._plot.say("The weights appear when the network has been built.")
            self._note.setText("")
        self._look_for_weights()
        self._live.again()

    def sizeHint(self) -> QSize:
        return QSize(240, self._plot_height() + 28)

    def _selected(self, ids: tuple[str, ...]) -> None:
        self.show_node(ids[0] if len(ids) == 1 else "")

    def _look_for_weights(self) -> None:
        shapes = self._workspace.shapes
        has = bool(self._node_id) and shapes is not None and bool(shapes.parameters(self._node_id))
        if self.isHidden() == has:
            self.setVisible(has)

    def _probes(self) -> Probes:
        return frozenset({Probe(self._node_id, WHAT)} if self._node_id else ())

    def _redraw(self) -> None:
        trainer = self._workspace.trainer
        found = trainer.feed.latest(Probe(self._node_id, WHAT)) if trainer is not None else None
        if found is None or found is self._seen:
            return
        self._seen = found
        self._plot.show_snapshot(found)
        self._title.setText("Weights now" if found.extra.get("kind") == "matrix" else "Filters now")
        change = found.extra.get("change")
        self._note.setText(f"change since start {change:.2f}" if change is not None else caption(found))

    def _plot_height(self) -> int:
        return 6 * current_theme().font().pixelSize() + 54
