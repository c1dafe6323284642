"""The kinds of fields that only plans need: something chosen by name with its values, and lists of those."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.theme import current_theme, themes
from app.widgets.fields import FieldRow, QuietCombo
from app.widgets.icons import icon
from app.widgets.labels import ElidedLabel, label
from engine.catalogue.params import ParamSpec
from engine.catalogue.training.choosable import Choosable
from engine.document.plan import WHOLE, Choice
from engine.errors import ParamError
from engine.values import Value

Known = Mapping[str, type[Choosable]]
Names = Callable[[], Sequence[str]]
Entries = Callable[[], Mapping[str, str]]
ALL_ROWS = "all rows"
NONE = "none"


class BatchSpec(ParamSpec):
    """A batch size, of which 0 is written as "all rows"."""

    def parse(self, text: str) -> Any:
        return WHOLE if text.strip().casefold() in ("all", ALL_ROWS) else ParamSpec.parse(self, text)

    def format(self, value: Value) -> str:
        return ALL_ROWS if value == WHOLE and value is not None else ParamSpec.format(self, value)

    def _accepts(self) -> str:
        return f"{ParamSpec._accepts(self)}, or “{ALL_ROWS}”"


class PickField(FieldRow):
    """A combo box whose entries can change: nodes by name, values that a run records."""

    def __init__(self, spec: ParamSpec, entries: Entries, gone: str, parent: QWidget | None = None) -> None:
        """`entries` gives the texts by value; `gone` is said of a value that is none of them any more."""
        self._entries, self._gone = entries, gone
        super().__init__(spec, parent)

    def _make_control(self) -> QWidget:
        combo = QuietCombo()
        self._options: list[Value] = []
        combo.activated.connect(self._chosen)
        return combo

    def show_value(self, value: Value, mixed: bool = False) -> None:
        combo = self.control
        assert isinstance(combo, QComboBox)
        texts = dict(self._entries())
        if isinstance(value, str) and value not in texts:
            texts[value] = f"{value}, {self._gone}"
        offered = [combo.itemText(index) for index in range(combo.count())]
        if (self._options, offered) != (list(texts), list(texts.values())):
            with QSignalBlocker(combo):
                combo.clear()
                combo.addItems(list(texts.values()))
            self._options = list(texts)
        super().show_value(value, mixed)


def monitor_field(spec: ParamSpec, names: Names) -> PickField:
    """A field for the value that is watched, picked among those that are recorded."""
    return PickField(spec, lambda: {name: name for name in names()}, "not recorded")


class AddButton(QPushButton):
    """A quiet button with a list of what can be added."""

    picked = Signal(str)

    def __init__(self, text: str, entries: Entries, name: str) -> None:
        super().__init__(text)
        self._entries = entries
        self.setObjectName(name)
        self.setProperty("kind", "link")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(self._open)

    def make_menu(self) -> QMenu:
        """The list as it stands now; what is picked in it is emitted by its key."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for key, text in self._entries().items():
            menu.addAction(text).setData(key)
        menu.triggered.connect(self._pick)
        return menu

    def _open(self) -> None:
        menu = self.make_menu()
        if menu.isEmpty():
            menu.addAction("There is nothing more to add").setEnabled(False)
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))

    def _pick(self, action: QAction) -> None:
        self.picked.emit(str(action.data()))


class Tool(QToolButton):
    """A small button with an icon in the theme's colours, named for screen readers and in its tip."""

    def __init__(self, name: str, text: str, object_name: str) -> None:
        super().__init__()
        self._name = name
        self.setProperty("kind", "icon")
        self.setObjectName(object_name)
        self.setFixedSize(24, 24)
        self.setToolTip(text)
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        themes.theme_changed.connect(self._retint)
        self._retint()

    def _retint(self, _theme: object = None) -> None:
        self.setIcon(icon(self._name, current_theme().dim, 14))


def empty(layout: QBoxLayout) -> None:
    """Takes everything out of a layout; a widget may still be handling an event."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


def column_of(spacing: int = 4) -> QVBoxLayout:
    made = QVBoxLayout()
    made.setContentsMargins(0, 0, 0, 0)
    made.setSpacing(spacing)
    return made


class Notice(QLabel):
    """A sentence that is there only while there is something to say."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", "warning")
        self.setWordWrap(True)
        self.hide()

    def say(self, text: str) -> None:
        if self.text() != text:
            self.setText(text)
            self.setVisible(bool(text))


class Removable(QWidget):
    """A row with a button that takes it away."""

    removed = Signal(str)

    def __init__(self, key: str, name: str, what: QWidget | None = None) -> None:
        super().__init__()
        self.key = key
        self.button = Tool("close", f"Remove {name}", f"remove_{key}")
        self.button.clicked.connect(self._remove)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(what or ElidedLabel(name), 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)

    def _remove(self) -> None:
        self.removed.emit(self.key)


