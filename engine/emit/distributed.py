"""What a script needs to be started by torchrun: its part of each batch, one process that speaks, a way back.

The lines go into a supervised script only when they are asked for: who trains on one machine reads the twenty
lines of `train` without them (docs/decisions/012).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from engine.catalogue import Column
from engine.data.batch import WEIGHT
from engine.document.plan import Plan
from engine.emit.entry import Constants
from engine.emit.passes import Change, Part, changed
from engine.emit.plain_loop import takes
from engine.emit.statements import Mark, Statement, quoted, tree, under
from engine.errors import EmitError

WORLD = Constants(
    {"RANK": 'int(os.environ.get("RANK", 0))', "WORLD": 'int(os.environ.get("WORLD_SIZE", 1))'},
    "set by torchrun",
)

SIDE_BY_SIDE = "Graphs that lie side by side in a batch cannot be shared out among processes."

PARTS = '''
def part_of(batch: dict[str, Tensor]) -> tuple[dict[str, Tensor], float]:
    """This process's rows of a batch, and which fraction of the batch they are."""
    n = len(batch[$first])
    begin, end = RANK * n // WORLD, (RANK + 1) * n // WORLD  #? not joins
    pairs = n // 2  # no process has a single row, which has nothing to be compared with  #? joins
    begin, end = 2 * (RANK * pairs // WORLD), 2 * ((RANK + 1) * pairs // WORLD)  #? joins
    end += n % 2 if RANK + 1 == WORLD else 0  #? joins
    rows = slice(begin, end) if begin < end else slice(0, $least)  # a row that counts nothing
    return {name: column[rows] for name, column in batch.items()}, (end - begin) / n


def over_all(value: Tensor) -> float:
    """The sum of what the processes have."""
    if WORLD > 1:
        torch.distributed.all_reduce(value)
    return value.item()


def of_first(values: dict[str, float]) -> dict[str, float]:  #? decides
    """What the first process has, so that all of them decide alike."""
    found = [values]
    if WORLD > 1:
        torch.distributed.broadcast_object_list(found)
    return found[0]
'''

TOGETHER = '''
def together(player: Player, model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """What an objective finds on the whole batch, with the slope of this process's part of it."""
    part, fraction = part_of(batch)
    found = player.objective(model, part)
    weight = float(found.pop("$counts", len(part[$first]))) * (fraction > 0)
    whole = over_all(torch.tensor(weight)) or 1.0
    share = weight / whole
    found = {
        name: share * (value - value.detach()) + over_all(share * value.detach().clone())
        for name, value in found.items()
    }
    return {**found, "$counts": torch.tensor(whole)}


def add_up(weights: list[nn.Parameter]) -> None:
    """Give every process the sum of all their gradients."""
    for weight in weights:
        if WORLD > 1 and weight.grad is not None:
            torch.distributed.all_reduce(weight.grad)
'''


def together_lines(first: str) -> list[Statement]:
    """The functions by which players train together; `first` is a column."""
    return tree(TOGETHER, first=quoted(first), counts=WEIGHT)


def check_shareable(columns: Iterable[Column], notebook: bool = False) -> None:
    """Errors: `EmitError` for a notebook, and for data that several processes cannot share out."""
    if notebook:
        raise EmitError("A notebook is run by one process.", fix="Export a script or a package for torchrun.")
    if any(column.rows for column in columns):
        raise EmitError(
            SIDE_BY_SIDE,
            fix="Set Batches of the data to padded, or export without the lines for torchrun.",
        )


def parts_lines(first: str, joins: bool, decides: bool = False) -> list[Statement]:
    """The functions that handle a process's part of a batch; `first` is a column.

    Where the first process `decides` for all of them, they have what it measures.

    With `joins` no part has a single row, as for layers that compare rows.
    """
    return tree(PARTS, first=quoted(first), joins=joins, least=2 if joins else 1, decides=decides)


def shared(parts: Sequence[Part], changes: Mapping[Mark, Change]) -> list[list[Statement]]:
    """The parts of a script with what several processes run otherwise. Errors: `EmitError`."""
    return changed(parts, changes, optional=OPTIONAL)


OPTIONAL = (
    *(Mark.FOUND, Mark.LOSS, Mark.CLOSED, Mark.GRADIENTS),  # of objectives: each plan has some
    Mark.EVALUATED,  # not without a validation split
)


def changes_of_players(alike: bool) -> Mapping[Mark, Change]:
    """What of a script whose players take turns several processes run otherwise.

    `alike` where all processes draw the same numbers.
    """
    apart = tree(APART, of="dropout and noise of its own")

    def added(one: Statement) -> list[Statement]:
        return [one, Statement("add_up(player.weights)")]

    return {
        **SPEAKING,
        Mark.ARGUMENTS: lambda one: [one, *tree(START)],
        Mark.TRAINED: lambda one: [one] if alike else [*apart, one],
        Mark.FOUND: _found_together,
        Mark.CLOSED: _found_together,
        Mark.LOSS: lambda one: [Statement('loss = together(player, model, batch)["loss"]')],
        Mark.GRADIENTS: added,
    }


def changes_of_whole() -> Mapping[Mark, Change]:
    """What of a script several processes run otherwise where each makes all steps, drawing as the others."""
    return {**SPEAKING, Mark.ARGUMENTS: lambda one: [one, *tree(START)]}


def _found_together(_: Statement) -> list[Statement]:
    return [Statement("found = together(player, model, batch)")]


def changes_of_plain(plan: Plan, scheduled: bool, counted: bool) -> Mapping[Mark, Change]:
    """What of a plain script several processes run otherwise.

    `counted` where the objective says how much a batch counts.
    """
    means = _counted_means() if counted else _means()
    return {
        **SPEAKING,
        Mark.SIGNATURE: lambda one: [under(SIGNATURE, one.body)],
        Mark.EPOCHS: partial(_resuming, _kept(plan), scheduled),
        Mark.ZEROED: lambda one: [Statement("part, fraction = part_of(batch)"), one],
        **means,
        Mark.EVALUATED: lambda _: [Statement('found = of_first(evaluate(model, data["validation"]))')],
        Mark.ARGUMENTS: lambda one: [*tree(CHECKPOINT), one, *tree(START)],
        Mark.TRAINED: lambda _: tree(APART, of="dropout of its own") + tree(TRAINED),
    }


SIGNATURE = f"def train({takes(kept=False)}, checkpoint: Path | None) -> None:"
TRAINED = "train(model, data, args.seed, args.epochs, args.json, args.checkpoint)"
APART = """
if RANK:
    torch.manual_seed(args.seed + RANK)  # $of
"""
CHECKPOINT = """
parser.add_argument("--checkpoint", type=Path, help="written before each epoch; a restart goes on from it")
"""
START = """
if WORLD > 1:
    torch.distributed.init_process_group()  # gloo on CPUs, nccl on GPUs
    if args.device == "cuda":
        args.device = "cuda:" + os.environ["LOCAL_RANK"]
        torch.cuda.set_device(args.device)
"""
END = """
if WORLD > 1:
    torch.distributed.destroy_process_group()
    sys.stdout.flush()
    os._exit(0)  # a thread of gloo can abort Python's own end (pytorch#190489)
"""
SPEAKING: Mapping[Mark, Change] = {
    Mark.JSON: lambda one: [under("if as_json and RANK == 0:", one.body)],
    Mark.SHOWN: lambda one: [under("if RANK == 0:", [one])],
    Mark.SAVED: lambda one: [under("if args.save and RANK == 0:", one.body)],
    Mark.STARTED: lambda one: [one, *tree(END)],
}


def _means() -> dict[Mark, Change]:
    """The loss of a process's part of a batch, and the mean over the processes, by rows."""
    return {
        Mark.LOSS: lambda _: [Statement('loss = objective(joined, part)["loss"]')],
        Mark.VALUE: lambda _: [Statement("value = over_all(fraction * loss.detach())")],
        Mark.BACKWARD: lambda _: tree(
            "(WORLD * fraction * loss).backward()  # the mean over processes is the batch's"
        ),
    }


def _counted_means() -> dict[Mark, Change]:
    """The same, by how much each part counts."""
    return {
        Mark.LOSS: lambda _: tree(COUNTED, counts=WEIGHT),
        Mark.VALUE: lambda _: [Statement("value = over_all(weight * loss.detach()) / whole")],
        Mark.BACKWARD: lambda _: tree(
            "(WORLD * weight / whole * loss).backward()  # the mean over all that counts"
        ),
    }


COUNTED = """
found = objective(joined, part)
loss, weight = found["loss"], found["$counts"] * (fraction > 0)
whole = over_all(weight.clone()) or 1.0
"""


def _resuming(kept: Sequence[str], scheduled: bool, one: Statement) -> list[Statement]:
    """The loop over the epochs, which goes on from a checkpoint and writes one; `kept` are its variables."""
    saved = ", ".join(f'"{name}": {name}' for name in ("epoch", *kept))
    read = [Statement(f'{name} = state["{name}"]') for name in kept]
    found = ["model", "optimiser", *(["schedule"] if scheduled else [])]
    saved += "".join(f', "{name}": {name}.state_dict()' for name in found)
    saved += ', "shuffle": shuffle.get_state(), "random": torch.get_rng_state()'
    return tree(RESUMING, saved=saved, read=read, scheduled=scheduled, body=one.body)


RESUMING = """
begin = 0
if checkpoint and checkpoint.exists():
    state = torch.load(checkpoint, weights_only=True)
    begin = state["epoch"]
    <read>
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    schedule.load_state_dict(state["schedule"])  #? scheduled
    shuffle.set_state(state["shuffle"])
    torch.set_rng_state(state["random"])
joined = DistributedDataParallel(model) if WORLD > 1 else model
for epoch in range(begin, epochs):
    if checkpoint and RANK == 0:
        state = {$saved}
        torch.save(state, checkpoint.with_suffix(".part"))
        checkpoint.with_suffix(".part").replace(checkpoint)
    <body>
"""


def _kept(plan: Plan) -> list[str]:
    """The variables of `train` that last from epoch to epoch."""
    stops, keeps = plan.patience is not None, plan.stop.restore_best
    return [
        "step",
        *(["best"] if stops or keeps else []),
        *(["kept"] if keeps else []),
        *(["waited"] if stops else []),
    ]
