"""The whole script: what the Code panel shows, export writes and, with taps on, the application runs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.catalogue import Catalogue, Loss, Metric
from engine.catalogue.training.checks import check_plan, check_splits, is_general
from engine.data.filling import without_filling
from engine.data.portable import portable_source
from engine.data.reading_ahead import read_ahead
from engine.data.telling import tell
from engine.document.graph import Project
from engine.document.plan import ChangeModel, Plan, Rule
from engine.emit.alternating import Features, train_lines
from engine.emit.batching import batches_lines, filled_lines, stream_batches
from engine.emit.beside import Copies
from engine.emit.carried.calls import unreadable, with_cuts
from engine.emit.carried.specialise import defined, specialised
from engine.emit.distributed import (
    WORLD,
    changes_of_all,
    changes_of_plain,
    changes_of_players,
    changes_of_streams,
    check_shareable,
    checkpoint_lines,
    parts_lines,
    shared,
    together_lines,
)
from engine.emit.entry import (
    Constants,
    command_lines,
    config_parts,
    home_text,
    main_lines,
    model_only_lines,
)
from engine.emit.fast import Fast, fusable, less_precise, quickened, rewrite
from engine.emit.forms.cells import Cell, notebook_cells
from engine.emit.forms.head import (
    docstring,
    import_lines,
    packages,
    read_in,
    settings_of,
)
from engine.emit.loading import Loading, loaders, loading
from engine.emit.loops.phased import phased_lines
from engine.emit.measuring import counts_of, evaluate_lines, measuring_lines, uneven
from engine.emit.model import Assembly, as_trained, assemble, block_lines, class_lines
from engine.emit.names import script_names
from engine.emit.optimise import optimiser_lines, rate_of, schedule_lines
from engine.emit.phase_texts import BATCHES_OF, IMPORTS, asked_for, of_one_objective
from engine.emit.places import places_of
from engine.emit.plain_loop import REPORT, Short, Turn, short_lines
from engine.emit.players import Players, players_of
from engine.emit.procedures import carried_by, keeps_tokens, procedure_parts, reads_data, started_by
from engine.emit.statements import (
    BLANK,
    EMPTY,
    Statement,
    compiled,
    lines_of,
    printed,
    text_of,
    tidy,
    tree,
    verbatim,
)
from engine.procedures.registry import MAIN, chosen, offers
from engine.procedures.rows import as_long
from engine.shapes.inside import joins_rows
from engine.shapes.shapes import ShapeBook, check

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
    strict: Source = Source("")  # how the application reads, where a script reads in lines of its own
    loading: str = ""  # the text of `load` as the application reads
    counts_apart: bool = False  # losses count different places of a batch
    joins: bool = False  # a row that would be a batch of its own joins the batch before it
    constants: Sequence[Constants] = ()
    config: Sequence[Sequence[Statement]] = ()  # what one would change first
    parts: Sequence[Sequence[Statement]] = ()  # all that stands below it, in order
    holds: Sequence[str] = ()  # what the folder of the data has to hold
    home: str = "."  # where that folder is, as seen from the script's own
    procedures: Sequence[str] = ()  # the names of its subcommands
    carried: int = 0  # how many of the first parts are functions and classes of ours
    headings: Sequence[str] = ()  # of a notebook's last parts, which are run one after the other


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
    notebook: bool = False,
) -> Script:
    """The script in both readings; `with_data`, the files that are to lie beside it. Errors: as above.

    A `notebook` keeps its values in a list, and ends with parts that are run in place of a command line.
    """
    plan = project.plan
    check_plan(plan)
    general = is_general(plan)
    if fast is not None and not fusable(plan):
        fast = fast.only(fused=False)  # measured when the plan had another optimiser
    if fast is not None and general:
        fast = fast.only(late_relu=False)  # objectives compute their own layers
    project, book = as_trained(project, book or check(project, catalogue))
    types = book.types
    places = places_of(project, types)
    holds, folder = places.holds(), places.folder
    place = places.home(beside, with_data)
    home = home_text(place)
    files: Copies = places.files_beside(beside) if with_data and beside else ()
    rules = any(isinstance(one, Rule | ChangeModel) for one in plan.objectives)
    trains = bool(places) and (rules or any(isinstance(types[one], Loss) for one in project.graph.nodes))
    reading = [found for one in places.nodes for found in loaders(*one)] if trains else []
    offered = chosen(offers(project, book), procedures) if trains else ()
    used = [*reading, *carried_by(offered)]
    made = assemble(project, book, script_names(project, book, used, ("history",) if notebook else ()))
    counts = counts_of(made, [one for one in made.graph.nodes if isinstance(types[one], Loss)])
    check_splits(plan, made.splits)
    if distributed:
        check_shareable(made.columns(), notebook)
    if fast is not None:
        rewrite(made, fast)
    threads = _threads(plan, made.book)
    shares = distributed and len(made.streams) == 1  # parts of several streams do not add up to a step
    needed: list[Any] = []
    parts = [*block_lines(made), class_lines(made)]
    players: Players | None = None
    load = Loading()
    if trains:
        load = loading(made, places, keeps_tokens(made, offered))
        needed += [*load.carries, *([read_ahead] if _by_batch(made) and (plan.batch or general) else [])]
        needed += [without_filling] if filled_lines(made.filled.values()) else []
        if general:
            players = players_of(made, plan, distributed)
            needed += _by_name(players.facts.carries)
            parts += _general_parts(made, load, players, shares, notebook)
        else:
            parts += _plain_parts(made, plan, load, shares, notebook)
        if distributed:
            parts.insert(-1, checkpoint_lines(players.facts if players else None))
    cells: list[Cell] = []
    if notebook:
        cells, functions = notebook_cells(made, offered, holds, place, weights, threads, players, trains)
        parts += functions
    elif trains:
        functions = procedure_parts(made, offered, holds, threads, weights is not None)
        shared_ = holds if offered and reads_data(functions, keeps_tokens(made, offered)) else ()
        parts += [command_lines(shared_, home)] if offered else []
        parts.append(main_lines(made, holds, home, weights, threads, players, shared_ if offered else None))
        parts += functions
    else:
        parts.append(model_only_lines(made, weights))
    needed += [as_long] if offered and len(made.streams) > 1 else []
    needed += [*carried_by(offered), *_by_name(made.carries | made.classes.carries)]
    if trains and not general:
        needed += _by_name(Features(plan).carries)
    parts += [part for _, part in cells] or [started_by(offered)]
    steps = _steps(made, plan, players) if trains else []
    if fast is not None and trains:
        shortened = players is not None and players.short is not None
        parts, steps = quickened(parts, fast, not general, shortened), less_precise(steps, fast)
    if distributed and trains:
        counted = len(counts) == 1 and counts[0] is not None
        scheduled = bool(schedule_lines(plan.objective))
        if players is not None:
            changes = changes_of_players(players.facts) if shares else changes_of_all(players.facts)
        elif shares:
            changes = changes_of_plain(plan, scheduled, counted)
        else:
            changes = changes_of_streams(plan, scheduled)
        parts = shared(parts, changes)
    carried, parts = _only_used(portable_source(needed), parts, steps)
    parts[:0] = carried
    config: list[list[Statement]] = []
    if trains:
        short = Short(plan) if players is None else players.short
        rates = dict([rate_of(plan.objective)]) if players is None else players.rates
        config = config_parts(settings_of(plan, short, rates))
    body = lines_of([*config, *parts])
    constants = [WORLD] if distributed and trains else []
    text = text_of(line.plain for line in body)
    compiled(text, "script")
    parsed = ast.parse(text)
    named = [one.name for one in offered]
    read = read_in(parsed)
    doc = docstring(project, holds, place, trains, packages(parsed, read), named)
    head = printed([*doc, BLANK, *import_lines(read), BLANK])
    head += [*printed([one.line() for one in constants]), *[EMPTY] * (2 if constants else 1)]
    lines = [*head, *body]
    plain = text_of(line.plain for line in head) + tidy(text, parsed)
    source = Source(plain, tuple(line.node_id for line in lines), dict(made.attributes))
    twin = text_of(line.run for line in lines)
    if fast is not None and fast.threads is not None:
        threads = fast.threads
    apart = len(counts) > 1
    joins = joins_rows(made.book)
    first = next((one for phase in players.functions for one in phase), "") if players else "objective"
    taken = text_of(line.plain for line in lines_of(steps)) if steps else ""
    return Script(
        source,
        twin,
        taken,
        made,
        trains,
        files,
        threads,
        fast,
        first,
        folder,
        _strict(load),
        load.key(),
        apart,
        joins,
        *(constants, config, parts, holds, place, named, len(carried), [heading for heading, _ in cells]),
    )


def _only_used(
    carried: Sequence[str], parts: Sequence[Sequence[Statement]], steps: Sequence[Sequence[Statement]]
) -> tuple[list[list[Statement]], list[list[Statement]]]:
    """What a script carries without what it never uses, and its own parts with calls that fit."""
    names = {name for text in carried for name in defined(text)}
    rest = ast.parse(text_of(line.plain for line in lines_of(parts)))
    taken = ast.parse(text_of(line.plain for line in lines_of(steps)))
    asked = {node.id for node in ast.walk(taken) if isinstance(node, ast.Name)}  # by the application
    asked |= {str(node.value) for node in ast.walk(rest) if isinstance(node, ast.Constant)}
    asked |= {node.id for node in ast.walk(rest) if isinstance(node, ast.Name) and _stored(node)}
    made = specialised(carried, rest, unreadable(parts, names) | asked | {tell.__name__})
    return [*map(verbatim, made.texts)], [with_cuts(part, made.calls) for part in parts]


def _stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _strict(load: Loading) -> Source:
    """The application's own `load`, with all that it carries."""
    if not load.strict:
        return Source("")
    carried = portable_source(load.strict_carries)
    lines = lines_of([*map(verbatim, carried), load.strict])
    parsed = ast.parse(text_of(line.plain for line in lines))
    lines = [*printed([*import_lines(read_in(parsed)), BLANK]), *lines]
    return Source(text_of(line.plain for line in lines), tuple(line.node_id for line in lines))


