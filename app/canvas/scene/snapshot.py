"""An image of the graph as a file: SVG and PDF with the texts as text, or PNG.

What is drawn is a scene of its own, built from the document: nothing of a selection, a gesture or a
problem gets into the image, and the canvas itself does not flicker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QImage, QImageWriter, QPageSize, QPainter, QPdfWriter

from app.canvas.items.link_item import LabelItem, LinkItem
from app.canvas.items.node_item import NodeItem
from app.canvas.scene.scene import GraphScene
from app.theme import DARK, LIGHT, Theme, current_theme, themes
from app.widgets.vector import svg_of
from app.workspace.open_document import TrainableDocument
from engine.document.files import reason, write_atomically
from engine.errors import NeuroloomError

SUFFIXES = (".svg", ".png", ".pdf")
MARGIN = 24.0
MOST_PIXELS, LONGEST_SIDE = 64_000_000, 20_000
LONGEST_PAGE = 14_400.0  # points; readers of PDF take no larger page
_POINTS = 0.75  # a pixel at 96 a inch
_DOTS = 288  # of a PDF's own grid an inch; texts and lines have no pixels


@dataclass(frozen=True, slots=True)
class Look:
    """How an image looks: its theme ("light", "dark" or "" for the window's), its ground, pixels a unit."""

    theme: str = "light"
    background: bool = True
    scale: float = 2.0


def save_image(
    workspace: TrainableDocument,
    path: Path,
    look: Look | None = None,
    *,
    only: Iterable[str] = (),
    shown: GraphScene | None = None,
) -> Path:
    """Writes an image of the graph, or of these nodes and the wires between them, and returns its path.

    The suffix decides on the format, PNG without one of ours. From the scene that is `shown` come the live
    views on the nodes. Errors: NeuroloomError when there is nothing to show or it cannot be written.
    """
    look = look or Look()
    if path.suffix.casefold() not in SUFFIXES:
        path = path.with_name(f"{path.name}.png")
    with _wearing(look.theme):
        scene = _Portrait(workspace, background=look.background)
        try:
            area = scene.pose(frozenset(only), shown)
            draw = {".svg": _svg, ".pdf": _pdf, ".png": _png}[path.suffix.casefold()]
            content = draw(scene, area, look, workspace.document.project.title)
        finally:
            scene.deleteLater()
    try:
        write_atomically(path, content)
    except NeuroloomError as error:
        raise NeuroloomError(f"The image cannot be saved to {path}: {reason(error)}.") from error
    return path


@contextmanager
def _wearing(name: str) -> Iterator[None]:
    """Everything painted inside wears another theme, and nothing else hears of it."""
    before = themes.current
    themes.current = _theme(name)
    try:
        yield
    finally:
        themes.current = before


def _theme(name: str) -> Theme:
    return {"light": LIGHT, "dark": DARK}.get(name) or current_theme()


class _Portrait(GraphScene):
    """The graph without anything that is only of the moment."""

    def __init__(self, workspace: TrainableDocument, *, background: bool) -> None:
        self._background = background
        super().__init__(workspace)

    def pose(self, only: frozenset[str], shown: GraphScene | None) -> QRectF:
        """Shows only these nodes (all for none) at rest, and returns the area to draw."""
        self.show_selection(())
        for node_id, item in self.node_items.items():
            live = shown.node_items.get(node_id) if shown is not None else None
            item.show_facts(item.count, None)
            item.show_part("")
            item.show_stage("")
            item.show_live(live.thumbnail if live else None, live.value if live else "")
            item.setVisible(not only or node_id in only)
        for link, wire in self.link_items.items():
            wire.show_state(selected=False, dimmed=False, bad=False)
            kept = not only or (link.source in only and link.target in only)
            wire.setVisible(kept)
            if wire.label is not None and not kept:
                wire.label.setVisible(False)
        area = QRectF()
        for shown_item in self.items():
            if isinstance(shown_item, NodeItem | LinkItem | LabelItem) and shown_item.isVisible():
                area = area.united(shown_item.sceneBoundingRect())
        for other in self.items():  # frames, notes: whole with everything, and where they hold what is shown
            if isinstance(other, NodeItem | LinkItem | LabelItem) or not other.isVisible():
                continue
            if not only:
                area = area.united(other.sceneBoundingRect())
            elif other.parentItem() is None:
                other.setVisible(area.contains(other.sceneBoundingRect()))
        if area.isEmpty():
            raise NeuroloomError("There is nothing to save yet.")
        return area.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        if self._background:
            painter.fillRect(rect, current_theme().canvas)


def _paint(scene: GraphScene, area: QRectF, target: QRectF, painter: QPainter) -> None:
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    scene.render(painter, target, area, Qt.AspectRatioMode.IgnoreAspectRatio)


def _png(scene: GraphScene, area: QRectF, look: Look, title: str) -> bytes:
    """Pixels; fewer of them where the graph is so large that no program would open the file."""
    scale = min(
        look.scale,
        (MOST_PIXELS / (area.width() * area.height())) ** 0.5,
        LONGEST_SIDE / max(area.width(), area.height()),
    )
    size = QSize(max(1, round(area.width() * scale)), max(1, round(area.height() * scale)))
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    if image.isNull():
        raise NeuroloomError("There is not enough memory for an image of this size.")
    image.fill(Qt.GlobalColor.transparent)
    image.setText("Title", title)
    painter = QPainter(image)
    _paint(scene, area, QRectF(image.rect()), painter)
    painter.end()
    buffer = _opened()
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def _svg(scene: GraphScene, area: QRectF, look: Look, title: str) -> bytes:
    whole = QRectF(0, 0, area.width(), area.height())
    paint = partial(_paint, scene, area, whole)
    return svg_of(area.size().toSize(), title, "A network drawn with Neuroloom", paint)


def _pdf(scene: GraphScene, area: QRectF, look: Look, title: str) -> bytes:
    buffer = _opened()
    scale = min(1.0, LONGEST_PAGE / (_POINTS * max(area.width(), area.height())))
    page = QSizeF(area.width() * _POINTS * scale, area.height() * _POINTS * scale)
    writer = QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setCreator("Neuroloom")
    writer.setResolution(_DOTS)
    writer.setPageSize(QPageSize(page, QPageSize.Unit.Point, "graph", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF())
    painter = QPainter(writer)
    _paint(scene, area, QRectF(0, 0, writer.width(), writer.height()), painter)
    painter.end()
    return bytes(buffer.data().data())


def _opened() -> QBuffer:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    return buffer
