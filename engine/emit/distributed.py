"""What a script needs to be started by torchrun: its part of each batch, one process that speaks, a way back.

The lines go into a supervised script only when they are asked for: who trains on one machine reads the twenty
lines of `train` without them (docs/decisions/012).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine.catalogue import Column
from engine.data.batch import WEIGHT
from engine.document.plan import Plan
from engine.emit.lines import Line, block, check_met, laid_out, quoted
from engine.errors import EmitError

WORLD = (
    'RANK, WORLD = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))  # set by torchrun'
)

PARTS = '''
def part_of(batch: dict[str, Tensor]) -> tuple[dict[str, Tensor], float]:
    """This process's rows of a batch, and which fraction of the batch they are."""
    n = len(batch[FIRST])
    begin, end = RANK * n // WORLD, (RANK + 1) * n // WORLD
    rows = slice(begin, end) if begin < end else slice(0, 1)  # a row that counts nothing
    return {name: column[rows] for name, column in batch.items()}, (end - begin) / n


def over_all(value: Tensor) -> float:
    """The sum of what the processes have."""
    if WORLD > 1:
        torch.distributed.all_reduce(value)
    return value.item()


def of_first(values: dict[str, float]) -> dict[str, float]:
    """What the first process has, so that all of them decide alike."""
    found = [values]
    if WORLD > 1:
        torch.distributed.broadcast_object_list(found)
    return found[0]
