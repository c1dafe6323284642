"""Procedures as Python: a function each, and the subcommands of a script.

The application runs the same functions: `compile_procedure` executes the text that an export carries in the
names of the running program.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from engine.catalogue import Data, Source
from engine.catalogue import Layer as LayerType
from engine.catalogue.emitter import build, drawn
from engine.catalogue.identifiers import NameBook
from engine.catalogue.params import ParamSpec
from engine.catalogue.symbols import Expr, lift, name
from engine.data.portable import names_read, portable_source
from engine.data.text.token_names import OPTION, vocabularies
from engine.emit.entry import DEVICE, listed
from engine.emit.inline import beside, consumer_of, inline, needed_by
from engine.emit.measuring import column_of
from engine.emit.model import Assembly, Place, blamed
from engine.emit.names import LIBRARY, module_paths
from engine.emit.statements import (
    BLANK,
    WIDTH,
    Statement,
    compiled,
    nested,
    printed,
    quoted,
    text_of,
    tree,
    under,
)
from engine.errors import EmitError
from engine.procedures.declare import (
    ABOUT_ROWS,
    FirstWeight,
    Function,
    Layer,
    LayerPaths,
    Model,
    Offer,
    State,
    Tokens,
    Value,
)
from engine.procedures.rows import as_many, keeping, rows_of, state_as_json, state_in_words, weights_of

if TYPE_CHECKING:
    from engine.emit.program import Program

TOKENISERS = "TOKENISERS"
TYPES = {"int": "int", "float": "float", "ints": "int", "floats": "float", "choice": "str", "text": "str"}
CALLED_BY_SCRIPT: tuple[Callable[..., Any], ...] = (rows_of, state_as_json, state_in_words, weights_of)


def carried_by(offers: Sequence[Offer]) -> list[Callable[..., Any]]:
    """The functions of ours that the procedures of a script call."""
    loops: list[Callable[..., Any]] = [one.procedure.loop for one in offers]
    names = [keeping] if any(_has(one, Tokens) for one in offers) else []
    rows = [as_many] if any(_one_for_all(one) for one in offers) else []
    return [*loops, *rows, *CALLED_BY_SCRIPT, *names] if offers else []


def function_lines(made: Assembly, offer: Offer, function: str) -> list[Statement]:
    """The function of a procedure: its rows as the loop needs them, then the loop."""
    parts = offer.bound.parts
    wires = [part.wire for part in parts.values() if isinstance(part, Value)]
    inner = {wire: one for wire in wires if not _ends(made, wire) and (one := consumer_of(made, wire))}
    computed = inline(made, list(inner.values()), None, beside(made, inner))
    body = list(computed.lines)
    arguments: list[str] = []
    for title, part in parts.items():
        match part:
            case Layer():
                arguments.append(f"model.{module_paths(made)[part.node_id]}")
            case Model():
                arguments.append("model")
            case LayerPaths():
                paths = module_paths(made)
                items = [f"{quoted(key)}: {quoted(paths[one])}" for key, one in part.names.items()]
                arguments.append(f"{{{', '.join(items)}}}")
            case FirstWeight():
                arguments.append("next(model.parameters())")
            case Value():
                inside = part.wire in inner or isinstance(made.book.types[part.wire[0]], Data)
                found = computed.at(part.wire) if inside else _answer(made, part.wire, {})
                arguments.append(str(found))
            case Function():
                called = computed.names.give(title)
                body += _nested(made, part, called)
                arguments.append(called)
            case Tokens():
                arguments.append(TOKENISERS)
            case _:
                arguments.append(str(lift(part)))
    loop = offer.procedure.loop.__name__
    body.append(Statement(f"yield from {loop}({', '.join([*arguments, 'draws=draws', '**options'])})"))
    head = (
        f"def {function}(model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any) "
        "-> Iterator[dict[str, Any]]:"
    )
    doc = Statement(f'"""{plain_text_of(offer.procedure.doc())}"""')
    return [Statement("@torch.no_grad()"), under(head, [doc, *body])]


def plain_text_of(text: str) -> str:
    """A sentence of ours that may stand in a docstring."""
    return text.replace("\\", "/").replace('"', "'")


def _ends(made: Assembly, wire: Place) -> bool:
    """Whether a value is an answer of the model that no layer of it reads."""
    behind = [link.target for link in made.graph.outgoing(wire[0]) if link.source_port == wire[1]]
    return wire in made.results and not any(isinstance(made.book.types[one], LayerType) for one in behind)


def _nested(made: Assembly, part: Function, called: str) -> list[Statement]:
    """A function in a procedure's own: a wire's value as it hangs on another's."""
    column = isinstance(made.book.types[part.given[0]], Data)
    book = NameBook(outer=made.names)
    variable = book.give(part.given[1] if column else "code")
    others = {wire: book.give(made.graph.node(wire[0]).name or wire[1]) for wire in part.also}
    if part.wire in made.results and {part.given, *others} <= made.arguments.keys():
        lines: list[Statement] = []
        value = _answer(made, part.wire, {part.given: variable, **others})
        reads = any(place not in {part.given, *others} for place in made.arguments)
    else:
        consumer = consumer_of(made, part.wire)
        if consumer is None:
            raise EmitError("What this procedure computes is not an answer of the model.")
        given = {part.given: variable, **others}
        known = {**beside(made, {part.wire: consumer}, given), **given}
        computed = inline(made, [consumer], None, known)
        lines, value = computed.lines, computed.at(part.wire)
        before = needed_by(made, [consumer], known)
        reads = any(isinstance(made.book.types[one], (Data, Source)) for one in before)
    if part.last is not None:
        value = value[(*[slice(None)] * part.last, -1)]
    takes = ", ".join(f"{one}: Tensor" for one in (variable, *others.values()))
    if reads and not part.by_row:
        takes += ", batch: dict[str, Tensor] = batch"
        lines = [Statement(f"as_many(batch, len({variable}))", target="batch"), *lines]
    inside = [*lines, Statement(value, target="return")]
    return [BLANK, under(f"def {called}({takes}) -> Tensor:", inside), BLANK]


