"""One view in the views dock with what stands around it: title, node, note, buttons and states."""

from __future__ import annotations

from itertools import count

from PySide6.QtCore import QMimeData, QPoint, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDrag,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.look.base import Probes, Subject, ViewKind
from app.look.dock.pane import Pane
from app.look.dock.playback import Playback, recorded_until
from app.look.dock.states import (
    GONE,
    NOTHING_TO_SHOW,
    STALE,
    State,
    name_of,
    not_recorded,
    slowed,
    step_words,
    waiting_words,
)
from app.theme import current_theme, themes
from app.widgets.icons import icon
from app.widgets.labels import ElidedLabel, label, plain
from engine.feed.history import History

MIME = "application/x-neuroloom-view"
SIZES = ("S", "M", "L")
THIS_RUN, OTHER_RUN = "data", "convolution"  # roles of colours that everybody tells apart
CONTROLS_BESIDE = 460  # pixels of width from which the controls stand beside the note
NOTE_BESIDE = 560  # and the note beside the name
HEAD_SIDES = 26  # pixels of the head that neither title nor buttons take
NODE_FROM = 36  # pixels of the node's name, below which it stands beside the note
ROOMY = 230  # pixels of width from which the head has room for the node's name and every button
_BUTTON = 20

_keys = count(1)


