"""How the canvas paints itself: little when one pans, many things at a time from afar."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QFrame, QGraphicsView, QWidget

from app.canvas.scene.far_view import FarView
from app.canvas.scene.navigation import Navigation
from app.canvas.scene.scene import GraphScene


class Overlay(Protocol):
    """Something over the viewport that keeps its place there."""

    def settle(self) -> None:
        """Goes back to its place."""


class PaintedView(QGraphicsView):
    """A view of a graph's scene. `stay_put` says what lies over the viewport and does not move along."""

    moved = Signal()  # another part of the scene is shown, or the same at another zoom

    def __init__(self, scene: GraphScene, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scene = scene
        self.overlays: list[Overlay] = []
        self._far_view = FarView(scene)
        self.setScene(scene)
        self.navigation = Navigation(self, self._moved)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.MinimalViewportUpdate)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState)
        # The scene paints every pixel: Qt may move what is drawn when one pans.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def stay_put(self, *overlays: Overlay) -> None:
        """These are children of the viewport: what overlapped it from beside would have all painted again."""
        self.overlays = list(overlays)

    def _settle(self) -> None:
        for overlay in self.overlays:
            overlay.settle()

    def _moved(self) -> None:
        self._settle()
        self.moved.emit()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        self._settle()

    def paintEvent(self, event: QPaintEvent) -> None:
        self._scene.detail.zoom = self.navigation.zoom
        if not self._far_view.paint_view(self, event.region()):
            super().paintEvent(event)
