"""What the bench's canvas rows measure, done with NodeGraphQt. Run by the Python of its own environment.

Reads {"measure": NAME, "nodes": [[id, [inputs], [outputs], x, y], ...], "links": [[source, port, target,
port], ...]} from stdin; writes {"value": NUMBER} as its last line. Imports nothing of this project.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

from NodeGraphQt import BaseNode, NodeGraph
from Qt import QtCore, QtGui, QtWidgets

STEPS = 60
WINDOW = (1440, 900)


class AnyNode(BaseNode):
    """A node whose ports are made as they are needed."""

    __identifier__ = "bench"
    NODE_NAME = "node"


def built(task: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The graph, built as a program that loads a file would."""
    graph = NodeGraph()
    graph.register_node(AnyNode)
    graph.viewer().resize(*WINDOW)
    graph.viewer().show()
    nodes = {}
    for key, inputs, outputs, x, y in task["nodes"]:
        node = graph.create_node("bench.AnyNode", name=key, pos=(x, y), selected=False, push_undo=False)
        for name in inputs:
            node.add_input(name)
        for name in outputs:
            node.add_output(name, multi_output=True)
        nodes[key] = node
    for source, port, target, other in task["links"]:
        nodes[source].outputs()[port].connect_to(nodes[target].inputs()[other], push_undo=False)
    QtWidgets.QApplication.processEvents()
    return graph, nodes


def open_seconds(task: dict[str, Any]) -> float:
    began = time.perf_counter()
    built(task)
    return time.perf_counter() - began


def repaint_ms(task: dict[str, Any]) -> float:
    graph, _ = built(task)
    graph.fit_to_selection() if graph.selected_nodes() else graph.viewer().zoom_to_nodes(
        [node.view for node in graph.all_nodes()]
    )
    return statistics.median(_timed(graph.viewer().viewport().repaint) for _ in range(15))


def pan_ms(task: dict[str, Any]) -> float:
    graph, _ = built(task)
    viewer = graph.viewer()

    def step() -> None:
        viewer._set_viewer_pan(-9, -6)
        viewer.viewport().repaint()

    return statistics.median(_timed(step) for _ in range(STEPS))


def zoom_ms(task: dict[str, Any]) -> float:
    graph, _ = built(task)
    viewer = graph.viewer()
    centre = QtCore.QPoint(WINDOW[0] // 2, WINDOW[1] // 2)
    turn = iter(range(10_000))

    def step() -> None:
        viewer._set_viewer_zoom(20 if next(turn) % 20 < 10 else -20, 0.0, centre)
        viewer.viewport().repaint()

    return statistics.median(_timed(step) for _ in range(STEPS))


def drag_ms(task: dict[str, Any]) -> float:
    graph, nodes = built(task)
    viewer = graph.viewer()
    node = next(iter(nodes.values()))
    viewer.centerOn(node.view)

    def step() -> None:
        node.view.setPos(node.view.x() + 3, node.view.y() + 2)
        viewer.viewport().repaint()

    return statistics.median(_timed(step) for _ in range(STEPS))


def undo_delete_ms(task: dict[str, Any]) -> float:
    graph, _ = built(task)
    graph.delete_nodes(graph.all_nodes()[10:510])
    QtWidgets.QApplication.processEvents()

    def undo() -> None:
        graph.undo_stack().undo()
        QtWidgets.QApplication.processEvents()

    return _timed(undo)


def layout_seconds(task: dict[str, Any]) -> float:
    graph, _ = built(task)
    return _timed(graph.auto_layout_nodes) / 1000


def _timed(step: Any) -> float:
    began = time.perf_counter()
    step()
    return (time.perf_counter() - began) * 1000


MEASURES = {
    "open": open_seconds,
    "repaint": repaint_ms,
    "pan": pan_ms,
    "zoom": zoom_ms,
    "drag": drag_ms,
    "undo-delete": undo_delete_ms,
    "layout": layout_seconds,
}


def main() -> None:
    task = json.load(sys.stdin)
    application = QtWidgets.QApplication(sys.argv[:1])
    application.setQuitOnLastWindowClosed(False)
    assert QtGui is not None
    value = MEASURES[task["measure"]](task)
    sys.stdout.write(json.dumps({"value": value}) + "\n")
    sys.stdout.flush()
    import os

    os._exit(0)  # its items outlive the application, and closing them in that order crashes


if __name__ == "__main__":
    main()
