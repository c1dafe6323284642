"""The bar across the top: name, menus, the file, and the training controls."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QEnterEvent, QFontMetrics, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenuBar, QPushButton, QSizePolicy, QStackedWidget, QWidget

from app.runs.progress import TrainingBar
from app.theme import BODY, current_theme, themes
from app.widgets.labels import label, plain

HEIGHT = 44
_ROOMY = 1360
_NAMED = 1260  # from here on there is room for a longer file name
_NARROWEST = 1120
_SPACES = 70  # pixels between and around the parts of the bar
_AROUND = 40  # pixels of the chip beside its name


class FileChip(QPushButton):
    """The name of the open file with a dot while it holds unsaved changes; a click offers the file menu."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("fileChip")
        self.setAccessibleName("Open file")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._name = ""
        self._most = 220
        self.unsaved = False
        themes.theme_changed.connect(self._repaint)
        self._fit()

    def show_file(self, name: str, path: str, unsaved: bool) -> None:
        """Shows another name, or whether it is saved."""
        self._name, self.unsaved = name, unsaved
        self._fit()
        state = "unsaved changes" if unsaved else "saved" if path else "not saved yet"
        self.setToolTip(plain(f"{path or name}\n{state}"))
        self.setAccessibleDescription(f"{name}, {state}")
        self.update()

    def name(self) -> str:
        """The name on show, in full."""
        return self._name

    @property
    def most(self) -> int:
        """How wide it may become for a long name, in pixels."""
        return self._most

    @most.setter
    def most(self, width: int) -> None:
        if width != self._most:  # each fit asks for a layout, which asks for this width again
            self._most = width
            self._fit()

    def _fit(self) -> None:
        wide = QFontMetrics(current_theme().font(BODY)).horizontalAdvance(self._name)
        self._wide = min(self._most, max(130, wide + _AROUND))
        self.setMaximumWidth(self._wide)  # it gives way where the controls need the room
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(self._wide, 28)

    def minimumSizeHint(self) -> QSize:
        return QSize(110, 28)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font(BODY))
        painter.setPen(theme.text)
        inner = self.rect().adjusted(12, 0, 14 - _AROUND, 0)
        shown = painter.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideMiddle, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        if self.unsaved:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.warning)
            painter.drawEllipse(QRectF(self.width() - 18, self.height() / 2 - 3, 6, 6))
        painter.end()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    def _repaint(self, _theme: object) -> None:
        self.update()


class TopBar(QWidget):
    """Name, menu bar, file chip and the training controls of the document in front, in one row."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("topBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT)
        # Below what the layout would ask for: the name gives way first.
        self.setMinimumWidth(_NARROWEST)
        self._name = label("Neuroloom")
        self._name.setObjectName("appName")
        self.menu_bar = QMenuBar()
        self.menu_bar.setNativeMenuBar(False)
        self.menu_bar.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Preferred)
        self.chip = FileChip()
        self._controls = QStackedWidget()
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 16, 1)
        row.setSpacing(0)
        row.addWidget(self._name)
        row.addSpacing(10)
        row.addWidget(self.menu_bar, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addSpacing(12)
        row.addStretch(1)
        row.addWidget(self.chip, 0)
        row.addSpacing(12)
        row.addStretch(1)
        row.addWidget(self._controls, 6)
        themes.theme_changed.connect(self._theme_changed)

    @property
    def training(self) -> TrainingBar:
        """The controls on show."""
        shown = self._controls.currentWidget()
        assert isinstance(shown, TrainingBar)
        return shown

    def add_controls(self, controls: TrainingBar) -> None:
        """Makes room for the controls of another document."""
        self._controls.addWidget(controls)

    def drop_controls(self, controls: TrainingBar) -> None:
        """Forgets the controls of a document that is closed."""
        self._controls.removeWidget(controls)

    def show_document(self, controls: TrainingBar, name: str, path: str, unsaved: bool) -> None:
        """Shows the document in front: its controls, the name of its file and whether it is saved."""
        self._controls.setCurrentWidget(controls)
        usual, none = QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored
        for index in range(self._controls.count()):  # only those on show ask for room
            if (here := self._controls.widget(index)) is not None:
                here.setSizePolicy(usual if here is controls else none, usual)
        self.chip.show_file(name, path, unsaved)

    def show_work(self, shown: bool) -> None:
        """Shows the file and the controls, or hides them: on the welcome page there is nothing to train."""
        self.chip.setVisible(shown)
        self._controls.setVisible(shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # another metric needs more room for its number
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        """The name of the program gives way first."""
        shown = self._controls.currentWidget()
        needed = shown.minimumSizeHint().width() if shown is not None else 0
        beside = self.menu_bar.width() + self.chip.minimumSizeHint().width() + self._name.sizeHint().width()
        roomy = self.width() >= max(_ROOMY, needed + beside + _SPACES)
        if self._name.isHidden() == roomy:
            self._name.setVisible(roomy)
        self.chip.most = 200 if roomy else 180 if self.width() >= _NAMED else 130

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_menu_bar()

    def _theme_changed(self, _theme: object) -> None:
        self._fit_menu_bar()

    def _fit_menu_bar(self) -> None:
        # Left to a layout, a menu bar takes the whole height and hangs its entries from the top.
        self.menu_bar.setFixedSize(self.menu_bar.sizeHint())
