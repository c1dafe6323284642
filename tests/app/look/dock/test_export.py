"""A card as a file: vectors stay vectors, numbers are the ones that are drawn."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.look.dock.card import ViewCard
from app.look.dock.export import file_stem, svg, view_image
from app.theme import current_theme
from engine.feed.feed import Probe, Snapshot
from tests.app.look.dock.conftest import Shown


@pytest.fixture
def card(shown: Shown) -> ViewCard:
    made = shown.pin("spectrum", "n2")
    snapshot = Snapshot(1, 7, np.array([3.0, 2.0, 1.0]), {"largest": 3.0, "rank": 2.5})
    shown.trainer.feed.put(Probe("n2", "singular_values"), snapshot)
    shown.tick()
    return made


def choose(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    def answer(*_: object) -> tuple[str, str]:
        return str(path), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)


def test_an_svg_holds_bars_and_words_rather_than_pixels(card: ViewCard) -> None:
    text = svg(card).decode()
    assert "<image" not in text
    assert "Singular values · conv1" in text
    assert "effective rank 2.5" in text
    assert text.count(current_theme().accent.name()) > 0, "the bars"


def test_a_png_is_twice_as_fine_and_shows_the_view(
    shown: Shown, card: ViewCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, tmp_path / "bars")
    shown.dock._card_menu.save(card, ".png")
    image = QImage(str(tmp_path / "bars.png"))
    assert image.width() > 2 * card.pane.view.width()
    colours = {
        image.pixelColor(x, y).name()
        for x in range(0, image.width(), 5)
        for y in range(100, image.height(), 5)
    }
    assert current_theme().accent.name() in colours


def test_the_numbers_go_into_a_table(
    shown: Shown, card: ViewCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, tmp_path / "values.csv")
    shown.dock._card_menu.save(card, ".csv")
    rows = list(csv.reader((tmp_path / "values.csv").read_text().splitlines()))
    assert rows == [["direction", "singular value"], ["1", "3.0"], ["2", "2.0"], ["3", "1.0"]]


def test_a_disk_that_refuses_is_told(
    shown: Shown, card: ViewCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    choose(monkeypatch, tmp_path / "nowhere" / "values.csv")
    with qtbot.waitSignal(shown.workspace.message) as told:
        shown.dock._card_menu.save(card, ".csv")
    assert told.args[1] == "error"


def test_a_view_is_copied(shown: Shown, card: ViewCard) -> None:
    shown.dock._card_menu.copy(card)
    assert QGuiApplication.clipboard().image().size() == view_image(card).size()
    assert file_stem(card) == "conv1-singular-values"


def test_what_cannot_be_exported_is_not_offered(shown: Shown, card: ViewCard) -> None:
    def offered(one: ViewCard) -> dict[str, bool]:
        return {
            action.text().partition("\t")[0]: action.isEnabled()
            for action in shown.dock._card_menu.menu(one).actions()
        }

    ready, waiting = offered(card), offered(shown.pin("spectrum", "n4"))
    for entry in ("Save as PNG…", "Save as SVG…", "Save the numbers as CSV…", "Copy image"):
        assert ready[entry] and not waiting[entry], entry
