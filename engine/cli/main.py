"""The command line: everything the window does that needs no window.

`main` gets the words after the program's name and returns the exit status. What the user or a machine asked
for goes to stdout; progress and complaints go to stderr. torch is imported only by commands that need it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from engine.catalogue import Catalogue, NodeType, load_catalogue
from engine.catalogue.foreign_files import foreign, question
from engine.catalogue.params import ParamSpec
from engine.cli import data as cli_data
from engine.cli import export as cli_export
from engine.cli import run as cli_run
from engine.cli import runs as cli_runs
from engine.cli.interrupt import INTERRUPTED, STOPPED, ended_at_once
from engine.cli.words import declared, positive, say, warn
from engine.data.sets.needed import as_error, not_here
from engine.data.sets.public_files import datasets_home
from engine.document.files import from_text, load_project
from engine.document.graph import Project
from engine.errors import NeuroloomError, ProjectFileError
from engine.shapes.problems import Problem

OK, PROBLEMS, USAGE, UNREADABLE = 0, 1, 2, 3

EXITS = """exit status:
  0    done
  1    the project has errors, the run failed, nothing was exported, or an export differs
  2    the command was not understood
  3    a file cannot be read or written
  130  stopped with Ctrl-C; what was trained by then is kept
"""
GALLERY = "gallery:"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status, as `--help` lists them."""
    try:
        return _main(argv)
    except KeyboardInterrupt:
        warn(STOPPED)
        return INTERRUPTED


def _main(argv: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # letters that a terminal lacks are written out, too
            stream.reconfigure(errors="backslashreplace")
    parser = _parser()
    try:
        options = parser.parse_args(sys.argv[1:] if argv is None else list(argv))
    except SystemExit as asked:  # argparse ends the program for --help and for mistakes
        return asked.code if isinstance(asked.code, int) else USAGE
    try:
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Whoever read the output has gone: nothing is left to say, and Python must not try at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except ProjectFileError as error:
        return _complain(error, options, UNREADABLE)
    except NeuroloomError as error:
        return _complain(error, options, PROBLEMS)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _complain(NeuroloomError(f"{place}{error.strerror or error}."), options, UNREADABLE)


def _complain(error: NeuroloomError, options: argparse.Namespace, status: int) -> int:
    if options.json:
        say(json.dumps({"error": {"message": error.message, "node": error.node_id, "fix": error.fix}}))
        sys.stdout.flush()
    at = f" (node {error.node_id})" if error.node_id else ""
    warn(f"neuroloom: {error}{at}")
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="neuroloom",
        description="Work with networks without a window.",
        epilog=f"P is a project file, or gallery:ID for an example.\n\n{EXITS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Any, text: str) -> argparse.ArgumentParser:
        return declared(commands, name, run, text, EXITS)

    command("gallery", _gallery, "list the examples that come with the program")
    checking = command("check", _check, "look for problems, and show shapes and sizes")
    training = command("train", _train, "train a project and keep the run in a folder")
    exporting = command("export", _export, "write a project as Python of its own")
    importing = command("import", _import, "open exported Python as a project: a script, package or notebook")
    importing.add_argument("python", type=Path, metavar="F", help="the .py, .ipynb, or the package's folder")
    importing.add_argument("--out", type=Path, required=True, metavar="P", help="the project file to write")
    importing.add_argument("--replace", action="store_true", help="write over a file at --out")
    running = command("run", _run, "list a project's procedures, or run one over trained weights")
    for one in (checking, training, exporting, running):
        one.add_argument("project", metavar="P", help="project file, or gallery:ID")
        one.add_argument(
            "--allow-outside", action="store_true", help="read data outside of the project's folder, too"
        )
    training.add_argument("--epochs", type=positive, help="instead of the plan's")
    training.add_argument("--seed", type=_seed, help="instead of the plan's")
    training.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:1, mps (auto: the best there is)"
    )
    training.add_argument(
        "--fast", action="store_true", help="as fast as this machine can: measured first, equal to rounding"
    )
    training.add_argument("--out", type=Path, metavar="RUN", help="the run's folder (runs/NAME-TIME)")
    training.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    training.add_argument(
        "--weights", type=Path, metavar="W", help="begin with what fits of a run, .safetensors or .pt"
    )
    training.add_argument(
        "--branch", type=Path, metavar="C", help="a new run from a run's folder or one of its checkpoints"
    )
    training.add_argument("--checkpoint-every", type=positive, metavar="K", help="keep one every K epochs")
    training.add_argument(
        "--keep", type=positive, default=3, metavar="N", help="only the newest N of them (3)"
    )
    cli_export.add_arguments(exporting)
    cli_run.add_arguments(running)
    runs = commands.add_parser("runs", help="list, compare, tag, export and delete runs")
    cli_runs.add_to(runs, EXITS)
    public = commands.add_parser("data", help="list and download public data sets")
    cli_data.add_to(public, EXITS)
    nodes = command("nodes", _nodes, "list the node types, or explain one")
    nodes.add_argument("name", nargs="?", metavar="NAME", help="a type or its title")
    return parser


