"""A card that is dropped onto a node hangs there and is kept up to date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.documents.document_page import DocumentPage
from app.look.dock.card import MIME
from app.look.dock.on_nodes import HungItem
from app.workspace.recent_files import RecentFiles
from app.workspace.watching import watching
from engine.document.edits import Move, Remove
from engine.feed.feed import Probe
from tests.app.fake_run import snapshots, workspace_with_fakes


class Page:
    """A document with canvas and dock, over a run that nobody trains."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.workspace, self.trainer = workspace_with_fakes(folder)
        places = {f"n{number}": (200.0 * number, 0.0) for number in range(1, 8)}
        self.workspace.apply("Move", Move(places))
        self.page = DocumentPage(self.workspace, RecentFiles(self.workspace.settings))
        qtbot.addWidget(self.page)
        self.page.resize(1300, 860)
        with qtbot.waitExposed(self.page):
            self.page.show()
        self.page.bottom.show_panel("Views")
        self.dock = self.page.bottom.views.dock
        self.hung = self.page.on_nodes

    def items(self, node_id: str) -> list[HungItem]:
        node = self.page.canvas.graph_scene.node_items[node_id]
        return [item for item in node.childItems() if isinstance(item, HungItem)]

    def drop(self, card_key: int, node_id: str) -> bool:
        data = QMimeData()
        data.setData(MIME, str(card_key).encode())
        place = self.page.canvas.node_point(node_id)
        button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        viewport = self.page.canvas.viewport()
        QApplication.sendEvent(viewport, QDragEnterEvent(place, Qt.DropAction.CopyAction, data, button, none))
        event = QDropEvent(place.toPointF(), Qt.DropAction.CopyAction, data, button, none)
        event.setAccepted(False)
        QApplication.sendEvent(viewport, event)
        return event.isAccepted()


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path) -> Iterator[Page]:
    made = Page(qtbot, tmp_path)
    yield made
    made.page.training.deleteLater()
    made.page.end(0.1)


def test_a_card_dropped_onto_a_node_hangs_there(page: Page) -> None:
    card = page.dock.pin("activations", "n2")
    assert card is not None
    assert page.drop(card.key, "n4")
    assert page.hung.hangs("n4") == "activations"
    assert len(page.items("n4")) == 1
    assert Probe("n4", "activations") in watching(page.workspace).union


def test_a_view_that_makes_no_sense_there_is_refused(page: Page) -> None:
    card = page.dock.pin("filters", "n2")
    assert card is not None
    assert not page.drop(card.key, "n3")
    assert page.hung.places() == ()
    assert not page.drop(10**9, "n2")


def test_it_shows_what_the_feed_holds_and_the_menu_takes_it_off(page: Page) -> None:
    card = page.dock.pin("activations", "n2")
    assert card is not None
    page.dock.toggle_on_node(card)
    (item,) = page.items("n2")
    assert item._image is None
    snapshots(page.trainer.feed, 100)
    page.hung._redraw()
    image = item._image
    assert image is not None
    colours = {image.pixel(x, y) for x in range(0, image.width(), 8) for y in range(0, image.height(), 8)}
    assert len(colours) > 20, "a view, not one colour"
    page.page.canvas.grab()
    assert page.dock.on_node(card)
    page.dock.toggle_on_node(card)
    assert page.items("n2") == []


def test_it_goes_and_comes_with_its_node(page: Page) -> None:
    page.hung.hang("activations", "n2")
    page.workspace.apply("Delete", Remove(("n2",)))
    page.workspace.undo()
    assert len(page.items("n2")) == 1


def test_it_is_kept_with_the_layout(page: Page, tmp_path: Path) -> None:
    page.workspace.document.path = tmp_path / "net.nloom"
    page.workspace.announce_title()
    page.hung.hang("activations", "n2")
    assert page.dock.layout_now().on_nodes == (("activations", "n2"),)
    page.dock._read_layout()
    assert page.hung.places() == (("activations", "n2"),)


def test_enlarged_views_take_the_place_of_the_canvas_and_give_it_back(page: Page) -> None:
    before = page.page.bottom.height()
    page.page.enlarge_views(True)
    assert page.page.bottom.height() > 1.6 * before
    assert page.page.canvas.height() >= 100
    page.page.enlarge_views(False)
    assert page.page.bottom.height() == before


def test_a_card_that_is_enlarged_makes_room_for_itself(page: Page) -> None:
    before = page.page.bottom.height()
    card = page.dock.pin("activations", "n2")
    assert card is not None
    card.ask_enlarge()
    assert page.page.views_enlarged
    card.ask_enlarge()
    assert not page.page.views_enlarged
    assert page.page.bottom.height() == before


def test_the_views_go_into_a_window_of_their_own_and_back(page: Page, qtbot: QtBot) -> None:
    views = page.page.bottom.views
    page.dock.pin("activations", "n2")
    views.move_out()
    own = views.own_window
    assert own is not None and own.isVisible() and page.dock.window() is own
    qtbot.waitUntil(lambda: Probe("n2", "activations") in page.trainer.watched)
    page.page.bottom.show_panel("Training")
    assert page.dock.isVisible()
    own.close()
    assert views.own_window is None
    assert page.dock.window() is page.page
    assert not page.dock.isVisible(), "another tab is in front"
