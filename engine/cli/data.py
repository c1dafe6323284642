"""`data` on the command line: public data sets, and files of one's own."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from engine.cli import data_look as cli_look
from engine.cli.progress import ProgressLine
from engine.cli.words import declared, say, warn
from engine.data.sets.public_files import PUBLIC, PublicSet, datasets_home, megabytes, public_set

OK, USAGE, INTERRUPTED = 0, 2, 130


def add_to(parser: argparse.ArgumentParser, exits: str) -> None:
    """Declare the subcommands of `data`."""
    commands = parser.add_subparsers(required=True, metavar="WHAT")

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        return declared(commands, name, run, text, exits)

    listing = command("list", _list, "list the public data sets that can be downloaded")
    getting = command("get", _get, "download a set, or go on with it; prints its folder")
    for made in (listing, getting):
        made.add_argument(
            "--in", dest="home", type=Path, metavar="F", help="their folder, in place of the usual one"
        )
    getting.add_argument("name", metavar="NAME", help="its id or title")
    cli_look.add_arguments(
        command("look", cli_look.look, "say what a file or folder of yours is as data, and what is in it"),
        command("project", cli_look.project, "write a project that reads it, with a small network"),
    )


def _list(options: argparse.Namespace) -> int:
    home = options.home or datasets_home()
    for one in PUBLIC:
        folder = home / one.id
        missing, part = bool(one.missing(folder)), one.part(folder)
        state = "here" if not missing else "in part" if part else "not here"
        if options.json:
            facts = {"id": one.id, "title": one.title, "about": one.about, "bytes": one.size}
            where = {"licence": one.licence, "page": one.page, "folder": str(folder)}
            say(json.dumps({**facts, **where, "state": state, "downloaded": part}))
            continue
        so_far = f"{megabytes(part)} of " if state == "in part" else ""
        say(f"{one.id:17} {state:9} {so_far + megabytes(one.size):>20}  {one.about}")
    return OK


def _get(options: argparse.Namespace) -> int:
    wanted = public_set(options.name)
    if wanted is None:
        known = ", ".join(one.id for one in PUBLIC)
        warn(f"neuroloom data: there is no set {options.name!r}; there are {known}.")
        return USAGE
    folder = (options.home or datasets_home()) / wanted.id
    line = ProgressLine(wanted.id, options.json)
    try:
        _fetch(wanted, folder, line)
    except KeyboardInterrupt:
        line.end()
        warn("neuroloom data: stopped; what was downloaded is kept, and `get` goes on with it.")
        return INTERRUPTED
    finally:
        line.end()
    say(json.dumps({"id": wanted.id, "folder": str(folder)}) if options.json else str(folder))
    return OK


def _fetch(wanted: PublicSet, folder: Path, line: ProgressLine) -> None:
    from engine.data.sets.downloads import fetch
    from engine.data.watch import Watch

    if wanted.missing(folder):
        warn(f"{wanted.title}: {megabytes(wanted.size)} into {folder}. {wanted.licence}.")
    fetch(wanted, folder, Watch(line.show))