class ChoiceField(QWidget):
    """Something chosen by name, with a field for each of its values and a sentence where they don't fit."""

    changed = Signal(object, str, str)  # Choice or None, label of the step, key of the step
    finished = Signal()

    def __init__(self, spec: ParamSpec, known: Known, names: Names = tuple) -> None:
        """`spec` gives name, title and help; `optional` offers "none". `names` are the recorded values."""
        super().__init__()
        self._known, self._names = known, names
        self._choice: Choice | None = None
        self._made_for: str | None = None
        self._titles = {found.title: name for name, found in known.items()}
        titles = (*((NONE,) if spec.optional else ()), *self._titles)
        shown = ParamSpec(spec.name, "choice", titles[0], spec.title, spec.doc, choices=titles)
        self._head = FieldRow(shown)
        self._head.edited.connect(self._picked)
        self._head.finished.connect(self.finished)
        self.name = spec.name
        self.fields: dict[str, FieldRow] = {spec.name: self._head}
        self._inner = column_of()
        self.notice = Notice(f"notice_{spec.name}")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._head)
        column.addLayout(self._inner)
        column.addWidget(self.notice)

    def show_choice(self, choice: Choice | None, complaint: str = "") -> None:
        """Shows what the plan has chosen and what is wrong with it."""
        self._choice = choice
        found = self._known.get(choice.name) if choice is not None else None
        name = choice.name if choice is not None else None
        self._head.show_value(NONE if choice is None else found.title if found else choice.name)
        if self._made_for != name:
            self._made_for = name
            self._make(found)
        values = choice.params if choice is not None else {}
        for spec in found.params if found is not None else ():
            self.fields[f"{self.name}.{spec.name}"].show_value(values.get(spec.name, spec.default))
        self.notice.say(complaint)

    def _make(self, found: type[Choosable] | None) -> None:
        empty(self._inner)
        self.fields = {self.name: self._head}
        self._head.control.setToolTip(found.doc() if found is not None else "")
        # Declared order puts what every optimiser has first, the learning rate at the top.
        for spec in found.params if found is not None else ():
            field = value_field(spec, self._names)
            field.edited.connect(self._edited)
            field.finished.connect(self.finished)
            self.fields[f"{self.name}.{spec.name}"] = field
            self._inner.addWidget(field)

    def _picked(self, _name: str, title: object) -> None:
        name = self._titles.get(str(title))
        what = self._head.spec.title.lower()
        self.changed.emit(None if name is None else Choice(name), f"Change {what}", self.name)

    def _edited(self, name: str, value: Any) -> None:
        if self._choice is not None:
            title = self.fields[f"{self.name}.{name}"].spec.title.lower()
            self.changed.emit(self._choice.with_param(name, value), f"Change {title}", f"{self.name}.{name}")


class ChoiceList(QWidget):
    """Any number of things chosen by name, each with its values."""

    changed = Signal(object, str, str)  # tuple of Choice, label of the step, key of the step
    finished = Signal()

    def __init__(self, name: str, what: str, known: Known, names: Names = tuple) -> None:
        """`what` is one of them in words: "penalty"."""
        super().__init__()
        self._name, self._what, self._known, self._names = name, what, known, names
        self._choices: tuple[Choice, ...] = ()
        self._made_for: tuple[str, ...] = ()
        self.fields: dict[str, FieldRow] = {}
        self._rows = column_of(6)
        self.add = AddButton(f"Add {what}", self._entries, f"add_{name}")
        self.add.picked.connect(self._added)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(self._rows)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)

    def show_choices(self, choices: tuple[Choice, ...]) -> None:
        self._choices = choices
        names = tuple(one.name for one in choices)
        if names != self._made_for:
            self._made_for = names
            self._make()
        for place, choice in enumerate(choices):
            for spec in self._params(choice.name):
                value = choice.params.get(spec.name, spec.default)
                self.fields[f"{self._name}.{place}.{spec.name}"].show_value(value)

    def _make(self) -> None:
        had_focus = self.isAncestorOf(self.focusWidget()) if self.focusWidget() is not None else False
        empty(self._rows)
        self.fields = {}
        for place, choice in enumerate(self._choices):
            self._rows.addWidget(self._row(place, choice))
        if had_focus:
            self.add.setFocus()

    def _row(self, place: int, choice: Choice) -> QWidget:
        found = self._known.get(choice.name)
        title = found.title if found is not None else f"{choice.name}, unknown here"
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        head = Removable(str(place), title, ElidedLabel(title))
        head.setToolTip(found.doc() if found is not None else "")
        head.button.setObjectName(f"remove_{self._name}_{place}")
        head.removed.connect(self._removed)
        column.addWidget(head)
        for spec in self._params(choice.name):
            field = value_field(spec, self._names)
            field.setProperty("place", place)
            field.edited.connect(self._edited)
            field.finished.connect(self.finished)
            self.fields[f"{self._name}.{place}.{spec.name}"] = field
            column.addWidget(field)
        return body

    def _params(self, name: str) -> tuple[ParamSpec, ...]:
        found = self._known.get(name)
        return found.params if found is not None else ()

    def _entries(self) -> dict[str, str]:
        return {name: found.title for name, found in self._known.items()}

    def _added(self, name: str) -> None:
        self.changed.emit((*self._choices, Choice(name)), f"Add {self._what}", "")

    def _removed(self, key: str) -> None:
        place = int(key)
        kept = (*self._choices[:place], *self._choices[place + 1 :])
        self.changed.emit(kept, f"Remove {self._what}", "")

    def _edited(self, name: str, value: Any) -> None:
        field = self.sender()
        place = int(field.property("place"))
        choices = list(self._choices)
        choices[place] = choices[place].with_param(name, value)
        title = self.fields[f"{self._name}.{place}.{name}"].spec.title.lower()
        self.changed.emit(tuple(choices), f"Change {title}", f"{self._name}.{place}.{name}")


def value_field(spec: ParamSpec, names: Names) -> FieldRow:
    """The field of one value; a value to watch is picked among those that are recorded."""
    return monitor_field(spec, names) if spec.name == "monitor" else FieldRow(spec)


def complaint_of(make: Callable[[Choice], object], choice: Choice) -> str:
    """What is wrong with the values of a choice, as a sentence; empty where nothing is."""
    try:
        make(choice)
    except ParamError as error:
        return str(error)
    return ""


def heading(text: str) -> QLabel:
    return label(text, "heading")