def _answer(made: Assembly, wire: Place, given: Mapping[Place, str]) -> Expr:
    """One of the model's answers to a batch, of which some columns are in variables."""
    if wire not in made.results:
        raise EmitError("What this procedure computes is not an answer of the model.", node_id=wire[0])
    some = next(iter(given.values()), None)
    arguments = []
    for place in made.arguments:
        source = made.book.types[place[0]]
        if place in given:
            arguments.append(name(given[place]))
        elif isinstance(source, Source):
            with blamed(place[0]):
                found = drawn(source, name(some) if some else column_of(_beside_drawn(made, place[0]), False))
            made.measured |= found.carries
            arguments.append(found)
        else:
            arguments.append(column_of(place, False))
    call = name("model")(*arguments)
    return call if len(made.results) == 1 else call[list(made.results).index(wire)]


def _beside_drawn(made: Assembly, source: str) -> Place:
    """A column that has as many rows as a source draws values."""
    data = made.streams.beside(source)[0]
    return data, made.columns(data)[0].name


# -- in a script


def procedure_parts(
    made: Assembly,
    offers: Sequence[Offer],
    holds: Sequence[str],
    home: str,
    threads: int | None,
    safe: bool = False,
) -> list[list[Statement]]:
    """What a script has for its procedures: a function each, their options, and what runs them.

    Where it comes with `safe` weights, in the format of safetensors, they are read as well as its own.
    """
    if not offers:
        return []
    functions, parts = procedure_functions(made, offers)
    table = ["PROCEDURES: dict[str, tuple[Callable[..., Any], dict[str, dict[str, Any]]]] = {"]
    for one in offers:
        table.append(f'    "{one.name}": ({functions[one.name]}, {{')
        table += [text for spec in one.options for text in _option(spec)]
        table.append("    }),")
    reads = any(reads_rows(part) for part in parts)
    parts.append(nested([*table, "}"]))
    parts.append(_run_lines(made, offers, holds, home, threads, reads, safe))
    return parts


def reads_rows(function: Sequence[Statement]) -> bool:
    """Whether a procedure's function reads the rows of data that it is given."""
    parsed = ast.parse(text_of(line.plain for line in printed(function)))
    names = [node for node in ast.walk(parsed) if isinstance(node, ast.Name)]
    return any(node.id == "batch" and isinstance(node.ctx, ast.Load) for node in names)


