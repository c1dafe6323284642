"""The style sheet of the theme on the parts of a window, the hidden ones when they are shown.

Qt looks at every widget of the program when a sheet of the application changes, seconds for some documents.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QChildEvent, QEvent, QObject
from PySide6.QtWidgets import QWidget

from app.theme import current_theme, style_sheet, themes

_WORN = "wornTheme"


class Wearing(QObject):
    """Dresses the widgets and dialogs that stand directly in some containers, now and later."""

    def __init__(self, containers: Sequence[QWidget], parent: QObject) -> None:
        super().__init__(parent)
        self._containers = tuple(containers)
        for container in self._containers:
            container.installEventFilter(self)
        for part in self._parts():
            self._take_in(part)
        themes.sheet_changed.connect(self._changed)

    def _parts(self) -> list[QWidget]:
        children = (child for container in self._containers for child in container.children())
        return [child for child in children if isinstance(child, QWidget) and child not in self._containers]

    def _take_in(self, part: QWidget) -> None:
        part.installEventFilter(self)
        self._dress(part)

    def _dress(self, part: QWidget) -> None:
        if part.property(_WORN) != current_theme().name:
            part.setProperty(_WORN, current_theme().name)
            part.setStyleSheet(style_sheet(current_theme()))

    def _changed(self) -> None:
        for part in self._parts():
            if part.isVisible():
                self._dress(part)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.ChildPolished and watched in self._containers:
            child = event.child() if isinstance(event, QChildEvent) else None
            if isinstance(child, QWidget) and child not in self._containers and not child.property(_WORN):
                self._take_in(child)
        elif kind == QEvent.Type.Show and isinstance(watched, QWidget) and watched not in self._containers:
            self._dress(watched)
        return False
