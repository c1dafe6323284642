"""What stands around the modules of a package: its README, what pip and pytest need, docstrings."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import torch

from engine.catalogue.training.checks import is_general
from engine.document.plan import Rule
from engine.emit.entry import home_text, listed
from engine.emit.script import Script
from engine.emit.statements import BLANK, WIDTH, Statement, printed, quoted, text_of, tree

TORCH = ".".join(torch.__version__.split(".")[:2])


def docstring(lines: Sequence[str]) -> list[str]:
    """A docstring of one line, or of several."""
    return [f'"""{lines[0]}"""'] if len(lines) == 1 else [f'"""{lines[0]}', *lines[1:], '"""']


def commands(script: Script, module: str) -> list[str]:
    """How the package is run."""
    plan = script.assembly.project.plan
    if not script.trains:
        return [f"python -m {module}"]
    epochs = "" if is_general(plan) else f" --epochs {plan.epochs}"
    first = f"python -m {module}{' --data FOLDER' if script.holds else ''}{epochs}"
    return [first, *(f"python -m {module} {one} --weights FILE" for one in script.procedures)]


def usage(script: Script, title: str, module: str) -> list[str]:
    """The docstring of the module that is run."""
    return [
        f"Training of {title}." if script.trains else f"{title}, on blank examples.",
        "",
        *(f"    {one}" for one in commands(script, module)),
        *where(script),
    ]


def where(script: Script) -> list[str]:
    """What has to be in the folder of the data, as a paragraph; nothing where no file is read."""
    if not script.holds:
        return []
    default = (
        " and is the package's own by default."
        if script.home == "."
        else "; --data names another than the usual."
    )
    return ["", *textwrap.wrap(f"FOLDER holds {listed(script.holds)}{default}", WIDTH)]


def project_file(title: str, name: str, needs: Sequence[str], installed: bool) -> str:
    """`pyproject.toml`; `installed` where files that are no modules are installed with them."""
    return PROJECT.format(
        project=name.strip("_").replace("_", "-"),
        title=title,
        name=name,
        needs=", ".join(quoted(f"torch>={TORCH}" if one == "torch" else one) for one in needs),
        files=f'\n[tool.setuptools.package-data]\n{name} = ["**/*"]\n' if installed else "",
    )


PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{project}"
version = "0.1.0"
description = "{title}"
readme = "README.md"
requires-python = ">=3.11"
dependencies = [{needs}]

[project.optional-dependencies]
test = ["pytest"]

[tool.setuptools]
packages = ["{name}"]
{files}"""


def readme(script: Script, title: str, name: str, weights: str | None) -> str:
    """`README.md` of a package."""
    module = f"{name}.train" if script.trains else name
    told = [f"    {one}" for one in commands(script, module)]
    files = [f"- `{name}/model.py`: the network"]
    if script.trains:
        files += [
            f"- `{name}/config.py`: batch size, epochs, learning rates and the like",
            f"- `{name}/data.py`: reading the data, splits and batches",
            f"- `{name}/train.py`: the objectives, the loop, the command line",
        ]
    else:
        files.append(f"- `{name}/__main__.py`: runs it on blank examples")
    if weights:
        files.append(f"- `{name}/{weights}`: trained weights, with which it begins")
    data = where(script)
    lines = [f"# {title}", "", "Exported from Neuroloom, which it does not need.", ""]
    lines += ["    pip install -e .", *told, *data, "", *files, f"- `test_{name}.py`: what `pytest` runs", ""]
    if script.trains:
        lines += [f"`--json` prints a line for each step. {EQUAL}", ""]
    return "\n".join(lines)


EQUAL = (
    "The same seed gives the same losses to the last bit with the same PyTorch on the same kind of computer."
)


def test_file(script: Script, title: str, name: str) -> str:
    """A test of a package: its weights follow from the seed, and a batch of the data gives finite values."""
    objectives = script.assembly.project.plan.objectives
    first = script.first if script.trains else ""
    reads = bool(first and script.holds)
    home = home_text(script.home, f"Path({name}.__file__).parent")
    return text_of(
        line.plain
        for line in printed(
            tree(
                TEST,
                title=title,
                name=name,
                first=first,
                trains=bool(first),
                reads=reads,
                where=[Statement(f"FOLDER = {home}"), BLANK] if reads else [],
                path=[Statement("from pathlib import Path"), BLANK] if reads else [],
                ruled=bool(objectives) and isinstance(objectives[0], Rule),
            )
        )
    )


TEST = '''
"""What must hold of $title wherever it is installed."""

from __future__ import annotations

<path>
import pytest  #? reads
import torch

import $name  #? reads
from $name.data import batches, load  #? trains
from $name.model import Model
from $name.train import $first  #? trains

<where>

def test_the_seed_fixes_the_first_weights() -> None:
    states = []
    for _ in range(2):
        torch.manual_seed(0)
        states.append(Model().state_dict())
    assert all(torch.equal(value, states[1][name]) for name, value in states[0].items())


def test_a_batch_gives_finite_values() -> None:  #? trains
    torch.manual_seed(0)
    try:  #? reads
        data = load(FOLDER, "cpu")
    except (OSError, ValueError) as error:  # where they lie elsewhere  #? reads
        pytest.skip(str(error))
    data = load("cpu")  #? not reads
    batch = next(batches(data["train"], torch.Generator().manual_seed(0)))
    with torch.no_grad():  #? ruled
        found = $first(Model(), batch)
    found = $first(Model(), batch)  #? not ruled
    assert all(torch.isfinite(value).all() for value in found.values())
'''
