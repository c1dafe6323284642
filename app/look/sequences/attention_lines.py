"""Attention as lines between two columns of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QImage, QMouseEvent, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QWidget

from app.charts.class_marks import class_colour
from app.charts.plot import Plot, number
from app.theme import SMALL, Theme, current_theme

NAMES_FROM = 11.0  # pixels of a cell that leave room for its token
HEAD = 15  # the line over a map
WEAKEST = 0.01
WIDEST = 9.0


class AttentionArcs(Plot):
    """Weights `(heads, queries, keys)` as lines from the queries on the left to the keys on the right.

    A line is the wider the more a query looks at a key; each head has a colour. The token under the pointer
    shows its own lines alone; a click keeps it so.
    """

    token_chosen = Signal(int)  # the query whose lines are kept alone, -1 for all

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._weights: NDArray[np.floating] = np.empty((0, 1, 1))
        self._queries: tuple[str, ...] = ()
        self._keys: tuple[str, ...] = ()
        self._colours: tuple[int, ...] = ()
        self._kept = self._hovered = -1
        self.setMouseTracking(True)

    def show_weights(
        self,
        weights: NDArray[np.floating],
        queries: Sequence[str] = (),
        keys: Sequence[str] = (),
        colours: Sequence[int] = (),
    ) -> None:
        """Show other weights; `colours` are the numbers of the heads."""
        self._weights = weights.astype(np.float32)
        rows, columns = weights.shape[1:]
        self._queries = tuple(queries) or tuple(str(index + 1) for index in range(rows))
        self._keys = tuple(keys) or tuple(str(index + 1) for index in range(columns))
        self._colours = tuple(colours) or tuple(range(len(weights)))
        self._kept = self._kept if self._kept < rows else -1
        self._message = ""
        self.changed()

    @property
    def weights(self) -> NDArray[np.floating]:
        """What is on screen."""
        return self._weights

    @property
    def chosen(self) -> int:
        """The query whose lines are shown alone, -1 for all."""
        return self._hovered if self._hovered >= 0 else self._kept

    def keep(self, query: int) -> None:
        """Show the lines of one query alone; -1 shows all."""
        self._kept = query if -1 <= query < self._weights.shape[1] else -1
        self.changed()

    def ends_of(self, query: int, key: int, head: int = 0) -> tuple[QPointF, QPointF]:
        """Where the line of a query to a key begins and ends; those of several heads lie side by side."""
        left, right = self._columns()
        aside = (head - (len(self._weights) - 1) / 2) * self._lane
        return (
            QPointF(left, self._y(query, len(self._queries)) + aside),
            QPointF(right, self._y(key, len(self._keys)) + aside),
        )

    def width_of(self, weight: float) -> float:
        """How wide the line of a weight is, in pixels."""
        return 0.4 + max(1.0, self._lane) * weight

    @property
    def _lane(self) -> float:
        """The room for the lines of one head at a token."""
        step = self._tall / max(len(self._queries), len(self._keys), 1)
        return min(0.7 * step / max(1, len(self._weights)), WIDEST)

    def build(self, width: int, height: int, ratio: float) -> QImage | None:
        if not self._weights.size:
            return None
        image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        image.setDevicePixelRatio(ratio)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, chosen = current_theme(), self.chosen
        for head, weights in enumerate(self._weights):
            base = class_colour(theme, self._colours[head])
            for query, key in np.argwhere(weights > WEAKEST).tolist():
                if chosen >= 0 and query != chosen:
                    continue
                weight = float(weights[query, key])
                colour = QColor(base)
                colour.setAlphaF(min(1.0, (0.35 if chosen >= 0 else 0.15) + 0.85 * weight))
                start, end = self.ends_of(query, key, head)
                middle = (start.x() + end.x()) / 2
                path = QPainterPath(start)
                path.cubicTo(QPointF(middle, start.y()), QPointF(middle, end.y()), end)
                painter.setPen(
                    QPen(colour, self.width_of(weight), Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
                )
                painter.drawPath(path)
        painter.end()
        return image

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not self._weights.size:
            return
        left, right = self._columns()
        metrics = QFontMetrics(theme.font(SMALL))
        if len(self._weights) > 1:
            self._paint_heads(painter, theme)
        chosen = self.chosen
        strong = self._weights[:, chosen].max(0) if chosen >= 0 else None
        for names, x, align in (
            (self._queries, 0.0, Qt.AlignmentFlag.AlignRight),
            (self._keys, right + 6, Qt.AlignmentFlag.AlignLeft),
        ):
            room = left - 6 if names is self._queries and x == 0.0 else self.width() - right - 6
            step = self._tall / len(names)
            every = max(1, ceil(NAMES_FROM / max(step, 0.1)))
            for index, name in enumerate(names):
                own = index == chosen if x == 0.0 else strong is not None and strong[index] >= 0.1
                if index % every and not own:
                    continue
                painter.setFont(theme.font(SMALL, bold=own))
                painter.setPen(theme.text if own or chosen < 0 else theme.dim)
                box = QRectF(x, self._y(index, len(names)) - 8, room, 16)
                text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, int(room))
                painter.drawText(box, align | Qt.AlignmentFlag.AlignVCenter, text)

    def query_at(self, at: QPoint) -> int:
        """The query under the pointer, on the left, -1 for none."""
        if not self._weights.size or at.x() > self._columns()[0] + 12:
            return -1
        count = len(self._queries)
        return min(count - 1, max(0, int(at.y() / self._tall * count)))

    def describe(self, at: QPoint) -> str:
        query = self.query_at(at)
        if query < 0:
            return ""
        words = [f"{self._queries[query]} attends to"]
        for head, weights in zip(self._colours, self._weights, strict=True):
            best = np.argsort(-weights[query])[:3].tolist()
            told = ", ".join(f"{self._keys[key]} {number(float(weights[query, key]))}" for key in best)
            words.append(f"head {head + 1}: {told}")
        return "\n".join(words)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.query_at(event.position().toPoint()))

    def leaveEvent(self, event: object) -> None:
        self._hover(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            query = self.query_at(event.position().toPoint())
            self.keep(-1 if query == self._kept else query)
            self.token_chosen.emit(self._kept)

    def sizeHint(self) -> QSize:
        return QSize(300, 240)

    def _hover(self, query: int) -> None:
        if query != self._hovered:
            self._hovered = query
            self.changed()

    def _columns(self) -> tuple[float, float]:
        metrics = QFontMetrics(current_theme().font(SMALL, bold=True))
        most = 0.34 * self.width()
        left = min(most, max(metrics.horizontalAdvance(name) for name in self._queries) + 10.0)
        right = min(most, max(metrics.horizontalAdvance(name) for name in self._keys) + 10.0)
        return left, max(left + 20.0, self.width() - right)

    @property
    def _tall(self) -> float:
        """The room for the tokens: the heads are told below where there are several."""
        return max(8.0, self.height() - (HEAD if len(self._weights) > 1 else 0))

    def _y(self, index: int, count: int) -> float:
        return (index + 0.5) * self._tall / count

    def _paint_heads(self, painter: QPainter, theme: Theme) -> None:
        painter.setFont(theme.font(SMALL))
        metrics, x, top = QFontMetrics(painter.font()), 4.0, self.height() - HEAD
        for place, head in enumerate(self._colours):
            word = f"head {head + 1}" if not place else str(head + 1)
            painter.fillRect(QRectF(x, top + 4, 8, 8), class_colour(theme, head))
            painter.setPen(theme.dim)
            painter.drawText(QPointF(x + 11, top + 12), word)
            x += 11 + metrics.horizontalAdvance(word) + 9
