"""Procedures as Python: a function each, and the subcommands of a script.

The application runs the same functions: `compile_procedure` executes the text that an export carries in the
names of the running program.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from engine.catalogue import Data, Source
from engine.catalogue import Layer as LayerType
from engine.catalogue.emitter import drawn
from engine.catalogue.identifiers import NameBook
from engine.catalogue.params import ParamSpec
from engine.catalogue.symbols import Expr, lift, name
from engine.data.portable import names_read, portable_source
from engine.data.text.token_names import TOKENISERS, vocabularies
from engine.emit.inline import beside, consumer_of, inline, needed_by
from engine.emit.measuring import column_of
from engine.emit.model import Assembly, Place, blamed
from engine.emit.names import LIBRARY, module_paths
from engine.emit.statements import BLANK, Statement, compiled, printed, quoted, text_of, tree, under
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
from engine.procedures.reading import UnnamedTokens
from engine.procedures.rows import as_many, state_in_words, weights_of

if TYPE_CHECKING:
    from engine.emit.program import Program

TYPES = {"int": "int", "float": "float", "ints": "int", "floats": "float", "choice": "str", "text": "str"}
MOST_GIVEN = 60  # letters of a procedure's options, given one by one
CALLED_BY_SCRIPT: tuple[Callable[..., Any], ...] = (state_in_words, weights_of)


def carried_by(offers: Sequence[Offer]) -> list[Callable[..., Any]]:
    """The functions of ours that the procedures of a script call."""
    loops: list[Callable[..., Any]] = [one.procedure.loop for one in offers]
    names = [UnnamedTokens] if any(names_tokens(one) for one in offers) else []
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
            case Function() if _is_model(made, part):
                arguments.append("model")
            case Function():
                lines, called = _nested(made, part, computed.names, title)
                body += lines
                arguments.append(called)
            case Tokens(last=last):
                named = f"{TOKENISERS}[{-1 if last else 0}]" if _learning(made) else "UnnamedTokens()"
                arguments.append(named)
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


def _is_model(made: Assembly, part: Function) -> bool:
    """Whether a function is the model's own: its only answer to its only input."""
    whole = [*made.arguments] == [part.given] and [*made.results] == [part.wire]
    return whole and part.last is None and not part.also and not part.latest


def _nested(made: Assembly, part: Function, names: NameBook, title: str) -> tuple[list[Statement], str]:
    """A function in a procedure's own, and its name: a wire's value as it hangs on another's.

    Where a layer is that function, there are no lines.
    """
    column = isinstance(made.book.types[part.given[0]], Data)
    book = NameBook(outer=made.names)
    variable = book.give(part.given[1] if column else "code")
    others = {wire: book.give(_called(made, wire)) for wire in part.also}
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
    if part.latest:
        takes += ", parents: Tensor | None = None"
        lines = [Statement(f"{variable}[:, -{part.latest}:]", target=variable), *lines]
    if reads and not part.by_row:
        takes += ", batch: dict[str, Tensor] = batch"
        lines = [Statement(f"as_many(batch, len({variable}))", target="batch"), *lines]
    inside = [*lines, Statement(value, target="return")]
    if lines and lines[-1].target == str(value):
        inside = [*lines[:-1], replace(lines[-1], target="return")]
    if len(inside) == 1 and takes == f"{variable}: Tensor" and (layer := _called_with(inside[0], variable)):
        return [], layer
    called = names.give(title)
    return [BLANK, under(f"def {called}({takes}) -> Tensor:", inside), BLANK], called


def _called_with(one: Statement, variable: str) -> str:
    """What a statement calls with a variable alone, where it returns that: `model.generator`, or ""."""
    match ast.parse(str(one.code), mode="eval").body:
        case ast.Call(func=ast.Attribute() as found, args=[ast.Name(id=name)], keywords=[]):
            return ast.unparse(found) if name == variable else ""
    return ""


