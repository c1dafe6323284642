"""Exported scripts run where nothing of the program is at hand, with warnings as errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from engine.document.shipped import datasets_folder
from engine.emit.script import Script
from tests.warm import python

# Runs each script as `python SCRIPT` would, one after the other: starting fifty interpreters takes minutes.
RUNNER = """
import contextlib, io, json, runpy, sys, torch

class Enough(BaseException):
    pass

class Lines(io.StringIO):
    def write(self, text):
        super().write(text)
        if "\\n" in text and self.getvalue().count("\\n") >= most:
            raise Enough

found, threads = {}, torch.get_num_threads()
for name, words, most in json.loads(sys.stdin.read()):
    sys.argv = [name, *words]
    out = Lines()
    torch.set_num_threads(threads)  # a script may have chosen its own
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(name, run_name="__main__")
    except Enough:
        pass
    except (Exception, SystemExit) as error:
        found[name] = f"{type(error).__name__}: {error}"
        continue
    found[name] = out.getvalue().splitlines()
print(json.dumps(found))
"""


class Export(NamedTuple):
    """A script, the words on its command line, and after how many lines it is ended."""

    script: Script
    words: tuple[str, ...]
    most: int = sys.maxsize


def printed_by(exports: Mapping[str, Export], folder: Path, **environment: str) -> dict[str, list[str] | str]:
    """The lines that each script prints, or its error in words; all of them run in one process."""
    asked = []
    for number, export in enumerate(exports.values()):
        name = f"script{number}.py"
        (folder / name).write_text(export.script.plain.text, encoding="utf-8")
        reads = '"--data"' in export.script.plain.text
        # files of a person's own are found where they lie
        place = ("--data", str(export.script.folder or datasets_folder())) if reads else ()
        asked.append((name, ("--json", "--device", "cpu", *export.words, *place), export.most))
    done = subprocess.run(
        [python(), "-W", "error", "-c", RUNNER],
        cwd=folder,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=900,
        env={**alone(), **environment},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(exports, json.loads(done.stdout).values(), strict=True))


def alone() -> dict[str, str]:
    """The environment of a stranger's shell: nothing of ours on the path."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NEUROLOOM"))}