def _seed(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**63:
        raise argparse.ArgumentTypeError(f"{number} is not between 0 and 2**63")
    return number


# -- projects


def gallery() -> dict[str, Traversable]:
    """The example projects by id, in order."""
    folder = resources.files("resources") / "gallery"
    found = sorted((one for one in folder.iterdir() if one.name.endswith(".nloom")), key=lambda one: one.name)
    return {one.name.removesuffix(".nloom"): one for one in found}


def open_project(place: str, catalogue: Catalogue | None = None, outside: bool = True) -> Project:
    """A project file, or an example written `gallery:ID`.

    Errors: `ProjectFileError`, also where it reads outside of its folder and that is not allowed.
    """
    if not place.startswith(GALLERY):
        project = load_project(place)
        home = Path(place).absolute().parent
        for _, _, path in () if outside else foreign(project, catalogue or load_catalogue(), home, known()):
            raise ProjectFileError(f"{question(path)} Add --allow-outside to have it read.")
        return project
    examples = gallery()
    found = examples.get(place.removeprefix(GALLERY))
    if found is None:
        raise ProjectFileError(f"There is no example {place!r}; there are {', '.join(examples)}.")
    return from_text(found.read_text("utf-8"), found.name)


def _load_torch() -> None:
    with ended_at_once():
        import torch  # noqa: F401  (what comes next needs it)


def known() -> tuple[Path, ...]:
    """Folders beside a project's own that may always be read: that of the downloads."""
    return (datasets_home(),)


def _gallery(options: argparse.Namespace) -> int:
    rows = []
    for name, file in gallery().items():
        project = from_text(file.read_text("utf-8"), file.name)
        covers = project.extra.get("covers", [])
        rows.append(
            {"id": name, "title": project.title, "covers": covers if isinstance(covers, list) else []}
        )
    if options.json:
        for row in rows:
            say(json.dumps(row))
        return OK
    wide = max((len(row["id"]) for row in rows), default=0)
    for row in rows:
        say(f"{GALLERY}{row['id']:{wide}}  {row['title']}  {' '.join(row['covers'])}".rstrip())
    return OK


# -- check


def _check(options: argparse.Namespace) -> int:
    catalogue = load_catalogue()
    project = open_project(options.project, catalogue, options.allow_outside)
    _load_torch()
    from engine.shapes.shapes import check

    book = check(project, catalogue)
    missing = [as_error(*one) for one in not_here(catalogue, project)]
    book.note("downloads", [Problem(one.node_id, str(one)) for one in missing], project)
    if not book.errors:
        from engine.document.shipped import datasets_folder
        from engine.train.begin import refusal
        from engine.train.sources import Sources

        refused = refusal(project, catalogue, Sources(catalogue, datasets_folder()))
        book.note("start", [refused] if refused is not None else [], project)
    memory = book.memory(project)
    layers = []
    for node_id in project.graph.order():
        node, found = project.graph.nodes[node_id], book.types.get(node_id)
        ports = [port.name for port in found.outputs()] if found is not None else []
        signatures = {port: book.signature(node_id, port) for port in ports}
        known = {port: list(one.shape) for port, one in signatures.items() if one is not None}
        layers.append((node, known, book.parameters(node_id)))
    if options.json:
        problems = [
            {
                "severity": one.severity,
                "node": one.node_id,
                "port": one.port,
                "message": one.message,
                "fix": one.fix.label if one.fix else None,
            }
            for one in book.problems
        ]
        found_json = {
            "title": project.title,
            "problems": problems,
            "shapes": {node.id: shapes for node, shapes, _ in layers if shapes},
            "parameters": book.total_parameters,
            "memory": memory.to_json() if memory is not None else None,
            "nodes": {
                node.id: {"name": node.name, "type": node.type, "parameters": count}
                for node, _, count in layers
            },
        }
        say(json.dumps(found_json))
    else:
        for node, shapes, count in layers:
            sizes = ", ".join("×".join(map(str, shape)) or "scalar" for shape in shapes.values())
            title = f"{node.id:>5}  {node.name or node.type:24.24}  {node.type:18.18}"
            say(f"{title}  {sizes:20}  {count or '':>9}".rstrip())
        say(f"{book.total_parameters:,} parameters")
        if memory is not None and memory.total:
            say(str(memory))
        for one in book.problems:
            named = project.graph.nodes.get(one.node_id or "")
            at = f"{named.id} {named.name}".strip() + ": " if named is not None else ""
            say(f"{one.severity}: {at}{one.message}" + (f" [{one.fix.label}]" if one.fix else ""))
        if not book.problems:
            say("no problems")
    return PROBLEMS if book.errors else OK


# -- train and export


def _train(options: argparse.Namespace) -> int:
    project = open_project(options.project, outside=options.allow_outside or options.resume)
    if options.resume and options.out is None:
        warn("neuroloom train: --resume needs --out RUN, the folder of the run to go on with.")
        return USAGE
    if _is_taken(options):
        warn(f"neuroloom train: {options.out} is not empty; name another folder, or go on with --resume.")
        return USAGE
    if options.branch is not None and (options.resume or options.weights is not None):
        warn("neuroloom train: --branch takes all from its checkpoint; leave --resume and --weights out.")
        return USAGE
    if options.fast:
        project.plan = project.plan.with_(fast=True)
    catalogue = load_catalogue()
    for node, wanted in not_here(catalogue, project):
        raise as_error(node, wanted)
    _load_torch()
    from engine.cli.train import train

    return train(project, catalogue, options)


def _is_taken(options: argparse.Namespace) -> bool:
    """Whether --out would mix two runs; of several processes the first, at its first start, looks."""
    folder: Path | None = options.out
    if folder is None or options.resume or not folder.exists():
        return False
    again = os.environ.get("RANK", "0") != "0" or os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") != "0"
    return not again and any(folder.iterdir())


def _run(options: argparse.Namespace) -> int:
    allowed = "--allow-outside"
    outside = options.allow_outside or allowed in options.words
    options.words = [word for word in options.words if word != allowed]
    catalogue = load_catalogue()
    project = open_project(options.project, catalogue, outside)
    _load_torch()
    return cli_run.run(project, catalogue, options)


def _export(options: argparse.Namespace) -> int:
    catalogue = load_catalogue()
    reads = options.with_data or options.fast or options.verify
    project = open_project(options.project, catalogue, options.allow_outside or not reads)
    _load_torch()
    return cli_export.export(project, catalogue, options)


def _import(options: argparse.Namespace) -> int:
    if options.out.exists() and not options.replace:
        warn(f"neuroloom import: {options.out} is there already; add --replace to write over it.")
        return USAGE
    from engine.document.files import save_project
    from engine.importers.opening import open_python

    opened = open_python(options.python, load_catalogue())
    save_project(opened.project, options.out)
    count = len(opened.project.graph.nodes)
    if options.json:
        left = [{"place": str(one.place or ""), "message": one.message} for one in opened.findings]
        say(json.dumps({"project": str(options.out), "nodes": count, "left": left}))
    else:
        for one in opened.findings:
            say(str(one))
        say(f"{options.out}: {count} nodes" + ("" if not opened.findings else ", but not the lines above"))
    return PROBLEMS if opened.findings else OK


# -- nodes


def _nodes(options: argparse.Namespace) -> int:
    catalogue = load_catalogue()
    if options.name is None:
        for family, types in catalogue.families():
            if options.json:
                for found in types:
                    say(json.dumps(_described(found)))
                continue
            say(family)
            for found in types:
                say(f"  {found.type_id:20} {found.title:24} {found.doc()}")
        return OK
    wanted = options.name.casefold()
    found_type = next(
        (one for one in catalogue if wanted in (one.type_id.casefold(), one.title.casefold())), None
    )
    if found_type is None:
        near = [one.type_id for one in catalogue.search(options.name)[:5]]
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        warn(f"neuroloom nodes: there is no node type {options.name!r}.{hint}")
        return USAGE
    if options.json:
        say(json.dumps(_described(found_type)))
    else:
        for line in _explained(found_type):
            say(line)
    return OK


def _described(found: type[NodeType]) -> dict[str, Any]:
    made = found()
    return {
        "id": found.type_id,
        "title": found.title,
        "family": found.family,
        "kind": found.kind,
        "doc": found.doc(),
        "source": found.source,
        "inputs": [
            {"name": port.name, "many": port.many, "optional": port.optional} for port in made.inputs()
        ],
        "outputs": [{"name": port.name} for port in made.outputs()],
        "params": [
            {
                "name": spec.name,
                "kind": spec.kind,
                "default": spec.default,
                "minimum": spec.minimum,
                "maximum": spec.maximum,
                "choices": list(spec.choices),
                "optional": spec.optional,
                "doc": spec.doc,
            }
            for spec in found.params
        ],
    }


def _explained(found: type[NodeType]) -> Iterator[str]:
    made = found()
    yield f"{found.title} ({found.type_id}, {found.family})"
    yield found.doc()
    if found.source:
        yield f"Source: {found.source}"
    for what, ports in (("in", made.inputs()), ("out", made.outputs())):
        for port in ports:
            many = "1, 2, …" if port.many else ""
            yield f"  {what:4} {port.name + many:16} {port.doc}".rstrip()
    for spec in found.params:
        yield f"  set  {spec.name:16} {spec.doc}; {_range(spec)}"


def _range(spec: ParamSpec) -> str:
    default = "off" if spec.default is None else spec.format(spec.default)
    if spec.choices:
        return f"{default}, of {', '.join(spec.choices)}"
    return f"{spec.kind}, {default} unless set"