def _called(made: Assembly, wire: Place) -> str:
    """What to call a value: a column by its own name, another by its node's."""
    column = isinstance(made.book.types[wire[0]], Data)
    return wire[1] if column else made.graph.node(wire[0]).name or wire[1]


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
    made: Assembly, offers: Sequence[Offer], holds: Sequence[str], threads: int | None, safe: bool = False
) -> list[list[Statement]]:
    """What a script has for its procedures: a function each, and one that runs them.

    Where it comes with `safe` weights, in the format of safetensors, they are read as well as its own.
    """
    if not offers:
        return []
    functions, parts = procedure_functions(made, offers)
    return [*parts, _run_lines(made, offers, functions, holds, threads, any(map(reads_rows, parts)), safe)]


def reads_data(parts: Sequence[Sequence[Statement]], keeps: bool) -> bool:
    """Whether procedures need the data: their functions read rows, or they name tokens that are learned."""
    return keeps or any(map(reads_rows, parts))


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
    return functions, [function_lines(made, one, functions[one.name]) for one in offers]


def started_by(offers: Sequence[Offer]) -> list[Statement]:
    """The end of a script: training, or the procedure that the command line names."""
    names = ", ".join(quoted(one.name) for one in offers)
    return tree(STARTED, names=names, any=bool(offers), one=len(offers) == 1, several=len(offers) > 1)


STARTED = """
if __name__ == "__main__":
    main()  #: STARTED  #? not any
    if sys.argv[1:2] == [$names]:  #? one
        run()
    if sys.argv[1:] and sys.argv[1] in ($names):  #? several
        run(sys.argv[1])
    else:  #? any
        main()  #: STARTED
"""


def _option(spec: ParamSpec) -> str:
    """The call by which argparse is told of an option."""
    given = [quoted(spec.flag)]
    if spec.kind == "bool":
        given.append("action=argparse.BooleanOptionalAction")
    elif TYPES[spec.kind] != "str":
        given.append(f"type={TYPES[spec.kind]}")
    if spec.kind in ("ints", "floats"):
        given.append('nargs="+"')
    if spec.choices:
        given.append(f"choices=[{', '.join(quoted(one) for one in spec.choices)}]")
    default = quoted(spec.default) if isinstance(spec.default, str) else repr(spec.default)
    about = quoted(plain_text_of(spec.doc).replace("%", "%%"))
    return f"parser.add_argument({', '.join([*given, f'default={default}', f'help={about}'])})"


def _options(offers: Sequence[Offer]) -> list[Statement]:
    """What argparse is told of the procedures' options: those of all, or of the one that is named."""
    if _alike(offers):
        return [Statement(_option(spec)) for spec in offers[0].options]
    lines = [Statement("own: list[argparse.Action] = []")]
    for one in offers:
        if one.options:
            each = [Statement(f"{_option(spec)},") for spec in one.options]
            lines.append(under(f'if name == "{one.name}":', [under("own = [", each), Statement("]")]))
    return lines


def _alike(offers: Sequence[Offer]) -> bool:
    """Whether all procedures take the same options."""
    return len({tuple(_option(spec) for spec in one.options) for one in offers}) == 1


def shown_split(made: Assembly) -> str:
    """The split whose examples a procedure takes: validation, or training where nothing is held out."""
    return "validation" if "validation" in made.splits else "train"


