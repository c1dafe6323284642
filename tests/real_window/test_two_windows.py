"""Two programs on one screen: what is copied in one is pasted in the other, and a shared file is noticed."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_window.desktop import Desktop, Program, missing_programs

pytestmark = pytest.mark.real_window
COMMAND = Path(sys.executable).with_name("neuroloom")
GALLERY = Path(__file__).parents[2] / "resources" / "gallery"


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Desktop]:
    lacking = missing_programs()
    if lacking:
        reason = f"no real window was tested: {', '.join(lacking)} not found"
        if os.environ.get("NEUROLOOM_REQUIRE_WINDOW"):
            pytest.fail(reason)
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    with Desktop(tmp_path) as screen:
        yield screen


def start(desktop: Desktop, name: str, *words: str) -> Program:
    """One program with settings of its own; programs on one screen need a folder each for their sockets."""
    folder = desktop.folder / name
    folder.mkdir()
    beside = Desktop(folder)
    beside.environment, beside._running = desktop.environment, desktop._running
    return Program(beside, [str(COMMAND), *words], {"NEUROLOOM_HOME": str(folder / "home")})


def focus(desktop: Desktop, title: str) -> None:
    """Brings the window with this in its title to the front."""
    desktop.xdotool("search", "--sync", "--onlyvisible", "--name", title, "windowactivate", "--sync")


# A window like a file manager's: pressing it and moving begins to drag a file.
FILES = """
import sys
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QDrag
from PySide6.QtWidgets import QApplication, QLabel

class File(QLabel):
    def mouseMoveEvent(self, event):
        data, drag = QMimeData(), QDrag(self)
        data.setUrls([QUrl.fromLocalFile(sys.argv[1])])
        drag.setMimeData(data)
        drag.exec(Qt.DropAction.CopyAction)

application = QApplication([])
shown = File("drag me")
shown.setWindowTitle("files")
shown.setWindowFlag(Qt.WindowType.WindowStaysOnTopHint)
shown.setGeometry(1300, 700, 120, 120)
shown.show()
application.exec()
"""


def test_a_file_dragged_onto_the_canvas_opens_in_a_tab(desktop: Desktop) -> None:
    iris = desktop.folder / "flowers.nloom"
    iris.write_bytes((GALLERY / "iris.nloom").read_bytes())
    program = start(desktop, "first", str(iris))
    program.wait("nodes", program.nodes)
    other = desktop.folder / "other.nloom"
    other.write_bytes((GALLERY / "two-heads.nloom").read_bytes())
    desktop.start([sys.executable, "-c", FILES, str(other)], {})
    desktop.xdotool("search", "--sync", "--onlyvisible", "--name", "^files$")
    canvas = program.find("canvas")
    program.drag((1360, 760), (canvas["rect"][0] + 300, canvas["rect"][1] + 60))
    program.find("documentTabs[[]1]")
    assert program.find("mainWindow")["text"].startswith("other.nloom")
    desktop.screenshot("dropped.png")
    program.key("ctrl+q")
    assert program.process.wait(30) == 0


def test_nodes_are_pasted_into_another_window(desktop: Desktop) -> None:
    iris = desktop.folder / "flowers.nloom"
    iris.write_bytes((GALLERY / "iris.nloom").read_bytes())
    first = start(desktop, "first", str(iris))
    count = len(first.wait("nodes", first.nodes))
    second = start(desktop, "second")
    second.find("mainWindow")
    focus(desktop, "^Neuroloom$")
    second.key("ctrl+n")
    second.find("canvas")

    focus(desktop, "flowers")
    first.key("ctrl+a", "ctrl+c")
    focus(desktop, "Untitled")
    second.key("ctrl+v")
    second.wait("pasted nodes", lambda: len(second.nodes()) == count, 20)
    # In a second tab too, without a click on its canvas (V6).
    second.key("ctrl+t")
    second.wait("an empty tab", lambda: not second.nodes(), 20)
    second.key("ctrl+v")
    second.wait("nodes in the tab", lambda: len(second.nodes()) == count, 20)
    desktop.screenshot("pasted.png")

    # What the second program saves over the first one's file is noticed there.
    text = json.loads(iris.read_text("utf-8"))
    text["title"] = "Changed elsewhere"
    iris.write_text(json.dumps(text), "utf-8")
    focus(desktop, "flowers")
    first.find("*another program*")
    first.click(first.find("bannerFirst"))
    first.wait("reloaded project", lambda: not first.is_shown("bannerFirst"), 20)
    first.key("ctrl+q")
    assert first.process.wait(30) == 0
