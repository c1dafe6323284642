"""`run` on the command line: the procedures of a project, over the weights of a run."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.catalogue import Catalogue
from engine.catalogue.params import ParamSpec
from engine.cli.words import say, say_at_once, warn
from engine.data.sets.needed import as_error, not_here
from engine.document.graph import Project
from engine.errors import NeuroloomError, ParamError, TrainingError, reason_of

if TYPE_CHECKING:
    from engine.emit.program import Program
    from engine.procedures.declare import Offer

OK, USAGE = 0, 2
WORDS = (
    "the procedure's name, what it takes as --NAME VALUE, --weights W (a run's folder, .safetensors or .pt), "
    "--input FILE (JSON of {column: rows}), --seed N, --device D, --json; nothing: list the procedures"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `run` takes behind the project; what a procedure takes is known with the project only."""
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="PROCEDURE ...", help=WORDS)


def run(project: Project, catalogue: Catalogue, options: argparse.Namespace) -> int:
    """Run a procedure and print its states one by one, or list those that the project has.

    Errors: `NeuroloomError` for an unknown procedure or value, weights that do not fit, or data that are not
    there.
    """
    from engine.emit.program import compile_program
    from engine.procedures.registry import offer_called, offers

    try:
        told, words = _parser().parse_known_args(options.words)
    except SystemExit as asked:
        return asked.code if isinstance(asked.code, int) else USAGE
    options.json = told.json = options.json or told.json
    program = compile_program(project, catalogue)
    known = offers(program.project, program.book) if program.trains else ()
    if words and not words[0].startswith("-"):
        known = (offer_called(known, words.pop(0)),)
    elif words and not told.help:
        warn(f"neuroloom run: {words[0]} is no procedure; without one, `run` lists those there are.")
        return USAGE
    else:
        told.help = True
    if told.help:
        return _list(known, told.json)
    values = _values(known[0], words)
    if not 0 <= told.seed < 2**63:
        raise ParamError(f"A seed is a number from 0 to 2**63, not {told.seed}.")
    if told.weights is None:
        warn(f"neuroloom run: {known[0].name} needs --weights W, the folder of a run or a file of weights.")
        return USAGE
    for node, wanted in not_here(catalogue, project):
        raise as_error(node, wanted)
    _run(program, known[0], values, told)
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="neuroloom run", add_help=False, allow_abbrev=False)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--input", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto")
    for flag in ("json", "help"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("-h", dest="help", action="store_true")
    return parser


def _list(known: Sequence[Offer], as_json: bool) -> int:
    for one in known:
        if as_json:
            say(
                json.dumps(
                    {
                        "name": one.name,
                        "title": one.procedure.title,
                        "doc": one.procedure.doc(),
                        "inputs": [_facts(spec) for spec in one.params],
                    }
                )
            )
            continue
        say(f"{one.name}  {one.procedure.doc()}")
        for spec in one.params:
            takes = "|".join(spec.choices) or spec.kind
            say(f"    {spec.flag} {takes} ({spec.format(spec.default)})  {spec.doc}")
    if not known and not as_json:
        say("This project has no procedures: they need data and a network that learns from them.")
    return OK


def _facts(spec: ParamSpec) -> dict[str, Any]:
    facts = {"name": spec.name, "kind": spec.kind, "default": spec.default, "doc": spec.doc}
    bounds = {"minimum": spec.minimum, "maximum": spec.maximum, "above": spec.above, "below": spec.below}
    facts |= {name: bound for name, bound in bounds.items() if bound is not None}
    return {**facts, "choices": list(spec.choices)} if spec.choices else facts


def _values(offer: Offer, words: Sequence[str]) -> dict[str, Any]:
    """The values that the user typed behind the name. Errors: `ParamError` with what is accepted."""
    specs = {spec.flag: spec for spec in offer.params}
    found: dict[str, Any] = {}
    waiting = list(words)
    while waiting:
        word, _, joined = waiting.pop(0).partition("=")
        no = f"--{word.removeprefix('--no-')}"
        if word.startswith("--no-") and no in specs and specs[no].kind == "bool":
            found[specs[no].name] = False
            continue
        spec = specs.get(word)
        if spec is None:
            raise ParamError(f"{offer.name} takes no {word!r}; it takes {', '.join(specs)}.")
        typed = [joined] if joined else []
        while waiting and waiting[0] not in specs and not waiting[0].startswith("--"):
            typed.append(waiting.pop(0))
        if spec.kind == "bool" and not typed:
            typed = ["yes"]
        found[spec.name] = spec.parse(" ".join(typed))
    return offer.checked(found)


def _run(program: Program, offer: Offer, values: dict[str, Any], options: argparse.Namespace) -> None:
    import torch

    from engine.devices import choose_device, use_threads
    from engine.document.shipped import datasets_folder
    from engine.emit.procedures import Compiled
    from engine.look.sight import evaluating
    from engine.procedures.rows import as_long, chosen_rows, state_in_words
    from engine.train.warm_start import read_weights

    device, notice = choose_device(options.device)
    if notice:
        warn(f"neuroloom: {notice}")
    if program.threads is not None:
        use_threads(program.threads)
    model = program.make_model(device)
    load_weights_of(model, options.weights, read_weights)
    data, split = program.load(datasets_folder(), device), str(values.get("split", "validation"))
    if split not in data:
        raise ParamError(f"The data have no {split} split.", fix=f"--split {' or '.join(data)}")
    columns = as_long(data[split])
    procedure = Compiled(program, offer)
    try:
        batch = chosen_rows(columns, list(values.get("rows", (0,))), options.input)
        torch.manual_seed(options.seed)
        with evaluating(model):
            for state in procedure.states(model, batch, values, options.seed):
                plain = json.dumps(state, default=torch.Tensor.tolist) if options.json else ""
                say_at_once(plain or state_in_words(state))
    except ValueError as error:
        raise ParamError(reason_of(error)) from error
    except RuntimeError as error:
        raise NeuroloomError(
            f"{offer.name} failed: {reason_of(error)}.", node_id=program.node_of(error)
        ) from error


def load_weights_of(model: Any, place: Path, read: Callable[[Path], Any]) -> Path:
    """Give a model the weights of a run or a file, which is returned.

    Errors: `TrainingError` where they are not this model's. What a layer has learned may have another size
    than in a fresh model, such as the examples that an estimator keeps, so the model itself says what fits.
    """
    from engine.runs.checkpoints import weights_file

    path = weights_file(place)
    weights = read(path)
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise TrainingError(
            f"The weights in {path} belong to another model: its layers have other names or sizes.",
            fix="Take the project.nloom that is stored with the run.",
        ) from error
    return path
