"""The loop of a plan of one objective as a tutorial has it, which is what most scripts show."""

from __future__ import annotations

from engine.document.plan import Plan
from engine.emit.statements import Statement, quoted, tree


def plain_train_lines(plan: Plan, first: str, scheduled: bool, joins: bool) -> list[Statement]:
    """The function `train`; `first` is the column by which rows are counted."""
    rows = f'len(data["train"][{quoted(first)}])'
    stops, keeps = plan.patience is not None, plan.stop.restore_best
    return tree(
        TRAIN,
        takes=TAKES,
        scheduled=scheduled,
        count=f"max(1, math.ceil(({rows} - 1) / BATCH))" if joins else f"math.ceil({rows} / BATCH)",
        stops=stops,
        keeps=keeps,
        compares=stops or keeps,
    )


TAKES = "model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool"
TRAIN = """
def train($takes) -> None:  #: SIGNATURE
    optimiser = optimiser_for(model)
    steps_per_epoch = $count  #? scheduled
    schedule = schedule_for(optimiser, steps_per_epoch, epochs)  #? scheduled
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    best = float("inf")  #? compares
    kept = None  #? keeps
    waited = 0  #? stops
    for epoch in range(epochs):  #: EPOCHS
        for batch in batches(data["train"], shuffle):
            optimiser.zero_grad()  #: ZEROED
            loss = objective(model, batch)["loss"]  #: LOSS
            value = loss.item()  #: VALUE
            if not math.isfinite(value):
                raise SystemExit(f"The loss is {value} after {step} steps: a lower rate may help.")
            loss.backward()  #: BACKWARD
            optimiser.step()
            schedule.step()  #? scheduled
            step += 1
            if as_json:  #: JSON
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])  #: EVALUATED
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)
        if found["loss"] < best:  #? compares
            best = found["loss"]
            waited = 0  #? stops
            kept = {name: value.clone() for name, value in model.state_dict().items()}  #? keeps
        else:  #? stops
            waited += 1
            if waited == PATIENCE:
                break
    if kept is not None:  #? keeps
        model.load_state_dict(kept)
"""

REPORT = """
def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)  #: SHOWN
"""
