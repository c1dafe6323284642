"""Ink comes where the pointer goes, and goes where the eraser goes."""

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.look.playground.pad import SIDE, Pad
from tests.app.look.showing import painted


def shown_pad() -> Pad:
    pad = Pad()
    painted(pad, 200, 200)
    return pad


def test_a_drag_leaves_ink(qapp: object) -> None:
    pad = shown_pad()
    heard: list[None] = []
    pad.drawn.connect(lambda: heard.append(None))
    QTest.mousePress(pad, Qt.MouseButton.LeftButton, pos=QPoint(50, 100))
    QTest.mouseMove(pad, QPoint(150, 100))
    QTest.mouseRelease(pad, Qt.MouseButton.LeftButton, pos=QPoint(150, 100))
    rows, columns = np.nonzero(pad.ink() > 0.5)
    assert columns.min() < 0.25 * SIDE < 0.75 * SIDE < columns.max() + 12
    assert abs(rows.mean() - SIDE / 2) < 2 and len(heard) == 2
    image = painted(pad, 200, 200)
    assert image[100, 100].tolist() == [255, 255, 255] and image[30, 100].tolist() == [0, 0, 0]


def test_the_right_button_erases_and_clear_takes_all(qapp: object) -> None:
    pad = shown_pad()
    QTest.mouseClick(pad, Qt.MouseButton.LeftButton, pos=QPoint(100, 100))
    before = pad.ink().sum()
    QTest.mouseClick(pad, Qt.MouseButton.RightButton, pos=QPoint(100, 100))
    assert before > 100 > pad.ink().sum()
    pad.erasing = True
    QTest.mouseClick(pad, Qt.MouseButton.RightButton, pos=QPoint(60, 60))
    assert pad.ink().sum() > 100
    pad.clear()
    assert not pad.ink().any() and pad.empty
