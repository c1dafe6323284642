"""The canvas with 1,000 and 2,000 nodes, 20 of them with live views: every step as a person feels it.

A step is a real event and everything it causes, the repaint included. Beside each number stands what
NodeGraphQt needs for the same graph on the same computer, where that was asked for.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from engine.catalogue import load_catalogue
from engine.catalogue.connect import can_connect
from engine.document.edits import Remove
from engine.document.graph import Link
from tests.bench.peer import beside
from tests.bench.rows import row
from tests.bench.setting import gallery_project
from tests.bench.window import BLOCKS, large_project, open_window, spin

if TYPE_CHECKING:
    from app.canvas.view import GraphView
    from app.workspace.workspace import Workspace

TWICE = 2 * BLOCKS + 1  # blocks of four nodes: 2,000 nodes in all
STEPS = 200
THUMBNAILS = 20
CYCLES, WARM = 100, 20
IDLE_SECONDS = 3.0


@contextmanager
def large_canvas(blocks: int = TWICE) -> Iterator[tuple[GraphView, Workspace]]:
    """A window with a large graph at a zoom at which texts are read, and thumbnails on 20 nodes in view."""
    with open_window(large_project(blocks)) as (window, workspace):
        canvas = window.canvas
        canvas.travel()
        canvas.navigation.set_zoom(0.6)
        canvas.navigation.centre_on(QPointF(3000, 1200))
        settle()
        dress(canvas)
        yield canvas, workspace


def settle(seconds: float = 60.0) -> None:
    """Lets the threads finish what a change set off: a model that is being built is no part of a step."""
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends:
        used = time.process_time()
        spin(0.5)
        if time.process_time() - used < 0.05:
            return
    raise TimeoutError("the window does not come to rest")


def dress(canvas: GraphView) -> None:
    """Puts a thumbnail on each of 20 nodes in view."""
    from app.canvas.items.thumbnail import Thumbnail

    tile = QImage(26, 26, QImage.Format.Format_RGB32)
    tile.fill(Qt.GlobalColor.darkCyan)
    seen = canvas.graph_scene.nodes_in(canvas.visible_rect())[:THUMBNAILS]
    if len(seen) < THUMBNAILS:
        raise ValueError(f"only {len(seen)} nodes are in view")
    for node_id in seen:
        item = canvas.graph_scene.node_items[node_id]
        item.show_live(Thumbnail(102.0, 10.0, tuple(tile.copy() for _ in range(3))), "")
    QApplication.processEvents()


def step_times(step: Callable[[int], None], steps: int = STEPS) -> list[float]:
    """How long each step takes until everything is painted, in ms, sorted."""
    found = []
    for index in range(-5, steps):
        began = time.perf_counter()
        step(index)
        QApplication.processEvents()
        if index >= 0:
            found.append((time.perf_counter() - began) * 1000)
    return sorted(found)


def mouse(canvas: GraphView, kind: QEvent.Type, place: QPoint, button: Qt.MouseButton) -> None:
    """Sends a mouse event to the canvas."""
    held = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else button
    pressed = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else button
    viewport = canvas.viewport()
    event = QMouseEvent(
        kind,
        QPointF(place),
        viewport.mapToGlobal(QPointF(place)),
        pressed,
        held,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(viewport, event)


def drag_times(canvas: GraphView, start: QPoint, button: Qt.MouseButton) -> list[float]:
    """Presses, moves a little at a time there and back, and lets go."""
    mouse(canvas, QEvent.Type.MouseButtonPress, start, button)

    def step(index: int) -> None:
        turn = index % 40
        mouse(canvas, QEvent.Type.MouseMove, start + QPoint(6, 4) * min(turn, 40 - turn), button)

    found = step_times(step)
    mouse(canvas, QEvent.Type.MouseButtonRelease, start, button)
    QApplication.processEvents()
    return found


def pan_times(canvas: GraphView) -> list[float]:
    """Pans with the middle button."""
    return drag_times(canvas, canvas.viewport().rect().center(), Qt.MouseButton.MiddleButton)


def zoom_times(canvas: GraphView) -> list[float]:
    """Turns the wheel, ten notches in and ten out."""
    place = QPointF(canvas.viewport().rect().center())

    def step(index: int) -> None:
        notch = QPoint(0, 120 if index % 20 < 10 else -120)
        event = QWheelEvent(
            place,
            canvas.viewport().mapToGlobal(place),
            QPoint(),
            notch,
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(canvas.viewport(), event)

    return step_times(step)


def node_times(canvas: GraphView) -> list[float]:
    """Drags one node."""
    seen = canvas.graph_scene.nodes_in(canvas.visible_rect())
    node_id = seen[len(seen) // 2]
    before = canvas.graph_scene.node_items[node_id].pos()
    place = canvas.node_point(node_id)
    mouse(canvas, QEvent.Type.MouseButtonPress, place, Qt.MouseButton.LeftButton)
    mouse(canvas, QEvent.Type.MouseMove, place + QPoint(60, 40), Qt.MouseButton.LeftButton)
    if canvas.graph_scene.node_items[node_id].pos() == before:
        raise ValueError("the node does not follow the pointer")
    return drag_times(canvas, place, Qt.MouseButton.LeftButton)


GESTURES = {"pan": pan_times, "zoom": zoom_times, "drag": node_times}


def median_step(gesture: str) -> tuple[float, str]:
    """The median step of a gesture among 2,000 nodes; beside it that among 1,000."""
    with large_canvas(BLOCKS) as (canvas, _):
        small = GESTURES[gesture](canvas)
    with large_canvas() as (canvas, _):
        large = GESTURES[gesture](canvas)
    peer = beside(gesture, large_project(TWICE).graph, "ms")
    return statistics.median(large), f"among 1,000 {statistics.median(small):.2f} ms; {peer}"


def slow_step(gesture: str) -> tuple[float, str]:
    """The 99th percentile of a gesture's steps among 2,000 nodes."""
    with large_canvas() as (canvas, _):
        large = GESTURES[gesture](canvas)
    return large[int(0.99 * len(large))], f"worst of {len(large)} steps {large[-1]:.1f} ms"


