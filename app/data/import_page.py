"""The page that asks how a file of text is written, with a preview of what each answer makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, QTimer
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.theme import SMALL, current_theme
from app.widgets.background import Background
from app.widgets.count_field import count_field
from app.widgets.labels import label, plain, restyle
from engine.data.open.importing import Preview, preview
from engine.data.tables.sniff import Form
from engine.errors import NeuroloomError
from nodes.data.delimited import ENCODINGS

DELIMITERS = (
    *(("Comma  ,", ","), ("Semicolon  ;", ";"), ("Tab", "\t"), ("Bar  |", "|"), ("Colon  :", ":")),
    *(("Spaces", "spaces"), ("Weka (ARFF)", "arff")),
)
QUOTES = (('Double  "', '"'), ("Single  '", "'"), ("None", ""), ('Escaped  \\"', '\\"'))
DECIMALS = (("Point  28.7", "."), ("Comma  28,7", ","))
SETTLE_MS = 120
TOP = QModelIndex()
Index = QModelIndex | QPersistentModelIndex


class PreviewModel(QAbstractTableModel):
    """The rows of a preview, headed by their lines; one that is left out is faint, one that is odd red."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.shown, self.aside = Preview(), frozenset[int]()

    def show(self, shown: Preview, aside: Sequence[int]) -> None:
        self.beginResetModel()
        self.shown, self.aside = shown, frozenset(aside)
        self.endResetModel()

    def rowCount(self, parent: Index = TOP) -> int:
        return len(self.shown.rows)

    def columnCount(self, parent: Index = TOP) -> int:
        return max((len(cells) for _, cells in self.shown.rows), default=len(self.shown.names))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line, cells = self.shown.rows[index.row()]
        cell = cells[index.column()] if index.column() < len(cells) else ""
        theme = current_theme()
        if role == Qt.ItemDataRole.DisplayRole:
            return cell[:200]
        if role == Qt.ItemDataRole.FontRole:
            font = theme.mono(SMALL)
            font.setStrikeOut(line in self.aside)
            return font
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.faint if line in self.aside else theme.bad if line in self.shown.odd else theme.text
        return plain(cell[:1000]) if role == Qt.ItemDataRole.ToolTipRole and len(cell) > 30 else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation == Qt.Orientation.Vertical:
            return f"{self.shown.rows[section][0]:,}"
        return self.shown.names[section] if section < len(self.shown.names) else "no column"


