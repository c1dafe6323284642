"""The command `neuroloom`: a window, or the engine without one."""

from __future__ import annotations

import sys
from pathlib import Path

COMMANDS = ("gallery", "check", "train", "export", "import", "run", "runs", "data", "nodes")
_EXAMPLE = "gallery:"
USAGE = f"""usage: neuroloom [FILE ...]        open the window: projects and gallery:ID in tabs, data as nodes
       neuroloom COMMAND ...       work without a window: {", ".join(COMMANDS)}
       neuroloom COMMAND --help    what a command does and takes
"""


def main(argv: list[str] | None = None) -> int:
    """Runs the program and returns its exit status: 0 done, 1 no window can be opened, 2 bad arguments."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in COMMANDS:
        from engine.cli.interrupt import ended_at_once

        with ended_at_once():
            from engine.cli.main import main as run_command
        return run_command(words)
    if words and words[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0
    if words and words[0] == "--version":
        from importlib.metadata import version

        sys.stdout.write(f"neuroloom {version('neuroloom')}\n")
        return 0
    files = [word for word in words if not word.startswith("-")]
    if len(files) != len(words):
        sys.stderr.write(f"neuroloom: {' '.join(words)!r} is neither a command nor files.\n{USAGE}")
        return 2
    missing = [name for name in files if not name.startswith(_EXAMPLE) and not Path(name).exists()]
    if missing:
        sys.stderr.write(f"neuroloom: there is no file {missing[0]!r}.\n")
        return 2
    return _open_window(files)


def _open_window(files: list[str]) -> int:
    from app.window.display import why_no_window

    reason = why_no_window()
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
        return 1
    try:
        from app.window.session import run
    except ImportError as error:
        from app.window.display import PACKAGES

        sys.stderr.write(
            f"Neuroloom cannot open its window because Qt does not load ({error}): on Debian or Ubuntu, "
            f"`apt-get install {PACKAGES}` brings what it needs.\n"
        )
        return 1
    examples = [name.removeprefix(_EXAMPLE) for name in files if name.startswith(_EXAMPLE)]
    return run([Path(name) for name in files if not name.startswith(_EXAMPLE)], examples)


if __name__ == "__main__":
    raise SystemExit(main())
