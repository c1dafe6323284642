"""What the user wants to see on every canvas: live views on nodes, shapes on wires."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.canvas.scene.canvas import GraphOnShow
from app.canvas.scene.thumbnails import Thumbnails
from app.workspace.settings import Settings
from engine.document.graph import Link

_THUMBNAILS, _LABELS = "canvas/thumbnails", "canvas/wire_labels"


class Choices(QObject):
    """Tells every canvas and menu that a choice has changed."""

    changed = Signal()


choices = Choices()


def shows_thumbnails(settings: Settings) -> bool:
    """Whether nodes show what they compute."""
    return settings.flag(_THUMBNAILS, True)


def labels_always(settings: Settings) -> bool:
    """Whether wires show their shapes at all times, rather than on hover or selection."""
    return settings.flag(_LABELS, True)


def choose_thumbnails(settings: Settings, shown: bool) -> None:
    """Switches live views on or off on all canvases, now and in later sessions."""
    settings.keep(_THUMBNAILS, shown)
    choices.changed.emit()


def choose_labels(settings: Settings, always: bool) -> None:
    """Shows shapes on all wires, or only on those under the pointer or selected; remembered."""
    settings.keep(_LABELS, always)
    choices.changed.emit()


class Shown(QObject):
    """Makes one canvas show what was chosen, and the shape of the wire under the pointer."""

    followed = Signal()  # a choice has changed, and the canvas shows it

    def __init__(self, view: GraphOnShow, thumbnails: Thumbnails) -> None:
        super().__init__(thumbnails)
        self._thumbnails = thumbnails
        self._view = view
        self._hovered: Link | None = None
        choices.changed.connect(self._follow)
        self._follow()

    def hover(self, link: Link | None) -> None:
        """The pointer is over this wire, or over none."""
        items = self._view.graph_scene.link_items
        # Told again even if it is the same: the item may be a new one, brought back by an undo.
        if self._hovered is not None and self._hovered != link and self._hovered in items:
            items[self._hovered].show_hovered(False)
        if link is not None and link in items:
            items[link].show_hovered(True)
        self._hovered = link

    def set_thumbnails(self, shown: bool) -> None:
        choose_thumbnails(self._view.workspace.settings, shown)

    def set_labels(self, always: bool) -> None:
        choose_labels(self._view.workspace.settings, always)

    def _follow(self) -> None:
        settings, scene = self._view.workspace.settings, self._view.graph_scene
        self._thumbnails.show_thumbnails(shows_thumbnails(settings))
        if scene.detail.labels_always != labels_always(settings):
            scene.detail.labels_always = labels_always(settings)
            for item in scene.link_items.values():
                item.settle_label()
        self.followed.emit()