class ImportPage(QDialog):
    """Asks how the table in `path` is written; `form` is the answer once it is accepted.

    `why` says why it is asked. It cannot be accepted while nothing can be read.
    """

    def __init__(self, path: Path, form: Form, why: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("importPage")
        self.setWindowTitle(f"Read {path.name}")
        self.resize(900, 560)
        self.path, self.form, self.shown = path, form, Preview()
        self.why = label(why, "dim", wrap=True)
        self.delimiter = _choice("importDelimiter", "Delimiter", DELIMITERS, form.delimiter)
        self.decimal = _choice("importDecimal", "Decimal mark", DECIMALS, form.decimal)
        self.quote = _choice("importQuote", "Quotes", QUOTES, form.quote)
        self.encoding = _choice(
            "importEncoding", "Encoding", [(one, one) for one in ENCODINGS], form.encoding
        )
        self.skip = count_field("importSkip", 0, 100_000, form.skip, width=72)
        self.skip.setAccessibleName("Lines before")
        self.header = QCheckBox("The first row names the columns")
        self.header.setObjectName("importHeader")
        self.header.setChecked(form.header)
        self.leave_out = QCheckBox()
        self.leave_out.setObjectName("importLeaveOut")
        self.leave_out.hide()
        self.said = label("", "dim", wrap=True)
        self.said.setObjectName("importSaid")
        self.rows = PreviewModel(self)
        self.read = QPushButton("Read")
        self.read.setObjectName("importRead")
        self.read.setProperty("kind", "main")
        self.read.setDefault(True)
        self.read.clicked.connect(self.accept)
        self._lay_out()
        self._worker = Background("import-preview", self)
        self._worker.finished.connect(self._previewed)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self._ask)
        for choice in (self.delimiter, self.decimal, self.quote, self.encoding):
            choice.currentIndexChanged.connect(self._changed)
        self.skip.valueChanged.connect(self._changed)
        self.header.toggled.connect(self._changed)
        self.leave_out.toggled.connect(self._show)
        self.finished.connect(self._rest)
        self._ask()

    def _lay_out(self) -> None:
        table = QTableView()
        table.setObjectName("importRows")
        table.setModel(self.rows)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        table.verticalHeader().setDefaultSectionSize(22)
        table.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        self.table = table
        choices = QHBoxLayout()
        for name, field in (
            ("Delimiter", self.delimiter),
            ("Decimal mark", self.decimal),
            ("Quotes", self.quote),
            ("Encoding", self.encoding),
            ("Lines before", self.skip),
        ):
            pair = QVBoxLayout()
            pair.setSpacing(2)
            pair.addWidget(label(name, "dim"))
            pair.addWidget(field)
            choices.addLayout(pair)
        choices.addStretch(1)
        cancel = QPushButton("Cancel")
        cancel.clicked.connect(self.reject)
        foot = QHBoxLayout()
        foot.addWidget(self.said, 1)
        foot.addWidget(cancel)
        foot.addWidget(self.read)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        column.addWidget(self.why)
        column.addLayout(choices)
        column.addWidget(self.header)
        column.addWidget(table, 1)
        column.addWidget(self.leave_out)
        column.addLayout(foot)

    def _changed(self) -> None:
        self.read.setEnabled(False)
        self._settle.start()

    def _ask(self) -> None:
        """Looks at the file in the form that is chosen, beside the window."""
        chosen = Form(
            encoding=self.encoding.currentData(),
            delimiter=self.delimiter.currentData(),
            quote=self.quote.currentData(),
            decimal=self.decimal.currentData(),
            header=self.header.isChecked(),
            skip=self.skip.value(),
            aside=self.form.aside if self.skip.value() == self.form.skip else (),
        )
        self.form = chosen
        self._worker.ask(partial(preview, self.path, chosen))

    def _previewed(self, shown: Preview | None, error: NeuroloomError | None) -> None:
        self.shown = shown if shown is not None else Preview(trouble=str(error))
        count = len(self.shown.odd)
        self.leave_out.setText(f"Skip {'this row' if count == 1 else f'these {count:,} rows'}")
        self.leave_out.setVisible(bool(count) and not self.shown.trouble)
        self._show()
        odd = (at for at, (line, _) in enumerate(self.shown.rows) if line in self.shown.odd)
        self.table.scrollTo(self.rows.index(next(odd, 0), 0), QAbstractItemView.ScrollHint.PositionAtCenter)

    def _show(self) -> None:
        skipped = self.leave_out.isChecked() and not self.leave_out.isHidden()
        aside = tuple(sorted({*self.form.aside, *(self.shown.odd if skipped else ())}))
        self.rows.show(self.shown, aside)
        can = not self.shown.trouble and (skipped or not self.shown.odd) and len(aside) <= 1000
        wide = len(self.shown.names)
        told = f"{wide:,} column{'' if wide == 1 else 's'}: the first rows are shown."
        self.said.setText(
            (f"{len(aside):,} rows are skipped. {told}" if aside else told) if can else self.shown.said
        )
        self.said.setProperty("role", "dim" if can else "error")
        restyle(self.said)
        self.read.setEnabled(can)

    def chosen(self) -> Form:
        """The form that was chosen, with the lines that are left out."""
        return replace(self.form, aside=tuple(sorted(self.rows.aside)))

    def _rest(self) -> None:
        self._settle.stop()
        self._worker.close()


def _choice(name: str, title: str, entries: Sequence[tuple[str, str]], now: str) -> QComboBox:
    field = QComboBox()
    field.setObjectName(name)
    field.setAccessibleName(title)
    for text, value in entries:
        field.addItem(text, value)
    field.setCurrentIndex(max(0, field.findData(now)))
    return field
