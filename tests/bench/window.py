"""The window as a user has it: started, trained in, filled with a large graph."""

from __future__ import annotations

import gc
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.theme import set_theme
from app.window.collecting import Collector
from app.window.gallery import example_path
from app.window.main_window import MainWindow
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.document.edits import SetParam
from engine.document.files import load_project, save_project
from engine.document.graph import Graph, Link, Node, Project
from engine.train.memory import share_one_heap
from tests.bench.rows import row
from tests.bench.setting import gallery_project

STALL_SECONDS = 20.0
BLOCKS, WIDTH = 249, 16


@contextmanager
def open_window(project: Project) -> Iterator[tuple[MainWindow, Workspace]]:
    """The main window with a project, its engine loaded and warm, shown at 1440x900."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    share_one_heap()
    application = QApplication.instance() or QApplication(sys.argv[:1])
    if gc.isenabled():
        Collector(application)  # as the program does
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Places.under(Path(folder)))
        window = MainWindow(workspace)
        window.resize(1440, 900)
        window.show()
        workspace.start_engine()
        wait_until(lambda: workspace.trainer is not None and not _engine_is_starting())
        workspace.document.replace(project, None)
        window.show_workbench()
        spin(0.5)
        try:
            yield window, workspace
        finally:
            workspace.document.mark_saved()
            workspace.trainer.stop()
            wait_until(lambda: not workspace.training)
            window.close()
            application.processEvents()


def _engine_is_starting() -> bool:
    return any(thread.name == "engine-start" for thread in threading.enumerate())


def spin(seconds: float) -> None:
    """Let the window live for some time."""
    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()


def wait_until(holds, seconds: float = 120.0) -> None:  # type: ignore[no-untyped-def]
    """Let the window live until something holds; TimeoutError when it does not."""
    ends = time.perf_counter() + seconds
    while not holds():
        if time.perf_counter() > ends:
            raise TimeoutError("the window did not get there")
        spin(0.02)


class Metronome(QObject):
    """A 5 ms timer in the window's event loop that notes how late each tick comes, in ms."""

    PERIOD_MS = 5

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self._last = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(self.PERIOD_MS)
        self._timer.timeout.connect(self._tick)

    def begin(self) -> None:
        """Start listening."""
        self._last = time.perf_counter()
        self._timer.start()

    def end(self) -> None:
        """Stop listening."""
        self._timer.stop()

    def _tick(self) -> None:
        now = time.perf_counter()
        self.late.append(max(0.0, (now - self._last) * 1000 - self.PERIOD_MS))
        self._last = now


@row(
    "stall",
    "99th percentile of how late the event loop is while mnist-cnn trains, after one second",
    "ms",
    "<= 33",
)
def stall() -> tuple[float, str]:
    return lateness(show_all)


def lateness(show: Callable[[MainWindow, Workspace], None], after: float = 1.0) -> tuple[float, str]:
    """The 99th percentile of the event loop's lateness in ms, `after` seconds of training mnist-cnn."""
    with open_window(gallery_project("mnist-cnn")) as (window, workspace):
        show(window, workspace)
        workspace.train()
        wait_until(lambda: workspace.trainer.state == "running")
        spin(after)
        metronome = Metronome()
        metronome.begin()
        spin(STALL_SECONDS)
        metronome.end()
        workspace.trainer.stop()
    late = sorted(metronome.late)
    return (
        late[int(len(late) * 0.99)],
        f"median {statistics.median(late):.1f} ms, worst {late[-1]:.1f} ms of {len(late)} ticks",
    )


def show_all(window: MainWindow, workspace: Workspace) -> None:
    """Palette, inspector and the panels below are open, the first layer is selected, its views are shown.

    Below the canvas one tab is in front at a time; the views are the dearest, for they take from the model.
    """
    first = next(node.id for node in workspace.document.project.graph.nodes.values() if node.id != "n1")
    workspace.select([first])
    for panel in window.document_page.side_panels().values():
        panel.setVisible(True)
    window.document_page.bottom.show_panel("Views")


@row(
    "open-1000", "opening a project file of 1,000 nodes until shapes are known and it is painted", "s", "<= 1"
)
def open_large() -> tuple[float, str]:
    with tempfile.TemporaryDirectory() as folder, open_window(Project()) as (_, workspace):
        path = Path(folder) / "large.nloom"
        save_project(large_project(), path)
        times = []
        for _ in range(3):
            began = time.perf_counter()
            workspace.document.replace(load_project(path), path)
            QApplication.processEvents()
            times.append(time.perf_counter() - began)
            if len(workspace.document.project.graph.nodes) != 1000 or workspace.errors():
                raise ValueError("the large graph is not what it should be")
    return times[0], f"the first time; again {min(times[1:]):.2f} s"


