"""The form of a procedure asks for what is typed, and its states are stepped through."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.charts.chart import Marks
from app.look.base import Subject
from app.look.playground.procedure import RunProcedure, has_procedures
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.look.showing import painted, shown, snapshot
from tests.app.look.test_generation import memory
from tests.gallery.boxed import boxed


def view_of(workspace: Workspace, qtbot: QtBot) -> RunProcedure:
    view = RunProcedure(Subject(workspace))
    qtbot.addWidget(view)
    return view


def test_the_form_has_a_field_for_each_input_and_asks_for_what_is_typed(
    shaped: Workspace, qtbot: QtBot
) -> None:
    assert not has_procedures(Subject(shaped))
    memory(shaped)
    assert has_procedures(Subject(shaped))
    view = view_of(shaped, qtbot)
    assert view.which.currentData() == "recall"
    (probe,) = view.probes()
    assert probe == Probe("", "procedure", ("recall", 1))
    steps = view.findChild(QLineEdit, "control_steps")
    split = view.findChild(QComboBox, "control_split")
    assert steps is not None and split is not None and steps.text() == "20"
    with qtbot.waitSignal(view.needs_changed):
        steps.setText("7")
        steps.textEdited.emit("7")
    assert view.probes() == {Probe("", "procedure", ("recall", 1, "steps", "7"))}
    view.again.click()
    assert view.probes() == {Probe("", "procedure", ("recall", 2, "steps", "7"))}
    steps.setText("many")
    steps.textEdited.emit("many")
    assert view.probes() == {Probe("", "procedure", ("recall", 2, "steps", "7"))}
    state = view.state()
    other = view_of(shaped, qtbot)
    other.restore(state)
    assert other.which.currentData() == "recall" and other.probes() == {Probe("", "procedure", ("recall", 2))}


def test_the_slider_goes_through_the_states(shaped: Workspace, qtbot: QtBot) -> None:
    memory(shaped)
    view = view_of(shaped, qtbot)
    (probe,) = view.probes()
    facts = {"key": "state", "words": ("a", "b", "c"), "cut": False, "seed": 1, "images": False}
    array = np.arange(12.0).reshape(3, 2, 2)
    shown(view, {probe: snapshot(array, **facts)})
    painted(view, 560, 320)
    assert view.steps.slider.maximum() == 2 and view.words.text() == "c"
    assert [line.values.tolist() for line in view.lines.lines] == [[0, 4, 8], [1, 5, 9]]
    view.steps.slider.setValue(1)
    assert view.words.text() == "b" and [len(line.values) for line in view.lines.lines] == [2, 2]
    shown(view, {probe: snapshot(array + 1, **facts)})
    assert view.steps.slider.value() == 1  # a newer snapshot leaves the place
    images = np.zeros((3, 2, 4, 4))
    shown(view, {probe: snapshot(images, **{**facts, "images": True, "cut": True})})
    assert view.stage.currentWidget() is view.images and len(view.images.rows) == 2
    assert "more states would follow" in view.note
    texts = {**facts, "texts": ("x", "y", "z"), "tags": ("NOUN", "", "VERB")}
    shown(view, {probe: snapshot(np.arange(3), **texts)})
    assert view.stage.currentWidget() is view.text
    assert [(one.text, one.below) for one in view.text.tokens] == [("x", "NOUN"), ("y", "")]
    level = ((0, "x", -1.0, True), (0, "y", -2.0, False))
    tree = {**texts, "tree": (level, level, level), "log_probabilities": (-1.0, -1.5, -2.0)}
    shown(view, {probe: snapshot(np.arange(3), **tree)})
    assert view.stage.currentWidget() is view.tree and view.tree.step == 1
    assert view.words.text() == "y  log-probability -1.50"
    header, rows = view.table() or ((), ())
    assert header == ("state", "text") and rows == [(1, "x"), (2, "y"), (3, "z")]


def test_samples_of_two_numbers_are_points_between_edges_that_stay(shaped: Workspace, qtbot: QtBot) -> None:
    memory(shaped)
    view = view_of(shaped, qtbot)
    (probe,) = view.probes()
    facts = {"key": "samples", "words": ("a", "b"), "cut": False, "seed": 1, "images": False}
    array = np.arange(12.0).reshape(2, 3, 2)
    shown(view, {probe: snapshot(array, **facts)})
    painted(view, 560, 320)
    assert view.stage.currentWidget() is view.points
    (marks,) = view.points.layers
    assert isinstance(marks, Marks)
    assert marks.x.tolist() == [6, 8, 10] and marks.y.tolist() == [7, 9, 11]
    frame = view.points.frame_shown
    view.steps.slider.setValue(0)
    (marks,) = view.points.layers
    assert isinstance(marks, Marks)
    assert marks.x.tolist() == [0, 2, 4]
    assert (view.points.frame_shown.x, view.points.frame_shown.y) == (frame.x, frame.y)


def test_boxes_are_drawn_over_their_images_one_after_the_other(shaped: Workspace, qtbot: QtBot) -> None:
    shaped.document.replace(boxed("CentrePointLoss", shaped.document.project.plan), None)
    view = view_of(shaped, qtbot)
    assert view.which.currentData() == "detect"
    (probe,) = view.probes()
    boxes = np.array([[0, 3, 0.1, 0.1, 0.5, 0.5, 0.9], [1, 4, 0.5, 0, 1, 1, 0.75]], np.float32)
    facts = {"key": "box", "words": ("a", "b"), "cut": False, "seed": 1, "images": False}
    facts |= {"found": boxes, "inputs": np.zeros((2, 1, 8, 8), np.float32), "rows": (4, 9)}
    shown(view, {probe: snapshot(boxes[:, None, 2:6], split="test", **facts)})
    whole = painted(view, 640, 300)
    assert view.stage.currentWidget() is view.boxes and view.boxes.shown == 2
    assert view.boxes.captions == ["test example 5", "test example 10"]
    view.steps.slider.setValue(0)
    assert not np.array_equal(whole, painted(view, 640, 300)) and view.words.text() == "a"
    header, rows = view.table() or ((), ())
    assert header[:2] == ("row", "class") and rows[1] == (1, 4, 0.5, 0, 1, 1, 0.75)


def test_another_procedure_has_another_form(shaped: Workspace, qtbot: QtBot) -> None:
    memory(shaped)
    view = view_of(shaped, qtbot)
    index = view.which.findData("predict")
    view.which.setCurrentIndex(index)
    view.which.activated.emit(index)
    assert view.probes() == {Probe("", "procedure", ("predict", 1))}
    assert view.findChild(QLineEdit, "control_rows") is not None
    index = view.which.findData("attribute")
    view.which.setCurrentIndex(index)
    view.which.activated.emit(index)
    patch, method = view.findChild(QWidget, "field_patch"), view.findChild(QComboBox, "control_method")
    assert patch is not None and method is not None and patch.isHidden()
    method.setCurrentIndex(method.findText("occlusion"))
    method.activated.emit(method.currentIndex())
    assert not patch.isHidden()


def test_the_form_stands_above_the_states_in_a_narrow_card(shaped: Workspace, qtbot: QtBot) -> None:
    memory(shaped)
    view = view_of(shaped, qtbot)
    for width, beside in ((640, True), (318, False), (640, True)):
        painted(view, width, 300)
        form, stage = view.form_area.geometry(), view.stage.geometry()
        assert not form.intersects(stage) and (form.right() < stage.left()) == beside
        assert beside or form.bottom() < stage.top()
