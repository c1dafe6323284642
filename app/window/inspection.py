"""Tells a test that drives the real window with a pointer where things are on the screen.

Started only when the environment names a socket in `NEUROLOOM_INSPECT`. It answers questions and changes
nothing: what a test does to the window, it does through the pointer and the keyboard like the user.

One connection, one line with a JSON question, one line with the answer. `{"widgets": "train*"}` lists the
visible widgets, menu entries, tabs and rows whose name or text matches; `{"nodes": true}` the nodes and ports
on the canvas. Positions are screen pixels `[x, y, width, height]`.
"""

from __future__ import annotations

import fnmatch
import json
import os
import socket
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QRect, QRectF, QSocketNotifier
from PySide6.QtWidgets import QAbstractItemView, QApplication, QGraphicsView, QMenu, QTabBar, QWidget

from app.canvas.items.node_item import NodeItem

VARIABLE = "NEUROLOOM_INSPECT"
MOST_ROWS = 500
LONGEST_WAIT_SECONDS = 2.0


def inspect_if_asked(parent: QObject) -> Inspector | None:
    """Start answering on the socket that the environment names; None, and no cost, where it names none."""
    path = os.environ.get(VARIABLE, "")
    return Inspector(path, parent) if path else None


class Inspector(QObject):
    """Answers questions about what is on the screen, one a connection, over a local socket."""

    def __init__(self, path: str, parent: QObject) -> None:
        super().__init__(parent)
        server = self._server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()

        def close(_gone: QObject) -> None:
            server.close()

        self.destroyed.connect(close)
        self._asked = QSocketNotifier(self._server.fileno(), QSocketNotifier.Type.Read, self)
        self._asked.activated.connect(self._answer)

    def _answer(self) -> None:
        line, _ = self._server.accept()
        with line, line.makefile("rwb") as both:
            line.settimeout(LONGEST_WAIT_SECONDS)
            question = json.loads(both.readline())
            answer = _nodes() if "nodes" in question else _things(str(question.get("widgets", "*")))
            both.write(json.dumps(answer).encode() + b"\n")


def _things(pattern: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for widget in QApplication.allWidgets():
        if not widget.isVisible():
            continue
        found.append(_widget(widget))
        if isinstance(widget, QMenu):
            found.extend(_menu_entries(widget))
        if isinstance(widget, QTabBar):
            found.extend(_tabs(widget))
        if isinstance(widget, QAbstractItemView):
            found.extend(_rows(widget))
    return [
        thing
        for thing in found
        if fnmatch.fnmatchcase(thing["name"], pattern) or fnmatch.fnmatchcase(thing["text"], pattern)
    ]


def _describe(kind: str, name: str, text: str, rect: QRect, enabled: bool) -> dict[str, Any]:
    place = [rect.x(), rect.y(), rect.width(), rect.height()]
    return {"kind": kind, "name": name, "text": text.replace("&", ""), "rect": place, "enabled": enabled}


def _on_screen(widget: QWidget, rect: QRect) -> QRect:
    return QRect(widget.mapToGlobal(rect.topLeft()), rect.size())


def _widget(widget: QWidget) -> dict[str, Any]:
    text = ""
    for reader in ("text", "title", "toPlainText", "currentText", "windowTitle"):
        read = getattr(widget, reader, None)
        if callable(read) and (text := str(read())):
            break
    rect = _on_screen(widget, widget.rect())
    return _describe(type(widget).__name__, widget.objectName(), text, rect, widget.isEnabled())


def _menu_entries(menu: QMenu) -> list[dict[str, Any]]:
    return [
        _describe(
            "entry",
            action.objectName(),
            action.text(),
            _on_screen(menu, menu.actionGeometry(action)),
            action.isEnabled(),
        )
        for action in menu.actions()
        if action.isVisible()
    ]


def _tabs(bar: QTabBar) -> list[dict[str, Any]]:
    return [
        _describe(
            "tab",
            f"{bar.objectName()}[{at}]",
            bar.tabText(at),
            _on_screen(bar, bar.tabRect(at)),
            bar.isTabEnabled(at),
        )
        for at in range(bar.count())
    ]


def _rows(view: QAbstractItemView) -> list[dict[str, Any]]:
    model = view.model()
    if model is None:
        return []
    seen: list[dict[str, Any]] = []
    inside = view.viewport().rect()
    for index in _indexes(model):
        rect = view.visualRect(index)
        if rect.isValid() and inside.contains(rect.center()):
            text = str(index.data() or "")
            seen.append(_describe("row", view.objectName(), text, _on_screen(view.viewport(), rect), True))
    return seen


def _indexes(model: QAbstractItemModel) -> list[QModelIndex]:
    found: list[QModelIndex] = []
    waiting = [QModelIndex()]
    while waiting and len(found) < MOST_ROWS:
        parent = waiting.pop()
        rows = [model.index(row, 0, parent) for row in range(min(model.rowCount(parent), MOST_ROWS))]
        found.extend(rows)
        waiting.extend(rows)
    return found


def _nodes() -> list[dict[str, Any]]:
    """The nodes on the visible canvas: id, screen rectangle and the screen place of each port."""
    found: list[dict[str, Any]] = []
    for view in QApplication.allWidgets():
        if not isinstance(view, QGraphicsView) or not view.isVisible() or view.scene() is None:
            continue
        for item in view.scene().items():
            if isinstance(item, NodeItem):
                left, top, right, bottom = item.box()
                rect = view.mapFromScene(QRectF(left, top, right - left, bottom - top)).boundingRect()
                rect = _on_screen(view.viewport(), rect)
                place = [rect.x(), rect.y(), rect.width(), rect.height()]
                found.append({"id": item.node_id, "rect": place, "ports": _ports(view, item)})
    return found


def _ports(view: QGraphicsView, item: NodeItem) -> dict[str, list[int]]:
    """Screen places by "in:port" and "out:port"."""
    places: dict[str, list[int]] = {}
    layout = item.face.layout
    for side, spots in (("in", layout.inputs), ("out", layout.outputs)):
        for spot in spots:
            where = item.port_place(spot.name, side)
            if where is not None:
                point = view.viewport().mapToGlobal(view.mapFromScene(where))
                places[f"{side}:{spot.name}"] = [point.x(), point.y()]
    return places
