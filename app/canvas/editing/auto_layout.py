"""Automatic layout of the canvas: computed beside the window, given up on Esc, undone as one step."""

from __future__ import annotations

from functools import partial
from threading import Event

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from app.canvas.scene.canvas import Canvas
from app.widgets.background import Background
from app.widgets.labels import label
from engine.document.edits import Edit, Move, SetBends
from engine.errors import NeuroloomError
from engine.layout import LayoutCancelled, Wire, fold_width
from engine.layout.clusters import clustered

PATIENCE_MS = 400  # a layout that is done sooner needs no word
_MARGIN = 16
Places = dict[str, tuple[float, float]]


class LayingOut(QObject):
    """Lays out what one canvas shows. Whatever changes the document meanwhile ends it without a trace."""

    ended = Signal(bool)  # whether places were found and taken

    def __init__(self, view: Canvas, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = view
        self._given_up = Event()
        self._whole = True
        self._worker = Background("layout", self)
        self._worker.finished.connect(self._finished)
        self.note = _Note(parent)
        self.note.button.clicked.connect(self.cancel)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self.note.appear)
        self._escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), parent)
        self._escape.setContext(Qt.ShortcutContext.WidgetShortcut)
        self._escape.setEnabled(False)
        self._escape.activated.connect(self.cancel)
        view.workspace.changed.connect(self._interrupted)
        view.workspace.closing.connect(self.close)

    @property
    def busy(self) -> bool:
        """Whether a layout is being computed."""
        return self._worker.busy

    def start(self) -> None:
        """Begins to lay out the selected nodes, or everything where fewer than two are selected."""
        scene, chosen = self._view.graph_scene, self._view.workspace.selection
        self._whole = len(chosen) < 2
        ids = list(scene.node_items) if self._whole else list(chosen)
        if not ids:
            return
        self._view.cancel_interaction()
        self._given_up.set()  # one that still runs makes way
        self._given_up = Event()
        faces = {node_id: scene.node_items[node_id].face.layout for node_id in ids}
        wires = []
        for link in sorted(scene.link_items):
            if link.source in faces and link.target in faces:
                start = faces[link.source].spot(link.source_port, "out")
                end = faces[link.target].spot(link.target_port, "in")
                if start is not None and end is not None:
                    wires.append(Wire(link.source, link.target, start.y, end.y))
        current = {node_id: self._view.workspace.graph.nodes[node_id].position for node_id in ids}
        self.note.say(f"Laying out {len(ids):,} nodes…")
        self._escape.setEnabled(True)
        self._patience.start()
        self._worker.ask(
            partial(
                clustered,
                {node_id: (face.width, face.height) for node_id, face in faces.items()},
                wires,
                scene.dressing.clusters(frozenset(ids)),
                current,
                cancelled=self._given_up.is_set,
                width=fold_width(len(ids)),
            )
        )

    def cancel(self) -> None:
        """Gives up the layout that is being computed; nothing is moved."""
        self._given_up.set()
        self._rest()

    def close(self) -> None:
        """Ends the thread."""
        self.cancel()
        self._worker.close()

    def _rest(self) -> None:
        self._patience.stop()
        self._escape.setEnabled(False)
        self.note.hide()

    def _interrupted(self, _change: object) -> None:
        if not self._given_up.is_set():
            self.cancel()  # also places that are found, and on their way here

    def _finished(self, places: Places | None, error: NeuroloomError | None) -> None:
        if self._worker.busy:
            return  # of a request that another has replaced
        self._rest()
        gone = places is not None and not places.keys() <= self._view.workspace.graph.nodes.keys()
        if gone or isinstance(error, LayoutCancelled) or self._given_up.is_set():
            self.ended.emit(False)  # the canvas may show another graph by now
            return
        if error is not None or places is None:
            self._view.workspace.message.emit(str(error), "error")
            self.ended.emit(False)
            return
        self.ended.emit(self._take(places))

    def _take(self, places: Places) -> bool:
        graph = self._view.workspace.graph
        moved = {
            node_id: place for node_id, place in places.items() if graph.nodes[node_id].position != place
        }
        edits: list[Edit] = [Move(moved)] if moved else []
        # Points that a wire was led through belong to where its nodes stood.
        edits += [
            SetBends(link, ())
            for link in graph.links
            if graph.bends(link) and link.source in places and link.target in places
        ]
        if not edits:
            self._view.workspace.message.emit("Everything is already where a layout would put it.", "info")
            return True
        taken = self._view.workspace.apply("Lay out", *edits)
        if taken and self._whole:
            self._view.fit()
        return taken


class _Note(QFrame):
    """What is going on, over the lower edge of the canvas, with a way out."""

    def __init__(self, canvas: QWidget) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self.setObjectName("layoutNote")
        self._text = label("")
        self.button = QPushButton("Cancel")
        self.button.setObjectName("layoutCancel")
        self.button.setProperty("kind", "small")
        self.button.setToolTip("Esc")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 8, 6)
        row.setSpacing(12)
        row.addWidget(self._text)
        row.addWidget(self.button)
        self.hide()

    def say(self, text: str) -> None:
        self._text.setText(text)

    def appear(self) -> None:
        self.adjustSize()
        room = self._canvas.size()
        self.move((room.width() - self.width()) // 2, room.height() - self.height() - _MARGIN)
        self.show()
        self.raise_()
