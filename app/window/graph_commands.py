"""The commands that arrange, search and save an image of the graph in front."""

from __future__ import annotations

from pathlib import Path

from app.canvas.editing import aligning as arranging
from app.canvas.editing.auto_layout import LayingOut
from app.canvas.find_bar import FindBar
from app.panels.image_dialog import ImageDialog
from app.window.file_commands import FileCommands
from app.window.in_front import InFront


class GraphCommands:
    """Runs them on the canvas in front; what a canvas needs for them is made when it is first asked for."""

    def __init__(self, window: InFront, files: FileCommands) -> None:
        self._window = window
        self._files = files

    def lay_out(self) -> None:
        """Arranges the selected nodes, or all, in columns from left to right."""
        canvas = self._window.canvas
        (canvas.findChild(LayingOut) or LayingOut(canvas, canvas)).start()

    def find(self) -> None:
        """Opens the bar that finds nodes, frames and notes."""
        canvas = self._window.canvas
        (canvas.findChild(FindBar) or FindBar(canvas, canvas)).open()

    def align_left(self) -> None:
        arranging.align_selected(self._window.canvas, "left")

    def align_centre(self) -> None:
        arranging.align_selected(self._window.canvas, "centre")

    def align_right(self) -> None:
        arranging.align_selected(self._window.canvas, "right")

    def align_top(self) -> None:
        arranging.align_selected(self._window.canvas, "top")

    def align_middle(self) -> None:
        arranging.align_selected(self._window.canvas, "middle")

    def align_bottom(self) -> None:
        arranging.align_selected(self._window.canvas, "bottom")

    def distribute_across(self) -> None:
        arranging.distribute_selected(self._window.canvas, "horizontally")

    def distribute_down(self) -> None:
        arranging.distribute_selected(self._window.canvas, "vertically")

    def snap_to_grid(self) -> None:
        """Brings the selected nodes, or all, to the grid."""
        arranging.snap_selected(self._window.canvas)

    def make_room(self) -> None:
        """Pushes the other nodes away from the selected one."""
        arranging.make_room_for_selected(self._window.canvas)

    def save_image(self) -> None:
        """Offers to save an image of the graph."""
        window = self._window
        name = Path(window.document_page.file.name).stem
        dialog = ImageDialog(window.canvas, self._files.folder(), name, window.central)
        dialog.exec()
        dialog.deleteLater()
