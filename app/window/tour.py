"""A first-steps tour: a few sentences beside each part of the window, one after the other."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.documents.document_page import DocumentPage
from app.widgets.labels import label

WIDTH, GAP, EDGE = 340, 12, 3
FIRST_EXAMPLE = "two-spirals"  # what the tour shows where nothing is open


class Stop(NamedTuple):
    """One part of the window, by the name of its widget, and what to say of it."""

    part: str
    title: str
    text: str


STOPS = (
    Stop(
        "canvas",
        "A network is a drawing",
        "Data stand at the left, layers follow, and a loss at the right says how wrong the answers are. Drag "
        "nodes to move them; double-click the canvas to add one.",
    ),
    Stop(
        "palette",
        "Data and layers",
        "Everything that can be added, by kind. Drag an entry onto the canvas, or type a few letters of its "
        "name. A file of your own can be dropped on the canvas, too.",
    ),
    Stop(
        "inspector",
        "Settings of what is selected",
        "Select a node and its settings stand here, with what they mean. With nothing selected these are "
        "those of the training: optimiser, learning rate, epochs.",
    ),
    Stop(
        "trainButton",
        "Train",
        "Starts training and pauses it again (F5). You can go on editing meanwhile. Step does one batch at a "
        "time.",
    ),
    Stop(
        "bottom",
        "Watch it learn",
        "Training shows the loss and what is confused, Views what the network does to an example, Data what "
        "it learns from, and Code the same network as Python.",
    ),
)


class Tour(QFrame):
    """A card beside one part at a time, over a window; Esc or Done ends it."""

    def __init__(self, over: QWidget, page: DocumentPage) -> None:
        super().__init__(over)
        self.setObjectName("card")
        self._over, self._page = over, page
        self._at = 0
        self._ring = QFrame(over)
        self._ring.setObjectName("tourRing")
        self._ring.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.title = label("", "heading")
        self.text = label("", wrap=True)
        self.count = label("", "small")
        self.back = QPushButton("Back")
        self.back.setObjectName("tourBack")
        self.back.clicked.connect(self._go_back)
        self.next = QPushButton("Next")
        self.next.setObjectName("tourNext")
        self.next.setProperty("kind", "main")
        self.next.clicked.connect(self._go_on)
        foot = QHBoxLayout()
        foot.addWidget(self.count, 1)
        foot.addWidget(self.back)
        foot.addWidget(self.next)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(8)
        column.addWidget(self.title)
        column.addWidget(self.text)
        column.addLayout(foot)
        self.setFixedWidth(WIDTH)
        over.installEventFilter(self)
        self._show()

    @property
    def stop(self) -> Stop:
        """What is spoken of."""
        return STOPS[self._at]

    def _go_on(self) -> None:
        if self._at + 1 == len(STOPS):
            self.end()
        else:
            self._at += 1
            self._show()

    def _go_back(self) -> None:
        self._at = max(0, self._at - 1)
        self._show()

    def _show(self) -> None:
        self.title.setText(self.stop.title)
        self.text.setText(self.stop.text)
        self.count.setText(f"{self._at + 1} of {len(STOPS)} · Esc ends")
        self.back.setVisible(self._at > 0)
        self.next.setText("Done" if self._at + 1 == len(STOPS) else "Next")
        self.settle()
        self.show()
        self.raise_()
        self.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def part(self) -> QWidget:
        """The widget that is spoken of; the page where it is hidden."""
        page = self._page
        places = {
            "canvas": page.canvas,
            "palette": page.palette_panel,
            "inspector": page.inspector,
            "bottom": page.bottom,
            "trainButton": page.training.findChild(QPushButton, "trainButton"),
        }
        found = places[self.stop.part]
        return found if found is not None and found.isVisible() else page

    def settle(self) -> None:
        """Stands beside its part, inside the window."""
        over, part = self._over, self.part()
        self.text.setFixedHeight(self.text.heightForWidth(WIDTH - 34))
        self.adjustSize()
        at = QRect(part.mapTo(over, QPoint(0, 0)), part.size())
        self._ring.setGeometry(at.adjusted(-EDGE, -EDGE, EDGE, EDGE).intersected(over.rect()))
        self._ring.show()
        self._ring.raise_()
        self.raise_()
        if at.right() + GAP + WIDTH < over.width():
            place = QPoint(at.right() + GAP, at.top())
        elif at.left() - GAP - WIDTH > 0:
            place = QPoint(at.left() - GAP - WIDTH, at.top())
        elif at.bottom() + GAP + self.height() < over.height():
            place = QPoint(at.left(), at.bottom() + GAP)
        else:
            place = QPoint(at.center().x() - WIDTH // 2, at.top() - GAP - self.height())
        room = over.size() - self.size()
        self.move(max(GAP, min(place.x(), room.width() - GAP)), max(GAP, min(place.y(), room.height() - GAP)))

    def end(self) -> None:
        """Goes away."""
        self._over.removeEventFilter(self)
        self._ring.deleteLater()
        self.hide()
        self.deleteLater()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.end()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._go_on()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.settle()
        return False
