"""How each operation of a small net is made of single numbers, with the derivatives of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from engine.look.layers.scalars import Tracer

Rule = Callable[["Tracer", str, Any, Mapping[str, Any]], list[int]]


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _gelu(x: float) -> tuple[float, float]:
    inside = 0.5 * (1 + math.erf(x / math.sqrt(2)))
    return x * inside, inside + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


# Each function of one number: what to call it, and its value and slope.
FUNCTIONS: dict[str, tuple[str, Callable[[float], tuple[float, float]]]] = {
    "relu": ("max(0, x)", lambda x: (max(0.0, x), float(x > 0))),
    "sigmoid": ("σ", lambda x: (_logistic(x), _logistic(x) * (1 - _logistic(x)))),
    "tanh": ("tanh", lambda x: (math.tanh(x), 1 - math.tanh(x) ** 2)),
    "gelu": ("GELU", _gelu),
    "silu": ("SiLU", lambda x: (x * _logistic(x), _logistic(x) * (1 + x * (1 - _logistic(x))))),
    "exp": ("exp", lambda x: (math.exp(x), math.exp(x))),
    "log": ("ln", lambda x: (math.log(x), 1 / x)),
    "softplus": ("softplus", lambda x: (max(x, 0.0) + math.log1p(math.exp(-abs(x))), _logistic(x))),
    "neg": ("-x", lambda x: (-x, -1.0)),
    "abs": ("|x|", lambda x: (abs(x), math.copysign(1.0, x) if x else 0.0)),
    "sqrt": ("√x", lambda x: (math.sqrt(x), 0.5 / math.sqrt(x))),
    "sin": ("sin", lambda x: (math.sin(x), math.cos(x))),
    "cos": ("cos", lambda x: (math.cos(x), -math.sin(x))),
    "sign": ("sign", lambda x: (float((x > 0) - (x < 0)), 0.0)),
    "reciprocal": ("1/x", lambda x: (1 / x, -1 / x**2)),
    "square": ("x²", lambda x: (x * x, 2 * x)),
}


def _elementwise(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    label, function = FUNCTIONS[name]
    made = []
    for place in _list(t.places(args[0])):
        value, slope = function(t.value(place))
        made.append(t.function(label, value, (place, slope)))
    return made


def _power(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    power = float(args[1])
    label = "x²" if power == 2 else f"x^{power:g}"
    return [
        t.function(label, t.value(at) ** power, (at, power * t.value(at) ** (power - 1)))
        for at in _list(t.places(args[0]))
    ]


def _pairs(t: Tracer, args: Any) -> list[tuple[int, int]]:
    one, other = (
        t.places(part if isinstance(part, Tensor) else torch.tensor(float(part), dtype=torch.float64))
        for part in args[:2]
    )
    left, right = one + torch.zeros_like(other), other + torch.zeros_like(one)
    return list(zip(_list(left), _list(right), strict=True))


def _plus(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    sign = (1.0 if name == "add" else -1.0) * float(kwargs.get("alpha", 1))
    label = "+" if sign == 1 else "-" if sign == -1 else f"+ {sign:g}·"
    return [
        t.function(label, t.value(a) + sign * t.value(b), (a, 1.0), (b, sign)) for a, b in _pairs(t, args)
    ]


def _times(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    return [t.product(a, b) for a, b in _pairs(t, args)]


def _over(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    found = []
    for a, b in _pairs(t, args):
        top, bottom = t.value(a), t.value(b)
        found.append(t.function("÷", top / bottom, (a, 1 / bottom), (b, -top / bottom**2)))
    return found


def _matrix(t: Tracer, one: Tensor, other: Tensor, begin: Sequence[Sequence[int]] = ()) -> list[int]:
    """Rows times columns, each a sum of products; `begin` has for each result what is added to it."""
    found: list[int] = []
    for row in one.tolist():
        for column in other.T.tolist():
            terms = [t.product(a, b) for a, b in zip(row, column, strict=True)]
            found.append(t.total([*terms, *(begin[len(found)] if begin else ())]))
    return found


def _mm(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    one, other = t.places(args[0]), t.places(args[1])
    if name == "mv":
        other = other[:, None]
    if name == "dot":
        one, other = one[None], other[:, None]
    if one.dim() == 2:
        return _matrix(t, one, other)
    return [place for a, b in zip(one, other, strict=True) for place in _matrix(t, a, b)]


def _addmm(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    one, other = t.places(args[1]), t.places(args[2])
    added = t.places(args[0]).expand(one.shape[0], other.shape[1])
    return _matrix(t, one, other, [[place] for place in _list(added)])


def _sum(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    places = t.places(args[0])
    axes = args[1] if len(args) > 1 and args[1] is not None else kwargs.get("dim")
    axes = list(range(places.dim())) if axes is None or axes == [] else axes
    axes = [axis % max(1, places.dim()) for axis in ([axes] if isinstance(axes, int) else axes)]
    kept = [axis for axis in range(places.dim()) if axis not in axes]
    rows = places.permute(*kept, *axes).reshape(math.prod([places.shape[axis] for axis in kept]), -1)
    scale = 1 / max(1, rows.shape[1]) if name == "mean" else 1.0
    return [t.total(row, scale) for row in rows.tolist()]


def _mse(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    squares = []
    for a, b in _pairs(t, args):
        away = t.function("-", t.value(a) - t.value(b), (a, 1.0), (b, -1.0))
        squares.append(t.function("x²", t.value(away) ** 2, (away, 2 * t.value(away))))
    return _reduced(t, squares, args[2] if len(args) > 2 else kwargs.get("reduction", 1))


def _reduced(t: Tracer, places: list[int], reduction: int) -> list[int]:
    if reduction == 0:
        return places
    return [t.total(places, 1 / len(places) if reduction == 1 else 1.0)]


def _log_softmax(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    places = t.places(args[0])
    axis = int(args[1]) % places.dim()
    rows = places.movedim(axis, -1)
    made = []
    for row in rows.reshape(-1, rows.shape[-1]).tolist():
        top = max(t.value(at) for at in row)
        powers = [
            t.function("exp", math.exp(t.value(at) - top), (at, math.exp(t.value(at) - top))) for at in row
        ]
        total = t.total(powers)
        if name == "_softmax":
            for at in powers:
                value, bottom = t.value(at), t.value(total)
                made.append(t.function("÷", value / bottom, (at, 1 / bottom), (total, -value / bottom**2)))
            continue
        logarithm = t.function("ln", math.log(t.value(total)), (total, 1 / t.value(total)))
        made += [
            t.function("-", t.value(at) - top - t.value(logarithm), (at, 1.0), (logarithm, -1.0))
            for at in row
        ]
    order = torch.tensor(made, dtype=torch.int64).reshape(rows.shape).movedim(-1, axis)
    return _list(order)


def _nll(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    rows, right = t.places(args[0]).reshape(-1, args[0].shape[-1]), args[1].reshape(-1)
    found = [
        t.function("-x", -t.value(int(row[label])), (int(row[label]), -1.0))
        for row, label in zip(rows, right.tolist(), strict=True)
    ]
    return _reduced(t, found, args[3] if len(args) > 3 else 1)


def _bce(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    """max(x, 0) - x·y + ln(1 + exp(-|x|)), as one number each: its slope is σ(x) - y."""
    made = []
    for a, b in _pairs(t, args):
        x, y = t.value(a), t.value(b)
        value = max(x, 0.0) - x * y + math.log1p(math.exp(-abs(x)))
        made.append(t.function("cross-entropy", value, (a, _logistic(x) - y), (b, -x)))
    return _reduced(t, made, args[4] if len(args) > 4 else kwargs.get("reduction", 1))


def _same(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    return _list(t.places(args[0]))


def _leaky(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    slope = float(args[1]) if len(args) > 1 else 0.01
    made = []
    for at in _list(t.places(args[0])):
        x = t.value(at)
        made.append(t.function("leaky ReLU", x if x > 0 else slope * x, (at, 1.0 if x > 0 else slope)))
    return made


def _bounded(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    usual = (-1.0, 1.0) if name == "hardtanh" else (None, None)
    low, high = (
        args[at] if len(args) > at else kwargs.get(key, usual[at - 1]) for at, key in ((1, "min"), (2, "max"))
    )
    made = []
    for at in _list(t.places(args[0])):
        x = t.value(at)
        inside = (low is None or x >= low) and (high is None or x <= high)
        bounded = x if inside else float(low) if low is not None and x < low else float(high)
        made.append(t.function("bounded", bounded, (at, float(inside))))
    return made


def _elu(t: Tracer, name: str, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
    alpha = float(args[1]) if len(args) > 1 else 1.0
    made = []
    for at in _list(t.places(args[0])):
        x = t.value(at)
        below = alpha * (math.exp(min(x, 0.0)) - 1)
        made.append(t.function("ELU", x if x > 0 else below, (at, 1.0 if x > 0 else below + alpha)))
    return made


RULES: dict[str, Rule] = {
    "pow": _power,
    "add": _plus,
    "sub": _plus,
    "mul": _times,
    "div": _over,
    "mm": _mm,
    "mv": _mm,
    "dot": _mm,
    "bmm": _mm,
    "addmm": _addmm,
    "sum": _sum,
    "mean": _sum,
    "mse_loss": _mse,
    "_log_softmax": _log_softmax,
    "_softmax": _log_softmax,
    "nll_loss_forward": _nll,
    "binary_cross_entropy_with_logits": _bce,
    "leaky_relu": _leaky,
    "hardtanh": _bounded,
    "clamp": _bounded,
    "elu": _elu,
    "_to_copy": _same,
    **dict.fromkeys(FUNCTIONS, _elementwise),
}


def _list(places: Tensor) -> list[int]:
    found: list[int] = places.reshape(-1).tolist()
    return found
