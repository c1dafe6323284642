"""A network as a Jupyter notebook: the parts of the script in cells, and cells that train, draw and test."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engine.emit.entry import listed, plain_text
from engine.emit.forms.cells import PARAMETERS
from engine.emit.forms.head import import_lines, packages, read_in
from engine.emit.forms.split import Part, needed, parts_of, split
from engine.emit.names import LIBRARY
from engine.emit.script import Script, Source
from engine.emit.statements import Line, compiled, lines_of, printed, text_of, tidy

GROUPS = {"Model": "The network", "load": "The data", "train": "The loop"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: Markdown, or lines of code."""

    text: str = ""
    lines: Sequence[Line] = ()
    tag: str = ""

    @property
    def source(self) -> str:
        if not self.lines:
            return self.text
        code = text_of(line.plain for line in self.lines)
        return tidy(code, ast.parse(code)).rstrip("\n")


def notebook_of(script: Script) -> list[Cell]:
    """The cells of a notebook. `script` is one that was written for it."""
    title = plain_text(script.assembly.project.title) or "A network"
    parts = parts_of(script.parts)
    run = parts[len(parts) - len(script.headings) :]
    told = [part.lines for heading, part in zip(script.headings, run, strict=True) if heading == PARAMETERS]
    reads = {name for part in run for name in part.reads}
    above = needed(parts[: len(parts) - len(run)], reads)  # what only a command line needs is left out
    found = [*_defined(script, above), *_run(script.headings, run)]
    text = "\n".join(cell.source for cell in found if cell.lines)
    used = {name for part in [*parts_of(script.config), *above, *run] for name in part.reads}
    parsed = ast.parse(text)
    needs = packages(parsed, read_in(parsed))
    head = printed(import_lines((used | {"torch"}) & LIBRARY.keys()))
    given = [[one.line() for one in script.constants], *script.config, *told]
    above_all = lines_of([one for one in given if one])
    return [
        Cell(_about(script, title, [one for one in needs if one != "matplotlib"], "plt" in used)),
        Cell(lines=head),
        *([Cell(lines=above_all, tag="parameters")] if above_all else []),
        *found,
    ]


def _about(script: Script, title: str, needs: Sequence[str], plots: bool) -> str:
    every = [*needs, *(["matplotlib"] if plots else [])]
    text = f"# {title}\n\nExported from Neuroloom. Needs {listed(every)} only."
    if script.trains and script.holds:
        own = " and is the notebook's own." if script.home == "." else "."
        text += f"\n\n`folder` holds {listed(script.holds)}{own}"
    return text


def _defined(script: Script, parts: Sequence[Part]) -> Iterator[Cell]:
    """What the notebook defines, by what it is for; what is carried for a group stands in one cell."""
    wanted: dict[str, Sequence[str]] = {"Model": ["Model"]}
    if script.trains:
        wanted |= {"load": ["load", "batches"], "train": ["train", "evaluate", "report"], "others": []}
    carried = {id(lines) for lines in script.parts[: script.carried]}
    for key, own in split(parts, wanted).items():
        names = [name for part in own for name in sorted(part.defines)]
        heading = GROUPS.get(key, "Procedures and plots" if len(names) > 1 else "Plots")
        if own:
            yield Cell(f"## {heading}")
        if ours := [part.lines for part in own if id(part.lines) in carried]:
            yield Cell(lines=lines_of(ours))
        for part in own:
            if id(part.lines) not in carried:
                yield Cell(lines=printed(part.lines))


def _run(headings: Sequence[str], parts: Sequence[Part]) -> Iterator[Cell]:
    for heading, part in zip(headings, parts, strict=True):
        if heading != PARAMETERS:
            yield Cell(f"## {heading}")
            yield Cell(lines=printed(part.lines))


def as_json(cells: Sequence[Cell]) -> str:
    """A notebook's file, of version 4.5 of the format. Errors: `EmitError` for code that is none."""
    found: list[dict[str, Any]] = []
    for number, cell in enumerate(cells):
        source = cell.source.splitlines(keepends=True)
        about = {"tags": [cell.tag]} if cell.tag else {}  # by which papermill finds what to set
        common = {"id": f"cell-{number}", "metadata": about, "source": source}
        if cell.lines:
            compiled(cell.source, f"cell {number}")
            found.append({"cell_type": "code", "execution_count": None, "outputs": [], **common})
        else:
            found.append({"cell_type": "markdown", **common})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    whole = {"cells": found, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def as_text(cells: Sequence[Cell]) -> Source:
    """A notebook as one reads it, with a line above each cell, and the nodes that its lines came from."""
    lines: list[tuple[str, str | None]] = []
    for cell in cells:
        if cell.lines:
            nodes = [line.node_id for line in cell.lines]
            lines += [("# %%", None), *zip(cell.source.split("\n"), nodes, strict=False)]
        else:
            texts = cell.text.split("\n")
            lines += [("# %% [markdown]", None), *((f"# {one}".rstrip(), None) for one in texts)]
        lines.append(("", None))
    return Source(text_of(text for text, _ in lines[:-1]), tuple(node for _, node in lines[:-1]))
