"""The dialog that saves a network as Python: in which form, how it will look, and whether it runs alike."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.look.base import Subject
from app.look.offered import known_offers
from app.panels.export_preview import ExportPreview
from app.panels.export_procedures import ProcedureBoxes
from app.panels.export_trial import Trying
from app.panels.exporting import SUFFIXES, Asked, data_size, export, made, own_folder, trained_weights, tried
from app.widgets.background import Background
from app.widgets.count_field import count_field
from app.widgets.labels import label, restyle, rule
from app.widgets.questions import ask
from app.widgets.segments import Segments
from app.workspace.open_document import TrainableDocument
from engine.emit.forms.form import Form
from engine.errors import NeuroloomError
from engine.procedures.registry import MAIN

_PATIENCE_MS = 1000
_SIDE = 360  # width of what is asked, beside the preview
_STEPS = 50
_MOST_STEPS = 100_000
_FORMS = (
    (Form.SCRIPT.value, "One file", "A script with a command line"),
    (Form.PACKAGE.value, "Package", "A folder that pip installs and pytest tests"),
    (Form.NOTEBOOK.value, "Notebook", "A Jupyter notebook"),
)
_ABOUT = {
    Form.SCRIPT: "A script of its own, with nothing of Neuroloom.",
    Form.PACKAGE: "A folder that pip installs and pytest tests: a file each for model, data and training.",
    Form.NOTEBOOK: "A Jupyter notebook that trains, draws the curves and tests. It needs matplotlib, too.",
}
_REPLACE, _KEEP = "Replace", "Cancel"


class ExportDialog(QDialog):
    """Asks for form, place and what goes with it, then writes in a thread; `written` holds the files."""

    def __init__(self, workspace: TrainableDocument, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("exportDialog")
        self.setWindowTitle("Export Python")
        self.resize(1000, 560)
        self._workspace = workspace
        self.written: list[Path] = []
        self._writer = Background("export", self)
        self._writer.finished.connect(self._finished)
        project = workspace.document.project
        trainer = workspace.trainer
        self._weights, about_weights = trained_weights(
            project, trainer.folder if trainer is not None else None
        )
        self.forms = Segments(_FORMS)
        self.forms.setObjectName("exportForm")
        self.forms.chosen.connect(self._form_chosen)
        self._about = label(_ABOUT[Form.SCRIPT], "dim", wrap=True)
        self._about.setMinimumHeight(2 * self._about.fontMetrics().lineSpacing())
        self.path_field = QLineEdit(str(folder / f"{_module_name(project.title)}.py"))
        self.path_field.setObjectName("exportPath")
        self.path_field.setAccessibleName("File to write")
        self.path_field.textChanged.connect(self._clear_failure)
        browse = QPushButton("Browse…")
        browse.clicked.connect(self._browse)
        self.data_box = QCheckBox("Copy the data beside it")
        self.data_box.setObjectName("exportData")
        self.data_box.toggled.connect(self._changed)
        self._about_data = _indented(self._data_words())
        self.weights_box = QCheckBox("Include the trained weights")
        self.weights_box.setObjectName("exportWeights")
        self.weights_box.setEnabled(self._weights is not None)
        self.weights_box.toggled.connect(self._changed)
        self.procedures = ProcedureBoxes(known_offers(Subject(workspace)))
        self.procedures.changed.connect(self._changed)
        self._error = label("", "error", wrap=True)
        self._error.setObjectName("exportError")
        self._error.hide()
        self._progress = QProgressBar()
        self._progress.setRange(0, 0)
        self._progress.setTextVisible(False)
        self._progress.hide()
        self.export_button = QPushButton("Export")
        self.export_button.setObjectName("exportButton")
        self.export_button.setProperty("kind", "main")
        self.export_button.setDefault(True)
        self.export_button.clicked.connect(self.start)
        self._cancel = QPushButton("Cancel")
        self._cancel.clicked.connect(self.reject)
        self.preview = ExportPreview()
        line = QHBoxLayout()
        line.addWidget(self.path_field, 1)
        line.addWidget(browse)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self._cancel)
        foot.addWidget(self.export_button)
        column = QVBoxLayout()
        column.setSpacing(8)
        column.addWidget(self.forms)
        column.addWidget(self._about)
        column.addLayout(line)
        column.addSpacing(6)
        column.addWidget(self.data_box)
        column.addWidget(self._about_data)
        column.addWidget(self.weights_box)
        column.addWidget(_indented(about_weights))
        column.addWidget(self.procedures)
        column.addWidget(self._error)
        column.addWidget(self._progress)
        column.addStretch(1)
        column.addWidget(rule())
        column.addLayout(self._verification())
        column.addWidget(rule())
        column.addLayout(foot)
        side = QWidget()
        side.setFixedWidth(_SIDE)
        side.setLayout(column)
        column.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout(self)
        row.setContentsMargins(20, 18, 16, 16)
        row.setSpacing(18)
        row.addWidget(side)
        row.addWidget(self.preview, 1)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self._progress.show)
        self.path_field.setFocus()
        self._preview()

    def _data_words(self) -> str:
        """What is said of the data; the box is off where there is nothing to copy."""
        says = "name their folder in its first cell" if self.form is Form.NOTEBOOK else "say --data FOLDER"
        project, catalogue = self._workspace.document.project, self._workspace.catalogue
        files, size = data_size(project, catalogue)
        own = own_folder(project, catalogue)
        self.data_box.setEnabled(bool(files) or own is not None)
        if files:
            return f"{_folders(files)}, {size / 1e6:.1f} MB. Without it, {says}."
        if own is not None:
            return f"Without it, they are read in {own}; or {says}."
        return "This project's data are generated or come with scikit-learn, or it has none."

    def _verification(self) -> QVBoxLayout:
        """The part that runs the export beside the application."""
        self.trying = Trying(self)
        self.trying.changed.connect(self._show_trial)
        self.steps_field = count_field("verifySteps", 1, _MOST_STEPS, _STEPS, width=72)
        self.steps_field.setAccessibleName("Steps to compare")
        self.verify_button = QPushButton("Verify")
        self.verify_button.setObjectName("verifyButton")
        self.verify_button.setToolTip("Run the export beside the application, and compare their losses")
        self.verify_button.setAutoDefault(False)
        self.verify_button.clicked.connect(self._verify_or_stop)
        self.steps_field.setFixedHeight(self.verify_button.sizeHint().height())
        self._trial_bar = QProgressBar()
        self._trial_bar.setTextVisible(False)
        self._trial_bar.setAccessibleName("Progress of the comparison")
        self.verdict = label("", "small", wrap=True)
        self.verdict.setObjectName("verifyVerdict")
        self.verdict.setMinimumHeight(2 * self.verdict.fontMetrics().lineSpacing())
        line = QHBoxLayout()
        line.addWidget(self.verify_button)
        line.addWidget(self.steps_field)
        line.addWidget(label("steps beside the application", "dim"), 1)
        column = QVBoxLayout()
        column.setSpacing(6)
        column.addLayout(line)
        column.addWidget(self._trial_bar)
        column.addWidget(self.verdict)
        self._show_trial()
        return column

    @property
    def form(self) -> Form:
        """The form that is chosen."""
        return Form(self.forms.key)

    def asked(self) -> Asked:
        """What is asked for now."""
        weights = self._weights if self.weights_box.isChecked() else None
        names = self.procedures.names if self.procedures.boxes else None
        return Asked(self.form, self.data_box.isChecked(), weights, names)

    def start(self) -> None:
        """Writes the files; the dialog closes when they stand."""
        target = self._target()
        if target is None:
            self._fail("Name the file to write.")
            return
        if not target.parent.is_dir():
            self._fail(f"There is no folder {target.parent}.")
            return
        if self.form is Form.PACKAGE and target.is_file():
            self._fail(f"{target} is a file: name a folder for the package.")
            return
        if self.form is Form.PACKAGE and target.is_dir() and any(target.iterdir()):
            text = "Files of the package's own names are replaced there; all others stay."
            if ask(self, f"“{target.name}” is not empty.", text, (_REPLACE, _KEEP)) != _REPLACE:
                return
        self.trying.stop()
        asked = self.asked()
        self._show_busy(True)
        self._writer.ask(
            partial(
                export,
                self._workspace.document.snapshot(),
                self._workspace.catalogue,
                target,
                asked.form,
                with_data=asked.with_data,
                weights=asked.weights,
                procedures=MAIN if asked.procedures is None else asked.procedures,
            )
        )
        self._patience.start()

    def _target(self) -> Path | None:
        """The place that is named, with the suffix of the form; None for none."""
        text = self.path_field.text().strip()
        if not text:
            return None
        target, suffix = Path(text).expanduser().absolute(), SUFFIXES[self.form]
        return target if target.suffix == suffix or not suffix else target.with_name(target.name + suffix)

    def reject(self) -> None:
        if not self._writer.busy:
            super().reject()

    def done(self, result: int) -> None:
        self.preview.close_down()
        self.trying.close()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._writer.busy:
            event.ignore()
        else:
            super().closeEvent(event)

    def _form_chosen(self, _key: str) -> None:
        form = self.form
        self._about.setText(_ABOUT[form])
        self._about_data.setText(self._data_words())
        text = self.path_field.text()
        for suffix in filter(None, SUFFIXES.values()):
            text = text.removesuffix(suffix)
        self.path_field.setText(text + SUFFIXES[form] if text else "")
        self._changed()

    def _changed(self, *_: object) -> None:
        """Something else is asked for: what was shown and compared is of another export."""
        self.trying.stop()
        self._preview()

    def _preview(self) -> None:
        target = self._target() or Path(f"network{SUFFIXES[self.form]}").absolute()
        document = self._workspace.document
        self.preview.ask(partial(made, document.snapshot(), self._workspace.catalogue, target, self.asked()))

    def _verify_or_stop(self) -> None:
        if self.trying.busy:
            self.trying.stop()
            return
        project, catalogue = self._workspace.document.snapshot(), self._workspace.catalogue
        self.trying.start(partial(tried, project, catalogue, self.asked(), self.steps_field.value()))

    def _show_trial(self) -> None:
        trying = self.trying
        busy, found = trying.busy, trying.found
        self.verify_button.setText("Stop" if busy else "Verify")
        self.steps_field.setEnabled(not busy)
        self._trial_bar.setRange(0, 1000 if found is not None or not busy else 0)
        self._trial_bar.setValue(round(1000 * trying.fraction))
        differs = bool(trying.error) or (found is not None and found.difference is not None)
        self.verdict.setProperty("role", "error" if differs else "small")
        restyle(self.verdict)
        begun = found is not None and (found.steps > 0 or found.over)
        words = trying.error or (found.sentence() if found is not None and begun else "")
        self.verdict.setText(words or ("The export and the application begin." if busy else ""))
        self.preview.compare(found)

    def _finished(self, written: list[Path] | None, error: NeuroloomError | None) -> None:
        self._patience.stop()
        self._show_busy(False)
        if error is not None or not written:
            self._fail(str(error))
            return
        self.written = written
        place = self._target() if self.form is Form.PACKAGE else written[0]
        self._workspace.message.emit(f"Exported to {place}.", "info")
        self.accept()

    def _show_busy(self, busy: bool) -> None:
        for widget in (self.export_button, self._cancel, self.path_field, self.forms, self.verify_button):
            widget.setEnabled(not busy)
        if not busy:
            self._progress.hide()

    def _fail(self, sentence: str) -> None:
        self._error.setText(sentence)
        self._error.show()

    def _clear_failure(self, _text: str) -> None:
        self._error.hide()
        restyle(self._error)

    def _browse(self) -> None:
        start, suffix = self.path_field.text(), SUFFIXES[self.form]
        if not suffix:
            name = QFileDialog.getExistingDirectory(self, "Export Python", str(Path(start).parent))
            name = str(Path(name) / _module_name(self._workspace.document.project.title)) if name else ""
        else:
            name, _ = QFileDialog.getSaveFileName(self, "Export Python", start, f"Python (*{suffix})")
        if name:
            self.path_field.setText(name)


def _indented(text: str) -> QLabel:
    made = label(text, "small", wrap=True)
    made.setContentsMargins(24, 0, 0, 4)
    return made


def _folders(files: tuple[str, ...]) -> str:
    return " and ".join(sorted({f"{name.split('/')[0]}/" for name in files}))


def _module_name(title: str) -> str:
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in title.lower())
    return "_".join(part for part in kept.split("_") if part)[:60] or "network"
