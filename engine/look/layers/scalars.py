"""A small computation taken apart into single numbers, each with what it came from and its derivative."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from engine.errors import NeuroloomError
from engine.look.layers.scalar_rules import RULES

MOST = 400  # numbers that are made before the computation counts as too large

OPAQUE = "opaque"  # the role of numbers whose making is not understood

# Operations that only move numbers: run on the numbers' places they give the places of the result.
_MOVERS = frozenset(
    [
        "t",
        "transpose",
        "permute",
        "view",
        "_unsafe_view",
        "reshape",
        "unsqueeze",
        "squeeze",
        "expand",
        "clone",
        "detach",
        "select",
        "slice",
        "alias",
        "unfold",
        "flip",
        "index",
        "index_select",
        "gather",
        "repeat",
        "cat",
        "stack",
        "split",
        "split_with_sizes",
        "unbind",
        "lift_fresh",
        "roll",
        "diagonal",
        "narrow",
    ]
)
_MAKERS = frozenset(("ones_like", "zeros_like", "full_like", "empty_like", "new_ones", "new_zeros"))


@dataclass(slots=True)
class Scalar:
    """One number: how it was made, its value, and `parents` as (place in the list, local derivative).

    `derivative` is that of the last number by this one.
    """

    label: str
    value: float
    parents: tuple[tuple[int, float], ...] = ()
    derivative: float = 0.0
    role: str = ""  # "input", "weight", "constant" or "" for what is computed
    node_id: str = ""


@dataclass
class Taken:
    """The numbers in the order in which they are computed; the last one is the result."""

    numbers: list[Scalar] = field(default_factory=list)

    def backward(self) -> None:
        """Find the derivative of the last number by each, from the last to the first."""
        for number in self.numbers:
            number.derivative = 0.0
        if self.numbers:
            self.numbers[-1].derivative = 1.0
        for number in reversed(self.numbers):
            for parent, local in number.parents:
                self.numbers[parent].derivative += local * number.derivative


def taken_apart(
    compute: Callable[[], Tensor],
    names: Iterable[tuple[Tensor, str, str, str]],
    tracer: Tracer | None = None,
) -> Taken:
    """What `compute` does, which returns one number, as single additions, products and functions.

    `names` are the tensors it begins with, each with what to call its numbers, its role ("input", "weight")
    and its node; whoever gives the `tracer` may tell it whose numbers they are. Only what the result depends
    on is kept.
    Errors: `NeuroloomError` for too many numbers, and for operations that cannot be taken apart.
    """
    tracer = tracer or Tracer()
    for tensor, label, role, node_id in names:
        tracer.begin(tensor, label, role, node_id)
    with torch.no_grad(), tracer:
        result = compute()
    places = tracer.places(result)
    if places.numel() != 1:
        raise NeuroloomError("There is no single number at the end of this computation.")
    taken = Taken(_needed(tracer.numbers, int(places.reshape(-1)[0])))
    opaque = next((number for number in taken.numbers if number.role == OPAQUE), None)
    if opaque is not None:
        raise NeuroloomError(
            f"The operation {opaque.label!r} cannot be shown number by number.",
            node_id=opaque.node_id or None,
        )
    taken.backward()
    return taken


class Tracer(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Follows every operation, and keeps for each tensor the places of its numbers."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.numbers: list[Scalar] = []
        self._places: dict[int, Tensor] = {}
        self._alive: list[Tensor] = []  # an id is only a name while its tensor lives
        self._claimed = 0

    def begin(self, tensor: Tensor, label: str, role: str, node_id: str = "") -> None:
        """Call the numbers of a tensor that is there from the start."""
        if tensor.numel() > MOST:
            raise too_many()
        shape = tuple(tensor.shape)
        found = []
        for index, value in enumerate(tensor.detach().cpu().double().reshape(-1).tolist()):
            name = label if role == OPAQUE else _called(label, index, shape)
            found.append(self._put(Scalar(name, value, role=role, node_id=node_id)))
        self._keep(tensor, torch.tensor(found, dtype=torch.int64).reshape(shape))

    def claim(self, node_id: str) -> None:
        """What has been computed since the last claim is this node's."""
        for number in self.numbers[self._claimed :]:
            number.node_id = number.node_id or node_id
        self._claimed = len(self.numbers)

    def depends(self, tensor: Tensor) -> bool:
        """Whether a tensor of one number was computed from others."""
        places = self.places(tensor)
        return places.numel() == 1 and bool(self.numbers[int(places.reshape(-1)[0])].parents)

    def places(self, tensor: Tensor) -> Tensor:
        """The places of a tensor's numbers; one that nobody has named holds constants."""
        known = self._places.get(id(tensor))
        if known is not None:
            return known
        if tensor.numel() > MOST:
            raise too_many()
        made = [
            self._put(Scalar(_short(value), value, role="constant"))
            for value in tensor.cpu().double().reshape(-1).tolist()
        ]
        return self._keep(tensor, torch.tensor(made, dtype=torch.int64).reshape(tensor.shape))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        result = func(*args, **given)
        name = func._schema.name.removeprefix("aten::")
        self._follow(func, name if name.startswith("_") else name.rstrip("_"), args, given, result)
        return result

    def _follow(self, func: Any, name: str, args: Any, kwargs: Mapping[str, Any], result: Any) -> None:
        if name in _MAKERS or not any(isinstance(part, Tensor) for part in _flat(args)):
            return
        if name in _MOVERS:
            self._move(func, args, kwargs, result)
            return
        if isinstance(result, tuple):
            result = result[0]
        if not isinstance(result, Tensor):
            return  # a number of Python's
        if not result.dtype.is_floating_point:
            return  # comparisons and class numbers: what is made of them is constant
        rule = RULES.get(name)
        if rule is None:
            if result.numel() > MOST:
                raise too_many()
            self.begin(result, name, OPAQUE)
            return
        made = rule(self, name, args, kwargs)
        self._keep(result, torch.tensor(made, dtype=torch.int64).reshape(result.shape))

    def _move(self, func: Any, args: Any, kwargs: Mapping[str, Any], result: Any) -> None:
        if not any(part.dtype.is_floating_point for part in _flat(args) if isinstance(part, Tensor)):
            return
        moved = func(*[self._moved(part) for part in args], **kwargs)
        if isinstance(result, Tensor):
            self._keep(result, moved)
        else:
            for one, places in zip(result, moved, strict=True):
                self._keep(one, places)

    def _moved(self, part: Any) -> Any:
        if isinstance(part, Tensor):
            return self.places(part) if part.dtype.is_floating_point else part
        return [self._moved(one) for one in part] if isinstance(part, (list, tuple)) else part

    def _keep(self, tensor: Tensor, places: Tensor) -> Tensor:
        self._alive.append(tensor)
        self._places[id(tensor)] = places
        return places

    def _put(self, number: Scalar) -> int:
        if len(self.numbers) >= 4 * MOST:
            raise too_many()
        self.numbers.append(number)
        return len(self.numbers) - 1

    # -- what rules make of numbers

    def function(self, label: str, value: float, *parents: tuple[int, float]) -> int:
        """A number that was computed from others."""
        return self._put(Scalar(label, value, parents))

    def value(self, place: int) -> float:
        """The number at a place."""
        return self.numbers[place].value

    def total(self, places: Sequence[int], scale: float = 1.0) -> int:
        """The sum of some numbers; with `scale` their mean."""
        if len(places) == 1 and scale == 1.0:
            return places[0]
        label = "+" if scale == 1.0 else "mean"
        value = scale * math.fsum(self.value(place) for place in places)
        return self.function(label, value, *((place, scale) for place in places))

    def product(self, one: int, other: int) -> int:
        """One number times another."""
        left, right = self.value(one), self.value(other)
        return self.function("×", left * right, (one, right), (other, left))


