"""One node on the canvas: a single item that paints everything itself."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.items import geometry as g
from app.canvas.items.detail import FAR_NAME, LEAST_NAME, PORT_ZOOM, READABLE, TEXT_ZOOM, Detail
from app.canvas.items.face import Face
from app.canvas.items.pens import cosmetic_pen
from app.canvas.items.text_fit import LEADING, cut, cut_parts, in_lines, one_line
from app.canvas.items.thumbnail import Thumbnail
from app.theme import SMALL, Theme, current_theme

NODE_Z = 3.0
LABEL_ROOM = 76.0
DIMMED = 0.32
MUTED = 0.5
STACK = 5.0  # how far the sheets of a block lie apart
TAB_POINT = 12.0
SMALLEST_THUMBNAIL, LARGEST_THUMBNAIL, THUMBNAIL_HEIGHT = 34.0, 44.0, 24.0
THIN = 10.0  # a thumbnail under a summary that leaves no room beside it
_HALO = 9.0
_RING = 4.0  # around a node, how far out


class NodeItem(QGraphicsItem):
    """Shows a Face; holds no facts of its own and never changes the document."""

    def __init__(self, node_id: str, face: Face, detail: Detail) -> None:
        super().__init__()
        self.node_id = node_id
        self.face = face
        self._detail = detail
        self.selected = False
        self.dimmed = False
        self.hovered = False
        self.part = ""  # in the objective on show: "trained", "frozen" or "untouched"
        self.stage = ""  # of a batch that has come to the node: "forward", "backward" or "update"
        self.count = ""  # parameters, "16,010"
        self.value = ""  # a live number in place of the summary
        self.problem: tuple[str, str] | None = None  # severity, message
        self.thumbnail: Thumbnail | None = None
        self.marked: dict[tuple[str, str], bool] = {}  # (side, port) -> a wire may end here
        self.linked_inputs: frozenset[str] = frozenset()
        self.linked_outputs: frozenset[str] = frozenset()
        self._measure(face.layout)
        self._texts: tuple[str, str, str] | None = None
        self._far: tuple[tuple[int, float], tuple[int, tuple[str, ...]]] | None = None  # asked, and what fits
        self.setZValue(NODE_Z)

    # -- geometry

    def boundingRect(self) -> QRectF:
        return self._bounds

    def _measure(self, layout: g.Layout) -> None:
        """Keeps the rectangles that every repaint asks for: all that is painted, the plate and its stripe."""
        left = LABEL_ROOM if len(layout.inputs) > 1 else 12.0
        right = LABEL_ROOM if len(layout.outputs) > 1 else 12.0
        self._bounds = QRectF(-left, -12, layout.width + left + right, layout.height + 24)
        self.plate = QRectF(0, 0, layout.width, layout.height)
        self.stripe = QRectF(1, 1, 11, layout.height - 2)

    def box(self) -> g.Box:
        """The body in scene coordinates."""
        return self.face.layout.box((self.x(), self.y()))

    def port_place(self, port: str, side: str) -> QPointF | None:
        """Where a port is in the scene; side is "in" or "out"."""
        spot = self.face.layout.spot(port, side)
        return QPointF(self.x() + spot.x, self.y() + spot.y) if spot is not None else None

    # -- what is shown; each setter repaints only when something differs

    def show_face(self, face: Face) -> bool:
        """Wears another face; whether the size or the ports changed."""
        if face == self.face:
            return False
        changed = face.layout != self.face.layout
        if changed:
            self.prepareGeometryChange()
            self._measure(face.layout)
        self.face = face
        self._texts = self._far = None
        self.update()
        return changed

    def show_selected(self, selected: bool) -> None:
        if selected != self.selected:
            self.selected = selected
            self.update()

    def show_hovered(self, hovered: bool) -> None:
        if hovered != self.hovered:
            self.hovered = hovered
            self.update()

    def show_dimmed(self, dimmed: bool) -> None:
        if dimmed != self.dimmed:
            self.dimmed = dimmed
            self.update()

    def show_part(self, part: str) -> None:
        """Shows what the objective in the plan editor does with the node."""
        if part != self.part:
            self.part = part
            self.update()

    def show_stage(self, stage: str) -> None:
        """Rings the node that a batch has come to, and says what happens there."""
        if stage != self.stage:
            self.stage = stage
            self.update()

    def show_marks(self, marks: dict[tuple[str, str], bool]) -> None:
        """Marks ports while a wire is drawn: True for a possible end, False for the refused one."""
        if marks != self.marked:
            self.marked = marks
            self.update()

    def show_facts(self, count: str, problem: tuple[str, str] | None) -> None:
        """Shows the number of parameters and what is wrong with the node."""
        if (count, problem) != (self.count, self.problem):
            self.count, self.problem = count, problem
            self._texts = None
            self.update()

    def show_live(self, thumbnail: Thumbnail | None, value: str) -> None:
        """Shows what the node computes now: a thumbnail, a number, or nothing."""
        if thumbnail is not self.thumbnail or value != self.value:
            self.thumbnail, self.value = thumbnail, value
            self._texts = None
            self.update()

    def show_linked(self, inputs: frozenset[str], outputs: frozenset[str]) -> None:
        """Which ports have a wire: of the inputs only the others need a label beside them."""
        if (inputs, outputs) != (self.linked_inputs, self.linked_outputs):
            self.linked_inputs, self.linked_outputs = inputs, outputs
            self.update()

    def restyle(self) -> None:
        """Called when the theme, and so the fonts, may have changed."""
        self._texts = self._far = None
        self.update()

    @property
    def looks_dim(self) -> bool:
        """Whether the node stands back: a gesture or an objective is about others."""
        return self.dimmed or self.part == "untouched"

    # -- painting

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme = current_theme()
        zoom = self._detail.zoom
        if self.looks_dim:
            painter.setOpacity(DIMMED)
        if zoom < self._detail.plates_below:
            self._paint_plate(painter, theme)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.face.form == "block":
            self._paint_stack(painter, theme)
        self._paint_body(painter, theme)
        if self.face.muted:
            self._paint_passage(painter, theme)
            painter.setOpacity(painter.opacity() * MUTED)
        far = zoom < TEXT_ZOOM
        if far:
            self._paint_name(painter, theme, zoom)
        else:
            self._paint_texts(painter, theme)
        # A node in error computes nothing: the thumbnail it has is an old one.
        failed = self.problem is not None and self.problem[0] == "error"
        if self.thumbnail is not None and not failed:
            self._paint_thumbnail(painter, theme, words=not far)
        self._paint_ports(painter, theme)
        if not far:
            self._paint_port_labels(painter, theme)
        if self.stage:
            self._paint_stage(painter, theme)
        elif self.part in ("trained", "frozen"):
            self._paint_tag(painter, theme, self.part, strong=self.part == "trained")
        if self.problem is not None:
            self._paint_badge(painter, theme, self.problem[0])

    def outline(self, theme: Theme) -> tuple[QColor, float]:
        """The colour and the width of the node's edge."""
        if self.selected or self.stage:
            return theme.accent, 2.0
        if self.problem is not None:
            return (theme.bad if self.problem[0] == "error" else theme.warning), 1.5
        return (theme.faint if self.hovered else theme.line), 1.0

    def _paint_plate(self, painter: QPainter, theme: Theme) -> None:
        self.dress_plate(painter, theme)
        painter.drawRect(self.plate)
        painter.fillRect(self.stripe, theme.family(self.face.family))

    def dress_plate(self, painter: QPainter, theme: Theme) -> None:
        """Takes the pen and the brush of the plate that stands for the node from afar."""
        colour, width = self.outline(theme)
        painter.setPen(cosmetic_pen(colour.rgba(), 2.0 if width > 1 else 1.0))
        painter.setBrush(theme.canvas if self.face.muted else theme.node)

    def _paint_body(self, painter: QPainter, theme: Theme) -> None:
        layout = self.face.layout
        colour, width = self.outline(theme)
        if self.face.muted and not self.selected:
            colour = theme.faint
        pen = QPen(colour, width)
        if not self.face.known or self.face.muted:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(theme.canvas if self.face.muted else theme.node)
        inset = 0.0 if width > 1 else 0.5
        body = QRectF(inset, inset, layout.width - 2 * inset, layout.height - 2 * inset)
        if self.face.form in ("entry", "exit"):
            painter.drawPath(_tab(body, points_right=self.face.form == "entry"))
            return
        painter.drawRoundedRect(body, g.RADIUS, g.RADIUS)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.family(self.face.family))
        painter.drawRoundedRect(QRectF(1.5, 9, 3, layout.height - 18), 1.5, 1.5)

    def _paint_passage(self, painter: QPainter, theme: Theme) -> None:
        """A muted node hands on what comes in: its wire goes right through."""
        layout = self.face.layout
        if layout.inputs and layout.outputs:
            painter.setPen(QPen(theme.wire, 1.8))
            ends = (QPointF(spot.x, spot.y) for spot in (layout.inputs[0], layout.outputs[0]))
            painter.drawLine(*ends)

    def _paint_stack(self, painter: QPainter, theme: Theme) -> None:
        """A second sheet behind the first: an instance of a block holds more than one node."""
        layout = self.face.layout
        colour, width = self.outline(theme)
        painter.setPen(QPen(colour, min(width, 1.5)))
        painter.setBrush(theme.raised)
        for off in (STACK, STACK / 2) if self.face.repeated else (STACK,):
            painter.drawRoundedRect(QRectF(off, -off, layout.width, layout.height), g.RADIUS, g.RADIUS)

    def _paint_texts(self, painter: QPainter, theme: Theme) -> None:
        if self._texts is None:
            self._texts = self._fitted(theme)
        name, second, count = self._texts
        width = self.face.layout.width - g.TEXT_LEFT - g.TEXT_RIGHT
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.font(bold=True))
        painter.setPen(theme.text)
        painter.drawText(QRectF(g.TEXT_LEFT, 7, width, 18), middle | Qt.AlignmentFlag.AlignLeft, name)
        if second:
            painter.setFont(theme.mono(SMALL) if self.value else theme.font(SMALL))
            painter.setPen(theme.dim)
            top = 34 if self.face.muted else 26  # below the wire that goes through
            painter.drawText(QRectF(g.TEXT_LEFT, top, width, 16), middle | Qt.AlignmentFlag.AlignLeft, second)
        if count:
            painter.setFont(theme.mono(SMALL))
            painter.setPen(theme.hint)
            below = self.count_place == "below"
            side = Qt.AlignmentFlag.AlignLeft if below else Qt.AlignmentFlag.AlignRight
            painter.drawText(QRectF(g.TEXT_LEFT, 26 if below else 8, width, 16), middle | side, count)

    def _paint_name(self, painter: QPainter, theme: Theme, zoom: float) -> None:
        """From afar only the name, as large on the screen as can still be read, in two lines if need be."""
        size, lines = self.far_name(zoom)
        painter.setFont(theme.font(size, bold=True))
        painter.setPen(theme.text)
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        width = self.face.layout.width - g.TEXT_LEFT
        for at, line in enumerate(lines):
            painter.drawText(QRectF(g.TEXT_LEFT, 3 + at * (size + LEADING), width, size + 4), middle, line)

    def far_name(self, zoom: float) -> tuple[int, tuple[str, ...]]:
        """The size of the name as it is drawn from afar, and its lines."""
        asked = min(FAR_NAME, round(READABLE / zoom)), self._thumbnail_top() - 3
        if self._far is None or self._far[0] != asked:
            room = self.face.layout.width - g.TEXT_LEFT - 4
            self._far = asked, in_lines(self.face.name, asked[0], LEAST_NAME, room, asked[1])
        return self._far[1]

    def _thumbnail_top(self) -> float:
        """Where the thumbnail begins, or the room below the name ends."""
        if self.face.tall:
            return g.STRIP_TOP
        if self.thumbnail is None:
            return g.HEIGHT - 3
        return g.HEIGHT - (5 if self.thumbnail.height <= THIN else 7) - self.thumbnail.height

    def _fitted(self, theme: Theme) -> tuple[str, str, str]:
        """Name, second line and count cut to the room they have; their whole text is in the tooltip.

        The count stands beside the name, and below it where the name needs the line and nothing else does.
        """
        room = self.face.layout.width - g.TEXT_LEFT - g.TEXT_RIGHT
        count = self.count if self.count_place else ""
        name = cut(self.face.name, theme.font(bold=True), room)
        if self.value:
            return name, cut(self.value, theme.mono(SMALL), room), count
        return name, cut_parts(self.face.summary, theme.font(SMALL), room), count

    @property
    def count_place(self) -> str:
        """Where the number of parameters stands: "beside" the name, "below" it, or nowhere for lack of room.

        A number is shown whole, and a name before it.
        """
        if not self.count:
            return ""
        theme = current_theme()
        room = self.face.layout.width - g.TEXT_LEFT - g.TEXT_RIGHT
        beside = QFontMetricsF(theme.mono(SMALL)).horizontalAdvance(self.count) + 8
        if cut(self.face.name, theme.font(bold=True), room - beside) == one_line(self.face.name):
            return "beside"
        return "" if self.value or self.face.summary else "below"

    def thumbnail_room(self) -> tuple[float, float]:
        """Width and height for a thumbnail: a strip on tall nodes, otherwise beside or under the summary."""
        whole = self.face.layout.width - g.TEXT_LEFT - g.TEXT_RIGHT
        if self.face.tall:
            return whole, g.TILE
        summary = one_line(self.face.summary) or (self.count if self.count_place == "below" else "")
        taken = QFontMetricsF(current_theme().font(SMALL)).horizontalAdvance(summary) + 8 if summary else 0.0
        if whole - taken >= SMALLEST_THUMBNAIL:
            return min(LARGEST_THUMBNAIL, whole - taken), THUMBNAIL_HEIGHT
        return whole, THIN

    @property
    def shortened(self) -> bool:
        """Whether the tooltip must tell what the node itself cannot show in full."""
        shown = self._texts or self._fitted(current_theme())
        return shown[:2] != (self.face.name, self.value or self.face.summary)

    def _paint_thumbnail(self, painter: QPainter, theme: Theme, *, words: bool) -> None:
        thumbnail = self.thumbnail
        if thumbnail is None:
            return
        if self.face.tall:
            corner = QPointF(g.TEXT_LEFT, g.STRIP_TOP)
        else:
            left = self.face.layout.width - g.TEXT_RIGHT - thumbnail.width
            corner = QPointF(left, self._thumbnail_top())
        thumbnail.paint(painter, corner, theme, words=words)

    def _paint_ports(self, painter: QPainter, theme: Theme) -> None:
        colour = theme.family(self.face.family)
        radius = g.PORT_RADIUS
        for side, spots in (("in", self.face.layout.inputs), ("out", self.face.layout.outputs)):
            for spot in spots:
                centre = QPointF(spot.x, spot.y)
                mark = self.marked.get((side, spot.name))
                if mark is not None:
                    halo = QColor(theme.accent if mark else theme.bad)
                    halo.setAlpha(70)
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(halo)
                    painter.drawEllipse(centre, _HALO, _HALO)
                if side == "in":
                    painter.setPen(QPen(colour, 2))
                    painter.setBrush(theme.canvas)
                    painter.drawEllipse(centre, radius - 0.5, radius - 0.5)
                else:
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(colour)
                    painter.drawEllipse(centre, radius, radius)

    def _paint_port_labels(self, painter: QPainter, theme: Theme) -> None:
        layout = self.face.layout
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        bottom = Qt.AlignmentFlag.AlignBottom
        room = LABEL_ROOM - 10
        left, right = self._named_inputs(), self._named_outputs()
        for spots, x, side in (
            (left, -8 - room, Qt.AlignmentFlag.AlignRight),
            (right, layout.width + 8, Qt.AlignmentFlag.AlignLeft),
        ):
            for spot in spots:
                if not spot.shown_label:
                    continue
                rect = QRectF(x, spot.y - 19, room, 16)
                text = cut(spot.shown_label, theme.font(SMALL), room)
                plate = painter.boundingRect(rect, bottom | side, text)
                painter.fillRect(plate.adjusted(-1, 1, 1, -1), theme.canvas)  # wires may cross here
                painter.drawText(rect, bottom | side, text)

    def _named_inputs(self) -> Sequence[g.Spot]:
        """Inputs with a label: those without a wire, which says enough; of a block as `_names_of_block`."""
        spots = self.face.layout.inputs
        if self.face.form == "block":
            return self._names_of_block(spots, self.linked_inputs)
        return [spot for spot in spots if spot.name not in self.linked_inputs]

    def _named_outputs(self) -> Sequence[g.Spot]:
        """Outputs with a label: not the first, nor what hangs free below a wire, which leads down there.

        None from afar. A pointer on the node, or its selection, brings all of them. Of a block they are as
        `_names_of_block` says.
        """
        if self.face.form == "block":
            return self._names_of_block(self.face.layout.outputs, self.linked_outputs)
        spots = self.face.layout.outputs[1:]
        if self.hovered or self.selected:
            return spots
        if self._detail.zoom < PORT_ZOOM:
            return ()
        wired = [at for at, spot in enumerate(spots) if spot.name in self.linked_outputs]
        if not wired:
            return spots
        return [spot for at, spot in enumerate(spots) if at < wired[0] or spot.name in self.linked_outputs]

    def _names_of_block(self, spots: Sequence[g.Spot], linked: frozenset[str]) -> Sequence[g.Spot]:
        """All ports of a side, for they mean what their maker called them; but the first where it has a wire,
        whose shape stands there, until a pointer or a selection asks.
        """
        every = self.hovered or self.selected or not spots or spots[0].name not in linked
        return spots if every else spots[1:]

    def _paint_badge(self, painter: QPainter, theme: Theme, severity: str) -> None:
        """A disc for an error, a triangle for a warning: distinguished without colour."""
        centre = self.badge_place()
        painter.setPen(QPen(theme.canvas, 2))
        if severity == "error":
            painter.setBrush(theme.bad)
            painter.drawEllipse(centre, 8, 8)
        else:
            painter.setBrush(theme.warning)
            painter.drawPolygon([centre + QPointF(0, -9), centre + QPointF(9, 7), centre + QPointF(-9, 7)])
        painter.setFont(theme.font(SMALL, bold=True))
        painter.setPen(theme.canvas)
        offset = 0.0 if severity == "error" else 1.0
        rect = QRectF(centre.x() - 8, centre.y() - 8 + offset, 16, 16)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, "!")

    def _paint_stage(self, painter: QPainter, theme: Theme) -> None:
        """A ring around the node and the stage of the step on it."""
        painter.setPen(QPen(theme.accent, 2.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(
            self.plate.adjusted(-_RING, -_RING, _RING, _RING), g.RADIUS + _RING, g.RADIUS + _RING
        )
        self._paint_tag(painter, theme, self.stage, strong=True, lift=_RING)

    def _paint_tag(
        self, painter: QPainter, theme: Theme, word: str, *, strong: bool, lift: float = 0.0
    ) -> None:
        """A word on the upper edge."""
        font = theme.font(SMALL, bold=True)
        area = QRectF(g.TEXT_LEFT - 6, -9 - lift, QFontMetricsF(font).horizontalAdvance(word) + 12, 17)
        painter.setPen(QPen(theme.accent if strong else theme.faint, 1))
        painter.setBrush(theme.accent if strong else theme.canvas)
        painter.drawRoundedRect(area, 8, 8)
        painter.setFont(font)
        painter.setPen(theme.on_accent if strong else theme.dim)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, word)

    def badge_place(self) -> QPointF:
        """The middle of the error badge, relative to the node."""
        return QPointF(self.face.layout.width - 10, 0)


def _tab(body: QRectF, *, points_right: bool) -> QPainterPath:
    """The outline of a block's port: round where it ends, pointed towards the block's inside or out of it."""
    left, top, wide, high = body.x(), body.y(), body.width(), body.height()
    right, bottom, middle, radius = left + wide, top + high, top + g.FIRST_PORT, high / 2
    path = QPainterPath()
    if points_right:
        path.moveTo(left + radius, top)
        path.lineTo(right - TAB_POINT, top)
        path.lineTo(right, middle)
        path.lineTo(right - TAB_POINT, bottom)
        path.lineTo(left + radius, bottom)
        path.arcTo(QRectF(left, top, high, high), 270, -180)
    else:
        path.moveTo(left, top)
        path.lineTo(right - radius, top)
        path.arcTo(QRectF(right - high, top, high, high), 90, -180)
        path.lineTo(left, bottom)
        path.lineTo(left + TAB_POINT, middle)
    path.closeSubpath()
    return path
