"""The head of a file: what it is called, what it says of itself, what it imports, and its settings."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence

from engine.catalogue.identifiers import slug
from engine.catalogue.training.checks import is_general
from engine.data.portable import names_read
from engine.document.graph import Project
from engine.document.plan import Plan
from engine.emit.entry import Setting, listed, plain_text
from engine.emit.names import LIBRARY
from engine.emit.plain_loop import Short
from engine.emit.statements import BLANK, WIDTH, Statement

HIDDEN = (
    "torch",
    "numpy",
    "sklearn",
    "scipy",
    "safetensors",
    "networkx",
    "sympy",
    "joblib",
    "triton",
    "jinja2",
    "polars",
    "fastexcel",
)
# imported inside the functions that need them, so that only scripts which use them ask for them
PACKAGES = {
    "matplotlib": "matplotlib",
    "networkx": "networkx",
    "sklearn": "scikit-learn",
    "polars": "polars",
    "fastexcel": "fastexcel",
    "safetensors": "safetensors",
    "PIL": "pillow",
    "tokenizers": "tokenizers",
    "gymnasium": "gymnasium",
}


def file_name(project: Project) -> str:
    """A file name for the script that every system accepts and that hides no module: `mnist_cnn.py`."""
    stem = slug(project.title, "network")
    # Python looks beside the script first, so torch.py would be imported in torch's place.
    if (
        stem in sys.stdlib_module_names
        or stem in HIDDEN
        or re.fullmatch("con|prn|aux|nul|(com|lpt)[0-9]", stem)
    ):
        stem += "_network"
    return f"{stem}.py"


def docstring(
    project: Project,
    holds: Sequence[str],
    home: str,
    trains: bool,
    needed: Sequence[str],
    procedures: Sequence[str] = (),
) -> list[Statement]:
    """What a script says of itself; `needed` are the packages that it asks for."""
    title = plain_text(project.title) or "A network"
    needs = f"{', '.join(needed[:-1])} and {needed[-1]}"
    usage = f"    python {file_name(project)}"
    if trains:
        epochs = f" --epochs {project.plan.epochs}" if not is_general(project.plan) else ""
        usage += (" --data FOLDER" if holds else "") + epochs
    lines = [f'"""{title}', "", f"Exported from Neuroloom. Needs {needs} only.", "", usage]
    lines += [f"    python {file_name(project)} {one} --weights FILE" for one in procedures]
    if trains and holds:
        default = (
            " and is the script's own by default."
            if home == "."
            else "; --data names another than the usual."
        )
        lines += ["", *textwrap.wrap(f"FOLDER holds {listed(holds)}{default}", WIDTH)]
    return [Statement(text) for text in [*lines, '"""']]


def packages(parsed: ast.Module, used: Collection[str]) -> list[str]:
    """The packages that a script needs which reads these names, as they are installed."""
    asked = imported(parsed, used)
    return ["torch", "numpy", *(name for module, name in PACKAGES.items() if module in asked)]


def imported(parsed: ast.Module, used: Collection[str]) -> set[str]:
    """The packages that a script imports, at its top for the names it reads, or where it needs them."""
    found = {line.split()[1].partition(".")[0] for one, line in LIBRARY.items() if one in used}
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            found.update(one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def read_in(parsed: ast.Module) -> set[str]:
    """The names that a script reads from outside."""
    return {"nn", "torch"}.union(*(names_read(part) for part in parsed.body))


def import_lines(used: Collection[str]) -> list[Statement]:
    """The imports of a file that reads these names."""
    asked = [line for one, line in LIBRARY.items() if one in used]
    groups = ([line for line in asked if _standard(line)], [line for line in asked if not _standard(line)])
    lines = [Statement("from __future__ import annotations"), BLANK]
    for group in groups:
        plain = sorted(one for one in group if one.startswith("import "))
        from_ = _joined(sorted(one for one in group if one.startswith("from ")))
        lines += [Statement(one) for one in [*plain, *from_]]
        if group:
            lines.append(BLANK)
    return lines[:-1]


def _standard(line: str) -> bool:
    """Whether an import is of Python's own library."""
    return line.split()[1].partition(".")[0] in sys.stdlib_module_names


def _joined(froms: Sequence[str]) -> list[str]:
    """`from torch import Tensor` and `from torch import nn` as one line."""
    grouped: dict[str, list[str]] = {}
    for one in froms:
        _, module, _, what = one.split(" ")
        grouped.setdefault(module, []).append(what)
    return [f"from {module} import {', '.join(sorted(names))}" for module, names in grouped.items()]


def settings_of(plan: Plan, short: Short | None, rates: Mapping[str, float]) -> list[Setting]:
    """What one would change first in the script of a plan; `rates` are its learning rates by field."""
    found = [Setting("seed", "int", repr(plan.seed))]
    if plan.batch:
        found.append(Setting("batch", "int", repr(plan.batch)))
    elif short is None or short.sized:
        found.append(Setting("batch", "int | None", "None", "" if short else "all rows at once"))
    if short is not None and not short.stretches:
        found.append(Setting("epochs", "int", repr(plan.epochs)))
        if plan.patience is not None:
            value = plan.stop.monitor.removeprefix("val_")
            watched = "validation loss" if value == "loss" else plain_text(value)
            about = f"epochs without a better {watched} before training stops"
            found.append(Setting("patience", "int", repr(plan.patience), about))
    return found + [Setting(name, "float", repr(float(rate))) for name, rate in rates.items()]
