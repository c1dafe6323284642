"""Sheets of examples: tiles and rows, groups that both find room, clicks."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.charts.arrays.examples import Example, Examples
from tests.app.look.showing import painted


def two_groups(count: int = 6) -> list[Example]:
    return [
        Example((f"{index}", "loss"), index > 2, "worst" if index < count else "best")
        for index in range(2 * count)
    ]


@pytest.mark.parametrize("size", [(480, 240), (300, 190), (900, 500), (660, 150), (300, 150), (740, 300)])
def test_both_groups_find_room(qapp: object, size: tuple[int, int]) -> None:
    sheet = Examples()
    sheet.show_examples(np.zeros((12, 8, 8)), two_groups())
    painted(sheet, *size)
    assert {sheet.describe(place.center().toPoint())[0] for place in sheet.places} >= {"0", "6"}
    assert all(place.bottom() <= size[1] + 1 and place.right() <= size[0] + 1 for place in sheet.places)
    assert len(sheet.places) % 2 == 0


def test_groups_stand_beside_each_other_where_that_fills_the_room(qapp: object) -> None:
    sheet = Examples()
    told = [Example(("5 as 9 13.8 %", "loss 2.8"), True, "worst" if at < 6 else "best") for at in range(12)]
    sheet.show_examples(np.zeros((12, 8, 8)), told)
    painted(sheet, 740, 260)
    first, second = sheet.places[:6], sheet.places[6:]
    assert max(place.right() for place in first) < min(place.left() for place in second)
    assert first[0].top() == second[0].top()
    assert max(place.right() for place in second) > 600
    painted(sheet, 300, 400)
    first, second = (sheet.places[: len(sheet.places) // 2], sheet.places[len(sheet.places) // 2 :])
    assert max(place.bottom() for place in first) < min(place.top() for place in second)


def test_a_tile_shows_its_image(qapp: object) -> None:
    sheet = Examples()
    images = np.stack([np.zeros((4, 4)), np.ones((4, 4))])
    sheet.show_examples(images, [Example(("a",), True), Example(("b",), False)])
    image = painted(sheet)
    dark, bright = (image[int(place.top()) + 20, int(place.left()) + 20] for place in sheet.places)
    assert dark.tolist() == [0, 0, 0] and bright.tolist() == [255, 255, 255]


def test_a_click_tells_which(qapp: object) -> None:
    sheet = Examples()
    sheet.show_examples(np.zeros((12, 8, 8)), two_groups())
    painted(sheet, 300, 190)
    picked: list[int] = []
    sheet.picked.connect(picked.append)
    place = sheet.places[len(sheet.places) // 2]  # the first of the second group
    QTest.mouseClick(sheet, Qt.MouseButton.LeftButton, pos=place.center().toPoint())
    assert picked == [6]
    assert sheet.describe(place.center().toPoint()) == "6\nloss"
    assert sheet.index_at(QPoint(299, 189)) == -1


def test_rows_of_numbers_have_their_names(qapp: object) -> None:
    sheet = Examples()
    sheet.show_examples(
        np.arange(6.0).reshape(3, 2), [Example((str(n),), True) for n in range(3)], ("x", "y")
    )
    painted(sheet)
    assert len(sheet.places) == 3 and sheet.places[0].top() > 0


@pytest.mark.parametrize(("height", "each"), [(150, 2), (300, 6)])
def test_rows_of_both_groups_find_room(qapp: object, height: int, each: int) -> None:
    sheet = Examples()
    sheet.show_examples(np.zeros((12, 2)), two_groups(), ("x", "y"))
    painted(sheet, 500, height)
    assert len(sheet.places) == 2 * each
    told = [sheet.describe(place.center().toPoint()).split()[0] for place in sheet.places]
    assert told == [str(index) for index in (*range(each), *range(6, 6 + each))]
    assert sheet.places[-1].bottom() <= height + 1
