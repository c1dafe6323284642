"""Networks too large to be built, or for this computer's memory: said before anything is allocated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.catalogue.training.numbers import number_of, with_number
from engine.devices import choose_device, device_name, largest_memory, memory_of
from engine.document.edits import SetParam, SetPlan
from engine.document.graph import Project
from engine.document.plan import WHOLE, Plan
from engine.errors import TrainingError
from engine.shapes.problems import Fix, Problem
from engine.shapes.remedies import count_of_units, doing, units_parameter

if TYPE_CHECKING:
    from engine.shapes.memory import Memory
    from engine.shapes.shapes import ShapeBook
    from engine.shapes.signatures import Signature

MOST_LAYERS = 100_000
WEIGHT = 4  # bytes of a number in float32
GIB = 2**30
NEVER_TOO_MUCH = 2**28  # bytes; less than that is not looked at closer
ROOM = 0.8  # of the memory is what a fix aims at: an estimate is none to the byte
TOO_LARGE = "memory"  # a problem of this code keeps a network from being trained here, not from export


def size_problems(project: Project, book: ShapeBook) -> Iterator[Problem]:
    """A network of too many layers, or that takes more memory to train than this computer has."""
    if book.total_layers > MOST_LAYERS:
        message = (
            f"With its blocks unfolded the network has {book.total_layers:,} nodes; {MOST_LAYERS:,} are the "
            "most that can be built."
        )
        yield Problem(_largest(book, "layers"), message, code="too-many-layers")
    elif _roughly(project, book) > NEVER_TOO_MUCH and (found := training_problem(project, book)) is not None:
        yield found


def check_memory(book: ShapeBook) -> None:
    """Errors: `TrainingError` for a network whose weights this computer cannot hold."""
    heavy = _too_heavy(book)
    if heavy is not None:
        raise TrainingError(heavy, node_id=_largest(book, "parameters"))


def training_problem(project: Project, book: ShapeBook, device: str | None = None) -> Problem | None:
    """Why a device, or the one that the book is for, has too little memory for training; None if it fits."""
    from engine.shapes.memory import estimate, in_bytes  # it needs the module that needs this one

    device, _ = choose_device(device or book.device)
    room, memory = memory_of(device), estimate(project, book)
    if room is None or memory is None:
        return None
    heavy, aim = _too_heavy(book), int(ROOM * room)
    if heavy is None and memory.total <= room:
        return None
    where = "this computer" if device == "cpu" else device_name(device)
    needs = f"Training takes about {in_bytes(memory.total)} of memory, but {where} has {in_bytes(room)}."

    def fits(other: ShapeBook) -> bool:
        found = estimate(project, other)
        return found is not None and found.total <= aim

    place = _largest(book, "parameters") if heavy else memory.largest
    fix = _smaller_replay(project, memory, aim) or _smaller_batch(project, memory, aim)
    fix = fix or _smaller_layer(project, book, place, fits)
    return Problem(place, heavy or needs, fix=fix, code=TOO_LARGE)


def check_training(project: Project, book: ShapeBook, device: str | None = None) -> None:
    """Errors: `TrainingError` for training that takes more memory than the device, or the best one, has."""
    found = training_problem(project, book, device) if _roughly(project, book) > NEVER_TOO_MUCH else None
    if found is not None:
        fix = f"{found.fix.label}." if found.fix is not None else None
        raise TrainingError(found.message, node_id=found.node_id, fix=fix)


def _roughly(project: Project, book: ShapeBook) -> int:
    """Bytes that training takes at the very most, told without running any layer once more.

    Whatever a layer keeps for an example it has computed, or read from what came in.
    """
    from engine.shapes.memory import bytes_of, largest_batch

    rows, data = largest_batch(project, book)
    wires = sum(
        bytes_of(found)
        for one in book.types
        for found in (*book.inputs(one).values(), *leaving_from(book, one))
    )
    layers = max(1, book.total_layers // max(1, len(book.types)))
    each = 16 * wires * layers + 4 * WEIGHT * book.total_multiply_adds
    return data + rows * each + 64 * WEIGHT * book.total_parameters


def leaving_from(book: ShapeBook, node_id: str) -> tuple[Signature, ...]:
    """What leaves each output of a node; nothing where that isn't known."""
    facts = book.facts(node_id)
    return tuple(facts.outputs.values()) if facts is not None else ()


