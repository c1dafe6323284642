"""Random numbers that are not training's: for views of a network whose sources draw some."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_DRAWING = frozenset(
    {
        torch.bernoulli,
        torch.multinomial,
        torch.normal,
        torch.poisson,
        torch.rand,
        torch.randint,
        torch.randn,
        torch.randperm,
        Tensor.bernoulli,
        Tensor.bernoulli_,
        Tensor.cauchy_,
        Tensor.exponential_,
        Tensor.geometric_,
        Tensor.log_normal_,
        Tensor.multinomial,
        Tensor.normal_,
        Tensor.random_,
        Tensor.uniform_,
    }
)
_LIKE = {torch.rand_like: torch.rand, torch.randn_like: torch.randn}


class OwnRandom(TorchFunctionMode):
    """Inside, in this thread alone, torch draws from a generator of its own and leaves training's alone.

    Dropout is left out: it draws in training mode only, in which no view is taken.
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self._generator = torch.Generator(device).manual_seed(0)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = dict(kwargs or {})
        if func in _LIKE:
            like = named.pop("input", None) if not args else args[0]
            named = {"dtype": like.dtype, "device": like.device, **named, "generator": self._generator}
            named.pop("memory_format", None)
            return _LIKE[func](like.shape, **named)
        if func in _DRAWING and named.get("generator") is None:
            named["generator"] = self._generator
        return func(*args, **named)
