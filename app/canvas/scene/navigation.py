"""Zoom, pan and framing of the canvas: the transform is always finite and between two bounds."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QInputDevice, QNativeGestureEvent, QTransform, QWheelEvent
from PySide6.QtWidgets import QGestureEvent, QGraphicsView, QPinchGesture

SMALLEST = 0.05
LARGEST = 4.0
STEP = 1.2  # one notch of a wheel
NOTCH = 120.0
TOUCH = 160.0  # pixels of a two-finger drag with Ctrl that count as one doubling, roughly
ROOM = 20_000.0  # how far beyond the graph one can pan
FARTHEST = 4e8  # scroll bars are 32 bit
ROUNDING = 1e-9  # of a zoom that was multiplied and divided
FIT_MARGIN = 10.0
OVERHANG = 60.0  # wires turn outside the boxes that are fitted
LARGEST_FIT = 1.0


class Navigation:
    """Moves the viewport of one QGraphicsView.

    Scroll bars count whole pixels. Where the viewport is meant to be is kept exactly and rounded only for
    them, so that many small steps add up and a step back leads to the same place.
    """

    def __init__(self, view: QGraphicsView, moved: Callable[[], None] = lambda: None) -> None:
        self._view = view
        self._corner = QPointF()  # of the viewport, in pixels from the origin of the scene
        self.moved = moved  # another part of the scene is shown, or the same at another zoom
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
        return (self._exact() + self._middle()) / self.zoom

    def _middle(self) -> QPointF:
        return QPointF(self._view.viewport().rect().center())

    def _exact(self) -> QPointF:
        """Where the viewport's corner is meant to be; where it is, if the bars could not follow or moved."""
        bars = self._view.horizontalScrollBar().value(), self._view.verticalScrollBar().value()
        if (round(self._corner.x()), round(self._corner.y())) != bars:
            self._corner = QPointF(*bars)
        return self._corner

    def set_area(self, bounds: QRectF) -> None:
        """Lets the viewport travel over `bounds`, where it is now, and well beyond."""
        here = self._view.mapToScene(self._view.viewport().rect()).boundingRect()
        area = bounds.united(QRectF(0, 0, 1, 1)).adjusted(-ROOM, -ROOM, ROOM, ROOM).united(here)
        area = area.intersected(QRectF(-FARTHEST, -FARTHEST, 2 * FARTHEST, 2 * FARTHEST))
        if self._view.sceneRect().contains(area):
            return
        self._view.setSceneRect(area)

    def zoom_by(self, factor: float, about: QPointF | None = None) -> None:
        """Multiplies the zoom, keeping the scene point under `about` (viewport pixels) where it is."""
        if math.isfinite(factor) and factor > 0:
            self.set_zoom(self.zoom * factor, about)

    def set_zoom(self, zoom: float, about: QPointF | None = None) -> None:
        """Sets the zoom, kept within its bounds; NaN and infinities are ignored."""
        if not math.isfinite(zoom):
            return
        zoom = min(LARGEST, max(SMALLEST, zoom))
        if abs(zoom - 1) < ROUNDING:  # steps that led away and back: text is sharpest at exactly 100 %
            zoom = 1.0
        about = self._middle() if about is None else about
        kept = (self._exact() + about) / self.zoom
        self._view.setTransform(QTransform.fromScale(zoom, zoom))
        self._go(kept * zoom - about)

    def pan_by(self, x: float, y: float) -> None:
        """Moves the graph by screen pixels."""
        self._go(self._exact() - QPointF(x, y))

    def _go(self, corner: QPointF) -> None:
        """Moves what is drawn along and paints only what comes into view.

        One move for both directions: Qt, which makes one of each, would paint everything at the second.
        """
        view = self._view
        bars = view.horizontalScrollBar(), view.verticalScrollBar()
        before = [bar.value() for bar in bars]
        self._corner = corner
        mode = view.viewportUpdateMode()
        view.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.NoViewportUpdate)
        try:
            for bar, goal in zip(bars, (corner.x(), corner.y()), strict=True):
                bar.setValue(round(goal))
        finally:
            view.setViewportUpdateMode(mode)
        view.viewport().scroll(*(old - bar.value() for bar, old in zip(bars, before, strict=True)))
        self.moved()

    def centre_on(self, point: QPointF) -> None:
        """Puts a scene point into the middle of the viewport."""
        self._go(point * self.zoom - self._middle())

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
        self.pan_by(-x, -y)

    def gesture(self, event: QNativeGestureEvent | QGestureEvent) -> bool:
        """Zooms with a pinch; False for any other gesture."""
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() != Qt.NativeGestureType.ZoomNativeGesture:
                return False
            self.zoom_by(1.0 + event.value(), event.position())
            return True
        pinch = event.gesture(Qt.GestureType.PinchGesture)
        if not isinstance(pinch, QPinchGesture):
            return False
        about = self._view.viewport().mapFromGlobal(pinch.hotSpot())
        self.zoom_by(pinch.scaleFactor(), about)
        return True

    def wheel(self, event: QWheelEvent) -> None:
        """A wheel zooms about the cursor; two fingers on a touchpad pan, with Ctrl they zoom."""
        angle, pixels = event.angleDelta(), event.pixelDelta()
        about = event.position()
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
