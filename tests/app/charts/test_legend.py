"""The names of curves."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.charts.legend import GAP, LINE, MORE, SHORTEST, Legend

ENTRIES = [(f"a name that is rather long {number}", "accent", False) for number in range(6)]


def test_names_are_whole_where_there_is_room(qtbot: QtBot) -> None:
    legend = Legend()
    qtbot.addWidget(legend)
    legend.show_entries(ENTRIES[:2])
    legend.resize(legend.sizeHint())
    assert legend._fitted() == legend._widths()


def test_names_are_shortened_alike_and_the_tool_tip_has_them_whole(qtbot: QtBot) -> None:
    legend = Legend()
    qtbot.addWidget(legend)
    legend.show_entries(ENTRIES)
    legend.resize(4 * SHORTEST, 20)
    widths = legend._fitted()
    # room is kept for "+3": how many names are in the tool tip alone
    assert len(widths) == 3 and sum(widths) <= legend.width() + GAP + 1 - MORE and min(widths) >= SHORTEST
    assert legend.toolTip().splitlines() == [name for name, _, _ in ENTRIES]


def test_dashed_curves_have_dashed_lines(qtbot: QtBot) -> None:
    inked = []
    for style in (False, "dashed"):
        legend = Legend()
        qtbot.addWidget(legend)
        legend.show_entries([("", "accent", style)])
        legend.resize(60, 20)
        image = legend.grab().toImage()
        ground = image.pixelColor(50, 2)
        inked.append(sum(image.pixelColor(x, 10) != ground for x in range(LINE)))
    assert 0 < inked[1] < inked[0]
