"""The main job with a real pointer and keyboard: build, train, export, run what was exported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_window.desktop import Desktop, Program, Thing, missing_programs

pytestmark = pytest.mark.real_window
COMMAND = Path(sys.executable).with_name("neuroloom")


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Desktop]:
    lacking = missing_programs()
    if lacking:
        packages = "apt install xvfb openbox xdotool imagemagick"
        reason = f"no real window was tested: {', '.join(lacking)} not found ({packages})"
        if os.environ.get("NEUROLOOM_REQUIRE_WINDOW"):
            pytest.fail(reason)
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    with Desktop(tmp_path) as screen:
        yield screen


@pytest.fixture
def program(desktop: Desktop) -> Program:
    return Program(desktop, [str(COMMAND)], {"NEUROLOOM_HOME": str(desktop.folder / "home")})


def spot(canvas: Thing, across: float, down: float) -> tuple[int, int]:
    """A point of the canvas, as shares of its width and height."""
    x, y, width, height = canvas["rect"]
    return round(x + across * width), round(y + down * height)


def add_by_search(program: Program, place: tuple[int, int], words: str) -> Thing:
    """Double-click on the canvas, type a name, press Enter; returns the node."""
    before = set(program.nodes())
    program.click(place, times=2)
    program.find("nodeSearchField")
    program.type(words)
    program.key("Return")
    return newest(program, before)


def newest(program: Program, before: set[str]) -> Thing:
    def look() -> Thing | None:
        nodes = program.nodes()
        added = set(nodes) - before
        return nodes[added.pop()] if added else None

    return program.wait("new node", look, 10)


def port(program: Program, node: Thing, name: str) -> tuple[int, int]:
    """Where a port is now."""
    x, y = program.nodes()[node["id"]]["ports"][name]
    return x, y


def test_build_train_export_and_run(program: Program, desktop: Desktop) -> None:
    program.find("mainWindow")
    program.key("ctrl+n")
    canvas = program.find("canvas")

    # Data from the palette, by dragging.
    program.click(program.find("paletteSearch"))
    program.type("iris")
    program.drag(program.find("Iris", kind="row"), spot(canvas, 0.12, 0.3))
    data = newest(program, set())

    # Layer and loss by searching where they shall stand.
    layer = add_by_search(program, spot(canvas, 0.42, 0.25), "linear")
    loss = add_by_search(program, spot(canvas, 0.72, 0.25), "cross")
    assert len(program.nodes()) == 3

    for source, target in (
        ((data, "out:features"), (layer, "in:x")),
        ((layer, "out:output"), (loss, "in:prediction")),
        ((data, "out:species"), (loss, "in:target")),
    ):
        program.drag(port(program, *source), port(program, *target))

    # Three species, three units, typed into the inspector.
    program.click(program.nodes()[layer["id"]])
    program.click(program.find("control_units"), times=3)
    program.type("3")
    program.key("Return")
    program.wait("sound graph", lambda: program.find("trainButton")["enabled"], 90)
    desktop.screenshot("built.png")

    program.click(program.find("trainButton"))
    program.find("Finished after * epochs*", seconds=90)
    desktop.screenshot("trained.png")

    target = desktop.folder / "by_hand.py"
    program.key("ctrl+e")
    program.click(program.find("exportPath"), times=3)
    program.type(str(target))
    program.click(program.find("exportButton"))
    program.wait("exported file", target.is_file, 30)
    assert_runs(target)

    program.key("ctrl+q")
    program.click(program.find("answer_don't"))
    assert program.process.wait(30) == 0
    assert (desktop.folder / "program.log").read_text() == ""


def assert_runs(script: Path) -> None:
    """The exported file runs alone and ends with its test loss."""
    command = [sys.executable, "-W", "error", script.name, "--json", "--epochs", "2", "--device", "cpu"]
    done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert "test_loss" in lines[-1]
    assert lines[0]["step"] == 1
