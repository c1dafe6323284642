"""`data` on the command line: which public data sets there are, and downloading one."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from engine.cli_words import declared
from engine.data.public_files import PUBLIC, PublicSet, datasets_home, megabytes, public_set

OK, USAGE, INTERRUPTED = 0, 2, 130
EVERY = 0.1  # seconds from one line of progress to the next on a terminal
SELDOM = 5.0  # and elsewhere


def add_to(parser: argparse.ArgumentParser, exits: str) -> None:
    """Declare the subcommands of `data`."""
    commands = parser.add_subparsers(required=True, metavar="WHAT")

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        made = declared(commands, name, run, text, exits)
        made.add_argument(
            "--in", dest="home", type=Path, metavar="F", help="their folder, in place of the usual one"
        )
        return made

    command("list", _list, "list the public data sets that can be downloaded")
    getting = command("get", _get, "download a set, or go on with it; prints its folder")
    getting.add_argument("name", metavar="NAME", help="its id or title")


def _list(options: argparse.Namespace) -> int:
    home = options.home or datasets_home()
    for one in PUBLIC:
        folder = home / one.id
        missing, part = bool(one.missing(folder)), one.part(folder)
        state = "here" if not missing else "in part" if part else "not here"
        if options.json:
            facts = {"id": one.id, "title": one.title, "about": one.about, "bytes": one.size}
            where = {"licence": one.licence, "page": one.page, "folder": str(folder)}
            _say(json.dumps({**facts, **where, "state": state, "downloaded": part}))
            continue
        so_far = f"{megabytes(part)} of " if state == "in part" else ""
        _say(f"{one.id:17} {state:9} {so_far + megabytes(one.size):>20}  {one.about}")
    return OK


def _get(options: argparse.Namespace) -> int:
    wanted = public_set(options.name)
    if wanted is None:
        known = ", ".join(one.id for one in PUBLIC)
        sys.stderr.write(f"neuroloom data: there is no set {options.name!r}; there are {known}.\n")
        return USAGE
    folder = (options.home or datasets_home()) / wanted.id
    line = _Line(wanted, options.json)
    try:
        _fetch(wanted, folder, line)
    except KeyboardInterrupt:
        line.end()
        sys.stderr.write("neuroloom data: stopped; what was downloaded is kept, and `get` goes on with it.\n")
        return INTERRUPTED
    finally:
        line.end()
    _say(json.dumps({"id": wanted.id, "folder": str(folder)}) if options.json else str(folder))
    return OK


def _fetch(wanted: PublicSet, folder: Path, line: _Line) -> None:
    from engine.data.downloads import fetch
    from engine.data.opening import Watch

    if wanted.missing(folder):
        sys.stderr.write(f"{wanted.title}: {megabytes(wanted.size)} into {folder}. {wanted.licence}.\n")
    fetch(wanted, folder, Watch(line.show))


class _Line:
    """Progress on stderr: one line that changes on a terminal, else a line now and then; JSON where asked."""

    def __init__(self, wanted: PublicSet, as_json: bool) -> None:
        self._id = wanted.id
        self._json = as_json
        self._live = sys.stderr.isatty() and not as_json
        self._next = 0.0
        self._shown = False

    def show(self, share: float | None, doing: str) -> None:
        now = monotonic()
        if now < self._next:
            return
        self._next = now + (EVERY if self._live else SELDOM)
        if self._json:
            sys.stderr.write(json.dumps({"id": self._id, "share": share, "doing": doing}) + "\n")
            return
        text = doing if share is None else f"{100 * share:3.0f} %  {doing}"
        if not self._live:
            sys.stderr.write(text + "\n")
            return
        wide = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r{text[:wide]}\x1b[K")
        sys.stderr.flush()
        self._shown = True

    def end(self) -> None:
        """Take the line off the terminal."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