'''

IN_PAIRS = (
    "    begin, end = RANK * n // WORLD, (RANK + 1) * n // WORLD\n",
    "    pairs = n // 2  # no process has a single row, which has nothing to be compared with\n"
    "    begin, end = 2 * (RANK * pairs // WORLD), 2 * ((RANK + 1) * pairs // WORLD)\n"
    "    end += n % 2 if RANK + 1 == WORLD else 0\n",
)

TRAIN = (
    "def train("
    "model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:"
)
SIDE_BY_SIDE = "Graphs that lie side by side in a batch cannot be shared out among processes."
SIGNATURE = TRAIN.replace("as_json: bool)", "as_json: bool, checkpoint: Path | None)")


TOGETHER = '''
def together(player: Player, model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """What an objective finds on the whole batch, with the slope of this process's part of it."""
    part, fraction = part_of(batch)
    found = player.objective(model, part)
    weight = float(found.pop("COUNTS", len(part[FIRST]))) * (fraction > 0)
    whole = over_all(torch.tensor(weight)) or 1.0
    share = weight / whole
    found = {
        name: share * (value - value.detach()) + over_all(share * value.detach().clone())
        for name, value in found.items()
    }
    return {**found, "COUNTS": torch.tensor(whole)}


def add_up(weights: list[nn.Parameter]) -> None:
    """Give every process the sum of all their gradients."""
    for weight in weights:
        if WORLD > 1 and weight.grad is not None:
            torch.distributed.all_reduce(weight.grad)
'''


def together_lines(first: str) -> list[Line]:
    """The functions by which players train together; `first` is a column."""
    return block(TOGETHER.replace("FIRST", quoted(first)).replace("COUNTS", WEIGHT))


def check_shareable(columns: Iterable[Column]) -> None:
    """Errors: `EmitError` for data that several processes cannot share out."""
    if any(column.rows for column in columns):
        raise EmitError(
            SIDE_BY_SIDE,
            fix="Set Batches of the data to padded, or export without the lines for torchrun.",
        )


def parts_lines(first: str, joins: bool) -> list[Line]:
    """The functions that handle a process's part of a batch; `first` is a column.

    With `joins` no part has a single row, as for layers that compare rows.
    """
    text = PARTS.replace(*IN_PAIRS).replace("slice(0, 1)", "slice(0, 2)") if joins else PARTS
    return block(text.replace("FIRST", quoted(first)))


def shared(lines: Iterable[Line], changes: Mapping[str, Sequence[str]]) -> list[Line]:
    """The lines of a script with those changed that several processes run otherwise. Errors: `EmitError`."""
    met: set[str] = set()
    found: list[Line] = []
    for line in lines:
        code = line.plain.strip()
        pad = line.plain[: len(line.plain) - len(line.plain.lstrip())]
        if code in changes:
            met.add(code)
            found += laid_out([Line(pad + text if text else "") for text in changes[code]])
        else:
            found.append(line)
    check_met(changes, met)
    return found


def changes_of_players(alike: bool) -> Mapping[str, Sequence[str]]:
    """Lines of a script whose players take turns, and what stands in their place.

    `alike` where all processes draw the same numbers.
    """
    call = "train(model, data, args.seed, args.epochs, args.json)"
    apart = ["if RANK:", "    torch.manual_seed(args.seed + RANK)  # dropout and noise of its own"]
    return {
        **_SPEAKING,
        "args = parser.parse_args()": _START,
        call: [call] if alike else [*apart, call],
    }


def changes_of_plain(plan: Plan, scheduled: bool, counted: bool) -> Mapping[str, Sequence[str]]:
    """Lines of a plain script, and what stands in their place.

    `counted` where the objective says how much a batch counts.
    """
    return {**_changes(plan, scheduled), **(_COUNTED if counted else {})}


_START = [
    "args = parser.parse_args()",
    "if WORLD > 1:",
    "    torch.distributed.init_process_group()  # gloo on CPUs, nccl on GPUs",
    '    if args.device == "cuda":',
    '        args.device = "cuda:" + os.environ["LOCAL_RANK"]',
    "        torch.cuda.set_device(args.device)",
]
_SPEAKING = {
    "if as_json:": ["if as_json and RANK == 0:"],
    "print(json.dumps(values) if as_json else shown)": [
        "if RANK == 0:",
        "    print(json.dumps(values) if as_json else shown)",
    ],
    "if args.save:": ["if args.save and RANK == 0:"],
    "main()": [
        "main()",
        "if WORLD > 1:",
        "    torch.distributed.destroy_process_group()",
        "    sys.stdout.flush()",
        "    os._exit(0)  # a thread of gloo can abort Python's own end (pytorch#190489)",
    ],
}


def _changes(plan: Plan, scheduled: bool) -> Mapping[str, Sequence[str]]:
    """Lines as they are in a plain script, and what stands in their place."""
    counted = ["step", *_counted(plan)]
    saved = [
        *(f'"{name}": {name}' for name in ("epoch", *counted)),
        '"model": model.state_dict()',
        '"optimiser": optimiser.state_dict()',
        *(['"schedule": schedule.state_dict()'] if scheduled else []),
        '"shuffle": shuffle.get_state()',
        '"random": torch.get_rng_state()',
    ]
    resume = [
        "begin = 0",
        "if checkpoint and checkpoint.exists():",
        "    state = torch.load(checkpoint, weights_only=True)",
        '    begin = state["epoch"]',
        *(f'    {name} = state["{name}"]' for name in counted),
        '    model.load_state_dict(state["model"])',
        '    optimiser.load_state_dict(state["optimiser"])',
        *(['    schedule.load_state_dict(state["schedule"])'] if scheduled else []),
        '    shuffle.set_state(state["shuffle"])',
        '    torch.set_rng_state(state["random"])',
        "joined = DistributedDataParallel(model) if WORLD > 1 else model",
        "for epoch in range(begin, epochs):",
        "    if checkpoint and RANK == 0:",
        f"        state = {{{', '.join(saved)}}}",
        '        torch.save(state, checkpoint.with_suffix(".part"))',
        '        checkpoint.with_suffix(".part").replace(checkpoint)',
    ]
    return {
        TRAIN: [SIGNATURE],
        "for epoch in range(epochs):": resume,
        "optimiser.zero_grad()": ["part, fraction = part_of(batch)", "optimiser.zero_grad()"],
        'loss = objective(model, batch)["loss"]': ['loss = objective(joined, part)["loss"]'],
        "value = loss.item()": ["value = over_all(fraction * loss.detach())"],
        "loss.backward()": ["(WORLD * fraction * loss).backward()  # the mean over processes is the batch's"],
        **_SPEAKING,
        'found = evaluate(model, data["validation"])': [
            'found = of_first(evaluate(model, data["validation"]))'
        ],
        "args = parser.parse_args()": [
            "parser.add_argument("
            '"--checkpoint", type=Path, help="written before each epoch; a restart goes on from it")',
            *_START,
        ],
        "train(model, data, args.seed, args.epochs, args.json)": [
            "if RANK:",
            "    torch.manual_seed(args.seed + RANK)  # dropout of its own",
            "train(model, data, args.seed, args.epochs, args.json, args.checkpoint)",
        ],
    }


_COUNTED = {
    'loss = objective(model, batch)["loss"]': [
        "found = objective(joined, part)",
        f'loss, weight = found["loss"], found["{WEIGHT}"] * (fraction > 0)',
        "whole = over_all(weight.clone()) or 1.0",
    ],
    "value = loss.item()": ["value = over_all(weight * loss.detach()) / whole"],
    "loss.backward()": ["(WORLD * weight / whole * loss).backward()  # the mean over all that counts"],
}


def _counted(plan: Plan) -> list[str]:
    """The variables of `train` that last from epoch to epoch."""
    stops, keeps = plan.patience is not None, plan.stop.restore_best
    return [
        *(["best"] if stops or keeps else []),
        *(["kept"] if keeps else []),
        *(["waited"] if stops else []),
    ]
