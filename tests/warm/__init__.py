"""A Python for tests that start one: it has torch already, whose import takes longer than most scripts.

What is proven of a fresh interpreter (imports, hash seeds, ends by signals) is proven with `sys.executable`.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@cache
def python() -> str:
    """The path of a program that takes `-W`, `-u`, `-m`, `-c` and scripts as Python does."""
    if not sys.platform.startswith("linux"):
        return sys.executable
    folder = Path(tempfile.mkdtemp(prefix="warm"))
    launcher = folder / "python"
    base = getattr(sys, "_base_executable", sys.executable)
    text = (HERE / "launcher.py").read_text(encoding="utf-8")
    launcher.write_text(f"#!{base} -IS\n{text}", encoding="utf-8")
    launcher.chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, str(HERE / "server.py"), str(folder / "asked")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # no thread before the fork
    )
    assert server.stdin is not None and server.stdout is not None
    if server.stdout.readline() != b"ready\n":
        raise RuntimeError("the warm Python could not begin")
    atexit.register(_end, server, folder)
    return str(launcher)


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    assert server.stdin is not None and server.stdout is not None
    server.stdin.close()
    server.wait()
    server.stdout.close()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