def procedure_functions(
    made: Assembly, offers: Sequence[Offer]
) -> tuple[dict[str, str], list[list[Statement]]]:
    """The names of the functions of procedures, by those of the procedures, and the functions."""
    functions = {one.name: made.names.give(one.name) for one in offers}
    parts = [function_lines(made, one, functions[one.name]) for one in offers]
    if any(_has(one, Tokens) for one in offers):
        about = "in their order, as they are learned from the data"
        parts.insert(0, [Statement(f"{TOKENISERS}: list[Any] = []  # {about}")])
    return functions, parts


def started_by(offers: Sequence[Offer]) -> list[Statement]:
    """The end of a script: training, or the procedure that the command line names."""
    return tree(STARTED, procedures=bool(offers))


STARTED = """
if __name__ == "__main__":
    main()  #: STARTED  #? not procedures
    if sys.argv[1:] and sys.argv[1] in PROCEDURES:  #? procedures
        run(sys.argv[1], sys.argv[2:])
    else:  #? procedures
        main()  #: STARTED
"""


def _option(spec: ParamSpec) -> list[str]:
    """What argparse is told of an option, as an entry of a dict."""
    found: list[str] = []
    if spec.kind == "bool":
        found.append('"action": argparse.BooleanOptionalAction')
    else:
        found.append(f'"type": {TYPES[spec.kind]}')
        if spec.kind in ("ints", "floats"):
            found.append('"nargs": "+"')
        if spec.choices:
            found.append(f'"choices": [{", ".join(quoted(one) for one in spec.choices)}]')
    default = quoted(spec.default) if isinstance(spec.default, str) else repr(spec.default)
    found.append(f'"default": {default}')
    about = f'"help": {quoted(plain_text_of(spec.doc).replace("%", "%%"))}'
    whole = f'        "{spec.flag}": {{{", ".join([*found, about])}}},'
    if len(whole) <= WIDTH:
        return [whole]
    pad = " " * 12
    joined = f"{pad}{', '.join(found)},"
    first = [joined] if len(joined) <= WIDTH else [f"{pad}{one}," for one in found]
    return [f'        "{spec.flag}": {{', *first, f"{pad}{about},", "        },"]


def shown_split(made: Assembly) -> str:
    """The split whose examples a procedure takes: validation, or training where nothing is held out."""
    return "validation" if "validation" in made.splits else "train"


def _run_lines(
    made: Assembly,
    offers: Sequence[Offer],
    holds: Sequence[str],
    home: str,
    threads: int | None,
    reads: bool,
    safe: bool,
) -> list[Statement]:
    learner = next((found for one in offers if (found := learner_of(made, one))), "")
    first = _rows_of(offers[0]) if offers else [0]
    return tree(
        RUN,
        holds=bool(holds) and (reads or bool(learner)),
        reads=reads,
        safe=safe,
        kind=quoted("as --save writes them" + (", or .safetensors" if safe else "")),
        split=quoted(shown_split(made)),
        splits=f"[{', '.join(map(quoted, made.splits))}]",
        learns=bool(learner) and not reads,
        batch="batch" if reads else "{}",
        home=home,
        what=quoted("folder that holds " + listed(holds).replace("%", "%%")) if holds else "",
        device=DEVICE,
        several=threads is not None,
        threads=threads,
        learner=learner,
        streams=reads and len(made.streams) > 1,
        single=reads and len(made.streams) == 1,
        tokenisers=TOKENISERS,
        given="args.data, args.device" if holds else "args.device",
        rows=first,
        others=_other_rows(offers, first),
    )