@row(
    "edit-1000",
    "one parameter edit among 1,000 nodes until shapes and problems are right again",
    "ms",
    "<= 50",
)
def edit_large() -> tuple[float, str]:
    dense = [f"n{index}" for index in range(3, 999, 4)]
    times = []
    with open_window(large_project()) as (_, workspace):
        for turn, node_id in enumerate(random.Random(0).sample(dense, 25)):
            before = workspace.shapes.total_parameters
            began = time.perf_counter()
            workspace.apply("Edit", SetParam(node_id, "units", 17 + turn))
            times.append((time.perf_counter() - began) * 1000)
            if workspace.shapes.total_parameters == before:
                raise ValueError("the edit did not reach the shapes")
    return statistics.median(times), f"median of {len(times)} edits, worst {max(times):.0f} ms"


def large_project(blocks: int = BLOCKS) -> Project:
    """1,000 nodes: breast cancer data, 249 residual blocks of four nodes, a loss and a metric."""
    nodes = [Node("n1", "BreastCancer", "data"), Node("n2", "Linear", "stem", {"units": WIDTH}, (216.0, 0.0))]
    links = [Link("n1", "features", "n2", "x")]
    last = "n2"
    for block in range(blocks):
        ids = [f"n{3 + 4 * block + turn}" for turn in range(4)]
        left, top = 432.0 + (block % 10) * 4 * 216.0, (block // 10) * 272.0
        for turn, (kind, params) in enumerate(
            (("Linear", {"units": WIDTH}), ("Tanh", {}), ("Linear", {"units": WIDTH}), ("Add", {}))
        ):
            nodes.append(Node(ids[turn], kind, f"{kind} {block}", params, (left + turn * 216.0, top)))
        inner, bent, outer, joined = ids
        links += [
            Link(last, "output", inner, "x"),
            Link(inner, "output", bent, "x"),
            Link(bent, "output", outer, "x"),
            Link(last, "output", joined, "x1"),
            Link(outer, "output", joined, "x2"),
        ]
        last = joined
    loss, metric = f"n{3 + 4 * blocks}", f"n{4 + 4 * blocks}"
    for node_id, kind in ((loss, "CrossEntropy"), (metric, "Accuracy")):
        nodes.append(Node(node_id, kind, kind, {}, (0.0, 400.0 + len(nodes))))
        links += [Link(last, "output", node_id, "prediction"), Link("n1", "diagnosis", node_id, "target")]
    return Project(title="Large", graph=Graph(nodes, links), next_id=5 + 4 * blocks)


THEMED = (
    "mnist-cnn",
    "iris",
    "gan-digits",
    "penguins",
    "hopfield-2d",
    "lstm-gates",
    "vit-mnist",
    "two-spirals",
)


@row("theme-eight", "dark to light with eight documents open until the window is painted", "ms", "<= 200")
def theme_change() -> tuple[float, str]:
    with open_window(gallery_project(THEMED[0])) as (window, _):
        for name in THEMED[1:]:
            window.files.open_example(example_path(name))
            spin(1.0)  # in front, with its shapes
        if len(window.documents.pages) != len(THEMED):
            raise ValueError("not every document is open")
        times = []
        for name in ("light", "dark") * 5:
            began = time.perf_counter()
            set_theme(name)
            QApplication.processEvents()
            times.append((time.perf_counter() - began) * 1000)
            spin(0.3)
    return statistics.median(
        times
    ), f"median of {len(times)} changes, the first {times[0]:.0f} ms, worst {max(times):.0f} ms"


@row("start-up", "from the command to a window that answers, median of five", "s", "<= 1.5")
def start_up() -> tuple[float, str]:
    times = [_start_once() for _ in range(5)]
    return statistics.median(times), f"{min(times):.2f} to {max(times):.2f} s; torch loads behind the window"


def _start_once() -> float:
    """Start the program and wait until its event loop answers that a window is visible."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "inspect"
        environment = {
            **os.environ,
            "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen"),
            "NEUROLOOM_INSPECT": str(asked),
            "NEUROLOOM_HOME": folder,
        }
        command = Path(sys.executable).with_name("neuroloom")
        began = time.perf_counter()
        program = subprocess.Popen(
            [command], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            while not _window_answers(asked):
                if program.poll() is not None or time.perf_counter() - began > 60:
                    raise TimeoutError(f"no window; the program has ended with {program.poll()}")
                time.sleep(0.005)
            return time.perf_counter() - began
        finally:
            program.kill()
            program.wait()


def _window_answers(asked: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(10)
            line.connect(str(asked))
            line.sendall(b'{"widgets": "mainWindow"}\n')
            return line.makefile("rb").readline().strip() not in (b"", b"[]")
    except (ConnectionError, FileNotFoundError):
        return False