class ViewCard(QFrame):
    """A view of one subject. It never asks the trainer for anything: the dock does."""

    needs_changed = Signal()
    changed = Signal()  # something that the layout of the dock keeps
    close_wanted = Signal(object)
    enlarge_wanted = Signal(object)
    menu_wanted = Signal(object, QPoint)
    pin_wanted = Signal(object)
    step_wanted = Signal(object, int)  # to the card before (-1) or after (1), or a row up or down (-2, 2)
    shift_wanted = Signal(object, int)  # one place towards the beginning (-1) or the end (1)

    def __init__(
        self, kind: ViewKind, subject: Subject, *, pinned: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("viewCard")
        self.key = next(_keys)
        self.kind = kind
        self.subject = subject
        self.pinned = pinned
        self.frozen = ""  # the step at which it stands still, as words
        self.size_name = "M"
        self.enlarged = False
        self.compared: tuple[str, History] | None = None
        self.pane = Pane(kind.make(subject))
        self.other: Pane | None = None
        self._pressed: QPoint | None = None
        self._controls: QWidget | None = None
        self._build()
        self._follow(self.pane)
        self.show_name()
        themes.theme_changed.connect(self._dress)
        self._dress()

    # -- building

    def _build(self) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._title = ElidedLabel(self.kind.title, "heading")
        self._title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._title.setMinimumWidth(24)
        self._node = ElidedLabel("", "small")
        self._node.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.pin_button = self._button("pin", self.ask_pin, checkable=True)
        self.freeze_button = self._button("freeze", self.toggle_freeze, checkable=True)
        self.enlarge_button = self._button("enlarge", self.ask_enlarge)
        self.menu_button = self._button("menu", self._ask_menu)
        head = self._head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(2)
        head.addWidget(self._title)
        head.addSpacing(4)
        head.addWidget(self._node, 1)
        head.addStretch(0)  # where the name has no room
        for button in (self.pin_button, self.freeze_button, self.enlarge_button, self.menu_button):
            head.addWidget(button)
        self._note = ElidedLabel("", "small")
        self._note.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._mark = label("", "chip")
        self._mark.hide()
        self._second = QHBoxLayout()
        self._second.setContentsMargins(0, 0, 0, 0)
        self._second.setSpacing(6)
        self._second.addWidget(self._note, 1)
        self._second.addWidget(self._mark)
        self._third = QHBoxLayout()
        self._third.setContentsMargins(0, 0, 0, 0)
        self._panes = QHBoxLayout()
        self._panes.setContentsMargins(0, 0, 0, 0)
        self._panes.setSpacing(10)
        self._panes.addWidget(self.pane, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(9, 4, 9, 7)
        column.setSpacing(2)
        column.addLayout(head)
        column.addLayout(self._second)
        column.addLayout(self._third)
        column.addLayout(self._panes, 1)

    def _button(self, name: str, slot: object, *, checkable: bool = False) -> QToolButton:
        made = QToolButton()
        made.setObjectName(f"{name}Card")
        made.setProperty("kind", "icon")
        made.setFixedSize(_BUTTON, _BUTTON)
        made.setCheckable(checkable)
        made.clicked.connect(slot)
        return made

    def _follow(self, pane: Pane) -> None:
        view = pane.view
        view.needs_changed.connect(self._needs_changed)
        view.note_changed.connect(self._show_note)
        view.node_asked.connect(self.subject.workspace.reveal)
        pane.close_button.clicked.connect(self._ask_close)
        if pane is self.pane:
            self._controls = view.controls()
            self._place_controls()

    def _place_note(self) -> None:
        """A wide card has room for the note in its head: what is drawn gets a row more."""
        row, other = self._head, self._second
        if self.width() < NOTE_BESIDE:
            row, other = other, row
        if row.indexOf(self._note) < 0:
            place = row.indexOf(self.pin_button) if row is self._head else 0
            for widget, stretch in ((self._mark, 0), (self._note, 3)):
                other.removeWidget(widget)
                row.insertWidget(max(0, place), widget, stretch)

    def _place_controls(self) -> None:
        controls = self._controls
        if controls is None:
            return
        beside = self.width() >= CONTROLS_BESIDE
        row = self._second if beside else self._third
        if row.indexOf(controls) < 0:
            (self._third if beside else self._second).removeWidget(controls)
            if beside:
                row.insertWidget(min(1, row.count()), controls)
            else:
                row.addWidget(controls, 0, Qt.AlignmentFlag.AlignLeft)

    # -- what it shows

    @property
    def state(self) -> State:
        """What the card says about the view."""
        return self.pane.state

    @property
    def gone(self) -> bool:
        """Whether the node that it shows was deleted."""
        return bool(self.subject.node_id) and self.subject.node is None

    def probes(self) -> Probes:
        """What is to be taken for it now."""
        return frozenset() if self.gone or self.frozen else self.pane.probes()

    def recorded(self) -> Probes:
        """What is to be recorded of it: a frozen view stands still, the record does not."""
        return frozenset() if self.gone else self.pane.probes()

    def refresh(self, playback: Playback, stale_before: int) -> None:
        """Draws what is new; snapshots of revisions before `stale_before` no longer hold."""
        if self.gone:
            self.pane.show_state(State("gone", GONE))
            self._show_state()
            return
        if not self.frozen:
            self._draw(playback, stale_before)
        if self.compared is not None and self.other is not None:
            step = step_words(self.pane.drawn) if self.pane.drawn else ""
            self.pane.caption(playback.run or "this run", THIS_RUN, step)
            self._draw_other(playback)
        self._show_state()

    def _draw(self, playback: Playback, stale_before: int) -> None:
        wanted = self.pane.probes()
        known = {probe: playback.latest(probe) for probe in wanted}
        found = {probe: one for probe, one in known.items() if one is not None}
        self.pane.view.history = playback.history
        why = self.pane.draw(found)
        if why:
            state = State("failed", why)
        elif self.pane.drawn:
            state = self._drawn_state(playback, stale_before)
        elif self.pane.view.at_rest:
            state = State("drawn")
        elif found:
            state = State("empty", NOTHING_TO_SHOW)
        elif playback.step is not None:
            history = playback.history
            steps = [step for probe in wanted for step in (history.steps(probe) if history else [])]
            state = State("waiting", not_recorded(playback.step, sorted(steps)))
        else:
            state = State("waiting", waiting_words(self.subject.workspace, wanted))
        self.pane.show_state(state)

    def _drawn_state(self, playback: Playback, stale_before: int) -> State:
        drawn = self.pane.drawn
        if playback.step is not None:
            return State("drawn", mark=step_words(drawn), why="As it was recorded")
        if min(one.revision for one in drawn.values()) < stale_before:
            return State(
                "drawn", mark=STALE, why="The network has changed since this was computed.", dim=True
            )
        mark, why = slowed(drawn)
        return State("drawn", mark=mark, why=why)

    def _draw_other(self, playback: Playback) -> None:
        assert self.compared is not None and self.other is not None
        name, history = self.compared
        until = (
            playback.step
            if playback.step is not None
            else max((one.step for one in self.pane.drawn.values()), default=2**62)
        )
        self.other.view.history = history
        why = self.other.draw(recorded_until(history, self.other.probes(), until, self.other.drawn))
        drawn = bool(self.other.drawn) and not why
        words = why or "Nothing of this was recorded in that run."
        self.other.show_state(State("drawn") if drawn else State("empty", words))
        self.other.caption(name, OTHER_RUN, step_words(self.other.drawn) if drawn else "")

    def _show_state(self) -> None:
        state = self.pane.state
        mark, why = state.mark, state.why
        if self.frozen:
            mark, why = (
                f"frozen at {self.frozen}",
                "This view is frozen; the run is still recorded.",
            )
        if state.dim and not self.frozen:
            mark = ""  # the veil says it
        if self._mark.text() != mark:
            self._mark.setText(mark)
            self._mark.setVisible(bool(mark))
        if self._mark.toolTip() != why:
            self._mark.setToolTip(plain(why))
        self._show_note()
        spoken = ". ".join(part for part in (state.words, why or mark, self._note.text()) if part)
        if spoken != self.accessibleDescription():
            self.setAccessibleDescription(spoken)

    def _show_note(self) -> None:
        note = self.pane.view.note if self.pane.state.kind == "drawn" else ""
        if self._node.isHidden() and self.subject.node_id:
            note = " · ".join(part for part in (self._node.text(), note) if part)
        if note != self._note.text():
            self._note.setText(note)
        shown = bool(note or self._mark.text())
        if self._note.isHidden() == shown:
            self._note.setVisible(shown)

    def show_name(self) -> None:
        """Says whose view it is: the node may have another name now."""
        name = name_of(self.subject)
        if name != self._node.text():
            self._node.setText(name)
            self.setAccessibleName(f"{self.kind.title}, {name}")
            self._fit_head()
            self._show_note()
        self._title.setToolTip(self.kind.about)

    # -- what the user does with it

    def ask_pin(self) -> None:
        """Stays when another node is selected; a second time, follows the selection again."""
        self.pin_wanted.emit(self)

    def set_pinned(self, pinned: bool) -> None:
        """Shows whether it stays."""
        self.pinned = pinned
        self._dress()

    def toggle_freeze(self) -> None:
        """Stands still, or goes on."""
        drawn = self.pane.drawn
        self.frozen = "" if self.frozen else (step_words(drawn) if drawn else "this moment")
        self._dress()
        self._show_state()
        self._needs_changed()

    def ask_enlarge(self) -> None:
        """Fills the dock, or goes back to its place."""
        self.enlarge_wanted.emit(self)

    def set_enlarged(self, enlarged: bool) -> None:
        """Shows whether it fills the dock."""
        self.enlarged = enlarged
        self._dress()

    def set_size(self, name: str) -> None:
        """One of SIZES."""
        if name in SIZES and name != self.size_name:
            self.size_name = name
            self.changed.emit()

    def compare(self, run: tuple[str, History] | None) -> None:
        """Shows the same view of another run beside it; None ends that."""
        self.compared = run
        if self.other is not None:
            self._panes.removeWidget(self.other)
            self.other.hide()
            self.other.deleteLater()
            self.other = None
            self.pane.caption("", THIS_RUN, "")
        if run is not None:
            view = self.kind.make(self.subject)
            view.restore(self.pane.view.state())
            self.other = Pane(view)
            self._panes.addWidget(self.other, 1)
        self.changed.emit()

    def remake(self) -> None:
        """Makes the view again: what the node is has changed."""
        state = self.pane.view.state()
        old, controls = self.pane, self._controls
        self.pane = Pane(self.kind.make(self.subject))
        self._panes.replaceWidget(old, self.pane)
        self._controls = None
        if controls is not None:
            controls.hide()
            controls.deleteLater()
        old.hide()
        old.deleteLater()
        self._follow(self.pane)
        self.pane.view.restore(state)
        if self.compared is not None:
            self.compare(self.compared)

    def _needs_changed(self) -> None:
        self.pane.forget()
        if self.other is not None:
            self.other.view.restore(self.pane.view.state())
            self.other.forget()
        self.needs_changed.emit()
        self.changed.emit()

    def _ask_close(self) -> None:
        self.close_wanted.emit(self)

    def _ask_menu(self) -> None:
        corner = self.menu_button.mapToGlobal(QPoint(0, self.menu_button.height()))
        self.menu_wanted.emit(self, corner)

    # -- pointer and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if (
            event.button() == Qt.MouseButton.LeftButton
            and event.position().y() < self._panes.geometry().top()
        ):
            self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        pressed = self._pressed
        here = event.position().toPoint()
        if pressed is None or (here - pressed).manhattanLength() < QApplication.startDragDistance():
            return
        self._pressed = None
        drag = QDrag(self)
        data = QMimeData()
        data.setData(MIME, str(self.key).encode())
        drag.setMimeData(data)
        shot: QPixmap = self.grab().scaledToWidth(
            min(160, self.width()), Qt.TransformationMode.SmoothTransformation
        )
        drag.setPixmap(shot)
        drag.setHotSpot(QPoint(shot.width() // 2, 10))
        drag.exec(Qt.DropAction.MoveAction | Qt.DropAction.CopyAction)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pressed = None
        super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.position().y() < self._panes.geometry().top():
            self.ask_enlarge()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_wanted.emit(self, event.globalPos())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers()
        ways = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -2,
            Qt.Key.Key_Down: 2,
        }
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.ask_enlarge()
        elif key == Qt.Key.Key_Delete:
            self.close_wanted.emit(self)
        elif key == Qt.Key.Key_Space:
            self.toggle_freeze()
        elif key == Qt.Key.Key_P and not modifiers:
            self.ask_pin()
        elif key in ways and modifiers == Qt.KeyboardModifier.AltModifier:
            self.shift_wanted.emit(self, 1 if ways[Qt.Key(key)] > 0 else -1)
        elif key in ways and not modifiers & ~Qt.KeyboardModifier.KeypadModifier:
            self.step_wanted.emit(self, ways[Qt.Key(key)])
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_head()
        self._show_note()
        self._place_note()
        self._place_controls()

    def _fit_head(self) -> None:
        """The title whole before all: then the buttons that the menu has, too, then the node's name."""
        title = QFontMetrics(self._title.font()).horizontalAdvance(self.kind.title) + 4
        room = self.width() - HEAD_SIDES - title
        name = QFontMetrics(self._node.font()).horizontalAdvance(self._node.text())
        freeze = bool(self.frozen) or (self.width() >= ROOMY and room >= 4 * (_BUTTON + 2))
        enlarge = self.enlarged or room >= 3 * (_BUTTON + 2)
        room -= (2 + freeze + enlarge) * (_BUTTON + 2)
        named = room >= (min(name, NODE_FROM) if self.subject.node_id else name)
        shown = {self._node: named, self.freeze_button: freeze, self.enlarge_button: enlarge}
        for widget, wanted in shown.items():
            if widget.isHidden() == wanted:
                widget.setVisible(wanted)

    # -- dress

    def _dress(self, _theme: object = None) -> None:
        theme = current_theme()
        on, off = theme.accent, theme.dim
        shown = (
            (
                self.pin_button,
                "pin",
                self.pinned,
                "Unpin" if self.pinned else "Pin: stay when another node is selected",
            ),
            (self.freeze_button, "freeze", bool(self.frozen), "Unfreeze" if self.frozen else "Freeze"),
            (
                self.enlarge_button,
                "shrink" if self.enlarged else "enlarge",
                False,
                "Back to its place (Esc)" if self.enlarged else "Enlarge",
            ),
            (self.menu_button, "menu", False, "More: size, export, compare, close"),
        )
        for button, name, active, tip in shown:
            button.setIcon(icon(name, on if active else off, 14))
            button.setChecked(active and button.isCheckable())
            button.setToolTip(tip)
            button.setAccessibleName(f"{tip.partition(':')[0].partition(' (')[0]}: {self.kind.title}")
