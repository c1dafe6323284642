"""The dialog that saves a network as Python."""

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
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.panels.exporting import data_size, export, own_folder, trained_weights
from app.widgets.background import Background
from app.widgets.labels import label, restyle
from app.workspace.open_document import TrainableDocument
from engine.errors import NeuroloomError

_PATIENCE_MS = 1000


class ExportDialog(QDialog):
    """Asks for the file and what goes with it, then writes in a thread; `written` holds the files."""

    def __init__(self, workspace: TrainableDocument, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("exportDialog")
        self.setWindowTitle("Export Python")
        self.setMinimumWidth(480)
        self._workspace = workspace
        self.written: list[Path] = []
        self._writer = Background("export", self)
        self._writer.finished.connect(self._finished)
        project = workspace.document.project
        trainer = workspace.trainer
        files, size = data_size(project, workspace.catalogue)
        self._weights, about_weights = trained_weights(
            project, trainer.folder if trainer is not None else None
        )
        self.path_field = QLineEdit(str(folder / f"{_module_name(project.title)}.py"))
        self.path_field.setObjectName("exportPath")
        self.path_field.setAccessibleName("File to write")
        self.path_field.textChanged.connect(self._clear_failure)
        browse = QPushButton("Browse…")
        browse.clicked.connect(self._browse)
        self.data_box = QCheckBox("Copy the data beside it")
        self.data_box.setObjectName("exportData")
        own = own_folder(project, workspace.catalogue)
        self.data_box.setEnabled(bool(files) or own is not None)
        if files:
            about_data = (
                f"{_folders(files)}, {size / 1e6:.1f} MB. Without it, the script takes --data FOLDER."
            )
        elif own is not None:
            about_data = f"Without it, the script reads them in {own}, or takes --data FOLDER."
        else:
            about_data = "This project's data are generated or come with scikit-learn, or it has none."
        self.weights_box = QCheckBox("Include the trained weights")
        self.weights_box.setObjectName("exportWeights")
        self.weights_box.setEnabled(self._weights is not None)
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
        line = QHBoxLayout()
        line.addWidget(self.path_field, 1)
        line.addWidget(browse)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self._cancel)
        foot.addWidget(self.export_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(8)
        column.addWidget(
            label("A script of its own: PyTorch and NumPy, nothing of Neuroloom.", "dim", wrap=True)
        )
        column.addLayout(line)
        column.addSpacing(6)
        column.addWidget(self.data_box)
        column.addWidget(_indented(about_data))
        column.addWidget(self.weights_box)
        column.addWidget(_indented(about_weights))
        column.addWidget(self._error)
        column.addSpacing(4)
        column.addWidget(self._progress)
        column.addLayout(foot)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self._progress.show)

    def start(self) -> None:
        """Writes the files; the dialog closes when they stand."""
        text = self.path_field.text().strip()
        if not text:
            self._fail("Name the file to write.")
            return
        target = Path(text).expanduser()
        if target.suffix != ".py":
            target = target.with_name(target.name + ".py")
        if not target.parent.is_dir():
            self._fail(f"There is no folder {target.parent}.")
            return
        weights = self._weights if self.weights_box.isChecked() else None
        self._show_busy(True)
        self._writer.ask(
            partial(
                export,
                self._workspace.document.snapshot(),
                self._workspace.catalogue,
                target.absolute(),
                with_data=self.data_box.isChecked(),
                weights=weights,
            )
        )
        self._patience.start()

    def reject(self) -> None:
        if not self._writer.busy:
            super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._writer.busy:
            event.ignore()
        else:
            super().closeEvent(event)

    def _finished(self, written: list[Path] | None, error: NeuroloomError | None) -> None:
        self._patience.stop()
        self._show_busy(False)
        if error is not None or not written:
            self._fail(str(error))
            return
        self.written = written
        self._workspace.message.emit(f"Exported to {written[0]}.", "info")
        self.accept()

    def _show_busy(self, busy: bool) -> None:
        for widget in (self.export_button, self._cancel, self.path_field):
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
        name, _ = QFileDialog.getSaveFileName(self, "Export Python", self.path_field.text(), "Python (*.py)")
        if name:
            self.path_field.setText(name)


def _indented(text: str) -> QWidget:
    made = label(text, "small", wrap=True)
    made.setContentsMargins(24, 0, 0, 4)
    return made


def _folders(files: tuple[str, ...]) -> str:
    return " and ".join(sorted({f"{name.split('/')[0]}/" for name in files}))


def _module_name(title: str) -> str:
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in title.lower())
    return "_".join(part for part in kept.split("_") if part)[:60] or "network"
