"""The whole script: what the Code panel shows, export writes and, with taps on, the application runs."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.catalogue import Catalogue, Data, Loss, Metric
from engine.catalogue.identifiers import slug
from engine.catalogue.training.checks import check_plan, is_general
from engine.data.portable import names_read, portable_source
from engine.data.reading_ahead import read_ahead
from engine.data.weights import read_weights
from engine.document.graph import Project
from engine.document.plan import ChangeModel, Plan, Rule
from engine.emit.alternating import Features, train_text
from engine.emit.batching import BATCHES, GENERAL_BATCHES, never_alone, read_ahead_of
from engine.emit.beside import Copies, files_beside, name_beside
from engine.emit.distributed import (
    WORLD,
    changes_of_plain,
    changes_of_players,
    check_shareable,
    parts_lines,
    shared,
    together_lines,
)
from engine.emit.entry import listed, main_lines, model_only_lines, plain_text
from engine.emit.fast import Fast, fusable, quickened, rewrite
from engine.emit.lines import WIDTH, Line, block, compiled, laid_out, quoted, tidy
from engine.emit.loading import home_text, load_lines, loaders
from engine.emit.measuring import counts_of, evaluate_lines, measuring_lines, uneven
from engine.emit.model import Assembly, as_trained, assemble, blamed, block_lines, class_lines, source_of
from engine.emit.names import LIBRARY, script_names
from engine.emit.optimise import optimiser_lines, schedule_lines
from engine.emit.phase_texts import BATCHES_OF, of_one_objective
from engine.emit.players import Players, players_of
from engine.emit.procedures import carried_by, procedure_parts, started_by
from engine.errors import EmitError
from engine.procedures.registry import MAIN, chosen, offers
from engine.shapes.inside import joins_rows
from engine.shapes.shapes import ShapeBook, check

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
    "networkx": "networkx",
    "sklearn": "scikit-learn",
    "polars": "polars",
    "fastexcel": "fastexcel",
    "PIL": "pillow",
    "tokenizers": "tokenizers",
}
# Multiply-adds of a batch's forward pass below which one thread is faster than two.
SMALL_BATCH = 2_000_000


@dataclass(frozen=True, slots=True)
class Source:
    """Emitted Python and which node each line came from. Lines count from 1."""

    text: str
    nodes: tuple[str | None, ...] = ()
    attributes: dict[str, str] = field(default_factory=dict)

    def node_at(self, line: int) -> str | None:
        """The node that a line came from."""
        return self.nodes[line - 1] if 0 < line <= len(self.nodes) else None

    def lines_of(self, node_id: str) -> list[int]:
        """The lines a node became."""
        return [number for number, found in enumerate(self.nodes, 1) if found == node_id]


@dataclass(frozen=True, slots=True)
class Script:
    """A script in both readings, and what was learned on the way."""

    plain: Source
    twin: str
    steps: str  # how the application takes the plan's steps one by one, in the names of the script
    assembly: Assembly
    trains: bool
    files: Copies  # to lie beside it
    threads: int | None = None
    fast: Fast | None = None
    first: str = "objective"  # the function of the plan's first objective
    folder: Path | None = None  # where the user's own data lie
    loading: str = ""  # the script's own `load`
    counts_apart: bool = False  # losses count different places of a batch
    joins: bool = False  # a row that would be a batch of its own joins the batch before it


def export_script(
    project: Project,
    catalogue: Catalogue,
    book: ShapeBook | None = None,
    *,
    weights: str | None = None,
    fast: Fast | None = None,
    distributed: bool = False,
    beside: Path | None = None,
    with_data: bool = False,
    procedures: str | Sequence[str] = MAIN,
) -> Source:
    """The script of a project as the user reads it.

    With `weights`, the name of a safetensors file beside it, the script can start from those; with `fast`
    it has the settings that were measured to be fastest; `distributed` adds the lines for torchrun. A script
    that will lie in the folder `beside` finds the user's data that lie below it wherever both go. It has the
    `procedures` that the network is for, "all" that it has, or those named.
    Errors: `EmitError` or `ParamError` naming the node that stands in the way.
    """
    return write_script(
        project,
        catalogue,
        book,
        weights=weights,
        fast=fast,
        distributed=distributed,
        beside=beside,
        procedures=procedures,
    ).plain


def write_script(
    project: Project,
    catalogue: Catalogue,
    book: ShapeBook | None = None,
    *,
    weights: str | None = None,
    fast: Fast | None = None,
    distributed: bool = False,
    beside: Path | None = None,
    with_data: bool = False,
    procedures: str | Sequence[str] = MAIN,
) -> Script:
    """The script in both readings; `with_data`, the files that are to lie beside it. Errors: as above."""
    plan = project.plan
    check_plan(plan)
    general = is_general(plan)
    if fast is not None and not fusable(plan):
        fast = fast.only(fused=False)  # measured when the plan had another optimiser
    if fast is not None and general:
        fast = fast.only(late_relu=False)  # objectives compute their own layers
    project, book = as_trained(project, book or check(project, catalogue))
    types, data_node = book.types, source_of(project.graph, book.types)
    data = types[data_node] if data_node else None
    holds = data.holds() if isinstance(data, Data) else ()
    folder = data.folder() if isinstance(data, Data) else None
    below = name_beside(data) if isinstance(data, Data) and with_data else None
    home = home_text(folder, beside, below)
    files: Copies = files_beside(data, beside) if isinstance(data, Data) and with_data and beside else ()
    rules = any(isinstance(one, Rule | ChangeModel) for one in plan.objectives)
    trains = isinstance(data, Data) and (
        rules or any(isinstance(types[one], Loss) for one in project.graph.nodes)
    )
    with blamed(data_node):
        loading = loaders(data) if isinstance(data, Data) and trains else []
    offered = chosen(offers(project, book), procedures) if trains else ()
    made = assemble(project, book, script_names(project, book, [*loading, *carried_by(offered)]))
    counts = counts_of(made, [one for one in made.graph.nodes if isinstance(types[one], Loss)])
    if distributed:
        check_shareable(made.columns())
    autocast = ""
    if fast is not None:
        rewrite(made, fast)
        autocast = fast.autocast
    threads = _threads(plan, made.book)
    needed: list[Any] = [read_weights] if weights else []
    parts = [*block_lines(made), class_lines(made)]
    players: Players | None = None
    load: list[Line] = []
    if isinstance(data, Data) and trains:
        with blamed(data_node):
            load = load_lines(made, data)
        needed += [*loading, *([read_ahead] if _by_batch(made) and (plan.batch or general) else [])]
        if general:
            players = players_of(made, plan, autocast=autocast, distributed=distributed)
            needed += _by_name(players.facts.carries)
            parts += _general_parts(made, plan, load, players)
        else:
            parts += _plain_parts(made, plan, load, distributed)
        parts.append(main_lines(project, holds, home, weights, threads, players))
    else:
        parts.append(model_only_lines(project, made, weights))
    parts += procedure_parts(made, offered, holds, home, threads)
    needed += [*carried_by(offered), *_by_name(made.carries | made.classes.carries)]
    if trains and not general:
        needed += _by_name(Features(plan).carries)
    parts[:0] = [block(text) for text in portable_source(needed)]
    parts.append(block(started_by(offered)))
    body = [line for part in parts for line in (*part, Line(""), Line(""))][:-2]
    if fast is not None and trains:
        body = quickened(body, fast, not general)
    if distributed and trains:
        counted = len(counts) == 1 and counts[0] is not None
        changes = changes_of_plain(plan, bool(schedule_lines(plan.objective)), counted)
        body = shared(body, changes if players is None else changes_of_players(players.facts.alike))
    constants = (_general_constants(plan) if general else _constants(plan)) if trains else []
    if distributed and trains:
        constants.append(Line(WORLD))
    text = "\n".join(line.plain for line in body) + "\n"
    compiled(text, "script")
    tree = ast.parse(text)
    doc = _docstring(project, made, holds, home, trains, text, [one.name for one in offered])
    head = [*doc, Line(""), *_imports(tree), Line(""), *constants, *[Line("")] * (2 if constants else 1)]
    lines = [*head, *body]
    plain = "\n".join(line.plain for line in head) + "\n" + tidy(text, tree)
    source = Source(plain, tuple(line.node_id for line in lines), dict(made.attributes))
    twin = "\n".join(line.run for line in lines) + "\n"
    steps = ""
    if trains and general:
        steps = f"\n\n{BATCHES_OF}    return batches(split, shuffle, phase.batch)\n"
    elif trains:
        steps = of_one_objective(plan, made.names.give("make players"), _measures(made), autocast)
    if fast is not None and fast.threads is not None:
        threads = fast.threads
    load_text = "\n".join(line.plain for line in load)
    apart = len(counts) > 1
    joins = joins_rows(made.book)
    first = players.functions[0][0] if players is not None else "objective"
    return Script(
        source, twin, steps, made, trains, files, threads, fast, first, folder, load_text, apart, joins
    )


def _by_name(carried: Iterable[Any]) -> list[Any]:
    return sorted(carried, key=lambda found: str(found.__name__))


def _plain_parts(made: Assembly, plan: Plan, load: list[Line], distributed: bool) -> list[list[Line]]:
    """What a plan with the plain loop is made of, up to `train`."""
    types, first = made.book.types, _first(made)
    order = made.graph.order()
    losses = [one for one in order if isinstance(types[one], Loss)]
    metrics = [one for one in order if isinstance(types[one], Metric)]
    parts = [measuring_lines(made, "objective", losses)]
    measures = _measures(made)
    if measures:
        parts.append(measuring_lines(made, "measure", [*losses, *metrics]))
    joins = joins_rows(made.book)
    whole = BATCHES if plan.batch else BATCHES.replace("(BATCH)", "(n)")
    if plan.batch and joins:
        whole = never_alone(whole)
    if plan.batch and _by_batch(made):
        whole = read_ahead_of(whole)
    parts += [load, _of(whole, first)]
    parts.append(evaluate_lines(made, first, "measure" if measures else "objective"))
    parts.append(optimiser_lines(plan.objective))
    schedule = schedule_lines(plan.objective)
    if schedule:
        parts.append(schedule)
    parts.append(block(REPORT))
    if distributed:
        parts.append(parts_lines(first, joins))
    return [*parts, _train_lines(plan, first, bool(schedule), joins)]


def _general_parts(made: Assembly, plan: Plan, load: list[Line], players: Players) -> list[list[Line]]:
    """What a plan of phases and players is made of, up to `train`."""
    first = _first(made)
    text = never_alone(GENERAL_BATCHES) if players.facts.joins else GENERAL_BATCHES
    parts = [load, _of(read_ahead_of(text) if _by_batch(made) else text, first)]
    if players.facts.measures:
        parts.append(evaluate_lines(made, first, "measure"))
    if players.facts.distributed:
        parts += [parts_lines(first, players.facts.joins), together_lines(first)]
    return [*parts, block(REPORT), *players.parts, block(train_text(players.facts, first))]


def _measures(made: Assembly) -> bool:
    """Whether what a plain plan measures is more than what it minimises."""
    return bool(made.metrics) or uneven(made)


def _first(made: Assembly) -> str:
    """The column by which the rows are counted. Errors: `EmitError` where none has a row an example."""
    found = made.columns()[0]
    if found.rows:
        raise EmitError(
            f"Nothing used here has a row for each example: there are only {found.rows}.",
            node_id=made.source,
            fix="Connect sizes or label, too.",
        )
    return found.name


def _by_batch(made: Assembly) -> bool:
    """Whether batches are read from files one by one."""
    data = made.book.types[made.source] if made.source else None
    return isinstance(data, Data) and data.read_by_batch()


def _of(text: str, first: str) -> list[Line]:
    return block(text.replace("FIRST", quoted(first)))


def _threads(plan: Plan, book: ShapeBook) -> int | None:
    """How many threads torch must use: one where a batch is too little to share; None for torch's choice.

    Two threads that wait for each other at each of many tiny products are slower than one, several times
    slower on a busy machine.
    """
    return 1 if plan.batch and plan.batch * book.total_multiply_adds < SMALL_BATCH else None


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


def _docstring(
    project: Project,
    made: Assembly,
    holds: Sequence[str],
    home: str,
    trains: bool,
    text: str,
    procedures: Sequence[str] = (),
) -> list[Line]:
    title = plain_text(project.title) or "A network"
    others = ["torch", "numpy", *(name for module, name in PACKAGES.items() if module in text)]
    needs = f"{', '.join(others[:-1])} and {others[-1]}"
    usage = f"    python {file_name(project)}"
    if trains:
        epochs = f" --epochs {project.plan.epochs}" if not is_general(project.plan) else ""
        usage += (" --data FOLDER" if holds else "") + epochs
    lines = [f'"""{title}', "", f"Exported from Neuroloom. Needs {needs} only.", "", usage]
    lines += [f"    python {file_name(project)} {one} --weights FILE" for one in procedures]
    if trains and holds:
        own = home == "Path(__file__).parent"
        default = " and is the script's own by default." if own else "; --data names another than the usual."
        lines += ["", *textwrap.wrap(f"FOLDER holds {listed(holds)}{default}", WIDTH)]
    return [Line(text) for text in [*lines, '"""']]


