"""A typed field for one declared parameter: reads what is typed, and says what is wrong beneath it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QLineEdit, QSizePolicy, QWidget

from app.widgets.labels import ElidedLabel, label, restyle
from engine.catalogue.params import ParamSpec
from engine.errors import ParamError
from engine.values import Value

LABEL_WIDTH = 116
MIXED = "several values"
_NUMERIC = ("int", "float", "pair", "ints", "floats")


class NumberEdit(QLineEdit):
    """A line of text: Up and Down change a number, with Shift by ten steps; Esc takes the typing back."""

    stepped = Signal(int)
    reverted = Signal()
    left = Signal()

    def event(self, event: QEvent) -> bool:
        # On X11 a line of text takes Ctrl+E for its own end, and Export would not open while one types.
        if event.type() == QEvent.Type.ShortcutOverride and _exports(event):
            event.ignore()
            return False
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        by = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        if event.key() == Qt.Key.Key_Up:
            self.stepped.emit(by)
        elif event.key() == Qt.Key.Key_Down:
            self.stepped.emit(-by)
        elif event.key() == Qt.Key.Key_Escape and (self.isModified() or self.property("bad") == "true"):
            self.setModified(False)
            self.reverted.emit()
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.left.emit()


def _exports(event: QEvent) -> bool:
    control = Qt.KeyboardModifier.ControlModifier
    return isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_E and event.modifiers() == control


class QuietCombo(QComboBox):
    """A combo box that leaves the wheel to the panel it scrolls with, unless it was clicked first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class FieldRow(QWidget):
    """Name, control and, after bad text, a sentence. Only values that were accepted are passed on."""

    edited = Signal(str, object)  # parameter name, accepted value; on every keystroke that makes sense
    finished = Signal()  # the field was left or Enter pressed

    def __init__(self, spec: ParamSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self._value: Value = spec.default
        self._original: Value = spec.default
        self.setObjectName(f"field_{spec.name}")
        self.setToolTip(spec.doc[:1].upper() + spec.doc[1:] if spec.doc else "")
        self.control = self._make_control()
        self.control.setObjectName(f"control_{spec.name}")
        self.control.setAccessibleName(spec.title)
        self.control.setAccessibleDescription(spec.doc)
        self.error = label("", "error", wrap=True)
        self.error.setObjectName(f"error_{spec.name}")
        self.error.hide()
        title = ElidedLabel(spec.title, "dim")
        title.setFixedWidth(LABEL_WIDTH)
        title.setBuddy(self.control)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(2)
        grid.addWidget(title, 0, 0)
        grid.addWidget(self.control, 0, 1)
        if spec.unit:
            grid.addWidget(label(spec.unit, "small"), 0, 2)
        grid.addWidget(self.error, 1, 0, 1, 3 if spec.unit else 2)
        grid.setColumnStretch(1, 1)

    # -- showing ----------------------------------------------------------------------------------

    def show_value(self, value: Value, mixed: bool = False) -> None:
        """Shows what the document holds, unless the field is being typed in and already means that."""
        self._value = value
        control = self.control
        if not control.hasFocus():
            self._original = value
        with QSignalBlocker(control):
            if isinstance(control, QCheckBox):
                control.setTristate(mixed)
                if mixed:
                    control.setCheckState(Qt.CheckState.PartiallyChecked)
                else:
                    control.setChecked(value is True)
            elif isinstance(control, QComboBox):
                control.setPlaceholderText(MIXED if mixed else "")
                control.setCurrentIndex(-1 if mixed else self._index_of(value))
            elif isinstance(control, QLineEdit):
                self._show_text(control, value, mixed)

    def _show_text(self, control: QLineEdit, value: Value, mixed: bool) -> None:
        control.setPlaceholderText(MIXED if mixed else "none" if self.spec.optional else "")
        if mixed:
            if not control.hasFocus():
                control.clear()
            return
        if control.hasFocus() and self._means(control.text(), value):
            return
        control.setText(self.spec.format(value))
        self._show_error("")

    def _means(self, text: str, value: Value) -> bool:
        try:
            return bool(self.spec.parse(text) == value)
        except ParamError:
            return False

    def _show_error(self, sentence: str) -> None:
        self.error.setText(sentence)
        self.error.setVisible(bool(sentence))
        bad = "true" if sentence else "false"
        if self.control.property("bad") != bad:
            self.control.setProperty("bad", bad)
            self.control.setAccessibleDescription(sentence or self.spec.doc)
            restyle(self.control)

    @property
    def error_text(self) -> str:
        """The sentence shown under the field; empty while the text is accepted."""
        return self.error.text()

    # -- control ----------------------------------------------------------------------------------

    def _make_control(self) -> QWidget:
        spec = self.spec
        if spec.kind == "bool":
            box = QCheckBox()
            box.clicked.connect(self._checked)
            return box
        if spec.kind == "choice":
            combo = QuietCombo()
            self._options: list[Value] = [*((None,) if spec.optional else ()), *spec.choices]
            combo.addItems(["none" if option is None else str(option) for option in self._options])
            combo.activated.connect(self._chosen)
            return combo
        line = NumberEdit()
        if spec.kind in _NUMERIC:
            line.setProperty("role", "number")
        line.textEdited.connect(self._typed)
        line.stepped.connect(self._step)
        line.reverted.connect(self._revert)
        line.returnPressed.connect(self._leave)
        line.left.connect(self._leave)
        return line

    def _index_of(self, value: Value) -> int:
        return self._options.index(value) if value in self._options else -1

    def _checked(self, on: bool) -> None:
        if isinstance(self.control, QCheckBox):
            self.control.setTristate(False)
        self._accept(on)
        self.finished.emit()

    def _chosen(self, index: int) -> None:
        self._accept(self._options[index])
        self.finished.emit()

    def _typed(self, text: str) -> None:
        try:
            value = self.spec.parse(text)
        except ParamError as error:
            self._show_error(error.message)
            return
        self._show_error("")
        self._accept(value)

    def _accept(self, value: Value) -> None:
        if value != self._value or type(value) is not type(self._value) or self._is_mixed():
            self._value = value
            self.edited.emit(self.spec.name, value)

    def _is_mixed(self) -> bool:
        control = self.control
        return isinstance(control, (QLineEdit, QComboBox)) and control.placeholderText() == MIXED

    def _step(self, by: int) -> None:
        value = self._value
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or self.spec.kind not in ("int", "float")
        ):
            return
        if isinstance(value, float):
            size = 10.0 ** _decade(value)
            wanted: Value = float(f"{value + by * size:.12g}")
        else:
            wanted = value + by
        try:
            accepted = self.spec.check(wanted)
        except ParamError:
            return
        self._write(accepted)
        self._show_error("")
        self._accept(accepted)

    def _revert(self) -> None:
        """Goes back to the value the field had when the caret came in."""
        self._accept(self._original)
        self._write(self._value)
        self._show_error("")

    def _write(self, value: Value) -> None:
        if isinstance(self.control, QLineEdit):
            self.control.setText(self.spec.format(value))

    def _leave(self) -> None:
        if isinstance(self.control, QLineEdit) and not self.error_text and not self._is_mixed():
            self._write(self._value)
            self._original = self._value
        self.finished.emit()


def _decade(value: float) -> int:
    """Power of ten of the last digit that is written: 0.001 steps by 0.001, 0.25 by 0.01, 64.0 by 1."""
    mantissa, _, exponent = f"{value:.6g}".partition("e")
    decimals = len(mantissa.partition(".")[2])
    return int(exponent or 0) - decimals


def fact_row(name: str, value: str = "") -> tuple[QWidget, QLabel]:
    """A line of the facts list: the name dim at the left, the value in mono at the right."""
    row = QWidget()
    shown = ElidedLabel(value, "mono")
    shown.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    shown.setAccessibleName(name)
    grid = QGridLayout(row)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.addWidget(label(name, "dim"), 0, 0)
    grid.addWidget(shown, 0, 1)
    grid.setColumnStretch(1, 1)
    return row, shown
