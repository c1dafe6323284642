"""The warm Python does as Python does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.warm import python

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="it forks, and sends its streams"
)


def done_by(program: str, *words: str, **environment: str) -> tuple[int, str, str]:
    env = {**os.environ, **environment}
    done = subprocess.run([program, *words], capture_output=True, text=True, env=env, input="given\n")
    return done.returncode, done.stdout, done.stderr.splitlines()[-1] if done.stderr else ""


@pytest.mark.parametrize(
    "code",
    [
        "import sys; print(sys.argv, __name__, sys.stdin.read()); sys.exit(3)",
        "import os, sys; print(os.environ['WORD'], file=sys.stderr); sys.exit('said')",
        "import atexit; atexit.register(print, 'last'); raise KeyError('one')",
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
        "import warnings; warnings.warn('once')",
        "import torch; print(torch.get_num_threads(), torch.manual_seed(3).initial_seed(), torch.rand(3))",
        "import importlib.util as i, sys; print('engine' in sys.modules)",
    ],
)
def test_it_ends_and_prints_as_python_does(code: str) -> None:
    words = ("-W", "error", "-c", code, "a", "b")
    assert done_by(python(), *words, WORD="ü") == done_by(sys.executable, *words, WORD="ü")


def test_a_script_lies_where_it_lies_and_one_that_is_killed_takes_its_child_along(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("VALUE = 7\n", encoding="utf-8")
    script = tmp_path / "script.py"
    script.write_text(
        "import os, time, beside\nprint(beside.VALUE, os.getpid(), flush=True)\ntime.sleep(60)\n",
        encoding="utf-8",
    )
    running = subprocess.Popen([python(), str(script)], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    value, process = running.stdout.readline().split()
    running.kill()
    assert running.stdout.read() == "" and running.wait() == -9  # its stream ends with the child
    running.stdout.close()
    assert value == "7" and int(process) != running.pid


def test_one_that_is_gone_before_it_has_asked_holds_up_nobody() -> None:
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(Path(python()).with_name("asked")))
        socket.send_fds(caller, [b'{"words": ["-c", '], [0, 1, 2])
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(Path(python()).with_name("asked")))
    assert done_by(python(), "-c", "print(3)") == (0, "3\n", "")
