"""The rows of the palette: what is common, then all families, then blocks; each group under a heading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QByteArray,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from app.workspace.block_library import Defined, Drawn, Kept, Placeable, defined, drawn, kept, ready
from app.workspace.open_document import OpenDocument
from engine.catalogue import NodeType
from engine.document.edits import RenameBlock

NODE_MIME = "application/x-neuroloom-node"
TYPE_ROLE = Qt.ItemDataRole.UserRole + 1
FAMILY_ROLE = Qt.ItemDataRole.UserRole + 2
FOLDED_ROLE = Qt.ItemDataRole.UserRole + 3
COMMON, OF_PROJECT, MY_BLOCKS = "common", "blocks of this project", "my blocks"
READY_MADE = "ready-made blocks"

_READ = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.EditRole)
_Index = QModelIndex | QPersistentModelIndex
Row = str | type[NodeType] | Placeable


class PaletteRows(QAbstractListModel):
    """Headings, node types and blocks in one flat list; while a search is on, the matches alone, best first.

    `folded` are the headings whose rows are left out.
    """

    def __init__(
        self, workspace: OpenDocument, folded: frozenset[str], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.folded = folded
        self._query = ""
        self._rows: list[Row] = []
        self._defined: list[Defined] = []
        self.search("")

    def search(self, query: str) -> None:
        """Shows what matches `query`; everything, under headings, when it is empty."""
        self.beginResetModel()
        self._query = query.strip().casefold()
        catalogue = self._workspace.catalogue
        self._defined = self._blocks()
        own: list[Kept | Defined] = [*kept(self._workspace.places.blocks)]
        if self._query:
            listed = [*drawn(catalogue), *ready(), *self._defined, *own]
            blocks = [one for one in listed if self._query in one.name.casefold()]
            self._rows = [*catalogue.search(query), *blocks]
        else:
            common = [found for found in catalogue.types() if found.common]
            groups: list[tuple[str, Sequence[Row]]] = [(COMMON, common)]
            groups += [(family, self._with_drawn(types)) for family, types in catalogue.families()]
            groups += [(READY_MADE, ready()), (OF_PROJECT, self._defined), (MY_BLOCKS, own)]
            self._rows = []
            for heading, rows in groups:
                if rows:
                    self._rows.append(heading)
                    self._rows.extend(() if heading in self.folded else rows)
        self.endResetModel()

    def _with_drawn(self, types: Sequence[type[NodeType]]) -> list[Row]:
        """The types of a family, each followed by the blocks that draw it."""
        blocks = drawn(self._workspace.catalogue)
        found: list[Row] = []
        for kind in types:
            found += [kind, *(one for one in blocks if one.fast == kind.type_id)]
        return found

    def _blocks(self) -> list[Defined]:
        return defined(self._workspace.document.project, self._workspace.scope)

    def blocks_differ(self) -> bool:
        """Whether the project has other blocks now than are shown."""
        return self._blocks() != self._defined

    def fold(self, row: int, folded: bool) -> None:
        """Leaves out what stands under a heading, or shows it again."""
        heading = self._rows[row]
        assert isinstance(heading, str)
        self.folded = self.folded | {heading} if folded else self.folded - {heading}
        self.search(self._query)

    def first_type_row(self, start: int = 0) -> int:
        """The first row from `start` on that can be added; -1 if there is none."""
        for row in range(start, len(self._rows)):
            if not isinstance(self._rows[row], str):
                return row
        return -1

    def block_at(self, row: int) -> Kept | Defined | None:
        """The block in a row; None for anything else, also a row that is not there."""
        found = self._rows[row] if 0 <= row < len(self._rows) else None
        return found if isinstance(found, Kept | Defined) else None

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        found = self._rows[index.row()]
        if isinstance(found, str):
            return found if role in _READ else found in self.folded if role == FOLDED_ROLE else None
        if isinstance(found, Placeable):
            return _of_block(found, role)
        if role in _READ:
            return found.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{found.doc()}\n{found.source}" if found.source else found.doc()
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return found.doc()
        return {TYPE_ROLE: found.type_id, FAMILY_ROLE: found.family}.get(role)

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Renames a block of the project."""
        block = self.block_at(index.row())
        if not isinstance(block, Defined) or not str(value).strip() or value == block.name:
            return False
        return self._workspace.apply("Rename block", RenameBlock(block.block_id, str(value)))

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        found = self._rows[index.row()]
        chosen = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if isinstance(found, str):
            return chosen
        named = Qt.ItemFlag.ItemIsEditable if isinstance(found, Defined) else Qt.ItemFlag.NoItemFlags
        return chosen | Qt.ItemFlag.ItemIsDragEnabled | named

    def mimeTypes(self) -> list[str]:
        return [NODE_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        mime = QMimeData()
        type_ids = [index.data(TYPE_ROLE) for index in indexes if index.data(TYPE_ROLE)]
        if type_ids:
            mime.setData(NODE_MIME, QByteArray(type_ids[0].encode()))
        return mime


def _of_block(block: Placeable, role: int) -> str | None:
    if role in _READ:
        return block.name
    if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
        return block.about
    family = block.family if isinstance(block, Drawn) else "blocks"
    return {TYPE_ROLE: block.type_id, FAMILY_ROLE: family}.get(role)
