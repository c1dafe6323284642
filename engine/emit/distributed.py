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
from engine.emit.alternating import Features
from engine.emit.entry import Constants
from engine.emit.passes import Change, Part, changed
from engine.emit.plain_loop import takes
from engine.emit.statements import BLANK, Mark, Statement, quoted, tree, under
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

WRITTEN = '''
def checkpoint_in(file: Path | None) -> dict[str, Any]:
    """What was last written there; nothing where there is no file."""
    if file is None or not file.exists():
        return {}
    return torch.load(file, map_location="cpu", weights_only=True)


def generators(model: nn.Module) -> list[Any]:
    """What of torch draws random numbers: on the CPU, and on the device of the model."""
    kind = next(iter(model.state_dict().values())).device.type
    return [torch] if kind == "cpu" else [torch, torch.get_device_module(kind)]


def write_checkpoint(file: Path, model: nn.Module, state: dict[str, Any]) -> None:
    """Write a state of the training, whole or not at all, with the random numbers of each process."""
    own = [one.get_rng_state() for one in generators(model)]
    random = [own] * WORLD
    if WORLD > 1:  # the file is written when all have looked for one
        torch.distributed.all_gather_object(random, own)
    if RANK == 0:
        whole = {**state, "model": model.state_dict(), "random": random}
        torch.save(whole, file.with_suffix(".part"))
        file.with_suffix(".part").replace(file)


def draw_on(state: dict[str, Any], model: nn.Module, shuffle: torch.Generator) -> None:
    """Let random numbers go on from those of a checkpoint."""
    shuffle.set_state(state["shuffle"])
    own = state["random"][RANK % len(state["random"])]
    for one, written in zip(generators(model), own, strict=False):  # it may be another device
        one.set_rng_state(written)
'''

