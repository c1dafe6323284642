"""`data look` and `data project`: a file of one's own on the command line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.catalogue import Catalogue, Data, load_catalogue
from engine.catalogue.traits import FileForm
from engine.cli.progress import ProgressLine
from engine.cli.words import say, warn
from engine.data.checks.findings import Asked, Finding
from engine.data.open.importing import without_odd_rows
from engine.data.open.opening import Opened, open_data, open_for, readers
from engine.data.watch import Watch
from engine.document.document import Document
from engine.document.files import save_project
from engine.document.graph import Graph, Node, Project
from engine.errors import NeuroloomError
from engine.shapes.node_rules import network_for

OK, USAGE, UNREADABLE = 0, 2, 3
MOST_CLASSES = 8  # names of classes in a line


def add_arguments(looking: argparse.ArgumentParser, making: argparse.ArgumentParser) -> None:
    """What both commands take."""
    for made in (looking, making):
        made.add_argument("file", metavar="FILE", type=Path, help="a file or folder of yours")
        made.add_argument(
            "--as", dest="kind", choices=sorted(readers()), help="read it so, in place of what it looks like"
        )
        made.add_argument(
            "--skip-rows", action="store_true", help="of a table of text: skip rows longer than its header"
        )
    making.add_argument("-o", "--output", type=Path, help="the project file; NAME.nloom here by default")
    making.add_argument("--force", action="store_true", help="write over a project file that is there")


def look(options: argparse.Namespace) -> int:
    """Say what a file is as data, what is in it and what the user should know of it."""
    catalogue, opened = load_catalogue(), _opened(options)
    node = Node("n1", opened.type, opened.name, opened.params)
    data = catalogue.make(node)
    assert isinstance(data, Data)
    splits, error, found = _read(node, data, catalogue)
    sizes = {split: len(next(iter(part.values()))) for split, part in splits.items() if part}
    if options.json:
        columns = [
            {"name": one.name, "shape": one.shape, "dtype": one.dtype, "classes": one.classes}
            for one in data.columns()
        ]
        told = [{"code": one.code, "message": one.message, "serious": one.serious} for one in found]
        facts = {"type": opened.type, "name": opened.name, "columns": columns, "splits": sizes}
        more = {"table": opened.params.get("table", ()), "remarks": opened.remarks, "findings": told}
        say(json.dumps({**facts, **more, "error": error}, default=str))
        return OK
    say(f"{options.file.name}: {data.title}, {data.summary()}")
    for line in _columns(opened, data):
        say(f"  {line}")
    if sizes:
        say(" · ".join(f"{split} {count:,}" for split, count in sizes.items()))
    for text in (*opened.remarks, *([error] if error else [])):
        say(f"- {text}")
    for one in found:
        say(f"{'!' if one.serious else '-'} {one.message}")
    return OK


def project(options: argparse.Namespace) -> int:
    """Write a project that reads a file, with a first network where its kind is known to call for one."""
    target = options.output or Path(f"{options.file.resolve().stem or 'data'}.nloom")
    if target.exists() and not options.force:
        warn(f"neuroloom data: {target} is there already; --force writes over it.")
        return UNREADABLE
    catalogue, opened = load_catalogue(), _opened(options)
    node = Node("n1", opened.type, opened.name, opened.params)
    data = catalogue.make(node)
    assert isinstance(data, Data)
    document = Document(Project(title=opened.name, graph=Graph([node]), next_id=2))
    with document.step("Draw a small network"):
        draw = network_for(node.id, data)
        for edit in draw(document.project) if draw is not None else ():
            document.apply(edit)
    save_project(document.project, target)
    layers = len(document.project.graph.nodes) > 1
    for text in (
        *opened.remarks,
        *([] if layers else ["No network is drawn: no column looks like a target."]),
    ):
        warn(f"- {text}")
    say(json.dumps({"project": str(target), "network": layers}) if options.json else str(target))
    return OK


def _opened(options: argparse.Namespace) -> Opened:
    line = ProgressLine(options.file.name, options.json)
    watch = Watch(line.show)
    try:
        if options.skip_rows:
            return without_odd_rows(options.file.absolute(), watch)
        if options.kind:
            return open_for(options.file, options.kind, watch)
        return open_data(options.file, watch)
    finally:
        line.end()


def _read(
    node: Node, data: Data, catalogue: Catalogue
) -> tuple[Mapping[str, Mapping[str, Any]], str, tuple[Finding, ...]]:
    """The splits, why there are none, and what is found in them and in the file."""
    from engine.data.checks.checks import findings
    from engine.data.loading.node import read_node
    from engine.data.tables.looks import look_at_table

    kind = type(data)
    params = {spec.name: spec.default for spec in kind.params} | dict(node.params)
    table = look_at_table(params) if data.reads is FileForm.TABLE else None
    try:
        splits, error = read_node(node, catalogue), ""
    except NeuroloomError as found:
        splits, error = {}, str(found)
    classes = {one.name: one.classes for one in data.columns() if one.classes}
    rows = node.params.get("table", ())
    targets = {
        str(row[0])
        for row in (rows if isinstance(rows, tuple) else ())
        if isinstance(row, tuple) and len(row) > 2 and row[2] in ("target", "weight")
    }
    asked = Asked(params, classes, targets | {f"{name} as number" for name in targets})
    return splits, error, findings(splits, asked, table)


def _columns(opened: Opened, data: Data) -> list[str]:
    """A line a column: of a table as it is in the file, else as it leaves the node."""
    table = opened.params.get("table", ())
    if data.reads is FileForm.TABLE and isinstance(table, tuple):
        rows = [row for row in table if isinstance(row, tuple)]
        wide = max((len(str(row[0])) for row in rows), default=0)
        return [f"{row[0]!s:{wide}}  {row[1]!s:9} {row[2]!s:7} {_listed(row[3:])}".rstrip() for row in rows]
    columns = data.columns()
    wide = max((len(one.name) for one in columns), default=0)
    return [
        f"{one.name:{wide}}  {'×'.join(['N', *map(str, one.shape)]):12} {_listed(one.classes)}".rstrip()
        for one in columns
    ]


def _listed(names: Any) -> str:
    shown = ", ".join(map(str, names[:MOST_CLASSES]))
    return shown + (f" and {len(names) - MOST_CLASSES:,} more" if len(names) > MOST_CLASSES else "")