@row("pan", "one step of panning among 2,000 nodes, median", "ms", "<= 8")
def pan() -> tuple[float, str]:
    return median_step("pan")


@row("pan-99", "one step of panning among 2,000 nodes, 99th percentile", "ms", "<= 16")
def pan_99() -> tuple[float, str]:
    return slow_step("pan")


@row("zoom", "one notch of the wheel among 2,000 nodes, median", "ms", "<= 8")
def zoom() -> tuple[float, str]:
    return median_step("zoom")


@row("zoom-99", "one notch of the wheel among 2,000 nodes, 99th percentile", "ms", "<= 16")
def zoom_99() -> tuple[float, str]:
    return slow_step("zoom")


@row("drag", "one step of dragging a node among 2,000, median", "ms", "<= 8")
def drag() -> tuple[float, str]:
    return median_step("drag")


@row("drag-99", "one step of dragging a node among 2,000, 99th percentile", "ms", "<= 16")
def drag_99() -> tuple[float, str]:
    return slow_step("drag")


@row("repaint-2000", "whole repaint of 2,000 nodes, all in view, median", "ms", "<= 40")
def repaint() -> tuple[float, str]:
    with large_canvas() as (canvas, _):
        canvas.fit()
        QApplication.processEvents()
        times = []
        for _ in range(25):
            began = time.perf_counter()
            canvas.viewport().repaint()
            times.append((time.perf_counter() - began) * 1000)
        zoom_shown = canvas.navigation.zoom
    peer = beside("repaint", large_project(TWICE).graph, "ms")
    return statistics.median(times), f"worst {max(times):.1f} ms at {zoom_shown:.0%}; {peer}"


@row("open-ratio", "opening 2,000 nodes against opening 1,000", "ratio", "<= 2.6")
def open_ratio() -> tuple[float, str]:
    times: dict[int, list[float]] = {BLOCKS: [], TWICE: []}
    with open_window(large_project(2)) as (_, workspace):
        for _ in range(3):
            for blocks, found in times.items():
                project = large_project(blocks)
                gc.collect()
                began = time.perf_counter()
                workspace.document.replace(project, None)
                QApplication.processEvents()
                found.append(time.perf_counter() - began)
    small, large = (statistics.median(found) for found in times.values())
    peer = beside("open", large_project().graph, "s for 1,000")
    return large / small, f"{small:.2f} s and {large:.2f} s; {peer}"


