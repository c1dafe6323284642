"""The views panel shows what belongs to the kind of node that is selected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.charts.arrays.filters import FiltersNow
from app.look.base import Subject
from app.look.dock.card import ViewCard
from app.look.predictions.example import best_shown, class_words
from app.look.predictions.prediction import prediction_bars
from app.panels.views import NOTHING, SEVERAL, ViewsPanel
from app.workspace.workspace import Workspace
from engine.document.edits import Remove
from engine.feed.feed import Probe, Snapshot
from tests.app.fake_run import FakeTrainer, snapshots, workspace_with_fakes


class Shown:
    """A views panel on screen; `PARTS` are the views that these tests are about."""

    PARTS = ("example", "activations", "filters", "histograms", "prediction")

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.workspace: Workspace
        self.trainer: FakeTrainer
        self.workspace, self.trainer = workspace_with_fakes(folder)
        self.panel = ViewsPanel(self.workspace)
        qtbot.addWidget(self.panel)
        self.panel.resize(1064, 760)
        with qtbot.waitExposed(self.panel):
            self.panel.show()

    def cards(self) -> list[str]:
        return [name for name in self.PARTS if (card := self.panel.dock.card(name)) and card.isVisible()]

    def card(self, kind: str) -> ViewCard:
        found = self.panel.dock.card(kind)
        assert found is not None
        return found

    def view(self, kind: str) -> Any:
        return self.card(kind).pane.view

    def words(self, name: str) -> str:
        found = self.panel.findChild(QLabel, name)
        assert found is not None
        return found.text()


@pytest.fixture
def shown(qtbot: QtBot, tmp_path: Path) -> Iterator[Shown]:
    made = Shown(qtbot, tmp_path)
    yield made
    made.workspace.close()


def test_without_a_selection_views_are_of_the_whole_network(shown: Shown) -> None:
    dock = shown.panel.dock
    assert [card.kind.id for card in dock.cards] == ["worst-and-best", "try-it", "layer_table"]
    assert [card.size_name for card in dock.cards] == ["L", "M", "M"]
    assert shown.words("viewsTitle") == "Whole model"
    menu = dock.strip.menu(Subject(shown.workspace))
    heads = [one.text() for one in menu.actions() if not one.isEnabled() and one.text()]
    assert heads == ["Of the whole model"]
    shown.workspace.select(["n2", "n4"])
    assert dock.cards == [] and shown.words("viewsMessage") == SEVERAL
    dock._toggle_kind("try-it", False)  # switched off, it stays away
    shown.workspace.select([])
    assert [card.kind.id for card in dock.cards] == ["worst-and-best", "layer_table"]
    dock._toggle_kind("worst-and-best", False)
    shown.workspace.select(["n4"])
    shown.workspace.select([])
    assert [card.kind.id for card in dock.cards] == ["layer_table"]


def test_without_a_network_the_panel_says_what_to_do(shown: Shown) -> None:
    shown.workspace.apply("Delete", Remove(tuple(shown.workspace.graph.nodes)))
    assert shown.words("viewsMessage") == NOTHING


@pytest.mark.parametrize(
    ("node_id", "cards"),
    [
        ("n1", ["activations", "histograms"]),
        ("n2", ["example", "activations", "filters", "histograms"]),
        ("n3", ["example", "activations", "histograms"]),
        ("n6", ["example", "activations", "filters", "histograms", "prediction"]),
        ("n7", ["example", "prediction"]),
    ],
)
def test_each_kind_of_node_has_its_cards(shown: Shown, node_id: str, cards: list[str]) -> None:
    """C-23: a click on a node shows what there is to see of it."""
    shown.workspace.select([node_id])
    assert shown.cards() == cards
    shown.panel.grab()


def test_exactly_the_probes_of_the_visible_cards_are_watched(shown: Shown, qtbot: QtBot) -> None:
    shown.workspace.select(["n3"])
    wanted = frozenset().union(*(card.pane.probes() for card in shown.panel.dock.cards))
    assert wanted >= {Probe("n1", "activations"), Probe("n3", "activations"), Probe("n3", "output_histogram")}
    qtbot.waitUntil(lambda: shown.trainer.watched == wanted)
    shown.panel.hide()
    qtbot.waitUntil(lambda: shown.trainer.watched == frozenset())


def test_views_come_from_the_feed(shown: Shown, qtbot: QtBot) -> None:
    shown.workspace.select(["n2"])
    qtbot.waitUntil(lambda: shown.card("activations").state.words != "")
    snapshots(shown.trainer.feed, 100)
    shown.workspace.ticked.emit()
    qtbot.waitUntil(lambda: shown.view("activations").view.tiles.shown == 32)
    qtbot.waitUntil(lambda: shown.view("filters").view.shown == 32)
    qtbot.waitUntil(lambda: shown.view("histograms").histograms["weights"].distribution is not None)
    weights = shown.view("histograms").histograms["weights"].distribution
    assert weights is not None
    assert abs(weights.std - 0.2) < 0.02
    assert shown.words("viewsExample") == "validation example 1"


def test_another_node_forgets_the_views_of_the_last(shown: Shown, qtbot: QtBot) -> None:
    snapshots(shown.trainer.feed, 100)
    shown.workspace.select(["n2"])
    qtbot.waitUntil(lambda: shown.card("activations").state.kind == "drawn")
    shown.workspace.select(["n4"])  # the feed has nothing of it yet
    assert shown.card("activations").state.kind == "waiting"
    assert shown.card("activations").state.words != ""


def test_removing_the_selected_node_empties_the_panel(shown: Shown) -> None:
    shown.workspace.select(["n3"])
    shown.workspace.apply("Delete", Remove(("n3",)))
    assert shown.panel.node_id == ""
    assert {card.subject.node_id for card in shown.panel.dock.cards} == {""}


def test_the_next_example_is_pinned_and_after_the_last_the_first(shown: Shown, qtbot: QtBot) -> None:
    shown.workspace.select(["n2"])
    snapshots(shown.trainer.feed, 100)
    shown.workspace.ticked.emit()
    forward = shown.panel.findChild(QPushButton, "nextExample")
    qtbot.waitUntil(forward.isEnabled)
    qtbot.mouseClick(forward, Qt.MouseButton.LeftButton)
    assert shown.trainer.pinned[-1] == 1
    # The trainer stays at the last example: the view still shows the first of one.
    qtbot.mouseClick(forward, Qt.MouseButton.LeftButton)
    assert shown.trainer.pinned[-1] == 0


def test_waiting_is_said_until_the_engine_is_there(shown: Shown) -> None:
    shown.workspace.trainer = None
    shown.workspace.select(["n2"])
    assert "engine is starting" in shown.card("activations").state.words


def test_prediction_bars_mark_the_right_class() -> None:
    facts = {"kind": "classes", "target": 1, "classes": ("cat", "dog", "eel")}
    bars = prediction_bars(Snapshot(0, 0, np.array([0.2, 0.7, 0.1]), facts))
    assert [bar.name for bar in bars] == ["cat", "dog ✓", "eel"]
    assert bars[1].role == "good"
    assert bars[1].strong
    many = prediction_bars(Snapshot(0, 0, np.linspace(0, 1, 30), {"kind": "classes", "target": 3}))
    assert many[0].name == "29"


def test_the_input_is_shown_by_its_image_and_named_by_its_class() -> None:
    image = np.zeros((1, 8, 8))
    ports = {"digit": np.array([7.0]), "image": image, "profile": np.zeros(16)}
    snapshot = Snapshot(0, 0, np.zeros(16), {"ports": ports})
    assert best_shown(snapshot) is image
    assert class_words(snapshot, {"digit": tuple("0123456789")}) == "digit 7"
    assert class_words(snapshot, {}) == ""


def test_filters_now_follows_the_selection(qtbot: QtBot, tmp_path: Path) -> None:
    workspace, trainer = workspace_with_fakes(tmp_path)
    small = FiltersNow(workspace)
    qtbot.addWidget(small)
    assert not small.isVisible()
    workspace.select(["n2"])
    assert small.isVisible()
    qtbot.waitUntil(lambda: trainer.watched == {Probe("n2", "filters")})
    snapshots(trainer.feed, 1)
    workspace.ticked.emit()
    qtbot.waitUntil(lambda: small.plot.shown == 32)
    workspace.select(["n3"])  # pooling has no weights
    assert not small.isVisible()
    qtbot.waitUntil(lambda: trainer.watched == frozenset())
