"""Where a layer looks: attention of each head, and the table of its positions.

A layer is seen where it holds an `nn.MultiheadAttention` (inside `nn.TransformerEncoderLayer` too), a module
that splits its input into queries, keys and values, one whose method `attention_weights` gives for its input
weights `(N, heads, queries, keys)` and a mask, or one of any other make with an attribute `attention`: the
weights of its last forward pass, and, if it bars keys, `attention_mask`, True where a query may not look.
Positions are a tensor `(T, d)` in an attribute `positions` or in a parameter, buffer or embedding whose name
speaks of positions.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.catalogue import Data
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.inputs import arriving_at, drawn
from engine.look.pixels import patches_behind
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, evaluating

MOST_NUMBERS = 50_000
MOST_POSITIONS = 200
_SIGNATURE = inspect.signature(nn.MultiheadAttention.forward)


@dataclass(frozen=True, slots=True)
class Attention:
    """The weights `(heads, queries, keys)` of one example, and `barred` `(queries, keys)` where keys are."""

    name: str
    weights: Tensor
    barred: Tensor | None = None
    layer: nn.Module | None = None
    itself: bool = True  # whether the steps read their own sequence


@probe_kind("attention", every=0.5)
def attention(look: Look, probe: Probe) -> Taken | None:
    """The attention `(heads, queries, keys)` of the pinned example, float16; rows sum to 1.

    `detail` is the number of the module where the layer holds several, or stands in a block that is repeated
    (`modules`). Long sequences are in blocks of `block` tokens: the mean over queries, the sum over keys.
    `barred` is a mask of the same places. Steps that are patches have the facts of `on_image`.
    """
    layers = look.repeats(probe.node_id)
    if not layers:
        return None
    run = partial(look.values, (), look.batch(look.example, 1))
    found = list({one.name: one for one in reversed(attentions(layers, run))}.values())[::-1]
    if not found:
        raise NeuroloomError("No attention was computed for this example.", node_id=probe.node_id)
    shown = found[min(int(probe.detail[0]) if probe.detail else 0, len(found) - 1)]
    heads, queries, keys = shown.weights.shape
    block = 1
    while heads * -(-queries // block) * -(-keys // block) > MOST_NUMBERS:
        block += 1
    weights, barred = _pooled(shown.weights, shown.barred, block)
    names = _tokens(look, probe.node_id)
    facts: dict[str, Any] = {
        "modules": tuple(one.name for one in found),
        "barred": None if barred is None else barred.cpu().numpy(),
        "block": block,
        "size": (queries, keys),
        "queries": _named(names, queries, last=True) if block == 1 else (),
        "keys": _named(names, keys, last=False) if block == 1 else (),
        "example": look.example,
        "split": look.split,
        **(on_image(look, probe.node_id) if block == 1 else {}),
    }
    return weights.to(torch.float16).cpu().numpy(), facts


@probe_kind("positions", every=1.0)
def positions(look: Look, probe: Probe) -> Taken | None:
    """The table of positions `(T, d)`, at most 200 × 200; `likeness` `(T, T)` is the cosine of each two.

    `grid` is how the positions of patches lie on the image: rows, columns, and how many come before them.
    """
    module = look.module(probe.node_id)
    table = None if module is None else position_table(module)
    if table is None:
        return None
    whole = table.detach().float()
    shown = whole[:MOST_POSITIONS]
    unit = F.normalize(shown, dim=1)
    grid = patches_behind(look.program.project, look.program.book, probe.node_id)
    facts: dict[str, Any] = {"likeness": (unit @ unit.T).cpu().numpy(), "size": tuple(whole.shape)}
    facts["grid"] = (
        None if grid is None or len(shown) < len(whole) else (grid.rows, grid.columns, grid.before)
    )
    return shown[:, :MOST_POSITIONS].cpu().numpy(), facts


def on_image(look: Look, node_id: str) -> dict[str, Any]:
    """`image`, the pinned example `(H, W)` or `(H, W, 3)`, and `grid`, how the steps that arrive lie on it.

    A grid is the rows and columns of patches, and how many steps come before them. Empty for other steps.
    """
    grid = patches_behind(look.program.project, look.program.book, node_id)
    if grid is None:
        return {}
    image = arriving_at(look, grid.cut_by, look.batch(look.example, 1))[0]
    return {"image": drawn(image), "grid": (grid.rows, grid.columns, grid.before)}


def attentions(layers: Mapping[str, nn.Module], run: Callable[[], object]) -> list[Attention]:
    """Each call of the attention inside layers, for the first example of what `run` sends through, in order.

    Behind these is that of modules of other make, of their last call. Names are those of modules; where there
    are several layers, the number of the layer stands before.
    """
    inside: dict[Any, str] = {}
    for number, layer in enumerate(layers.values(), 1):
        before = f"repeat {number}" if len(layers) > 1 else ""
        for name, part in layer.named_modules():
            inside.setdefault(part, ".".join(word for word in (before, name) if word))
    calls: list[tuple[str, nn.Module, tuple[Any, ...], dict[str, Any]]] = []
    handles = []
    own = [
        (name, part)
        for part, name in inside.items()
        if isinstance(getattr(part, "attention", 0), Tensor | None)
    ]
    for _, part in own:
        part.attention = None
    for part, name in inside.items():
        if isinstance(part, nn.MultiheadAttention) or _tells(part):

            def note(
                layer: nn.Module, given: tuple[Any, ...], named: dict[str, Any], name: str = name
            ) -> None:
                calls.append((name, layer, given, named))

            handles.append(part.register_forward_pre_hook(note, with_kwargs=True))
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    found = [_again(*call) for call in calls]
    for name, part in own:
        if isinstance(part.attention, Tensor):
            weights = part.attention.detach()
            weights = weights[:, None] if weights.dim() == 3 else weights
            barred = getattr(part, "attention_mask", None)
            barred = barred.expand(weights.shape[-2:]) if isinstance(barred, Tensor) else None
            found.append(Attention(name, weights[0].float(), barred, part, itself=False))
        part.attention = None
    return found


def position_table(module: nn.Module) -> Tensor | None:
    """The tensor `(T, d)` that says where a token stands, None where there is none."""
    tensors = {
        **{
            f"{name}.": part.weight for name, part in module.named_modules() if isinstance(part, nn.Embedding)
        },
        **dict(module.named_parameters()),
        **dict(module.named_buffers()),
    }
    own = getattr(module, "positions", None)
    if isinstance(own, Tensor):
        tensors = {"positions": own, **tensors}
    for name, found in tensors.items():
        table = found[0] if found.dim() == 3 and len(found) == 1 else found
        if "pos" in name.lower() and table.dim() == 2 and table.is_floating_point():
            return table
    return None


def _tells(layer: nn.Module) -> bool:
    """Whether a layer computes its weights when it is asked."""
    splits = callable(getattr(layer, "split", None)) and hasattr(layer, "causal")
    return splits or callable(getattr(layer, "attention_weights", None))


def weights_of(layer: Any, x: Tensor, *given: Any, **named: Any) -> tuple[Tensor, Tensor | None]:
    """How much each step reads of each other, (N, heads, T, S), and what may not be read.

    `layer` splits sequences into queries, keys and values (N, heads, T, D); `given` is as in its call.
    """
    if hasattr(layer, "added"):
        return _over_memory(layer, x, *given, **named)
    query, key, _ = layer.split(x)
    scores = query @ key.mT / math.sqrt(query.shape[3])
    if hasattr(layer, "readable"):
        barred = ~layer.readable(x, *given, **named)
        return scores.masked_fill(barred, -torch.inf).softmax(3), barred
    if not layer.causal:
        return scores.softmax(3), None
    later = torch.ones(scores.shape[2:], dtype=torch.bool, device=x.device).triu(1)
    return scores.masked_fill(later, -torch.inf).softmax(3), later


def _over_memory(
    layer: Any, x: Tensor, memory: Tensor | None = None, lengths: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    query, key, _ = layer.split(x, x if memory is None else memory)
    added = layer.added(query, key, lengths)
    if hasattr(layer, "scores"):
        scores = layer.scores(query, key)
    else:
        scale = 1 / math.sqrt(query.shape[3]) if layer.scale is None else layer.scale
        scores = query @ key.mT * scale
    if added is None:
        return scores.softmax(3), None
    return (scores + added).softmax(3), added == -torch.inf


def _again(name: str, layer: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> Attention:
    """The weights that a call of an attention layer used."""
    if _tells(layer):
        with torch.no_grad():
            tell: Any = getattr(layer, "attention_weights", partial(weights_of, layer))
            found, shut = tell(*given, **named)
        if shut is not None:  # of the first example, whose heads all see alike
            shut = shut.reshape(-1, *shut.shape[-2:])[0]
        memory = named.get("memory", given[1] if len(given) > 1 and hasattr(layer, "added") else None)
        return Attention(name, found[0].float(), shut, layer, itself=memory is None)
    assert isinstance(layer, nn.MultiheadAttention)
    bound = _SIGNATURE.bind(layer, *given, **named).arguments
    mask, padding = bound.get("attn_mask"), bound.get("key_padding_mask")
    bound.pop("self")
    with torch.no_grad(), evaluating(layer):
        _, weights = layer.forward(**{**bound, "need_weights": True, "average_attn_weights": False})
    assert weights is not None  # they were asked for
    one = weights.detach().float()
    one = one[0] if one.dim() == 4 else one
    barred: Tensor | None = None
    for part in (mask, None if padding is None else padding.reshape(-1, padding.shape[-1])[:1]):
        if part is not None:
            part = part[0] if part.dim() == 3 else part
            closed = part if part.dtype == torch.bool else torch.isneginf(part)
            barred = closed if barred is None else barred | closed
    itself = bound["query"] is bound["key"]
    return Attention(name, one, None if barred is None else barred.expand(one.shape[1:]), layer, itself)


def _pooled(weights: Tensor, barred: Tensor | None, block: int) -> tuple[Tensor, Tensor | None]:
    if block == 1:
        return weights, barred
    heads, queries, keys = weights.shape
    down, across = -(-queries // block), -(-keys // block)
    pad = (0, across * block - keys, 0, down * block - queries)
    blocks = F.pad(weights, pad).reshape(heads, down, block, across, block).sum((2, 4))
    counts = torch.full((down,), block, device=weights.device)
    counts[-1] = queries - (down - 1) * block
    if barred is not None:
        barred = F.pad(barred, pad, value=True).reshape(down, block, across, block).all(3).all(1)
    return blocks / counts[:, None], barred


def _tokens(look: Look, node_id: str) -> list[tuple[str, ...]]:
    """The tokens of the pinned example, one tuple for each sequence of numbered tokens that leads here."""
    found = []
    for column in look.input_columns(node_id):
        value = look.batch(look.example, 1)[column]
        if value.dim() == 2 and not value.is_floating_point():
            found.append(named_tokens(look, column, value[0]))
    return found


def named_tokens(look: Look, column: str, tokens: Tensor) -> tuple[str, ...]:
    """What numbered tokens are called, by the classes of the column that they come from."""
    names: tuple[str, ...] = ()
    for made in look.program.book.types.values():
        about = made.column(column) if isinstance(made, Data) else None
        names = about.classes if about is not None else names
    return tuple(names[token] if 0 <= token < len(names) else str(token) for token in tokens.tolist())


def _named(names: list[tuple[str, ...]], count: int, *, last: bool) -> tuple[str, ...]:
    fitting = [one for one in names if len(one) == count]
    return () if not fitting else fitting[-1 if last else 0]