RUN = '''
def run(name: str, words: Sequence[str]) -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    procedure, options = PROCEDURES[name]
    parser = argparse.ArgumentParser(prog=f"{Path(__file__).name} {name}", description=procedure.__doc__)
    parser.add_argument("--weights", type=Path, required=True, help=$kind)
    parser.add_argument("--data", type=Path, default=$home, help=$what)  #? holds
    parser.add_argument("--split", default=$split, choices=$splits)  #? reads
    parser.add_argument("--rows", type=int, nargs="+", default=$rows, help="of the split, from 0")  #? reads
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = $device
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    own = [parser.add_argument(option, **facts).dest for option, facts in options.items()]
    <others>
    args = parser.parse_args(words)

    torch.set_num_threads($threads)  #: THREADS  #? several
    load.__globals__["$learner"] = keeping($learner, $tokenisers)  #? learner
    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(weights_of(args.weights))  #? safe
        model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))  #? not safe
        load($given)  # learns the tokens  #? learns
        columns = load($given)[args.split]  #? single
        columns = as_long(load($given)[args.split])  #? streams
        batch = rows_of(columns, args.rows, None)  #? reads
        torch.manual_seed(args.seed)  #: SEEDED
        draws = torch.Generator().manual_seed(args.seed)
        for state in procedure(model, $batch, draws, **{name: vars(args)[name] for name in own}):
            print(json.dumps(state_as_json(state)) if args.json else state_in_words(state), flush=True)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped\\n")
    except (OSError, ValueError) as error:
        parser.error(str(error))
'''


def _rows_of(offer: Offer) -> list[int]:
    """The examples that a procedure begins with."""
    rows = next((spec.default for spec in offer.params if spec.name == "rows"), (0,))
    return [int(str(one)) for one in rows] if isinstance(rows, tuple) else [0]


def _other_rows(offers: Sequence[Offer], usual: list[int]) -> list[Statement]:
    """What procedures that begin with other examples than the `usual` are told."""
    found = []
    for one in offers:
        if (rows := _rows_of(one)) != usual:
            other = Statement(f"parser.set_defaults(rows={rows})")
            found.append(under(f'if name == "{one.name}":', [other]))
    return found


# -- tokens


def _one_for_all(offer: Offer) -> bool:
    """Whether a function of it takes the first row for all that it is asked of."""
    return any(isinstance(part, Function) and not part.by_row for part in offer.bound.parts.values())


def _has(offer: Offer, kind: type) -> bool:
    return any(isinstance(part, kind) for part in offer.bound.parts.values())


def _learning(made: Assembly) -> Data | None:
    """The data node that learns tokens."""
    return next((data for _, data in made.sources() if data.learned_key() is not None), None)


def learner_of(made: Assembly, offer: Offer) -> str:
    """The name of the function that learns the tokens which a procedure names; empty where it names none."""
    data = _learning(made)
    if not _has(offer, Tokens) or data is None:
        return ""
    loader = build(data, "data", {}).loader
    learn = loader[1].get(OPTION) if loader is not None else None
    return getattr(learn, "__name__", "")


def _tokenisers(made: Assembly) -> list[Any]:
    """The tokenisers that were learned when the data were last read."""
    data = _learning(made)
    key = data.learned_key() if data is not None else None
    return [one.made for one in vocabularies(key)] if key is not None else []


# -- in the application


class Compiled:
    """A procedure of a program, ready to run: the same text that an exported script has of it."""

    def __init__(self, program: Program, offer: Offer) -> None:
        made = program.assembly
        self.offer = offer
        lines = printed(function_lines(made, offer, "procedure"))
        carried = portable_source([offer.procedure.loop, as_many, *made.measured])
        self.text = "\n\n\n".join([*carried, "\n".join(line.plain for line in lines)])
        tree = ast.parse(self.text)
        used = names_read(tree) if tree.body else ()
        used = tuple(dict.fromkeys(name for part in tree.body for name in names_read(part))) or used
        heads = [LIBRARY[one] for one in used if one in LIBRARY]
        names = dict(program.names)
        names[TOKENISERS] = _tokenisers(made)
        text = "\n".join(["from __future__ import annotations", *dict.fromkeys(heads), "", self.text])
        exec(compiled(text, f"<procedure {offer.name}>"), names)
        self._run: Callable[..., Iterator[State]] = names["procedure"]

    def states(
        self, model: nn.Module, batch: Mapping[str, Tensor], values: Mapping[str, Any], seed: int = 0
    ) -> Iterator[State]:
        """The states one by one, for rows of data and values of the parameters; the model in evaluation mode.

        Errors: `ParamError` for values that the procedure does not take.
        """
        known = self.offer.checked(values)
        options = {name: value for name, value in known.items() if name not in ABOUT_ROWS}
        draws = torch.Generator().manual_seed(seed)
        return self._run(model, batch, draws, **options)
