"""The tabs below the canvas: training, views, problems, code, data and runs."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.data.panel import DataPanel
from app.panels.code import CodePanel
from app.panels.problems import ProblemsPanel
from app.panels.views import ViewsPanel
from app.runs.panel import RunsPanel
from app.runs.training import TrainingPanel
from app.widgets.labels import label
from app.widgets.tab_bar import CountingTabBar
from app.workspace.open_document import TrainableDocument


class BottomPanels(QWidget):
    """A row of tabs over a stack of panels; the problems tab carries their number."""

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bottom")
        self.setAutoFillBackground(True)
        self._workspace = workspace
        self.tabs = CountingTabBar()
        self.tabs.setObjectName("bottomTabs")
        self.tabs.setAccessibleName("Panels")
        self._stack = QStackedWidget()
        self.training = TrainingPanel(workspace)
        self.views = ViewsPanel(workspace)
        self.problems = ProblemsPanel(workspace)
        self.code = CodePanel(workspace)
        self.data = DataPanel(workspace)
        self.runs = RunsPanel(workspace)
        panels = (
            ("Training", self.training),
            ("Views", self.views),
            ("Problems", self.problems),
            ("Code", self.code),
            ("Data", self.data),
            ("Runs", self.runs),
        )
        for title, panel in panels:
            self.tabs.addTab(title)
            self._stack.addWidget(panel)
        self._engine_note = label("starting engine…", "small")
        self._engine_note.setObjectName("engineNote")
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 16, 0)
        row.addWidget(self.tabs)
        row.addStretch(1)
        row.addWidget(self._engine_note)
        line = QFrame()
        line.setProperty("role", "rule")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(line)
        column.addWidget(self._stack, 1)
        self.tabs.currentChanged.connect(self._stack.setCurrentIndex)
        self.problems.counted.connect(self._count_problems)
        workspace.engine_ready.connect(self._engine_started)
        if workspace.shapes is not None:
            self._engine_started()

    @property
    def containers(self) -> tuple[QWidget, ...]:
        """What only holds others, with no style sheet: panels that are not seen are dressed when shown."""
        return self, self._stack

    def show_panel(self, name: str) -> None:
        """Brings the tab called `name` ("Training", "Problems", ...) to the front."""
        for index in range(self.tabs.count()):
            if self.tabs.tabText(index) == name:
                self.tabs.setCurrentIndex(index)

    def _count_problems(self, count: int, severity: str) -> None:
        self.tabs.set_count(2, count, severity)

    def _engine_started(self) -> None:
        self._engine_note.hide()
