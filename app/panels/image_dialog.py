"""The dialog that saves an image of the graph."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.canvas.scene.canvas import GraphOnShow
from app.canvas.scene.snapshot import SUFFIXES, Look, save_image
from app.widgets.labels import label
from engine.errors import NeuroloomError

_THEMES = (("Light, for print", "light"), ("Dark", "dark"), ("As the window", ""))
_FILTER = "Vector graphics (*.svg);;PDF (*.pdf);;Image (*.png)"


class ImageDialog(QDialog):
    """Asks for the file and the look; `written` is the image once it stands."""

    def __init__(self, canvas: GraphOnShow, folder: Path, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("imageDialog")
        self.setWindowTitle("Save image")
        self.setMinimumWidth(460)
        self._canvas = canvas
        self.written: Path | None = None
        self.path_field = QLineEdit(str(folder / f"{name}.svg"))
        self.path_field.setObjectName("imagePath")
        self.path_field.setAccessibleName("File to write")
        browse = QPushButton("Browse…")
        browse.clicked.connect(self._browse)
        self.theme_box = QComboBox()
        self.theme_box.setObjectName("imageTheme")
        self.theme_box.setAccessibleName("Colours")
        for text, theme in _THEMES:
            self.theme_box.addItem(text, theme)
        self.background_box = QCheckBox("Background")
        self.background_box.setObjectName("imageBackground")
        self.background_box.setChecked(True)
        chosen = len(canvas.workspace.selection)
        self.selection_box = QCheckBox(f"Only the selection ({chosen:,})" if chosen else "Only the selection")
        self.selection_box.setObjectName("imageSelection")
        self.selection_box.setEnabled(bool(chosen))
        self._error = label("", "error", wrap=True)
        self._error.setObjectName("imageError")
        self._error.hide()
        self.save_button = QPushButton("Save")
        self.save_button.setObjectName("imageSave")
        self.save_button.setProperty("kind", "main")
        self.save_button.setDefault(True)
        self.save_button.clicked.connect(self.save)
        cancel = QPushButton("Cancel")
        cancel.clicked.connect(self.reject)
        line = QHBoxLayout()
        line.addWidget(self.path_field, 1)
        line.addWidget(browse)
        colours = QHBoxLayout()
        colours.addWidget(label("Colours", "dim"))
        colours.addWidget(self.theme_box, 1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(cancel)
        foot.addWidget(self.save_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(8)
        column.addWidget(
            label(
                "SVG and PDF keep the texts as texts and stay sharp; PNG is twice as fine.", "dim", wrap=True
            )
        )
        column.addLayout(line)
        column.addSpacing(4)
        column.addLayout(colours)
        column.addWidget(self.background_box)
        column.addWidget(self.selection_box)
        column.addWidget(self._error)
        column.addSpacing(4)
        column.addLayout(foot)

    def save(self) -> None:
        """Writes the image; the dialog closes when it stands."""
        text = self.path_field.text().strip()
        if not text:
            self._fail("Name the file to write.")
            return
        path = Path(text).expanduser().absolute()
        if not path.parent.is_dir():
            self._fail(f"There is no folder {path.parent}.")
            return
        look = Look(str(self.theme_box.currentData()), self.background_box.isChecked())
        only = self._canvas.workspace.selection if self.selection_box.isChecked() else ()
        QGuiApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
        try:
            self.written = save_image(
                self._canvas.workspace, path, look, only=only, shown=self._canvas.graph_scene
            )
        except NeuroloomError as error:
            self._fail(str(error))
            return
        finally:
            QGuiApplication.restoreOverrideCursor()
        self._canvas.workspace.message.emit(f"Saved the image to {self.written}.", "info")
        self.accept()

    def _fail(self, sentence: str) -> None:
        self._error.setText(sentence)
        self._error.show()

    def _browse(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save image", self.path_field.text(), _FILTER)
        if name:
            path = Path(name)
            self.path_field.setText(str(path if path.suffix.casefold() in SUFFIXES else f"{path}.svg"))
