"""The cells that a notebook is run by, in place of a command line: seed, data, training, curves, test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.catalogue.params import ParamSpec
from engine.emit.entry import DEVICE, examples_of, home_text, is_tested, of_one_phase
from engine.emit.model import Assembly
from engine.emit.players import Players
from engine.emit.procedures import plain_text_of, procedure_functions, reads_rows, shown_split
from engine.emit.statements import Statement, quoted, tree
from engine.procedures.declare import Offer

Cell = tuple[str, list[Statement]]  # its heading, and what is run
OWN_FOLDER = "Path()"  # the notebook's, in which it is run
PARAMETERS = ""  # in place of a heading: what one may set, which stands with the constants
VARIABLES = ("folder", "device", "data", "found", "state", "plot")  # which one reads in several cells


def notebook_cells(
    made: Assembly,
    offers: Sequence[Offer],
    holds: Sequence[str],
    home: str,
    weights: str | None,
    threads: int | None,
    players: Players | None,
    trains: bool,
) -> tuple[list[Cell], list[list[Statement]]]:
    """The cells at the end of a notebook, and the functions of its procedures."""
    beside = f"{OWN_FOLDER} / {quoted(weights)}" if weights else ""
    if not trains:
        return [("Run", tree(MODEL_ONLY, weights=beside, examples=examples_of(made)))], []
    functions, procedures = procedure_functions(made, offers)
    parts = [*procedures]
    names = {one: made.names.give(one) if one in made.names else one for one in VARIABLES}
    facts = {
        **names,
        "where": f"{names['folder']}, " if holds else "",
        "weights": beside,
        "few": threads is not None,
        "threads": threads,
        "best": DEVICE,
        "epochs": "CONFIG.epochs" if of_one_phase(players) else "None",
    }
    parts.append(tree(PLOT, **names))
    told = [Statement(f"{names['folder']} = {home_text(home, OWN_FOLDER)}")]
    cells = [(PARAMETERS, told)] if holds else []
    cells += [("Seed, model and data", tree(BEGIN, **facts)), ("Training", tree(TRAINED, **facts))]
    cells.append(("Curves", tree("$plot(history)", **names)))
    if is_tested(made, players):
        cells.append(("Test", tree(TESTED, **names)))
    streams = len(made.streams) > 1
    for one, function in zip(offers, procedures, strict=True):
        taken = {**names, "split": quoted(shown_split(made))}
        lines = _procedure(one, functions[one.name], reads_rows(function), streams, taken)
        cells.append((one.procedure.title, lines))
    return cells, parts


def _procedure(
    offer: Offer, function: str, reads: bool, streams: bool, names: Mapping[str, str]
) -> list[Statement]:
    """A procedure over the trained model, with its options as they are by default."""
    rows = next((spec.default for spec in offer.params if spec.name == "rows"), (0,))
    options = [f"{spec.name}={_value(spec)}" for spec in offer.options]
    return tree(
        PROCEDURE,
        **names,
        about=plain_text_of(offer.procedure.doc()),
        streams=reads and streams,
        single=reads and not streams,
        rows=list(rows) if isinstance(rows, tuple) else [0],
        call=f"{function}({', '.join(['model', 'batch' if reads else '{}', 'draws', *options])})",
    )


def _value(spec: ParamSpec) -> str:
    return quoted(spec.default) if isinstance(spec.default, str) else repr(spec.default)


BEGIN = """
torch.set_num_threads($threads)  # faster than several for so small a network  #: THREADS  #? few
torch.manual_seed(CONFIG.seed)  #: SEEDED
$device = $best
model = Model().to($device)  #: MODEL
model.load_state_dict(load_file($weights))  #? weights
$data = load($where$device)
"""

TRAINED = """
history: list[dict[str, float]] = []
train(model, $data, CONFIG.seed, $epochs, history)
"""

TESTED = """
$found = evaluate(model, $data["test"])
report({f"test_{name}": value for name, value in $found.items()}, history)
"""

PLOT = '''
def $plot(history: list[dict[str, float]]) -> None:
    """Draw what training found at each step, and the validation split after each epoch."""
    curves: dict[str, list[tuple[float, float]]] = {}
    step = 0.0
    for values in history:
        step = values.get("step", step)
        for name, value in values.items():
            if name not in ("step", "phase", "epoch"):
                curves.setdefault(name, []).append((step, value))
    figure, (training, validation) = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
    for name, points in curves.items():
        axes = validation if name.startswith("val_") else training
        axes.plot(*zip(*points, strict=True), label=name.removeprefix("val_"))
    for axes, title in ((training, "training"), (validation, "validation")):
        axes.set(title=title, xlabel="step")
        if axes.lines:
            axes.legend()
    plt.show()
'''

PROCEDURE = """
# $about
model.eval()
batch = {name: column[$rows] for name, column in $data[$split].items()}  #? single
batch = {name: column[$rows] for name, column in as_long($data[$split]).items()}  #? streams
torch.manual_seed(CONFIG.seed)
draws = torch.Generator().manual_seed(CONFIG.seed)
for $state in $call:
    print(state_in_words($state))
"""

MODEL_ONLY = """
model = Model()
model.load_state_dict(load_file($weights))  #? weights
model.eval()
print(f"{sum(weight.numel() for weight in model.parameters()):,} parameters")
found = model($examples)
for result in found if isinstance(found, tuple) else (found,):
    print(tuple(result.shape))
"""