def _imports(tree: ast.Module) -> list[Line]:
    used = {"nn", "torch"}.union(*(names_read(part) for part in tree.body))
    asked = [line for one, line in LIBRARY.items() if one in used]
    groups = ([line for line in asked if _standard(line)], [line for line in asked if not _standard(line)])
    lines = [Line("from __future__ import annotations"), Line("")]
    for group in groups:
        plain = sorted(one for one in group if one.startswith("import "))
        from_ = _joined(sorted(one for one in group if one.startswith("from ")))
        lines += [Line(one) for one in [*plain, *from_]]
        if group:
            lines.append(Line(""))
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


def _constants(plan: Plan) -> list[Line]:
    lines = [f"SEED, BATCH, EPOCHS = {plan.seed}, {plan.batch}, {plan.epochs}"]
    if not plan.batch:
        lines = [f"SEED, EPOCHS = {plan.seed}, {plan.epochs}"]
    if plan.patience is not None:
        lines.append(
            f"PATIENCE = {plan.patience}  # epochs without a better validation loss before training stops"
        )
    return [Line(text) for text in lines]


def _general_constants(plan: Plan) -> list[Line]:
    lines = [f"SEED, BATCH = {plan.seed}, {plan.batch or None}"]
    if not plan.batch:
        lines[0] += "  # all rows at once"
    return [Line(text) for text in lines]


