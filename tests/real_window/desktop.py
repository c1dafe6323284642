"""A virtual screen with a window manager, and one program on it driven by a real pointer and keyboard."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

NEEDED = ("Xvfb", "openbox", "xdotool", "import")
WAIT_SECONDS = 60.0

Thing = dict[str, Any]
Found = TypeVar("Found")


def missing_programs() -> list[str]:
    """The programs of a virtual screen that this machine lacks."""
    return [name for name in NEEDED if shutil.which(name) is None]


class Desktop:
    """Xvfb with openbox, on a display number that Xvfb picks; ends only what it started."""

    def __init__(self, folder: Path, size: str = "1440x900") -> None:
        self.folder = folder
        self._size = size
        self._running: list[subprocess.Popen[bytes]] = []
        self.environment: dict[str, str] = {}

    def __enter__(self) -> Desktop:
        reading, writing = os.pipe()
        command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{self._size}x24", "-nolisten", "tcp"]
        screen = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
        self._running.append(screen)
        os.close(writing)
        with os.fdopen(reading) as told:
            number = told.readline().strip()
        if not number:
            raise RuntimeError(f"Xvfb ended with {screen.wait()} before it had a display")
        self.environment = {**os.environ, "DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._running.append(subprocess.Popen(["openbox"], env=self.environment, **quiet))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._running):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, command: list[str], extra: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start a program on this screen; its output goes to `program.log` in the folder."""
        with (self.folder / "program.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                env={**self.environment, **extra},
                cwd=self.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._running.append(process)
        return process

    def xdotool(self, *words: object) -> str:
        """Run xdotool and return what it prints."""
        done = subprocess.run(
            ["xdotool", *map(str, words)], env=self.environment, capture_output=True, text=True, timeout=30
        )
        if done.returncode != 0:
            raise RuntimeError(f"xdotool {' '.join(map(str, words))}: {done.stderr.strip()}")
        return done.stdout.strip()

    def screenshot(self, name: str) -> Path:
        """Write the whole screen to `name` in the folder."""
        path = self.folder / name
        subprocess.run(["import", "-window", "root", str(path)], env=self.environment, check=True, timeout=30)
        return path


class Program:
    """The running window: what it shows, asked over its inspection socket, and a hand to use it."""

    def __init__(self, desktop: Desktop, command: list[str], extra: Mapping[str, str]) -> None:
        self.desktop = desktop
        self._socket_path = desktop.folder / "inspect"
        self.process = desktop.start(command, {**extra, "NEUROLOOM_INSPECT": str(self._socket_path)})

    def ask(self, question: dict[str, Any]) -> list[Thing]:
        """Put one question to the program (see `app.window.inspection`)."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(WAIT_SECONDS)
            line.connect(str(self._socket_path))
            line.sendall(json.dumps(question).encode() + b"\n")
            with line.makefile("rb") as answer:
                return list(json.loads(answer.readline()))

    def wait(self, what: str, look: Callable[[], Found | None], seconds: float = WAIT_SECONDS) -> Found:
        """Look again and again until `look` finds something; fail with a screenshot after `seconds`."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if self.process.poll() is not None:
                raise AssertionError(
                    f"the program ended with {self.process.returncode} while waiting for {what}"
                )
            try:
                found = look()
            except (ConnectionError, FileNotFoundError):
                found = None
            if found:
                return found
            time.sleep(0.1)
        shot = self.desktop.screenshot("failed.png")
        raise AssertionError(f"no {what} within {seconds:.0f} s; the screen is in {shot}")

    def find(self, pattern: str, kind: str = "", seconds: float = WAIT_SECONDS) -> Thing:
        """The first visible thing whose name or text matches the pattern, waiting for it to appear."""

        def look() -> Thing | None:
            seen = self.ask({"widgets": pattern})
            return next((thing for thing in seen if not kind or thing["kind"] == kind), None)

        return self.wait(f"{kind or 'thing'} {pattern!r}", look, seconds)

    def is_shown(self, pattern: str) -> bool:
        """Whether something visible matches now."""
        return bool(self.ask({"widgets": pattern}))

    def nodes(self) -> dict[str, Thing]:
        """The nodes on the canvas by id."""
        return {node["id"]: node for node in self.ask({"nodes": True})}

    def click(self, place: Thing | tuple[int, int], button: int = 1, times: int = 1) -> None:
        """Move to the middle of a thing, or to a point, and click."""
        x, y = middle(place)
        self.desktop.xdotool("mousemove", x, y)
        time.sleep(0.1)
        self.desktop.xdotool("click", "--repeat", times, "--delay", 60, button)
        time.sleep(0.2)

    def drag(self, start: Thing | tuple[int, int], end: Thing | tuple[int, int]) -> None:
        """Press at one place, move in small steps as a hand does, release at the other."""
        (x, y), (to_x, to_y) = middle(start), middle(end)
        self.desktop.xdotool("mousemove", x, y)
        time.sleep(0.1)
        self.desktop.xdotool("mousedown", 1)
        for step in range(1, 13):
            self.desktop.xdotool("mousemove", x + (to_x - x) * step // 12, y + (to_y - y) * step // 12)
            time.sleep(0.02)
        time.sleep(0.1)
        self.desktop.xdotool("mouseup", 1)
        time.sleep(0.2)

    def type(self, text: str) -> None:
        """Type text on the keyboard."""
        self.desktop.xdotool("type", "--delay", 25, text)
        time.sleep(0.2)

    def key(self, *keys: str) -> None:
        """Press keys such as `ctrl+s` one after the other."""
        self.desktop.xdotool("key", "--delay", 60, *keys)
        time.sleep(0.2)


def middle(place: Thing | tuple[int, int]) -> tuple[int, int]:
    """The centre of a thing, or the point itself, in screen pixels."""
    if isinstance(place, tuple):
        return place
    x, y, width, height = place["rect"]
    return x + width // 2, y + height // 2