def too_many() -> NeuroloomError:
    """The error for a computation of more numbers than a view can show."""
    return NeuroloomError("This net computes too many numbers to show each of them.")


def _needed(numbers: list[Scalar], last: int) -> list[Scalar]:
    """What the number `last` depends on, in the order of computing, renumbered."""
    wanted, waiting = set(), [last]
    while waiting:
        here = waiting.pop()
        if here not in wanted:
            wanted.add(here)
            waiting += [parent for parent, _ in numbers[here].parents]
    renumbered = {old: new for new, old in enumerate(sorted(wanted))}
    for old in renumbered:
        number = numbers[old]
        number.parents = tuple((renumbered[parent], local) for parent, local in number.parents)
    return [numbers[old] for old in renumbered]


def _flat(parts: Any) -> Iterable[Any]:
    for part in parts:
        if isinstance(part, (list, tuple)):
            yield from _flat(part)
        else:
            yield part


def _called(label: str, index: int, shape: tuple[int, ...]) -> str:
    if math.prod(shape) == 1:
        return label
    shape = shape[1:] if shape[0] == 1 else shape
    at = []
    for size in reversed(shape):
        index, place = divmod(index, size)
        at.append(str(place + 1))
    return f"{label}[{','.join(reversed(at))}]"


def _short(value: float) -> str:
    return f"{value:.4g}"
