"""Tabs that keep their size and carry a count."""

from __future__ import annotations

from app.widgets.tab_bar import CountingTabBar


def bar(qtbot) -> CountingTabBar:  # type: ignore[no-untyped-def]
    made = CountingTabBar()
    qtbot.addWidget(made)
    for title in ("Training", "Problems", "Code"):
        made.addTab(title)
    made.show()
    return made


def test_selecting_a_tab_moves_none(qtbot) -> None:  # type: ignore[no-untyped-def]
    tabs = bar(qtbot)
    before = [tabs.tabRect(index) for index in range(3)]
    for index in (2, 1, 0):
        tabs.setCurrentIndex(index)
        assert [tabs.tabRect(at) for at in range(3)] == before


def test_a_count_makes_room_for_itself(qtbot) -> None:  # type: ignore[no-untyped-def]
    tabs = bar(qtbot)
    width = tabs.tabRect(1).width()
    tabs.set_count(1, 3, "error")
    assert tabs.count_of(1) == 3
    assert tabs.tabRect(1).width() > width
    tabs.set_count(1, 0)
    assert tabs.tabRect(1).width() == width
    assert tabs.tabText(1) == "Problems"


def test_it_paints_with_and_without_counts(qtbot) -> None:  # type: ignore[no-untyped-def]
    tabs = bar(qtbot)
    tabs.set_count(1, 250, "warning")
    assert not tabs.grab().isNull()