@row(
    "can-connect",
    "whether a wire may be drawn, among 2,000 nodes, the slowest of 2,000 pairs",
    "ms",
    "<= 2",
)
def connecting() -> tuple[float, str]:
    graph, catalogue = large_project(TWICE).graph, load_catalogue()
    ids = list(graph.nodes)
    times = []
    for source, target in zip(ids[2:], reversed(ids[2:]), strict=True):
        link, found = Link(source, "output", target, "x"), []
        for _ in range(3):  # what else the computer does interrupts one of them at most
            began = time.perf_counter()
            can_connect(graph, catalogue, link)
            found.append((time.perf_counter() - began) * 1000)
        times.append(min(found))
    times.sort()
    return times[-1], f"median {statistics.median(times):.3f} ms"


@row("undo-delete-500", "undoing the removal of 500 of 2,000 nodes until it is painted", "ms", "<= 200")
def undo_delete() -> tuple[float, str]:
    with large_canvas() as (canvas, workspace):
        ids = list(workspace.document.project.graph.nodes)[500:1000]
        times = []
        for _ in range(3):
            workspace.apply("Delete", Remove(tuple(ids)))
            settle()
            began = time.perf_counter()
            canvas.undo()
            QApplication.processEvents()
            times.append((time.perf_counter() - began) * 1000)
    peer = beside("undo-delete", large_project(TWICE).graph, "ms")
    return statistics.median(times), f"worst of 3 {max(times):.0f} ms; {peer}"


@row("layout-2000", "automatic layout of 2,000 nodes of which many are far from what they feed", "s", "<= 5")
def laying_out() -> tuple[float, str]:
    import random

    from engine.layout import Wire, layout

    chance, wires = random.Random(0), []
    sizes = {f"n{index}": (128.0, 56.0) for index in range(2000)}
    for index in range(1, 2000):
        wires.append(Wire(f"n{max(0, index - chance.randint(1, 6))}", f"n{index}"))
        if chance.random() < 0.5:
            wires.append(Wire(f"n{max(0, index - chance.randint(2, 18))}", f"n{index}", 28.0, 48.0))
    here = {name: (chance.random() * 9000, chance.random() * 9000) for name in sizes}
    began = time.perf_counter()
    layout(sizes, wires, here)
    seconds = time.perf_counter() - began
    residual = large_project(TWICE).graph
    plain = [(link.source, link.target) for link in residual.links]
    began = time.perf_counter()
    layout(dict.fromkeys(residual.nodes, (128.0, 56.0)), plain)
    again = time.perf_counter() - began
    return seconds, f"500 residual blocks in {again:.2f} s; {beside('layout', residual, 's')}"


class Paints(QObject):
    """Counts the paint events of a widget and all its children."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.names: list[str] = []
        for one in (widget, *widget.findChildren(QWidget)):
            one.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.names.append(watched.objectName() or type(watched).__name__)
        return False


@row("idle-repaints", "paint events of the whole window while nobody does anything, in 3 s", "events", "== 0")
def idle() -> tuple[float, str]:
    with open_window(gallery_project("mnist-cnn")) as (window, _):
        spin(2.0)
        paints = Paints(window)
        spin(IDLE_SECONDS)
        names = sorted(set(paints.names))
    return len(paints.names), f"by {', '.join(names[:5])}" if names else "window with mnist-cnn, not training"


@row("memory-100", "growth over 80 more open and close cycles of an example, after 20", "MiB", "<= 8")
def memory() -> tuple[float, str]:
    import psutil

    process = psutil.Process()
    with open_window(gallery_project("iris")) as (window, _):
        sizes = []
        for _ in count():
            window.files.new_project()
            window.workspace.document.replace(gallery_project("two-heads"), None)
            spin(0.02)
            window.close_document(window.document_page)
            spin(0.02)
            gc.collect()
            sizes.append(process.memory_info().rss / 2**20)
            if len(sizes) == CYCLES:
                break
    return sizes[-1] - sizes[
        WARM
    ], f"{sizes[WARM]:.0f} MiB after {WARM} cycles, {sizes[-1]:.0f} after {CYCLES}"