def _smaller_batch(project: Project, memory: Memory, aim: int) -> Fix | None:
    """Use a batch, a power of two, with which training takes no more than `aim` bytes."""
    rest = memory.total - memory.batch
    fitting = int((aim - rest) / (memory.batch / memory.rows)) if memory.batch else 0
    if fitting < 1:
        return None
    size = 2 ** (min(fitting, memory.rows - 1).bit_length() - 1) if memory.rows > 1 else 0
    return doing(f"Use a batch of {size:,}", SetPlan(_with_batch(project.plan, size))) if size else None


def _smaller_replay(project: Project, memory: Memory, aim: int) -> Fix | None:
    """Keep as many transitions, a power of two, as fit into `aim` bytes beside all else."""
    kept = number_of(project.plan, "memory")
    room = aim - (memory.total - memory.replay)
    if not kept or memory.replay < memory.total / 2 or room <= 0:
        return None
    size = 2 ** (max(1, int(kept * room / memory.replay)).bit_length() - 1)
    agents = number_of(project.plan, "agents") or 0
    plan = with_number(project.plan, "memory", size) if agents <= size < kept else None
    return None if plan is None else doing(f"Keep {size:,} transitions", SetPlan(plan))


def _with_batch(plan: Plan, size: int) -> Plan:
    """The plan with batches of no more than so many examples."""

    def smaller(batch: int) -> int:
        return size if batch == WHOLE else min(size, batch)

    phases = tuple(
        one if one.batch is None else replace(one, batch=smaller(one.batch)) for one in plan.phases
    )
    return replace(plan, batch=smaller(plan.batch), phases=phases)


def _smaller_layer(
    project: Project, book: ShapeBook, node_id: str | None, fits: Callable[[ShapeBook], bool]
) -> Fix | None:
    """Give the layer that takes most as many units, halved again and again, as fit."""
    node = project.graph.nodes.get(node_id or "")
    parameter = units_parameter(book.types.get(node_id or ""))
    units = getattr(book.types.get(node_id or ""), parameter, 0) if parameter else 0
    if node is None or not isinstance(units, int):
        return None
    least, most = 0, units.bit_length() - 1  # powers of two; the first may fit, the last does not
    while least < most:
        middle = (least + most + 1) // 2
        if fits(_changed(project, book, node.id, parameter, 2**middle)):
            least = middle
        else:
            most = middle - 1
    if 2**least >= units or not fits(_changed(project, book, node.id, parameter, 2**least)):
        return None
    size = 2**least
    return doing(
        f"Give {node.name or 'the layer'} {count_of_units(size)}", SetParam(node.id, parameter, size)
    )


def _changed(project: Project, book: ShapeBook, node_id: str, parameter: str, value: int) -> ShapeBook:
    """The book of the project with one parameter changed."""
    changed = project.copy()
    node = changed.graph.node(node_id)
    changed.graph._replace(replace(node, params={**node.params, parameter: value}))
    found = book.inside({})
    found.update(changed)
    return found


def _too_heavy(book: ShapeBook) -> str | None:
    """Why weights and their gradients don't fit into the largest memory here; None where they do."""
    weights = book.total_parameters
    needed = 2 * WEIGHT * weights
    memory = largest_memory(needed)
    if memory is None or needed <= memory:
        return None
    return (
        f"{weights:,} parameters take {needed / GIB:,.0f} GiB with their gradients, but this computer has "
        f"{memory / GIB:,.0f} GiB."
    )


def _largest(book: ShapeBook, what: str) -> str | None:
    """The node that has the most of them."""
    return max(book.types, key=lambda one: getattr(book.facts(one), what, 0), default=None)
