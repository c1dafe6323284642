"""Zoom, pan and framing of the canvas: the transform is always finite and between two bounds."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QInputDevice, QNativeGestureEvent, QTransform, QWheelEvent
from PySide6.QtWidgets import QGestureEvent, QGraphicsView, QPinchGesture

SMALLEST = 0.05
LARGEST = 4.0
STEP = 1.2  # one notch of a wheel
NOTCH = 120.0
TOUCH = 160.0  # pixels of a two-finger drag with Ctrl that count as one doubling, roughly
ROOM = 20_000.0  # how far beyond the graph one can pan
FARTHEST = 4e8  # scroll bars are 32 bit
FIT_MARGIN = 10.0
OVERHANG = 60.0  # wires turn outside the boxes that are fitted
LARGEST_FIT = 1.0


class Navigation:
    """Moves the viewport of one QGraphicsView."""

    def __init__(self, view: QGraphicsView, scrolled: Callable[[], None] = lambda: None) -> None:
        self._view = view
        self.scrolled = scrolled  # what lies over the viewport has moved along with it
        view.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        view.setResizeAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.set_area(QRectF())

    @property
    def zoom(self) -> float:
        """Screen pixels a scene unit; 1 is 100 %."""
        return self._view.transform().m11()

    @property
    def centre(self) -> QPointF:
        """The scene point in the middle of the viewport."""
        return self._view.mapToScene(self._view.viewport().rect().center())

    def set_area(self, bounds: QRectF) -> None:
        """Lets the viewport travel over `bounds`, where it is now, and well beyond."""
        here = self._view.mapToScene(self._view.viewport().rect()).boundingRect()
        area = bounds.united(QRectF(0, 0, 1, 1)).adjusted(-ROOM, -ROOM, ROOM, ROOM).united(here)
        area = area.intersected(QRectF(-FARTHEST, -FARTHEST, 2 * FARTHEST, 2 * FARTHEST))
        if self._view.sceneRect().contains(area):
            return
        self._view.setSceneRect(area)

    def zoom_by(self, factor: float, about: QPoint | None = None) -> None:
        """Multiplies the zoom, keeping the scene point under `about` (viewport pixels) where it is."""
        if math.isfinite(factor) and factor > 0:
            self.set_zoom(self.zoom * factor, about)

    def set_zoom(self, zoom: float, about: QPoint | None = None) -> None:
        """Sets the zoom, kept within its bounds; NaN and infinities are ignored."""
        if not math.isfinite(zoom):
            return
        zoom = min(LARGEST, max(SMALLEST, zoom))
        if abs(zoom - 1) < 0.02:
            zoom = 1.0
        if about is None:
            about = self._view.viewport().rect().center()
        before = self._view.mapToScene(about)
        self._view.setTransform(QTransform.fromScale(zoom, zoom))
        moved = self._view.mapFromScene(before) - about
        self._scroll(moved.x(), moved.y())

    def pan_by(self, x: float, y: float) -> None:
        """Moves the graph by screen pixels."""
        self._scroll(-round(x), -round(y))

    def _scroll(self, x: int, y: int) -> None:
        """Moves what is drawn along and paints only what comes into view.

        One move for both directions: Qt, which makes one of each, would paint everything at the second.
        """
        view = self._view
        bars = view.horizontalScrollBar(), view.verticalScrollBar()
        before = [bar.value() for bar in bars]
        mode = view.viewportUpdateMode()
        view.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.NoViewportUpdate)
        try:
            for bar, old, by in zip(bars, before, (x, y), strict=True):
                bar.setValue(old + by)
        finally:
            view.setViewportUpdateMode(mode)
        moved = [old - bar.value() for bar, old in zip(bars, before, strict=True)]
        view.viewport().scroll(*moved)
        self.scrolled()

    def centre_on(self, point: QPointF) -> None:
        """Puts a scene point into the middle of the viewport."""
        away = self._view.mapFromScene(point) - self._view.viewport().rect().center()
        self._scroll(away.x(), away.y())

    def show(self, rect: QRectF | None) -> None:
        """Shows a scene rectangle whole, at most at 100 %; None goes back to the origin."""
        if rect is None or not rect.isValid():
            self.set_zoom(1.0)
            self.centre_on(QPointF(0, 0))
            return
        room = self._view.viewport().size()
        width, height = room.width() - 2 * FIT_MARGIN, room.height() - 2 * FIT_MARGIN
        if width > 0 and height > 0:
            across, down = width / (rect.width() + OVERHANG), height / (rect.height() + OVERHANG)
            self.set_zoom(min(LARGEST_FIT, across, down))
        self.centre_on(rect.center())

    def bring_in(self, rect: QRectF) -> None:
        """Pans as little as needed to show a scene rectangle; of one that is too large, its first corner."""
        view = self._view.viewport().rect()
        place = self._view.mapFromScene(rect).boundingRect()
        x = min(0, place.left()) or max(0, min(place.right() - view.right(), place.left()))
        y = min(0, place.top()) or max(0, min(place.bottom() - view.bottom(), place.top()))
        self._scroll(x, y)

    def gesture(self, event: QNativeGestureEvent | QGestureEvent) -> bool:
        """Zooms with a pinch; False for any other gesture."""
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() != Qt.NativeGestureType.ZoomNativeGesture:
                return False
            self.zoom_by(1.0 + event.value(), event.position().toPoint())
            return True
        pinch = event.gesture(Qt.GestureType.PinchGesture)
        if not isinstance(pinch, QPinchGesture):
            return False
        about = self._view.viewport().mapFromGlobal(pinch.hotSpot().toPoint())
        self.zoom_by(pinch.scaleFactor(), about)
        return True

    def wheel(self, event: QWheelEvent) -> None:
        """A wheel zooms about the cursor; two fingers on a touchpad pan, with Ctrl they zoom."""
        angle, pixels = event.angleDelta(), event.pixelDelta()
        about = event.position().toPoint()
        modifiers = event.modifiers()
        control = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        if _from_touchpad(event):
            delta = pixels if not pixels.isNull() else angle / 4
            if control:
                self.zoom_by(2.0 ** (_kept(delta.y()) / TOUCH), about)
            else:
                self.pan_by(_kept(delta.x()), _kept(delta.y()))
            return
        if modifiers & Qt.KeyboardModifier.ShiftModifier or (angle.y() == 0 and angle.x() != 0):
            self.pan_by(_kept(angle.x() or angle.y()), 0)
        elif angle.y():
            self.zoom_by(STEP ** (_kept(angle.y()) / NOTCH), about)
        elif pixels.y():
            self.zoom_by(2.0 ** (_kept(pixels.y()) / TOUCH), about)


def _kept(delta: float) -> float:
    return max(-2400.0, min(2400.0, delta))


def _from_touchpad(event: QWheelEvent) -> bool:
    device = event.pointingDevice()
    if device is not None and device.type() == QInputDevice.DeviceType.TouchPad:
        return True
    # Some platforms call a touchpad a mouse, but only touchpads tell when fingers come and go.
    return not event.pixelDelta().isNull() and event.phase() != Qt.ScrollPhase.NoScrollPhase
