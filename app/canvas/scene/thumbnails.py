"""Live views and numbers on the nodes, from the trainer's feed."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from app.canvas.items.node_item import NodeItem
from app.canvas.items.thumbnail import Thumbnail, thumbnail_of
from app.canvas.scene.canvas import Canvas
from app.charts.plot import figures
from app.workspace.classes import classes_of
from app.workspace.engine_parts import RunControl
from app.workspace.plan_parts import recorded_keys
from app.workspace.watching import Live
from engine.feed.feed import LAYER_STEP, Probe, Snapshot

INTERVAL_MS = 250
TRAVEL_MS = 100  # how often nodes that come into view get their thumbnails while the viewport moves
MOST = 60  # nodes in view; with more the thumbnails are too small to be worth their cost
_ACTIVATIONS = "activations"


class Thumbnails(QObject):
    """Keeps the nodes in view showing what they compute; a thumbnail is drawn once a snapshot."""

    def __init__(self, view: Canvas, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = view
        self._workspace = view.workspace
        self._drawn: dict[str, tuple[Snapshot, Thumbnail | None]] = {}
        self._shown: tuple[str, ...] = ()
        self._switched_on = True
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(TRAVEL_MS)
        self._live = Live(self._workspace, parent, self._probes, self._redraw, INTERVAL_MS)
        self._soon.timeout.connect(self.look_again)

    def look_again(self) -> None:
        """The view shows other nodes now, or new items for the same."""
        self._live.again()

    def look_soon(self) -> None:
        """The viewport or nodes move, come or go: looks again in a moment, once for all until then."""
        if not self._soon.isActive():
            self._soon.start()

    def show_thumbnails(self, shown: bool) -> None:
        """Switches the thumbnails on or off; the numbers of losses and metrics stay."""
        if shown == self._switched_on:
            return
        self._switched_on = shown
        if not shown:
            self._drawn.clear()
            for item in self._view.graph_scene.node_items.values():
                item.show_live(None, item.value)
        self._live.again()

    def _in_view(self) -> tuple[str, ...]:
        scene = self._view.graph_scene
        if self._workspace.trainer is None or self._view.navigation.zoom < scene.detail.plates_below:
            return ()
        ids = scene.nodes_in(self._view.visible_rect())
        return tuple(ids) if len(ids) <= MOST else ()

    def _probes(self) -> frozenset[Probe]:
        self._shown = self._in_view()
        if not self._switched_on:
            return frozenset()
        items = self._view.graph_scene.node_items
        with_thumbnail = (
            one for one in self._shown if items[one].face.kind not in ("loss", "metric", "unknown")
        )
        return frozenset(Probe(node_id, _ACTIVATIONS) for node_id in with_thumbnail)

    def _redraw(self) -> None:
        trainer = self._workspace.trainer
        if trainer is None:
            return
        items = self._view.graph_scene.node_items
        self._drawn = {node_id: kept for node_id, kept in self._drawn.items() if node_id in items}
        values = self._values(trainer)
        for node_id in self._shown:
            item = items.get(node_id)
            if item is not None:
                thumbnail = self._thumbnail(trainer, item) if self._switched_on else None
                item.show_live(thumbnail, values.get(node_id, ""))

    def _thumbnail(self, trainer: RunControl, item: NodeItem) -> Thumbnail | None:
        snapshot = trainer.feed.latest(Probe(item.node_id, _ACTIVATIONS))
        if item.stage:  # the batch's own values, or their gradient
            step = trainer.feed.latest(LAYER_STEP)
            snapshot = step if step is not None and step.array.size else snapshot
        if snapshot is None:
            self._drawn.pop(item.node_id, None)
            return None
        known = self._drawn.get(item.node_id)
        if known is None or known[0] is not snapshot:
            data = item.face.kind == "data"
            names = classes_of(self._workspace, item.node_id) if data else {}
            thumbnail = thumbnail_of(snapshot, item.thumbnail_room(), data=data, classes=names)
            known = (snapshot, thumbnail)
            self._drawn[item.node_id] = known
        return known[1]

    def _values(self, trainer: RunControl) -> dict[str, str]:
        """The newest number of each loss and metric node, by the name its series has in the feed."""
        items, names = self._view.graph_scene.node_items, recorded_keys(self._workspace)
        losses = [one for one in names if one in items and items[one].face.kind == "loss"]
        found: dict[str, str] = {}
        for node_id, name in names.items():
            item = items.get(node_id)
            if item is None:
                continue
            name = "loss" if losses == [node_id] else name
            value = trainer.feed.last(f"train_{name}") if item.face.kind == "loss" else None
            # A plan of several objectives records what each of them lowers, not each loss; before the first
            # epoch has ended there are values of one batch.
            for series in (f"val_{name}", f"batch_{name}"):
                value = trainer.feed.last(series) if value is None else value
            if value is not None:
                found[item.node_id] = figures(value)
        return found