def _train_lines(plan: Plan, first: str, scheduled: bool, joins: bool) -> list[Line]:
    stops, keeps = plan.patience is not None, plan.stop.restore_best
    text = [
        "def train("
        "model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:"
    ]
    text.append("    optimiser = optimiser_for(model)")
    if scheduled:
        rows = f'len(data["train"][{quoted(first)}])'
        count = f"max(1, math.ceil(({rows} - 1) / BATCH))" if joins else f"math.ceil({rows} / BATCH)"
        text.append(f"    steps_per_epoch = {count}")
        text.append("    schedule = schedule_for(optimiser, steps_per_epoch, epochs)")
    text.append("    shuffle = torch.Generator().manual_seed(seed)")
    text.append("    step = 0")
    if stops or keeps:
        text.append('    best = float("inf")')
    if keeps:
        text.append("    kept = None")
    if stops:
        text.append("    waited = 0")
    text += [
        "    for epoch in range(epochs):",
        '        for batch in batches(data["train"], shuffle):',
        "            optimiser.zero_grad()",
        '            loss = objective(model, batch)["loss"]',
        "            value = loss.item()",
        "            if not math.isfinite(value):",
        '                raise SystemExit(f"The loss is {value} after {step} steps: a lower rate may help.")',
        "            loss.backward()",
        "            optimiser.step()",
    ]
    if scheduled:
        text.append("            schedule.step()")
    text += [
        "            step += 1",
        "            if as_json:",
        '                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))',
        '        found = evaluate(model, data["validation"])',
        '        values = {f"val_{name}": value for name, value in found.items()}',
        '        report({"epoch": epoch, **values}, as_json)',
    ]
    if stops or keeps:
        text.append('        if found["loss"] < best:')
        text.append('            best = found["loss"]')
        if stops:
            text.append("            waited = 0")
        if keeps:
            text.append(
                "            kept = {name: value.clone() for name, value in model.state_dict().items()}"
            )
    if stops:
        text += [
            "        else:",
            "            waited += 1",
            "            if waited == PATIENCE:",
            "                break",
        ]
    if keeps:
        text += ["    if kept is not None:", "        model.load_state_dict(kept)"]
    return laid_out([Line(one) for one in text])


REPORT = """
def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)
"""
