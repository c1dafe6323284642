"""What the fast path changes in a script: a few plain lines, each of which the user can read and take out.

Which of them pay is measured in `engine.train.autotune`. `relu(max_pool(x))` is exact: it has the values and
gradients of `max_pool(relu(x))` to the last bit (but for the sign of a zero, which no later value shows), and
calls ReLU on a quarter of the numbers. Dropout from uniform numbers drops as many, but others.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.catalogue.symbols import Expr, F, carried
from engine.emit.optimise import FUSED
from engine.emit.passes import Change, Part, changed
from engine.emit.statements import WIDTH, Mark, Statement, quoted, tapped, tree, under

if TYPE_CHECKING:
    from engine.catalogue.emitter import NodeCode
    from engine.document.plan import Plan
    from engine.emit.model import Assembly

RELUS = ("F.relu", "torch.relu")
POOLS = ("F.max_pool1d", "F.max_pool2d", "F.max_pool3d")


@dataclass(frozen=True, slots=True)
class Fast:
    """The settings that a run, and its export, train fastest with; the default is the plain path.

    `autocast` is the kind of device whose products are taken in bfloat16, or "". `step` and `plain_step` are
    seconds a batch as measured on `computer`, 0 where nothing was measured.
    """

    late_relu: bool = False
    channels_last: bool = False
    fused: bool = False
    autocast: str = ""
    compiled: bool = False
    threads: int | None = None
    uniform_dropout: bool = False
    step: float = 0.0
    plain_step: float = 0.0
    computer: str = ""

    @property
    def times(self) -> float:
        """How many times as fast as the plain path a step is."""
        return self.plain_step / self.step if self.step else 1.0

    @property
    def exact(self) -> bool:
        """Whether these settings compute in the same precision as the plain path."""
        return not self.autocast

    def names(self) -> list[str]:
        """What was chosen, in words."""
        found = []
        if self.autocast:
            found.append("bfloat16 products")
        if self.channels_last:
            found.append("channels-last memory")
        if self.late_relu:
            found.append("ReLU behind max-pooling")
        if self.fused:
            found.append("fused optimiser")
        if self.uniform_dropout:
            found.append("quicker dropout")
        if self.compiled:
            found.append("compiled model")
        if self.threads is not None:
            found.append(f"{self.threads} thread{'s' if self.threads != 1 else ''}")
        return found

    def sentence(self) -> str:
        """What was chosen and what it brings, for the user."""
        if not self.names():
            return "Fast path: nothing was faster here than the plain path, which is used."
        return (
            f"Fast path: {', '.join(self.names())}. A step takes {1000 * self.step:.3g} ms instead of "
            f"{1000 * self.plain_step:.3g} ms: {self.times:.2g} times as fast."
        )

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "times": round(self.times, 3)}

    @classmethod
    def from_json(cls, found: object) -> Fast | None:
        """The settings that a run recorded; None where it recorded none."""
        if not isinstance(found, dict):
            return None
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in found.items() if name in known})

    def only(self, **changes: Any) -> Fast:
        """The same settings with some of them changed."""
        return replace(self, **changes)


def fusable(plan: Plan) -> bool:
    """Whether an objective of a plan has an optimiser with a kernel for all weights at once."""
    return any(one.optimiser.name in FUSED for one in plan.minimised)


# -- the graph


def rewrite(made: Assembly, fast: Fast) -> None:
    """Change the code of a graph and of the blocks in it as the settings say."""
    for one in (made, *(found.version.made for found in made.classes.finished)):
        if fast.late_relu:
            put_relu_late(one)
        if fast.uniform_dropout:
            put_uniform_dropout(one)


def put_uniform_dropout(made: Assembly) -> None:
    """Draw the masks of dropout from uniform numbers."""
    from engine.layers.noisy import UniformDropout

    for code in made.codes.values():
        for attribute, layer in code.modules.items():
            call = layer.tree
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "nn.Dropout":
                other = carried(UniformDropout)
                changed = ast.Call(other.tree, call.args, call.keywords)
                code.modules[attribute] = Expr(changed, layer.carries | other.carries)


def put_relu_late(made: Assembly) -> int:
    """Take ReLU after max-pooling instead of before it wherever only the pooling sees it; returns how often.

    In the twin a view of the first node still shows what its ReLU gives.
    """
    count = 0
    order = list(made.codes)
    for one in order:
        pair = _pooled_relu(made, one)
        if pair is not None:
            _exchange(made, one, *pair)
            count += 1
    return count


def _pooled_relu(made: Assembly, one: str) -> tuple[str, str, str] | None:
    """The port of a ReLU whose one reader is a max-pooling, that node and its port."""
    code = made.codes[one]
    if len(code.ports) != 1 or code.unpacks:
        return None
    (port, value) = next(iter(code.ports.items()))
    links = [link for link in made.graph.outgoing(one) if link.source_port == port]
    if (one, port) in made.results or len(links) != 1 or _argument(value, RELUS) is None:
        return None
    pool = links[0].target
    after = made.codes.get(pool)
    if after is None or len(after.ports) != 1 or after.unpacks:
        return None
    pool_port, pooled = next(iter(after.ports.items()))
    argument = _argument(pooled, POOLS)
    if not (isinstance(argument, ast.Name) and argument.id == made.variables[one, port]):
        return None
    inner = _argument(value, RELUS)
    bare = isinstance(inner, ast.Name)
    order = list(made.codes)
    if bare and order.index(pool) != order.index(one) + 1:
        return (
            None  # its line goes into the pooling's, and in between the name may come to mean another value
        )
    return port, pool, pool_port


def _exchange(made: Assembly, one: str, port: str, pool: str, pool_port: str) -> None:
    code, after = made.codes[one], made.codes[pool]
    value, pooled = code.ports[port], after.ports[pool_port]
    inner = _argument(value, RELUS)
    assert inner is not None
    before = Expr(inner, value.carries)
    seen = tapped(one, port, before, F.relu)
    if isinstance(inner, ast.Name):
        del code.ports[port]
        _set(after, pool_port, F.relu(_with_argument(pooled, before)))
        after.twins[pool_port] = tapped(pool, pool_port, F.relu(_with_argument(pooled, seen)))
    else:
        _set(code, port, before)
        code.twins[port] = seen
        _set(after, pool_port, F.relu(pooled))


def _set(code: NodeCode, port: str, value: Expr) -> None:
    code.ports[port] = value
    code.twins.pop(port, None)


def _argument(value: Expr, functions: Sequence[str]) -> ast.expr | None:
    """The first argument of a call of one of `functions`; None for any other expression."""
    call = value.tree
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in functions or not call.args:
        return None
    if any(word.arg == "return_indices" for word in call.keywords):
        return None
    return call.args[0]


def _with_argument(value: Expr, first: Expr) -> Expr:
    call = value.tree
    assert isinstance(call, ast.Call)
    return Expr(
        ast.Call(call.func, [first.tree, *call.args[1:]], call.keywords), value.carries | first.carries
    )


# -- the statements around it


def quickened(parts: Sequence[Part], fast: Fast, plain: bool, short: bool = False) -> list[list[Statement]]:
    """The parts of a script with the settings in them, its loop the `plain` one, a `short` one or neither.

    Errors: `EmitError`.
    """
    changes: dict[Mark, Change] = {Mark.MODEL: partial(_model, fast)}
    if fast.fused:
        changes[Mark.FUSABLE] = _fused
    if fast.threads is not None:
        setting = Statement(f"torch.set_num_threads({fast.threads})")
        changes |= {Mark.SEEDED: lambda one: [setting, one], Mark.THREADS: lambda _: []}
    if fast.autocast and (plain or short):
        changes[Mark.LOSS] = partial(_less_precise, fast)
    missing = [Mark.LOSS] if short else []  # in a loop of rules alone
    found = changed(parts, changes, optional=[Mark.THREADS, *missing])
    return found if plain or short else less_precise(found, fast)


def less_precise(parts: Sequence[Part], fast: Fast) -> list[list[Statement]]:
    """The steps of objectives with their losses computed in bfloat16, where the settings say so."""
    if not fast.autocast:
        return [list(part) for part in parts]
    return changed(parts, {Mark.FOUND: partial(_less_precise, fast)}, optional=[Mark.FOUND])


def _less_precise(fast: Fast, one: Statement) -> list[Statement]:
    return [under(f"with torch.autocast({quoted(fast.autocast)}, torch.bfloat16):", [one])]


def _fused(one: Statement) -> list[Statement]:
    """The optimiser, with one kernel for all weights."""
    assert isinstance(one.code, Expr)
    copied = ast.parse(str(one.code), mode="eval").body
    for call in ast.walk(copied):
        if isinstance(call, ast.Call) and ast.unparse(call.func).removeprefix("torch.optim.") in FUSED:
            call.keywords.append(ast.keyword("fused", ast.Constant(True)))
    return [replace(one, code=Expr(copied, one.code.carries))]


def _model(fast: Fast, one: Statement) -> list[Statement]:
    """The model, made to fit the settings."""
    return tree(
        MODEL,
        about=_measured(fast),
        measured=bool(fast.names() and fast.step),
        made=[one],
        channels_last=fast.channels_last,
        compiled=fast.compiled,
    )


MODEL = """
# $about  #? measured
<made>
model = model.to(memory_format=torch.channels_last)  #? channels_last
model.compile()  #? compiled
"""


def _measured(fast: Fast) -> str:
    on = f" on {fast.computer}" if fast.computer else ""
    text = f"Measured{on}: {1000 * fast.step:.3g} ms a step, {1000 * fast.plain_step:.3g} ms without"
    return text[: WIDTH - 6]