OF_PLAYERS = '''
def state_of(player: Player) -> dict[str, Any]:
    """What an objective remembers beside the weights of the model."""
    found: dict[str, Any] = {}
    if player.optimiser is not None:
        found["optimiser"] = player.optimiser.state_dict()
    if player.schedule is not None:  #? scheduled
        found["schedule"] = player.schedule.state_dict()
    if player.average is not None:  #? averages
        found["average"], found["count"] = player.average.values, player.average.count
    return found


def remember(player: Player, state: dict[str, Any]) -> None:
    """Let an objective go on from what it remembered."""
    if player.optimiser is not None:
        player.optimiser.load_state_dict(state["optimiser"])
    if player.schedule is not None:  #? scheduled
        player.schedule.load_state_dict(state["schedule"])
    if player.average is not None:  #? averages
        player.average.count = state["count"]
        for value, written in zip(player.average.values, state["average"], strict=True):
            value.copy_(written)
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


def checkpoint_lines(facts: Features | None) -> list[Statement]:
    """The functions that write a checkpoint and go on from it; `facts` are those of a plan of players."""
    if facts is None or not facts.minimised:
        return tree(WRITTEN)
    own = tree(OF_PLAYERS, scheduled=facts.scheduled, averages=facts.averages)
    return [*tree(WRITTEN), BLANK, BLANK, *own]


def shared(parts: Sequence[Part], changes: Mapping[Mark, Change]) -> list[list[Statement]]:
    """The parts of a script with what several processes run otherwise. Errors: `EmitError`."""
    return changed(parts, changes, optional=OPTIONAL)


OPTIONAL = (
    *(Mark.FOUND, Mark.LOSS, Mark.CLOSED, Mark.GRADIENTS),  # of objectives: each plan has some
    Mark.EVALUATED,  # not without a validation split
)


def changes_of_players(facts: Features) -> Mapping[Mark, Change]:
    """What of a script whose players take turns several processes run otherwise."""
    apart = tree(APART, of="dropout and noise of its own")

    def added(one: Statement) -> list[Statement]:
        return [one, Statement("add_up(player.weights)")]

    def decided(one: Statement) -> list[Statement]:
        return [one, Statement("seen = of_first(seen)")] if facts.minimised else [one]

    return {
        **changes_of_all(facts),
        Mark.TRAINED: lambda _: [*([] if facts.alike else apart), *tree(TRAINED)],
        Mark.FOUND: _found_together,
        Mark.CLOSED: _found_together,
        Mark.LOSS: lambda one: [Statement('loss = together(player, model, batch)["loss"]')],
        Mark.GRADIENTS: added,
        Mark.SEEN: decided,
    }


def changes_of_all(facts: Features) -> Mapping[Mark, Change]:
    """What of a script of players each of several processes runs otherwise where it makes all steps."""
    several = len(facts.plan.phases) > 1
    changes: dict[Mark, Change] = {
        **changes_of_whole(),
        Mark.SIGNATURE: lambda one: [one, Statement("checkpoint: Path | None,")],
        Mark.BEGUN: lambda _: tree(BEGUN),
        Mark.EPOCHS: partial(_resuming_phase, facts),
    }
    return {**changes, Mark.PHASES: _skipping} if several else changes


def changes_of_whole() -> Mapping[Mark, Change]:
    """What of a script several processes run otherwise where each makes all steps, drawing as the others."""
    return {
        **SPEAKING,
        Mark.ARGUMENTS: lambda one: [*tree(CHECKPOINT), one, *tree(START)],
        Mark.TRAINED: lambda _: tree(TRAINED),
    }


def changes_of_streams(plan: Plan, scheduled: bool) -> Mapping[Mark, Change]:
    """The same for a plain script whose batches are of several data nodes."""
    return {
        **changes_of_whole(),
        Mark.SIGNATURE: lambda one: [under(SIGNATURE, one.body)],
        Mark.EPOCHS: partial(_resuming, _kept(plan), scheduled, False),
    }


def _found_together(_: Statement) -> list[Statement]:
    return [Statement("found = together(player, model, batch)")]


def changes_of_plain(plan: Plan, scheduled: bool, counted: bool) -> Mapping[Mark, Change]:
    """What of a plain script several processes run otherwise.

    `counted` where the objective says how much a batch counts.
    """
    means = _counted_means() if counted else _means()
    return {
        **changes_of_whole(),
        Mark.SIGNATURE: lambda one: [under(SIGNATURE, one.body)],
        Mark.EPOCHS: partial(_resuming, _kept(plan), scheduled, True),
        Mark.ZEROED: lambda one: [Statement("part, fraction = part_of(batch)"), one],
        **means,
        Mark.EVALUATED: lambda _: [Statement('found = of_first(evaluate(model, data["validation"]))')],
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
if args.device.startswith("cuda:"):
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


def _resuming(kept: Sequence[str], scheduled: bool, joined: bool, one: Statement) -> list[Statement]:
    """The loop over the epochs, which goes on from a checkpoint and writes one; `kept` are its variables.

    The model is `joined` where the processes add up their gradients.
    """
    saved = ", ".join(f'"{name}": {name}' for name in ("epoch", *kept))
    read = [Statement(f'{name} = state["{name}"]') for name in kept]
    found = ["optimiser", *(["schedule"] if scheduled else [])]
    saved += "".join(f', "{name}": {name}.state_dict()' for name in found)
    saved += ', "shuffle": shuffle.get_state()'
    return tree(RESUMING, saved=saved, read=read, scheduled=scheduled, joined=joined, body=one.body)


RESUMING = """
begin = 0
state = checkpoint_in(checkpoint)
if state:
    begin = state["epoch"]
    <read>
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    schedule.load_state_dict(state["schedule"])  #? scheduled
    draw_on(state, model, shuffle)
joined = DistributedDataParallel(model) if WORLD > 1 else model  #? joined
for epoch in range(begin, epochs):
    if checkpoint:
        write_checkpoint(checkpoint, model, {$saved})
    <body>
"""

BEGUN = """
state = checkpoint_in(checkpoint)
if state:
    model.load_state_dict(state["model"])
step, epoch = state.get("step", 0), state.get("epoch", 0)
"""


def _skipping(one: Statement) -> list[Statement]:
    """The loop over the phases, without those that were over before the checkpoint."""
    over = under('if number < state.get("phase", 0):', [Statement("continue")])
    return [under(one.plain, [over, *one.body])]


def _resuming_phase(facts: Features, one: Statement) -> list[Statement]:
    """The loop over the epochs of a phase, which goes on from a checkpoint and writes one."""
    names = ["step", "epoch", *LASTING]
    saved = ", ".join(f'"{name}": {name}' for name in names)
    saved += ', "phase": number' if len(facts.plan.phases) > 1 else ""
    saved += ', "seconds": time.monotonic() - began' if "seconds" in facts.seen else ""
    saved += ', "players": [state_of(player) for player in players]' if facts.minimised else ""
    saved += ', "shuffle": shuffle.get_state()'
    return tree(
        RESUMING_PHASE,
        lasting=", ".join(LASTING),
        named=", ".join(map(quoted, LASTING)),
        seconds="seconds" in facts.seen,
        minimises=bool(facts.minimised),
        saved=saved,
        body=one.body,
    )


LASTING = ("best", "kept", "waited", "turn", "done")  # variables that last from epoch to epoch of a phase
RESUMING_PHASE = """
done = 0
if state:
    $lasting = (state[name] for name in ($named))
    began = time.monotonic() - state["seconds"]  #? seconds
    for player, remembered in zip(players, state["players"], strict=True):  #? minimises
        remember(player, remembered)
    draw_on(state, model, shuffle)
    state = {}
for done in range(done, limit):
    if checkpoint:
        write_checkpoint(checkpoint, model, {$saved})
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
