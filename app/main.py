"""The command `neuroloom`: a window, or the engine without one."""

from __future__ import annotations

import sys
from pathlib import Path

COMMANDS = ("gallery", "check", "train", "export", "nodes")
_EXAMPLE = "gallery:"
USAGE = f"""usage: neuroloom [FILE]            open the window, with a project file or gallery:ID
       neuroloom COMMAND ...       work without a window: {", ".join(COMMANDS)}
       neuroloom COMMAND --help    what a command does and takes
"""


def main(argv: list[str] | None = None) -> int:
    """Runs the program and returns its exit status: 0 done, 1 no window can be opened, 2 bad arguments."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in COMMANDS:
        from engine.cli import main as run_command

        return run_command(words)
    if words and words[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0
    if words and words[0] == "--version":
        from importlib.metadata import version

        sys.stdout.write(f"neuroloom {version('neuroloom')}\n")
        return 0
    files = [word for word in words if not word.startswith("-")]
    if len(files) != len(words) or len(files) > 1:
        sys.stderr.write(
            f"neuroloom: {' '.join(words)!r} is neither a command nor one project file.\n{USAGE}"
        )
        return 2
    if files and files[0].startswith(_EXAMPLE):
        return _open_window(None, files[0].removeprefix(_EXAMPLE))
    path = Path(files[0]) if files else None
    if path is not None and not path.is_file():
        sys.stderr.write(f"neuroloom: there is no file {files[0]!r}.\n")
        return 2
    return _open_window(path)


def _open_window(path: Path | None, example: str = "") -> int:
    from app.display import why_no_window

    reason = why_no_window()
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
        return 1
    try:
        from app.session import run
    except ImportError as error:
        from app.display import PACKAGES

        sys.stderr.write(
            f"Neuroloom cannot open its window because Qt does not load ({error}): on Debian or Ubuntu, "
            f"`apt-get install {PACKAGES}` brings what it needs.\n"
        )
        return 1
    return run(path, example)


if __name__ == "__main__":
    raise SystemExit(main())