def _steps(made: Assembly, plan: Plan, players: Players | None) -> list[list[Statement]]:
    """How the application takes the plan's steps one by one, beside what the script has."""
    if players is None:
        return of_one_objective(plan, made.names.give("make players"), _measures(made))
    if players.short is None:
        return [*asked_for(players.facts), tree(BATCHES_OF, size=", phase.batch")]
    size = ", phase.batch" if players.short.sized else ""
    return [tree(IMPORTS), *players.loop, *asked_for(players.facts), tree(BATCHES_OF, size=size)]


def _by_name(carried: Iterable[Any]) -> list[Any]:
    return sorted(carried, key=lambda found: str(found.__name__))


def _plain_parts(
    made: Assembly, plan: Plan, load: Loading, distributed: bool, kept: bool
) -> list[list[Statement]]:
    """What a plan with the plain loop is made of, up to `train`."""
    types, first = made.book.types, made.counting().name
    order = made.graph.order()
    losses = [one for one in order if isinstance(types[one], Loss)]
    metrics = [one for one in order if isinstance(types[one], Metric)]
    parts = [measuring_lines(made, "objective", losses)]
    measures = _measures(made)
    if measures:
        parts.append(measuring_lines(made, "measure", [*losses, *metrics]))
    joins = joins_rows(made.book)
    parts += [
        *load.parts,
        *_batch_parts(made, "CONFIG.batch" if plan.batch else "n", joins=joins and bool(plan.batch)),
    ]
    if made.splits != ("train",):
        parts.append(evaluate_lines(made, first, "measure" if measures else "objective"))
    parts.append(optimiser_lines(plan.objective, rate=rate_of(plan.objective)[0]))
    schedule = schedule_lines(plan.objective)
    if schedule:
        parts.append(schedule)
    parts.append(tree(REPORT, kept=kept))
    if distributed:
        parts.append(parts_lines(first, joins, decides=True))
    turns, streams = [Turn(plan.objective)], len(made.streams)
    validates = "validation" in made.splits
    short = Short(plan, turns, first, joins=joins, measures=validates, streams=streams, kept=kept)
    return [*parts, short_lines(short)]


