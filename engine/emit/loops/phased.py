"""The short loop of a plan of several phases: a list of them, and one loop around that of a single phase.

A column of the list is there only where the phases differ in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.document.plan import ChangeModel, Minimise, Phase, Plan
from engine.emit.optimise import path_of
from engine.emit.plain_loop import (
    OBJECTIVES,
    Short,
    Stretch,
    each_objective,
    moved_by,
    one_of_several,
    shown,
    takes,
    watches,
)
from engine.emit.statements import Statement, quoted, tree

# of `train`, beside those of a single phase
VARIABLES = (
    *("phases", "number", "limit", "monitor", "patience", "still", "layer", "planned", "make", "size"),
    *("changed", "changes", "change", "title"),
)


def can_be_phased(plan: Plan, higher: Callable[[str], bool]) -> bool:
    """Whether each phase is short, and what is watched is looked at alike in all that watch something."""
    watching = [phase.stop for phase in plan.phases if watches(phase)]
    alike = len({stop.restore_best for stop in watching}) <= 1
    return alike and len({higher(stop.monitor) for stop in watching}) <= 1 and all(map(_plain, plan.phases))


def _plain(phase: Phase) -> bool:
    minimised = [one for one in phase.objectives if isinstance(one, Minimise)]
    others = [one for one in phase.objectives if not isinstance(one, Minimise)]
    turns = all(one.every == 1 and one_of_several(one) for one in minimised)
    return bool(minimised) and turns and all(isinstance(one, ChangeModel) for one in others)


def phased_lines(short: Short) -> list[Statement]:
    """The function `train` of a short loop over several phases."""
    stretches = short.stretches
    watching = [one.phase.stop for one in stretches if watches(one.phase)]
    monitors = {stop.monitor for stop in watching}
    named = bool(watching) and (len(monitors) > 1 or len(watching) < len(stretches))
    stops = any(stop.patience is not None for stop in watching)
    rests = any(one.still for one in stretches)
    changes = any(len(one.minimised) < len(one.turns) for one in stretches)
    single = all(len(one.minimised) == 1 for one in stretches)
    columns: list[tuple[str, str, Callable[[Stretch], str]]] = [("limit", "epochs", _limit)]
    columns += [("size", "rows in a batch", short.size_of)] if short.sized else []
    columns += [("monitor", "what is watched", _monitor)] if named else []
    columns += [("patience", "for how long", _patience)] if stops else []
    columns += [("still", "layers that rest", _still)] if rests else []
    if single:
        columns.append(("name, compute, make", "the objective with its optimiser", _objective))
    else:
        columns.append(("planned", "objectives with their optimisers", _objectives))
    columns += [("changed", "what is changed first", _changes)] if changes else []
    about = f"of each: {', '.join(about for _, about, _ in columns)}"
    rows = [f"({', '.join(value(one) for _, _, value in columns)})," for one in stretches]
    inputs = moved_by(turn for one in stretches for turn in one.minimised)
    step = each_objective(inputs, single=single)
    turn = step if single else tree(OBJECTIVES, every=False, also="", step=step)
    begin = [] if single else [Statement("values = {}")]
    return tree(
        PHASED,
        takes=takes(short.kept, "int | None"),
        about=about,
        rows=[Statement(row) for row in rows],
        columns=", ".join(name for name, _, _ in columns),
        single=single,
        changes=changes,
        compares=bool(watching),
        keeps=any(stop.restore_best for stop in watching),
        stops=stops,
        rests=rests,
        measures=short.measures,
        retrains=rests and not short.measures,
        size=", size" if short.sized else "",
        turn=[*begin, *turn],
        watched="monitor is not None and " if named and len(watching) < len(stretches) else "",
        key="monitor" if named else quoted(next(iter(monitors), "").removeprefix("val_")),
        worst='"-inf"' if short.grows else '"inf"',
        better=">" if short.grows else "<",
        kept=short.kept,
        shown=shown(short.kept),
    )


def _limit(one: Stretch) -> str:
    return str(one.phase.stop.epochs)


def _monitor(one: Stretch) -> str:
    return quoted(one.phase.stop.monitor.removeprefix("val_")) if watches(one.phase) else "None"


def _patience(one: Stretch) -> str:
    return str(one.phase.stop.patience)


def _still(one: Stretch) -> str:
    return _listed([str(path_of(f"model.{path}")) for path in one.still])


def _objective(one: Stretch) -> str:
    (turn,) = one.minimised
    return f"{quoted(turn.key)}, {turn.function}, {turn.optimiser}"


def _objectives(one: Stretch) -> str:
    return _listed([f"({quoted(turn.key)}, {turn.function}, {turn.optimiser})" for turn in one.minimised])


def _changes(one: Stretch) -> str:
    made = (turn for turn in one.turns if turn.made)
    return _listed([f"({quoted(turn.key)}, lambda: {turn.made})" for turn in made])


def _listed(items: Sequence[str]) -> str:
    return f"[{', '.join(items)}]"


PHASED = """
def train($takes) -> None:
    phases = [  # $about
        <rows>
    ]
    shuffle = torch.Generator().manual_seed(seed)
    step = epoch = 0
    for number, ($columns) in enumerate(phases):
        optimiser = make(model)  #? single
        objectives = [(name, compute, make(model)) for name, compute, make in planned]  #? not single
        changes = [(title, change()) for title, change in changed]  #? changes
        best = float($worst)  #? compares
        kept = None  #? keeps
        waited = 0  #? stops
        for _ in range(epochs or limit):
            model.train()  #? retrains
            for layer in still:  #? rests
                layer.eval()
            for batch in batches(data["train"], shuffle$size):
                <turn>
                for title, change in changes:  #? changes
                    values[title] = change(model, batch)["loss"].item()
                step += 1
                if as_json:  #: JSON  #? not kept
                    print(json.dumps({"step": step, "phase": number, "epoch": epoch, **values}))
                history.append({"step": step, "phase": number, "epoch": epoch, **values})  #? kept
            found = evaluate(model, data["validation"])  #? measures
            values = {f"val_{name}": value for name, value in found.items()}  #? measures
            report({"epoch": epoch, **values}, $shown)  #? measures
            report({"epoch": epoch}, $shown)  #? not measures
            epoch += 1
            if ${watched}found[$key] $better best:  #? compares
                best = found[$key]
                waited = 0  #? stops
                kept = {name: value.clone() for name, value in model.state_dict().items()}  #? keeps
            else:  #? stops
                waited += 1
            if waited == patience:  #? stops
                break
        if kept is not None:  #? keeps
            model.load_state_dict(kept)
"""
