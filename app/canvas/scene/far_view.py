"""The scene seen from afar: plates and lines, drawn many at a time.

Qt asks each item to paint itself, which costs more than the plates and lines of thousands do.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPolygonF, QRegion, QTransform
from PySide6.QtWidgets import QGraphicsItem, QGraphicsView, QStyleOptionGraphicsItem

from app.canvas.items.link_item import LabelItem, LinkItem
from app.canvas.items.node_item import DIMMED, NodeItem
from app.canvas.items.pens import cosmetic_pen
from app.canvas.scene.scene import GraphScene
from app.theme import Theme, current_theme

_Look = tuple[float, int, int]  # opacity, and the colours of a plate's edge and face


class FarView:
    """Paints what of a scene is in view, in the order in which Qt would."""

    def __init__(self, scene: GraphScene) -> None:
        self._scene = scene
        self._lines: dict[tuple[float, int, float], list[QPolygonF]] = {}
        self._plates: dict[_Look, tuple[NodeItem, list[QRectF]]] = {}
        self._stripes: dict[tuple[float, str], list[QRectF]] = {}

    def paint_view(self, view: QGraphicsView, region: QRegion) -> bool:
        """Paints a part of the view's viewport, if it is seen from afar."""
        detail = self._scene.detail
        far = detail.zoom < detail.plates_below
        # Items that Qt does not paint itself leave no note of where they were: all is painted at a change.
        mode = QGraphicsView.ViewportUpdateMode
        view.setViewportUpdateMode(mode.FullViewportUpdate if far else mode.MinimalViewportUpdate)
        if not far:
            return False
        painter = QPainter(view.viewport())
        try:
            painter.setClipRegion(region)
            painter.setWorldTransform(view.viewportTransform())
            self.paint(painter, view.mapToScene(region.boundingRect()).boundingRect())
        finally:
            painter.end()  # a painter that outlives its event, in a traceback, ends the process
        return True

    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paints the part `area` of the scene; the painter's world transform is the view's."""
        self._scene.drawBackground(painter, area)
        mode, order = Qt.ItemSelectionMode.IntersectsItemBoundingRect, Qt.SortOrder.AscendingOrder
        theme = current_theme()
        looks: dict[object, tuple[float, int, float]] = {}  # colours are made once for all wires of a sort
        for item in self._scene.items(area, mode, order, QTransform()):
            if isinstance(item, LinkItem):
                if self._plates:
                    self._flush(painter, theme)
                sort = item.sort
                look = looks.get(sort)
                if look is None:
                    look = looks[sort] = item.far_look(theme)
                self._lines.setdefault(look, []).append(item.corners())
            elif isinstance(item, NodeItem):
                self._put(item, theme)
            elif not isinstance(item, LabelItem):
                self._flush(painter, theme)
                _paint_alone(painter, item)
        self._flush(painter, theme)

    def _put(self, item: NodeItem, theme: Theme) -> None:
        place = item.pos()
        opacity = DIMMED if item.looks_dim else 1.0
        edge, width = item.outline(theme)
        face = theme.canvas if item.face.muted else theme.node
        look = (opacity if width <= 1 else opacity + 2, edge.rgba(), face.rgba())
        found = self._plates.get(look)
        if found is None:
            found = self._plates[look] = item, []
        found[1].append(item.plate.translated(place))
        self._stripes.setdefault((opacity, item.face.family), []).append(item.stripe.translated(place))

    def _flush(self, painter: QPainter, theme: Theme) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for (opacity, rgba, width), lines in self._lines.items():
            painter.setOpacity(opacity)
            painter.setPen(cosmetic_pen(rgba, width))
            for line in lines:
                painter.drawPolyline(line)
        for item, rects in self._plates.values():
            painter.setOpacity(DIMMED if item.looks_dim else 1.0)
            item.dress_plate(painter, theme)
            painter.drawRects(rects)
        painter.setPen(Qt.PenStyle.NoPen)
        for (opacity, family), rects in self._stripes.items():
            painter.setOpacity(opacity)
            painter.setBrush(theme.family(family))
            painter.drawRects(rects)
        painter.setOpacity(1.0)
        self._lines.clear()
        self._plates.clear()
        self._stripes.clear()


def _paint_alone(painter: QPainter, item: QGraphicsItem) -> None:
    option = QStyleOptionGraphicsItem()
    option.exposedRect = item.boundingRect()
    before: QTransform = painter.worldTransform()
    painter.save()
    painter.setWorldTransform(item.sceneTransform() * before)
    item.paint(painter, option, None)
    painter.restore()
