"""What an augmentation does: the original first, results beside it, as many as there is room for."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.images.augmented import Augmented, augments_images
from app.workspace.workspace import Workspace
from engine.document.edits import SetParam
from engine.document.shipped import datasets_folder
from engine.feed.feed import Probe
from engine.train.trainer import Trainer
from tests.app.look.image_nets import put
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.look.images.test_augmented import flipping


@pytest.fixture
def with_flip(shaped: Workspace) -> Workspace:
    put(shaped, flipping())
    return shaped


def test_it_is_proposed_for_what_changes_images(with_flip: Workspace) -> None:
    assert augments_images(Subject(with_flip, "n2"))
    assert not augments_images(Subject(with_flip, "n1"))
    assert not augments_images(Subject(with_flip, "n4"))


def test_originals_stand_first_and_there_are_as_many_as_fit(qtbot: QtBot, with_flip: Workspace) -> None:
    view = Augmented(Subject(with_flip, "n2"))
    qtbot.addWidget(view)
    array = np.arange(5 * 10, dtype=np.float32).reshape(5, 10, 1, 1) * np.ones((1, 1, 8, 8), np.float32)
    painted(view, 400, 100)
    shown(view, {Probe("n2", "augmented", (0,)): snapshot(array, rows=(0, 9, 18, 27, 36), split="train")})
    first = [sheet.values[0, 0] for sheet in view.sheets.sheets]
    columns = first.index(10)
    assert 2 <= columns < 10 and len(first) == 2 * columns
    painted(view, 900, 500)
    assert len(view.sheets.sheets) == 50
    assert view.note == "left: training images as they arrive"


def test_what_is_mixed_says_of_what(qtbot: QtBot, with_flip: Workspace) -> None:
    view = Augmented(Subject(with_flip, "n2"))
    qtbot.addWidget(view)
    mixed = np.zeros((1, 2, 10), np.float32)
    mixed[0, 0, 3], mixed[0, 0, 5], mixed[0, 1, 7] = 0.7, 0.3, 1
    found = snapshot(np.zeros((1, 3, 8, 8)), rows=(4,), split="train", mixed=mixed)
    painted(view, 500, 200)
    shown(view, {Probe("n2", "augmented", (0,)): found})
    assert [sheet.title for sheet in view.sheets.sheets] == ["example 5", "3 70 % · 5 30 %", "7 100 %"]


def test_another_draw_is_asked_for_and_kept(qtbot: QtBot, with_flip: Workspace) -> None:
    view = Augmented(Subject(with_flip, "n2"))
    qtbot.addWidget(view)
    with qtbot.waitSignal(view.needs_changed):
        qtbot.mouseClick(view.again, Qt.MouseButton.LeftButton)
    assert view.probes() == {Probe("n2", "augmented", (1,))}
    other = Augmented(Subject(with_flip, "n2"))
    qtbot.addWidget(other)
    other.restore(view.state())
    assert other.probes() == view.probes()


def test_before_training_it_follows_the_settings(with_flip: Workspace) -> None:
    """No run is under way: the model that waits is the one that is shown."""
    probe = Probe("n2", "augmented", (0,))
    trainer = Trainer(with_flip.catalogue, datasets_folder())

    def mirrored() -> float:
        found = trainer.feed.latest(probe)
        if found is None or not found.array.size:
            return -1.0
        return float((found.array[:, 1:] != found.array[:, :1]).any((2, 3)).mean())

    try:
        trainer.watch(frozenset({probe}))
        trainer.prepare(with_flip.document.snapshot())
        assert trainer.wait(30, until=lambda: 0 < mirrored() < 1)
        for chance in (0.0, 1.0):
            assert with_flip.apply("Chance", SetParam("n2", "horizontal", chance))
            trainer.update(with_flip.document.snapshot(), 2 + int(chance))
            assert trainer.wait(30, until=lambda wanted=chance: abs(mirrored() - wanted) < 0.05)
    finally:
        assert trainer.close()
