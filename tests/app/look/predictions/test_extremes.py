"""The worst stand above the best, with words that say what was right and what was answered."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.look.base import Subject
from app.look.predictions import extremes
from app.look.predictions.extremes import WorstAndBest
from app.workspace.workspace import Workspace
from engine.catalogue import Column
from engine.document.files import load_project
from engine.feed.feed import Probe
from tests.app.look.planes import add_digits, add_line
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.train.networks import DATASETS

PROBE = Probe("n3", "worst_and_best", (6,))


def drawn(workspace: Workspace) -> WorstAndBest:
    add_digits(workspace)
    view = WorstAndBest(Subject(workspace, "n3"))
    facts = {
        "kind": "classes", "classes": tuple("0123456789"), "rows": (7, 3, 9, 1), "names": (),
        "looked_at": 360,
        "loss": np.array([4.0, 2.0, 0.02, 0.01]), "mean_loss": 0.5, "right": np.array([5, 4, 0, 1]),
        "predicted": np.array([3, 9, 0, 1]), "sure": np.array([0.9, 0.5, 0.98, 0.99]),
    }  # fmt: skip
    shown(view, {PROBE: snapshot(np.zeros((4, 8, 8)), **facts)})
    return view


def test_worst_and_best(shaped: Workspace) -> None:
    view = drawn(shaped)
    told = view.sheet.examples
    assert [example.heading for example in told] == ["largest loss"] * 2 + ["smallest loss"] * 2
    assert told[0].lines == ("5 as 3 90 %", "loss 4") and not told[0].right
    assert told[3].lines == ("1 99 %", "loss 0.01") and told[3].right
    assert view.note == "cross-entropy, mean 0.5 over 360 held out examples"
    header, rows = view.table()
    assert header == ("example", "loss", "right", "predicted") and rows[0] == (8, 4.0, "5", "3")


def test_a_click_pins_the_example(shaped: Workspace) -> None:
    view = drawn(shaped)
    painted(view, 480, 240)
    place = view.sheet.places[0].center().toPoint()
    QTest.mouseClick(view.sheet, Qt.MouseButton.LeftButton, pos=place)
    assert shaped.trainer.pinned


def test_numbers_tell_both(shaped: Workspace) -> None:
    add_line(shaped)
    view = WorstAndBest(Subject(shaped, "n3"))
    facts = {
        "kind": "values", "classes": (), "rows": (0, 1), "names": ("x",), "looked_at": 20, "mean_loss": 1.0,
        "loss": np.array([4.0, 0.0]), "right": np.array([1.0, 2.0]), "predicted": np.array([3.0, 2.0]),
    }  # fmt: skip
    shown(view, {PROBE: snapshot([[0.5], [0.1]], **facts)})
    assert view.sheet.examples[0].lines == ("3, right 1", "loss 4")
    assert view.note == "squared error, mean 1 over 20 held out examples"


def test_texts_are_shown_in_words(shaped: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    column = Column("tokens", (4,), "int64", ("[pad]", "[unknown]", "o", "day"))
    monkeypatch.setattr(extremes, "input_columns", lambda *_: (column,))  # no file is read for its words
    project = load_project(DATASETS.parent / "gallery" / "end-marks.nloom")
    shaped.document.replace(project, None)
    view = WorstAndBest(Subject(shaped, "n4"))
    facts = {
        "kind": "classes", "classes": ("!", "?", "."), "rows": (7, 3), "names": (), "looked_at": 9,
        "loss": np.array([4.0, 0.5]), "mean_loss": 0.5, "right": np.array([1, 0]),
        "predicted": np.array([2, 0]), "sure": np.array([0.9, 0.8]), "tokens": "tokens",
    }  # fmt: skip
    probe, tokens = Probe("n4", "worst_and_best", (6,)), np.array([[2, 1, 3, 0], [3, 0, 0, 0]])
    shown(view, {probe: snapshot(tokens, **facts)})
    assert view.sheet.examples[0].lines == ("? as . 90 %", "loss 4", "o [unknown] day")
    assert view.sheet.examples[1].lines[-1] == "day"
    painted(view, 480, 240)
    assert len(view.sheet.places) == 2
