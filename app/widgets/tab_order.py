"""Where Tab goes: widgets that are made late stand where they are seen, not at the end of the window."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLayout, QWidget


def reach_after(anchor: QWidget, page: QWidget) -> None:
    """Lets Tab reach what is in `page` after what comes before `anchor`, in the order of its layouts."""
    if anchor.window() is not page.window():
        return
    last = _before(anchor, page)
    for widget in _in_order(page):
        if _takes_tab(widget):
            if last is not None:
                QWidget.setTabOrder(last, widget)
            last = widget


def _takes_tab(widget: QWidget) -> bool:
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.focusProxy() is None


def _before(anchor: QWidget, page: QWidget) -> QWidget | None:
    """The nearest widget before `anchor` that Tab stops at; Qt takes no other to stand behind."""
    one = anchor.previousInFocusChain()
    while one is not None and one is not anchor:
        if _takes_tab(one) and not page.isAncestorOf(one) and one is not page:
            return one
        one = one.previousInFocusChain()
    return None


def _in_order(widget: QWidget) -> Iterator[QWidget]:
    yield widget
    layout = widget.layout()
    if layout is not None:
        yield from _in_layout(layout)


def _in_layout(layout: QLayout) -> Iterator[QWidget]:
    for place in range(layout.count()):
        item = layout.itemAt(place)
        if item is None:
            continue
        if (widget := item.widget()) is not None:
            yield from _in_order(widget)
        elif (inner := item.layout()) is not None:
            yield from _in_layout(inner)
