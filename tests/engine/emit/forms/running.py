"""Runs what was exported, in this process, and returns the lines that it prints."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from pathlib import Path


def printed_by(path: Path, *words: str, module: str = "") -> list[str]:
    """What a script prints, or a `module` of the package whose folder this is, run as the main module."""
    before, known = sys.argv, set(sys.modules)
    sys.argv = [str(path), *words]
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            if module:
                sys.path.insert(0, str(path))
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.argv = before
        if module:
            sys.path.remove(str(path))
        for name in set(sys.modules) - known:
            if name.partition(".")[0] == module.partition(".")[0]:
                del sys.modules[name]
    return out.getvalue().splitlines()
