"""The style sheet of the theme on the parts of a window, the hidden ones when they are shown.

Qt looks at every widget of the program when a sheet of the application changes, seconds for some documents.
A container is dressed by nothing: it has the palette's colours alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeGuard

from PySide6.QtCore import QChildEvent, QEvent, QObject
from PySide6.QtWidgets import QSplitterHandle, QWidget

from app.theme import THEMES, current_theme, style_sheet, themes

_WORN = "wornTheme"
_CONTAINER = "dressesItsParts"


class Wearing(QObject):
    """Dresses the widgets and dialogs that stand directly in some containers, now and later."""

    def __init__(self, containers: Sequence[QWidget], parent: QObject) -> None:
        super().__init__(parent)
        self._containers = tuple(containers)
        for container in self._containers:
            container.setProperty(_CONTAINER, True)
            container.installEventFilter(self)
        for part in self._parts():
            self._take_in(part)
        themes.sheet_changed.connect(self._changed)

    def _parts(self) -> list[QWidget]:
        children = (child for container in self._containers for child in container.children())
        return [child for child in children if _is_part(child)]

    def _take_in(self, part: QWidget) -> None:
        part.installEventFilter(self)
        self._dress(part)

    def _dress(self, part: QWidget) -> None:
        if part.property(_WORN) != current_theme().name:
            part.setProperty(_WORN, current_theme().name)
            part.setStyleSheet(_sheet(current_theme().name))

    def _changed(self) -> None:
        for part in self._parts():
            if part.isVisible():
                self._dress(part)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.ChildPolished and watched in self._containers:
            child = event.child() if isinstance(event, QChildEvent) else None
            if _is_part(child) and not child.property(_WORN):
                self._take_in(child)
        elif kind == QEvent.Type.Show and _is_part(watched):
            self._dress(watched)
        return False


def _is_part(child: QObject | None) -> TypeGuard[QWidget]:
    """Whether it is to be dressed: a container's handles paint themselves."""
    plain = isinstance(child, QWidget) and not isinstance(child, QSplitterHandle)
    return plain and child is not None and not child.property(_CONTAINER)


@cache
def _sheet(name: str) -> str:
    return style_sheet(THEMES[name])