def _run_lines(
    made: Assembly,
    offers: Sequence[Offer],
    functions: Mapping[str, str],
    holds: Sequence[str],
    threads: int | None,
    reads: bool,
    safe: bool,
) -> list[Statement]:
    first, several = offers[0], len(offers) > 1
    rows = _rows_of(first)
    names = [spec.name for spec in first.options]
    given = ", ".join(f"{one}=args.{one}" for one in names)
    taken = ""
    if not _alike(offers):
        given = "**{one.dest: getattr(args, one.dest) for one in own}"
    elif len(given) > MOST_GIVEN:
        given, taken = "**taken", f"({', '.join(map(quoted, names))})"
    table = ", ".join(f"{quoted(one.name)}: {functions[one.name]}" for one in offers)
    head = "def run(name: str) -> None:" if several else "def run() -> None:"
    lines = tree(
        RUN,
        one=not several,
        several=several,
        table=table,
        name=first.name,
        procedure="procedure" if several else functions[first.name],
        reads=reads,
        safe=safe,
        kind=quoted("as --save writes them" + (", or .safetensors" if safe else "")),
        split=quoted(shown_split(made)),
        splits=f"[{', '.join(map(quoted, made.splits))}]",
        learns=keeps_tokens(made, offers) and not reads,
        few=threads is not None,
        threads=threads,
        streams=reads and len(made.streams) > 1,
        single=reads and len(made.streams) == 1,
        where="args.data, args.device" if holds else "args.device",
        rows=rows,
        taken=taken,
        options=[*_options(offers), *_other_rows(offers, rows)],
        given=", ".join(["model", "batch" if reads else "{}", "draws", *([given] if given else [])]),
    )
    return [under(head, lines)]


RUN = '''
"""Run a procedure over trained weights, and print its states one by one."""
procedure = {$table}[name]  #? several
parser = command_line($procedure.__doc__)
parser.prog += " $name"  #? one
parser.prog += f" {name}"  #? several
parser.add_argument("--weights", type=Path, required=True, help=$kind)
parser.add_argument("--split", default=$split, choices=$splits)  #? reads
parser.add_argument("--rows", type=int, nargs="+", default=$rows, help="of the split, from 0")  #? reads
<options>
args = parser.parse_args(sys.argv[2:])

torch.set_num_threads($threads)  #: THREADS  #? few
try:
    model = Model().to(args.device).eval()
    model.load_state_dict(weights_of(args.weights))  #? safe
    model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))  #? not safe
    load($where)  # learns the tokens  #? learns
    columns = load($where)[args.split]  #? single
    columns = as_long(load($where)[args.split])  #? streams
    batch = {name: column[args.rows] for name, column in columns.items()}  #? reads
    torch.manual_seed(args.seed)  #: SEEDED
    draws = torch.Generator().manual_seed(args.seed)
    taken = {name: getattr(args, name) for name in $taken}  #? taken
    for state in $procedure($given):
        told = json.dumps(state, default=Tensor.tolist) if args.json else state_in_words(state)
        print(told, flush=True)
except KeyboardInterrupt:
    parser.exit(130, f"{parser.prog}: stopped\\n")
except (OSError, ValueError, IndexError) as error:
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


def names_tokens(offer: Offer) -> bool:
    """Whether a procedure names tokens."""
    return any(isinstance(part, Tokens) for part in offer.bound.parts.values())


def keeps_tokens(made: Assembly, offers: Sequence[Offer]) -> bool:
    """Whether procedures name tokens that are learned from the data."""
    return _learning(made) is not None and any(names_tokens(one) for one in offers)


def _learning(made: Assembly) -> Data | None:
    """The data node that learns tokens."""
    return next((data for _, data in made.sources() if data.learned_key() is not None), None)


def _tokenisers(made: Assembly) -> list[Any]:
    """The tokenisers that were learned when the data were last read; one without names before."""
    data = _learning(made)
    key = data.learned_key() if data is not None else None
    found = [one.made for one in vocabularies(key)] if key is not None else []
    return found or [UnnamedTokens()]


# -- in the application


class Compiled:
    """A procedure of a program, ready to run: the same text that an exported script has of it."""

    def __init__(self, program: Program, offer: Offer) -> None:
        made = program.assembly
        self.offer = offer
        lines = printed(function_lines(made, offer, "procedure"))
        carried = portable_source([offer.procedure.loop, as_many, UnnamedTokens, *made.measured])
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