def _general_parts(
    made: Assembly, load: Loading, players: Players, distributed: bool, kept: bool
) -> list[list[Statement]]:
    """What a plan of phases and players is made of, up to `train`."""
    first, joins = made.counting().name, players.facts.joins
    short = players.short
    sized = short is None or short.sized
    size = "size or n" if sized else "CONFIG.batch" if made.project.plan.batch else "n"
    parts = [*load.parts, *_batch_parts(made, size, sized=sized, joins=joins)]
    if players.facts.measures and made.splits != ("train",):
        parts.append(evaluate_lines(made, first, "measure"))
    if distributed and players.facts.minimised:
        parts += [parts_lines(first, joins, decides=True), together_lines(first)]
    parts += [tree(REPORT, kept=kept), *players.parts]
    if short is not None:
        lines = phased_lines if short.stretches else short_lines
        return [*parts, lines(replace(short, kept=kept))]
    return [*parts, *players.loop, train_lines(players.facts, first, kept)]


def _measures(made: Assembly) -> bool:
    """Whether what a plain plan measures is more than what it minimises."""
    return bool(made.metrics) or uneven(made)


def _batch_parts(made: Assembly, size: str, *, sized: bool = False, joins: bool) -> list[list[Statement]]:
    """The function `batches`, as `batches_lines` has it, or its form for several streams."""
    ahead = _by_batch(made) and size != "n"
    filled = filled_lines(made.filled.values())
    cut = [filled] if filled else []
    if len(made.streams) == 1:
        first = made.counting().name
        return [*cut, batches_lines(first, size, sized=sized, joins=joins, ahead=ahead, cut=bool(cut))]
    streams = [[made.counting(at).name] for at in range(len(made.streams))]
    for names, nodes in zip(streams, made.streams.nodes, strict=True):
        names += [column.name for column in made.columns(*nodes) if column.name not in names]
    often = "None" if size == "n" else "CONFIG.batch"
    return [*cut, *stream_batches(streams, often, joins=joins, ahead=ahead, cut=bool(cut))]


def _by_batch(made: Assembly) -> bool:
    """Whether batches are read from files one by one."""
    return any(data.read_by_batch() for _, data in made.sources())


def _threads(plan: Plan, book: ShapeBook) -> int | None:
    """How many threads torch must use: one where a batch is too little to share; None for torch's choice.

    Two threads that wait for each other at each of many tiny products are slower than one, several times
    slower on a busy machine.
    """
    return 1 if plan.batch and plan.batch * book.total_multiply_adds < SMALL_BATCH else None
