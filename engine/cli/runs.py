"""`runs` on the command line: list, show, compare, tag, export and delete the runs in a folder."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from engine.cli.words import declared, say
from engine.document.files import load_project, write_atomically
from engine.errors import NeuroloomError, TrainingError
from engine.runs.as_csv import runs_csv
from engine.runs.deleted import DELETED, delete, restore, within
from engine.runs.filter import HELP, matching
from engine.runs.index import RunIndex, RunRecord, read_run
from engine.runs.records import (
    PROJECT,
    SETTINGS,
    Labels,
    read_labels,
    read_settings,
    tags_from,
    write_labels,
)

OK = 0
RUNS = Path("runs")


def add_to(parser: argparse.ArgumentParser, exits: str) -> None:
    """Declare the subcommands of `runs`."""
    commands = parser.add_subparsers(required=True, metavar="WHAT")

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        made = declared(commands, name, run, text, exits)
        made.add_argument(
            "--in", dest="runs", type=Path, default=RUNS, metavar="F", help="their folder (runs)"
        )
        return made

    listing = command("list", _list, "list the runs, the newest first")
    listing.add_argument("filter", nargs="*", metavar="FILTER", help=HELP)
    showing = command("show", _show, "show what a run was told, how it ended and its values")
    differing = command("diff", _diff, "say what two runs differ in: settings, nodes and wires")
    table = command("csv", _csv, "write a row an epoch, of one run or of several")
    events = command("tensorboard", _events, "write a run's curves as TensorBoard event files")
    tagging = command("tag", _tag, "give a run tags or a note")
    deleting = command("delete", _delete, f"move runs into {DELETED}, from where they can be restored")
    restoring = command("restore", _restore, "bring deleted runs back")
    for one in (showing, events, tagging):
        one.add_argument("name", metavar="RUN", help="a run's name or folder")
    for one in (table, deleting, restoring):
        one.add_argument("names", nargs="+", metavar="RUN", help="a run's name or folder")
    differing.add_argument("name", metavar="RUN", help="a run's name or folder")
    differing.add_argument("other", metavar="OTHER", help="another run, or a project file")
    for one in (table, events):
        one.add_argument("--out", type=Path, metavar="F", help="where to write")
    tagging.add_argument("tags", nargs="*", metavar="TAG", help="to add")
    tagging.add_argument("--remove", action="append", default=[], metavar="TAG", help="to take away")
    tagging.add_argument("--note", help="a note, in place of the one it has")
    deleting.add_argument("--for-ever", action="store_true", help="remove the files, with no way back")


def folder_of(name: str, runs: Path) -> Path:
    """The folder of a run by its name, its path or the beginning of its name. Errors: `TrainingError`."""
    for path in (runs / name, Path(name)):
        if (path / SETTINGS).is_file():
            return path
    near = [one.name for one in RunIndex(runs).refresh() if one.name.startswith(name)]
    if len(near) == 1:
        return runs / near[0]
    which = f"; there are {', '.join(near[:5])}" if near else ""
    raise TrainingError(
        f"There is no run {name!r} in {runs}{which}.", fix="`neuroloom runs list` names them."
    )


# -- looking


def _list(options: argparse.Namespace) -> int:
    found = matching(RunIndex(options.runs).refresh(), " ".join(options.filter))
    if options.json:
        for record in found:
            say(json.dumps(record.to_json()))
        return OK
    if not found:
        say(f"No runs in {options.runs}" + (" match." if options.filter else "."))
        return OK
    head = ("run", "state", "epochs", "best loss", "optimiser", "lr", "batch", "time", "tags")
    rows = [head, *(_row(record) for record in found)]
    wide = [max(len(row[index]) for row in rows) for index in range(len(head))]
    for row in rows:
        say("  ".join(f"{cell:{width}}" for cell, width in zip(row, wide, strict=True)).rstrip())
    return OK


def _row(record: RunRecord) -> tuple[str, ...]:
    loss = record.best.get("val_loss", record.best.get("train_loss"))
    return (
        record.name,
        record.state,
        f"{record.epochs_done}/{record.epochs}",
        "" if loss is None else f"{loss:.4g}",
        record.optimiser,
        "" if record.lr is None else f"{record.lr:g}",
        str(record.batch),
        f"{record.seconds:.0f} s",
        ", ".join(record.tags),
    )


def _show(options: argparse.Namespace) -> int:
    record = read_run(folder_of(options.name, options.runs))
    if options.json:
        say(json.dumps(record.to_json()))
        return OK
    for name, value in record.to_json().items():
        if name in ("best", "last", "higher") or value in ("", None, ()):
            continue
        shown = ", ".join(value) if isinstance(value, tuple) else value
        say(f"{name.replace('_', ' '):14}  {shown}")
    for name, last in record.last.items():
        say(f"{name:14}  last {last:.6g}, best {record.best.get(name, last):.6g}")
    return OK


def _diff(options: argparse.Namespace) -> int:
    from engine.catalogue import load_catalogue
    from engine.runs.compare import compare, compare_runs

    first = folder_of(options.name, options.runs)
    second = Path(options.other)
    if second.is_file():
        found = compare(load_project(first / PROJECT), load_project(second), load_catalogue())
    else:
        folders = first, folder_of(options.other, options.runs)
        old, new = ((read_settings(one), load_project(one / PROJECT)) for one in folders)
        found = compare_runs(old, new, load_catalogue())
    for one in found:
        say(json.dumps(one.to_json()) if options.json else one.what)
    if not found and not options.json:
        say("They were trained alike: same settings, same graph.")
    return OK


# -- taking along


def _csv(options: argparse.Namespace) -> int:
    text = runs_csv(folder_of(name, options.runs) for name in options.names)
    if options.out is None:
        for line in text.removesuffix("\n").split("\n"):
            say(line)
    else:
        write_atomically(options.out, text.encode("utf-8", "backslashreplace"))
        say(json.dumps({"file": str(options.out)}) if options.json else str(options.out))
    return OK


def _events(options: argparse.Namespace) -> int:
    from engine.runs.tensorboard import write_events

    target = write_events(folder_of(options.name, options.runs), options.out)
    say(json.dumps({"folder": str(target)}) if options.json else str(target))
    if not options.json:
        say(f"See it: tensorboard --logdir {target}")
    return OK


# -- changing


def _tag(options: argparse.Namespace) -> int:
    folder = folder_of(options.name, options.runs)
    labels = read_labels(folder)
    tags = tuple(tag for tag in tags_from((*labels.tags, *options.tags)) if tag not in options.remove)
    labels = Labels(tags, labels.note if options.note is None else options.note)
    write_labels(folder, labels)
    RunIndex(folder.parent).note(folder)
    if options.json:
        say(json.dumps({"run": folder.name, "tags": list(labels.tags), "note": labels.note}))
    else:
        say(
            f"{folder.name}: {', '.join(labels.tags) or 'no tags'}"
            + (f"; {labels.note}" if labels.note else "")
        )
    return OK


def _delete(options: argparse.Namespace) -> int:
    for name in options.names:
        folder = within(folder_of(name, options.runs), options.runs)
        target = delete(folder, options.for_ever)
        if options.json:
            say(json.dumps({"run": folder.name, "now": None if target is None else str(target)}))
        else:
            say(f"{folder.name} is removed" if target is None else f"{folder.name} is now in {target}")
    return OK


def _restore(options: argparse.Namespace) -> int:
    for name in options.names:
        place = within(options.runs / DELETED / name, options.runs / DELETED)
        if not place.is_dir():
            raise NeuroloomError(f"There is no deleted run {name!r} in {options.runs / DELETED}.")
        target = restore(place)
        say(json.dumps({"run": target.name}) if options.json else f"{target.name} is back")
    return OK
