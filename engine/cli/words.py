"""How every subcommand of the command line is declared, and how every line of it is printed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from engine.document.plan import LARGEST_COUNT
from engine.errors import in_one_line
from engine.values import shown

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


def positive(text: str) -> int:
    """A count of at least one, as an argument."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{shown(number)} is below 1")
    if number > LARGEST_COUNT:
        raise argparse.ArgumentTypeError(f"{shown(number)} is above {LARGEST_COUNT:,}")
    return number


def say(text: str = "") -> None:
    """Write a line of what was asked for; a name can neither break it nor steer the terminal."""
    sys.stdout.write(in_one_line(text) + "\n")


def say_at_once(text: str) -> None:
    """Write a line of what was asked for, where whoever reads it sees it before the next one is known."""
    say(text)
    sys.stdout.flush()


def warn(text: str) -> None:
    """Write a line beside it."""
    sys.stderr.write(in_one_line(text) + "\n")
