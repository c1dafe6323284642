"""The data panel: rows, classes, ranges, what the data look like, and what to beware of."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from app.data.asking import row_of_numbers, scaled, shown_node, source_of, trainer_reads
from app.data.facts import DataFacts, FactsReader
from app.data.findings import FindingsList
from app.data.lines import lines_of
from app.data.overview import Overview
from app.data.roles import Roles, rows_of
from app.data.special import SPECIAL
from app.data.table import DataTable
from app.data.tokens import TokensPage
from app.widgets.labels import ElidedLabel, label
from app.widgets.segments import Option, Segments
from app.workspace.classes import classes_of
from app.workspace.data_files import path_spec
from app.workspace.engine_parts import RunControl
from app.workspace.open_document import TrainableDocument
from engine.catalogue import Data
from engine.data.checks.findings import Change
from engine.data.checks.fixes import edits_of
from engine.document.edits import Edit
from engine.document.graph import Node, Project
from engine.shapes.problems import Fix, Problem

SPLITS = (
    ("train", "train", "The rows that the network learns from"),
    ("validation", "validation", "The rows that decide when to stop"),
    ("test", "test", "The rows for the evaluation at the end"),
)
POLL_MS = 100
PATIENCE = 60  # looks until the panel reads what the trainer does not
FRESH = 20  # looks after a change: the trainer reads data again a moment later, without a signal
OVERVIEW: Option = ("overview", "Overview", "Rows, classes and what the data look like")
ROWS: Option = ("rows", "Rows", "The first rows as the file has them")
COLUMNS: Option = ("columns", "Columns", "Kind, range, gaps and distribution of every column")
TOKENS: Option = ("tokens", "Tokens", "What the tokeniser learned from the training part")
PAGES = ("overview", "rows", "columns", "tokens", "findings")


class DataPanel(QWidget):
    """Facts and samples of the selected data node, else of the one that the network uses."""

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dataPanel")
        self._workspace = workspace
        self.reader = FactsReader()
        self.roles = Roles(workspace, self)
        self._shown: tuple[object, ...] | None = None
        self._left = 0
        self._waited = 0
        self._node_id = ""
        self._special: dict[str, QWidget] = {}
        self._title = ElidedLabel("Data", "heading")
        self._title.setObjectName("dataTitle")
        self._title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._doc = ElidedLabel("", "small")
        self._pages = Segments((OVERVIEW, COLUMNS))
        self._pages.setObjectName("dataPages")
        self._split = Segments(SPLITS)
        self._split.setObjectName("dataSplit")
        self._more = QPushButton("More")
        self._more.setObjectName("moreSamples")
        self._more.setProperty("kind", "small")
        self._more.setToolTip("Show other rows of this split")
        self.overview = Overview()
        self.counts, self.classes, self.samples = (
            self.overview.counts,
            self.overview.classes,
            self.overview.samples,
        )
        self.rows = DataTable(by_rows=True)
        self.columns = DataTable(by_rows=False)
        self.tokens = TokensPage()
        self.findings = FindingsList()
        self._message = label("", "empty", wrap=True)
        self._message.setObjectName("dataMessage")
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._body_stack = QStackedLayout()
        for page in (self.overview, self.rows, self.columns, self.tokens, self.findings):
            self._body_stack.addWidget(page)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._message)
        self._stack.addWidget(self._body())
        outer = QVBoxLayout(self)
        outer.setContentsMargins(16, 8, 16, 10)
        outer.addLayout(self._stack)
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self.refresh)
        self._connect()

    def _connect(self) -> None:
        workspace = self._workspace
        self._split.chosen.connect(self._chosen)
        self._pages.chosen.connect(self._chosen)
        self._more.clicked.connect(self.samples.turn)
        self.rows.column_pressed.connect(self._offer_roles)
        self.columns.column_pressed.connect(self._offer_roles)
        self.findings.wanted.connect(self._fix)
        workspace.changed.connect(self._changed)
        for signal in (workspace.inferred, workspace.selected, workspace.state_changed):
            signal.connect(self._look)
        workspace.engine_ready.connect(self._look)
        workspace.data_opened.connect(self._opened)
        workspace.closing.connect(self.close_reader)

    def _body(self) -> QWidget:
        body = QWidget()
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(10)
        head.addWidget(self._title, 0)
        head.addWidget(self._doc, 1)
        head.addWidget(self._more)
        head.addWidget(self._split)
        head.addSpacing(8)
        head.addWidget(self._pages)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addLayout(self._body_stack, 1)
        return body

    def minimumSizeHint(self) -> QSize:
        return QSize(320, 150)

    # -- when to look -----------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._poll.stop()

    def close_reader(self) -> None:
        """Wait for a summary that is under way."""
        self._poll.stop()
        self.reader.join()

    def _changed(self, _change: object) -> None:
        self._left, self._waited = FRESH, 0
        self._look()

    def _opened(self, node_id: str) -> None:
        """A file was opened: its rows are what the user wants to see, as the file has them."""
        self._pages.set_options(self._options(1, table=True))
        node = self._workspace.node(node_id)
        self._pages.choose(
            "rows" if node is not None and "delimiter" in self._parameters(node) else "overview"
        )
        self._look()

    def _parameters(self, node: Node) -> set[str]:
        kind = self._workspace.type_of(node)
        return {spec.name for spec in kind.params} if kind is not None else set()

    def _look(self, reason: object = None) -> None:
        if self.isVisible():
            self.refresh()

    def _chosen(self, _key: str) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Show what is known, and ask for what isn't."""
        node_id = shown_node(self._workspace)
        node = self._workspace.node(node_id) if node_id else None
        if node is not None and node.type in SPECIAL:
            self._poll.stop()
            self._show_special(node)
            return
        trainer = self._workspace.trainer
        key: object = None
        if node is not None and trainer is not None:
            trained = trainer_reads(self._workspace, node_id) and self._patient(trainer)
            data = trainer.data if trained else None
            if not trained or data is not None:
                key = (node_id, node.type, node.params, id(data))
                self.reader.ask(key, partial(source_of, self._workspace, node, data))
        known = key is not None and self.reader.about(key)
        facts = self.reader.facts if known else None
        waiting = node is not None and trainer is not None and facts is None
        waiting = waiting and not (known and self.reader.error)
        self._left = max(0, self._left - 1)
        # Data arrive without a signal of their own, so a visible panel that waits for them looks again.
        if (waiting or self._left) and self.isVisible():
            self._poll.start()
        else:
            self._poll.stop()
        if node is None or facts is None:
            self._say(node, self.reader.error if known else "")
            return
        names = classes_of(self._workspace, node_id)
        shown = (id(facts), node_id, node.name, self._split.key, self._pages.key)
        if shown != self._shown:
            self._shown = shown
            self._show(node, facts, names)
        self._stack.setCurrentIndex(1)

    def _patient(self, trainer: RunControl) -> bool:
        """Whether the trainer may still come to the data: it has not failed, nor been waited for long."""
        if trainer.data is not None:
            self._waited = 0
            return True
        self._waited += 1
        return trainer.state != "failed" and self._waited <= PATIENCE

    def _say(self, node: Node | None, error: str) -> None:
        self._shown = None
        if node is None:
            words = (
                "Drop a file or a folder onto the canvas, or add a data node from the palette; "
                "its rows, classes and ranges will appear here."
            )
        elif (spec := path_spec(self._workspace.type_of(node))) and not node.params.get(spec.name) and error:
            words = f"{error.rstrip('.')}. Drop one onto the node, or choose one in the inspector."
        elif self._workspace.trainer is None:
            words = self._workspace.engine_error or "The engine is starting; the data are read after that."
        else:
            said = self._workspace.trainer.reading or (self.reader.progress if self.reader.busy else "")
            words = error or said or "Reading the data …"
        if words != self._message.text():
            self._message.setText(words)
        self._stack.setCurrentIndex(0)

    def _show_special(self, node: Node) -> None:
        """A node whose data are set here has a widget of its own; that of another node makes way."""
        self._shown = None
        if node.id not in self._special:
            for old in self._special.values():
                self._stack.removeWidget(old)
                old.hide()
                old.deleteLater()
            self._special = {node.id: SPECIAL[node.type](self._workspace, node.id)}
            self._stack.addWidget(self._special[node.id])
        self._stack.setCurrentWidget(self._special[node.id])

    # -- what is shown ----------------------------------------------------------------------------

    def _options(self, findings: int, table: bool, tokens: bool = False) -> tuple[Option, ...]:
        words = f"Findings {findings}" if findings else "Findings"
        found: Option = ("findings", words, "Possible problems, and messages from when the file was opened")
        return (OVERVIEW, *((ROWS,) if table else ()), COLUMNS, *((TOKENS,) if tokens else ()), found)

    def _show(self, node: Node, facts: DataFacts, names: dict[str, tuple[str, ...]]) -> None:
        kind = self._workspace.type_of(node)
        if kind is None:
            return
        look = facts.look
        self._pages.set_options(self._options(len(facts.findings), look is not None, bool(facts.tokens)))
        page, split = self._pages.key, self._split.key
        self._title.setText(node.name or kind.title)
        self._doc.setText(" · ".join([self._line(facts) or kind.doc(), *self._lacking(node)]))
        self._split.setVisible(
            bool(facts.summary.rows) and (page == "overview" or (page == "columns" and look is None))
        )
        self._body_stack.setCurrentIndex(PAGES.index(page))
        if page == "overview":
            self.overview.show_facts(facts, split, names, row_of_numbers(self._workspace, node))
        elif page == "rows" and look is not None:
            kinds = {one.name: (one.kind, one.role) for one in look.columns}
            self.rows.rows.show(look.names, look.first, kinds)
            self.rows.fit()
        elif page == "columns":
            self.columns.columns.show(
                lines_of(facts, split, names, rows_of(node), scaled(self._workspace, node))
            )
            self.columns.fit()
        elif page == "tokens":
            self.tokens.show_tables(facts.tokens)
        else:
            checked = bool(facts.summary.rows) or look is not None
            said = self._workspace.remarks.get(node.id, ())
            self.findings.show_findings(
                facts.findings,
                (*(one for one in (facts.error, facts.kept) if one), *said),
                checked,
                facts.notes,
            )
        self._more.setVisible(page == "overview" and self.samples.can_turn)
        self._node_id = node.id
        self._note(node, facts)

    def _lacking(self, node: Node) -> list[str]:
        """Which splits a data node has no rows for, as its fractions say."""
        made = self._workspace.catalogue.make(node)
        lacking = made.lacks() if isinstance(made, Data) else ()
        return [
            f"no {split} split: its fraction is 0" for split in ("validation", "test") if split in lacking
        ]

    def _line(self, facts: DataFacts) -> str:
        """What is shown of a file, where that is not all of it, and why there are no splits."""
        parts = []
        if facts.look is not None:
            parts.append(
                f"{facts.look.rows:,} rows"
                if facts.look.whole
                else f"the first {facts.look.rows:,} rows are looked at"
            )
            parts.append(f"{len(facts.look.columns):,} columns")
        parts += [note.rstrip(".") for note in facts.notes]
        if facts.error:
            parts.append(facts.error)
        return " · ".join(parts)

    def _note(self, node: Node, facts: DataFacts) -> None:
        """What is serious and sure stands among the problems too."""
        problems = []
        for one in facts.findings:
            if one.serious:
                change = one.change
                fix = Fix(change.label, partial(_edits, node.id, change)) if change is not None else None
                problems.append(Problem(node.id, one.message, None, "warning", fix, f"data-{one.code}"))
        self._workspace.note("data", problems)

    # -- what is done -----------------------------------------------------------------------------

    def _offer_roles(self, column: str, place: QPoint) -> None:
        menu = self.roles.menu(self._node_id, column)
        if menu is not None:
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(place)

    def _fix(self, change: Change) -> None:
        edits = edits_of(self._workspace.document.project, self._node_id, change)
        if edits:
            self._workspace.apply(change.label, *edits)


def _edits(node_id: str, change: Change, project: Project) -> tuple[Edit, ...]:
    return edits_of(project, node_id, change)
