"""A network as a Python package: the model, its data and its training in a file each, and what pip needs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from engine.document.graph import Project
from engine.emit.entry import Constants, plain_text
from engine.emit.forms import texts
from engine.emit.forms.head import file_name, import_lines, packages, read_in
from engine.emit.forms.split import Part, constants_in, import_line, parts_of, split
from engine.emit.names import LIBRARY
from engine.emit.optimise import SETTINGS
from engine.emit.script import Script, Source
from engine.emit.statements import BLANK, EMPTY, Statement, compiled, lines_of, printed, text_of, tidy

CONFIG, MODEL, DATA, TRAIN, MAIN = "config", "model", "data", "train", "__main__"


def package_name(project: Project) -> str:
    """What the package of a project is called, and the folder of its modules."""
    return Path(file_name(project)).stem


def package_of(script: Script, weights: str | None = None) -> dict[str, Source]:
    """The files of a script's package by their places below its folder, as one reads them.

    `weights` is the name of a file of weights that lies beside the modules.
    """
    project = script.assembly.project
    name = package_name(project)
    title = plain_text(project.title) or "A network"
    parts = parts_of([*script.config, *script.parts])
    wanted: dict[str, Sequence[str]] = {CONFIG: [SETTINGS]} if script.config else {}
    wanted[MODEL] = ["Model"]
    wanted |= {DATA: ["load", "batches"], TRAIN: []} if script.trains else {MAIN: []}
    files = split(parts, wanted)
    constants = constants_in(files, script.constants)
    last = TRAIN if script.trains else MAIN
    about = {
        CONFIG: ["What one would change first."],
        MODEL: [f"The network of {title}."],
        DATA: [f"The data of {title}, in splits and batches."],
        last: texts.usage(script, title, f"{name}.{TRAIN}" if script.trains else name),
    }
    defined: dict[str, frozenset[str]] = {}
    made: dict[str, Source] = {}
    for file, own in files.items():
        made[file] = _module(about[file], own, constants[file], defined)
        names = {one for part in own for one in part.defines}
        defined[file] = frozenset(names.union(*(one.values for one in constants[file])))
    parsed = ast.parse("\n".join(one.text for one in made.values()))
    needs = packages(parsed, read_in(parsed))
    installed = bool(script.files or weights)
    below = {
        f"{name}/__init__.py": Source(f'"""{title}"""\n'),
        **{f"{name}/{file}.py": made[file] for file in sorted(made, key=MODEL.__ne__)},
        f"test_{name}.py": Source(texts.test_file(script, title, name)),
        "README.md": Source(texts.readme(script, title, name, weights)),
        "pyproject.toml": Source(texts.project_file(title, name, needs, installed)),
    }
    for place, source in below.items():
        if place.endswith(".py"):
            compiled(source.text, place)
    return below


def _module(
    about: Sequence[str],
    parts: Sequence[Part],
    constants: Sequence[Constants],
    others: dict[str, frozenset[str]],
) -> Source:
    """A module of the package: what it is about, its imports and its parts."""
    reads = {name for part in parts for name in part.reads}
    reads |= {name for one in constants for value in one.values.values() for name in _names(value)}
    own = {name for part in parts for name in part.defines}
    local: list[Statement] = []
    for module, names in sorted(others.items()):
        if read := (reads - own) & names:
            local += import_line(f".{module}", read)
    doc = [Statement(text) for text in texts.docstring(about)]
    imports = import_lines((reads - own) & LIBRARY.keys())
    above = [*doc, BLANK, *imports, *([BLANK, *local] if local else [])]
    above += [BLANK, *(one.line() for one in constants)] if constants else []
    head = [*printed(above), *[EMPTY] * 2]
    lines = [*head, *lines_of([part.lines for part in parts])]
    text = text_of(line.plain for line in lines)
    return Source(tidy(text, ast.parse(text)), tuple(line.node_id for line in lines))


def _names(code: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
