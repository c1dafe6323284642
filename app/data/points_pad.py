"""The pad on which points are drawn: brushes, classes, clipboard; one stroke is one step to undo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from random import Random

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.charts.chart import Frame, Layer, Marks
from app.charts.class_marks import class_shape
from app.charts.drawing import DrawingPad
from app.data.class_picker import ClassPicker
from app.data.point_strokes import Point, far_enough, points_of, rounded, rubbed, spanning, strewn
from app.look.asked import of_class
from app.widgets.count_field import count_field
from app.widgets.labels import label
from app.widgets.segments import Segments
from app.workspace.open_document import OpenDocument
from engine.data.sets.pasted import read_points, written_points
from engine.document.edits import Edit, SetParam
from engine.errors import NeuroloomError, ParamError
from nodes.data.drawn import MOST_POINTS, DrawnPoints, class_names

BRUSHES = (
    ("draw", "Draw", "Click for a point, drag for a line of points"),
    ("spray", "Spray", "Adds several points around the pointer; the wheel sets the radius"),
    ("erase", "Erase", "Removes the points in the circle, as the right button always does"),
)
DRAW_STEP, SPRAY_STEP = 11.0, 14.0  # pixels between points of a line, and between dabs
CONTROLS_WIDTH = 244
EDGES = (("x_from", "x from"), ("x_to", "to"), ("y_from", "y from"), ("y_to", "to"))
AXES_FROM = 330  # pixels of height that leave room for the fields of the axes
_NUMBER_KEYS = (*range(Qt.Key.Key_1, Qt.Key.Key_9 + 1), Qt.Key.Key_0)


class PointsPad(QWidget):
    """Draws into the parameter `points` of one node; what is on the pad is what the document holds."""

    told = Signal(str)

    def __init__(self, workspace: OpenDocument, node_id: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pointsPad")
        self._workspace = workspace
        self._node_id = node_id
        self._points: list[Point] = []
        self._names: tuple[str, ...] = ()
        self._stroke = ""  # "draw", "spray" or "erase" while a button is down
        self._last = (0.0, 0.0)
        self._random = Random(0)
        self.pad = DrawingPad()
        self.pad.setObjectName("drawingPad")
        self.pad.setAccessibleName("Pad to draw points on: arrow keys move, Space draws, Backspace erases")
        self.pad.read = self._read
        self.brush = Segments(BRUSHES)
        self.brush.setObjectName("brush")
        self.picker = ClassPicker()
        self.dab = count_field("dab", 1, 100, 5, 52)
        self.dab.setToolTip("How many points one click of the spray adds")
        self.dab.setAccessibleName("Points per click")
        self.edges: dict[str, QLineEdit] = {}
        self.undo = _small("Undo", "Undo the last step (Ctrl+Z)", "undoDrawing")
        self.clear = _small("Clear", "Remove all points", "clearPoints")
        self.paste = _small("Paste", "Add lines of x, y and class from the clipboard (Ctrl+V)", "pastePoints")
        self.copy = _small("Copy", "Copy all points, for a spreadsheet (Ctrl+C)", "copyPoints")
        self.facts = label("", "small", wrap=True)
        self.facts.setObjectName("pointFacts")
        self.said = label("", "small", wrap=True)
        self.said.setObjectName("pointsSaid")
        self._lay_out()
        self._connect()
        self._brush_chosen()
        self.refresh()

    # -- building ---------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._dab_row = QWidget()
        dab = _row(self._dab_row)
        dab.addWidget(self.dab)
        dab.addWidget(label("points", "small"))
        brush = QHBoxLayout()
        brush.addWidget(self.brush)
        brush.addStretch(1)
        brush.addWidget(self._dab_row)
        self._axes = QWidget()
        axes = QGridLayout(self._axes)
        axes.setContentsMargins(0, 0, 0, 0)
        axes.setSpacing(5)
        for at, (name, words) in enumerate(EDGES):
            field = QLineEdit()
            field.setObjectName(name)
            field.setAccessibleName(f"{words} ({name[0]} axis)")
            field.setProperty("role", "number")
            field.setFixedWidth(76)
            field.editingFinished.connect(partial(self._edge_typed, name))
            self.edges[name] = field
            axes.addWidget(label(words, "small"), at // 2, 2 * (at % 2))
            axes.addWidget(field, at // 2, 2 * (at % 2) + 1)
        axes.setColumnStretch(4, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(4)
        for button in (self.undo, self.clear, self.paste, self.copy):
            buttons.addWidget(button)
        buttons.addStretch(1)
        controls = QWidget()
        controls.setFixedWidth(CONTROLS_WIDTH)
        column = QVBoxLayout(controls)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        column.addLayout(brush)
        column.addWidget(self.picker)
        column.addWidget(self._axes)
        column.addLayout(buttons)
        column.addWidget(self.facts)
        column.addWidget(self.said)
        column.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(14)
        row.addWidget(self.pad, 1)
        row.addWidget(controls)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def _connect(self) -> None:
        self.pad.began.connect(self._begin)
        self.pad.dragged.connect(self._drag)
        self.pad.ended.connect(self._end)
        self.pad.dropped.connect(self._drop)
        self.brush.chosen.connect(self._brush_chosen)
        self.picker.count_wanted.connect(self.set_count)
        self.picker.named.connect(self._name_class)
        self.undo.clicked.connect(self._workspace.undo)
        self.clear.clicked.connect(self.clear_points)
        self.paste.clicked.connect(self.paste_points)
        self.copy.clicked.connect(self.copy_points)
        self._workspace.changed.connect(self._changed)

    # -- what is shown ----------------------------------------------------------------------------

    @property
    def node_id(self) -> str:
        """The node whose points are on the pad."""
        return self._node_id

    def show_node(self, node_id: str) -> None:
        """Draw into another node from now on."""
        if node_id != self._node_id:
            self.pad.cancel()
            self._node_id = node_id
            self._say("")
            self.refresh()

    def refresh(self) -> None:
        """Show what the document holds."""
        made = self._made()
        self.setEnabled(made is not None)
        if made is None:
            self._points = []
            return
        self._points = list(points_of(made))
        # A class that is no more may still have points: they keep their mark, so that they can be erased.
        self._names = made.classes_called
        self._stroke = ""
        self.picker.setVisible(not made.draws_values)
        self.picker.show_classes(self._names)
        for name, field in self.edges.items():
            if not field.hasFocus():
                field.setText(f"{getattr(made, name):g}")
        self._show_points()

    def _made(self) -> DrawnPoints | None:
        """The node with its parameters read; None where it is gone or broken."""
        node = self._workspace.node(self._node_id)
        if node is None:
            return None
        try:
            made = self._workspace.catalogue.make(node)
        except NeuroloomError:
            return None
        return made if isinstance(made, DrawnPoints) else None

    def _changed(self, _change: object) -> None:
        if self.isVisible():
            self.pad.cancel()
            self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def _show_points(self) -> None:
        made = self._made()
        if made is None:
            return
        layers: list[Layer] = []
        table = np.array(self._points, float).reshape(-1, 3)
        values = made.draws_values
        kinds = np.zeros(len(table)) if values else table[:, 2]
        size = 8.5 if len(table) <= 400 else 6.0
        for index in np.unique(kinds).astype(int).tolist():
            own = table[kinds == index]
            layers.append(Marks(own[:, 0], own[:, 1], of_class(index), class_shape(index), size))
        across, up = self._spans(made)
        empty = Marks(np.empty(0), np.empty(0))  # a chart without a layer shows nothing, not even its axes
        self.pad.show_layers(Frame(across, up, "x", "y"), layers or [empty])
        self._show_facts(made)

    @staticmethod
    def _spans(made: DrawnPoints) -> tuple[tuple[float, float], tuple[float, float]]:
        """The axes; a unit wide where the edges are the wrong way round."""
        across, up = (made.x_from, made.x_to), (made.y_from, made.y_to)
        return (
            across if across[0] < across[1] else (across[0], across[0] + 1.0),
            up if up[0] < up[1] else (up[0], up[0] + 1.0),
        )

    def _show_facts(self, made: DrawnPoints) -> None:
        count = len(self._points)
        if not count:
            words = "Click to place points, drag for a line of them, or paste lines of x, y and class."
            self.facts.setText(words.removesuffix(" and class.") + "." if made.draws_values else words)
            return
        words = f"{count:,} point{'' if count == 1 else 's'}"
        if not made.draws_values:
            found = Counter(point[2] for point in self._points)
            words += " · " + ", ".join(f"{self._called(kind)}: {found[kind]:,}" for kind in sorted(found))
        (left, right), (low, high) = self._spans(made)
        outside = sum(1 for x, y, _ in self._points if not (left <= x <= right and low <= y <= high))
        if outside:
            words += f" · {outside:,} outside the axes"
        if count < made.spare:
            words += f" · fewer than {made.spare}, so all are in each split"
        self.facts.setText(words)

    def _called(self, kind: int) -> str:
        return self._names[kind] if kind < len(self._names) else f"class {kind + 1} (no such class)"

    def _read(self, x: float, y: float) -> str:
        """What lies under the pointer."""
        reach = (self.pad.reach()[0] * 8 / self.pad.radius, self.pad.reach()[1] * 8 / self.pad.radius)
        near = [point for point in self._points if not far_enough(point[:2], (x, y), reach)]
        if not near:
            return ""
        px, py, kind = near[-1]
        made = self._made()
        name = "" if made is None or made.draws_values else f"\n{self._called(kind)}"
        return f"x {px:g} · y {py:g}{name}"

    def _say(self, words: str, *, bad: bool = False) -> None:
        from app.widgets.labels import restyle

        self.said.setText(words)
        self.said.setProperty("role", "error" if bad else "small")
        restyle(self.said)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._axes.setVisible(self.height() >= AXES_FROM)
        super().resizeEvent(event)

    # -- strokes ----------------------------------------------------------------------------------

    def _begin(self, x: float, y: float, rubs: bool) -> None:
        if self._made() is None:
            return
        self._say("")
        self._stroke = "erase" if rubs else self.brush.key
        self._last = (x, y)
        self._dab_at(x, y)

    def _drag(self, x: float, y: float) -> None:
        if not self._stroke:
            return
        pixels = DRAW_STEP if self._stroke == "draw" else SPRAY_STEP
        if self._stroke == "erase":
            self._dab_at(x, y)
            return
        scale = pixels / self.pad.radius
        reach = self.pad.reach()
        if far_enough((x, y), self._last, (reach[0] * scale, reach[1] * scale)):
            self._last = (x, y)
            self._dab_at(x, y)

    def _dab_at(self, x: float, y: float) -> None:
        made = self._made()
        if made is None:
            return
        if self._stroke == "erase":
            kept = rubbed(self._points, x, y, self.pad.reach())
            if len(kept) == len(self._points):
                return
            self._points = kept
        else:
            across, up = self._spans(made)
            if self._stroke == "draw":
                places = [rounded(x, y, across, up)]
            else:
                places = strewn(x, y, self.pad.reach(), self.dab.value(), across, up, self._random)
            room = MOST_POINTS - len(self._points)
            if len(places) > room:
                self._say(f"The pad is full: it holds {MOST_POINTS:,} points.", bad=True)
            kind = 0 if made.draws_values else self.picker.current
            self._points += [(*place, kind) for place in places[: max(0, room)]]
        self._show_points()

    def _end(self) -> None:
        stroke, self._stroke = self._stroke, ""
        if stroke:
            self._commit({"draw": "Draw points", "spray": "Spray points"}.get(stroke, "Erase points"))

    def _drop(self) -> None:
        self._stroke = ""
        self.refresh()

    def _commit(self, words: str, *more: Edit) -> bool:
        """Keep what is on the pad as one step; nothing where that is what the document holds."""
        made = self._made()
        if made is None:
            return False
        points = tuple(self._points)
        edits = list(more)
        if points != points_of(made) or len(points) != len(made.points):
            edits.append(SetParam(self._node_id, "points", points))
        self._workspace.document.seal()
        return bool(edits) and self._workspace.apply(words, *edits)

    # -- classes and axes -------------------------------------------------------------------------

    def _brush_chosen(self, _key: str = "") -> None:
        key = self.brush.key
        self.pad.round, self.pad.rubs = key != "draw", key == "erase"
        self._dab_row.setVisible(key == "spray")
        self.pad.update()

    def set_count(self, count: int) -> None:
        """Have so many classes; points of classes beyond go with them, in the same step."""
        made = self._made()
        if made is None or count == made.classes:
            return
        edits: list[Edit] = [SetParam(self._node_id, "classes", count)]
        if count < made.classes:
            self._points = [point for point in self._points if point[2] < count]
            if len(made.names) > count:
                edits.append(SetParam(self._node_id, "names", made.names[:count]))
        self._commit("More classes" if count > made.classes else "Fewer classes", *edits)
        if count > made.classes:
            self.picker.pick(count - 1)

    def _name_class(self, name: str) -> None:
        made = self._made()
        if made is None:
            return
        names = list(made.classes_called)
        if name in names:
            self._say(f"There is a class {name} already.", bad=True)
            self.refresh()
            return
        names[self.picker.current] = name
        self._commit("Name a class", SetParam(self._node_id, "names", tuple(names)))

    def _edge_typed(self, name: str) -> None:
        """An edge of the axes: a sentence where it is no number, or beyond the other edge."""
        made, field = self._made(), self.edges[name]
        spec = DrawnPoints.param_spec(name)
        if made is None or spec is None or field.text() == f"{getattr(made, name):g}":
            return
        try:
            value = spec.parse(field.text())
        except ParamError as error:
            self._say(error.message, bad=True)
            return
        edges = {edge: getattr(made, edge) for edge in self.edges} | {name: value}
        if edges["x_from"] >= edges["x_to"] or edges["y_from"] >= edges["y_to"]:
            self._say("The first number of an axis must be the smaller one.", bad=True)
            return
        self._say("")
        self._commit("Set the axes", SetParam(self._node_id, name, value))

    # -- all points at once -----------------------------------------------------------------------

    def clear_points(self) -> None:
        """Remove all points, in one step."""
        self._points = []
        self._commit("Clear points")

    def copy_points(self) -> None:
        """Put all points on the clipboard, a line each."""
        made = self._made()
        if made is None:
            return
        text = written_points(self._points, self._names, values=made.draws_values)
        QGuiApplication.clipboard().setText(text)
        self._say(f"{len(self._points):,} points copied." if self._points else "There are no points to copy.")

    def paste_points(self) -> None:
        """Add the points on the clipboard, in one step; a sentence where it holds none."""
        made = self._made()
        if made is None:
            return
        taken = {point[2] for point in self._points}
        free = [
            index
            for index in range(made.classes)
            if index not in taken and not any(made.names[index : index + 1])
        ]
        try:
            found = read_points(
                QGuiApplication.clipboard().text(),
                self._names,
                self.picker.current,
                free=free,
                values=made.draws_values,
            )
        except NeuroloomError as error:
            self._say(error.message, bad=True)
            return
        if len(self._points) + len(found.points) > MOST_POINTS:
            self._say(
                f"The pad holds {MOST_POINTS:,} points, and that is more; nothing was pasted.", bad=True
            )
            return
        self._points += found.points
        edits: list[Edit] = []
        if found.names != self._names:
            edits.append(SetParam(self._node_id, "classes", len(found.names)))
            edits.append(SetParam(self._node_id, "names", _shortest(found.names)))
        remarks = [
            f"{len(found.points):,} point{'' if len(found.points) == 1 else 's'} pasted.",
            *found.remarks,
        ]
        across, up = self._spans(made)
        for name, value in zip(
            self.edges, (e for span in spanning(found.points, across, up) for e in span), strict=True
        ):
            if value != getattr(made, name):
                edits.append(SetParam(self._node_id, name, value))
        if any(edit.name.startswith(("x_", "y_")) for edit in edits if isinstance(edit, SetParam)):
            remarks.append("The axes were widened to hold them.")
        self._commit("Paste points", *edits)
        self._say(" ".join(remarks))

    # -- keys -------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Paste):
            self.paste_points()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy_points()
        elif key in _NUMBER_KEYS and event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        ):
            self.picker.pick(_NUMBER_KEYS.index(key))
        else:
            super().keyPressEvent(event)


def _shortest(names: Sequence[str]) -> tuple[str, ...]:
    """Names without those that the classes have anyway."""
    return tuple(names) if tuple(names) != class_names(len(names), ()) else ()


def _small(text: str, tip: str, name: str) -> QPushButton:
    made = QPushButton(text)
    made.setObjectName(name)
    made.setProperty("kind", "small")
    made.setToolTip(tip)
    return made


def _row(holder: QWidget) -> QHBoxLayout:
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(5)
    return row
