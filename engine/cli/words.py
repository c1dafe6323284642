"""How every subcommand of the command line is declared."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

Run = Callable[[argparse.Namespace], int]


def declared(commands: Any, name: str, run: Run, text: str, exits: str) -> argparse.ArgumentParser:
    """A subcommand with its help, `--json` and what runs it; `exits` says what its exit codes mean."""
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=text[:1].upper() + text[1:] + ".",
        epilog=exits,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--json", action="store_true", help="for machines: JSON, one object a line")
    made.set_defaults(run=run)
    return made
