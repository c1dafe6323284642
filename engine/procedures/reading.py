"""Texts that grow token by token, read by causal models. Portable: exports carry this source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn


class UnnamedTokens:
    """The tokeniser of data whose tokens have no names: what stands for them are their numbers."""

    tokens: tuple[str, ...] = ()

    def ids(self, text: str) -> list[int]:
        """Errors: `ValueError` for any text."""
        raise ValueError("The tokens of this network have no names, so it cannot read a text.")

    def text(self, ids: list[int]) -> str:
        return " ".join(map(str, ids))


class GrowingText:
    """The scores (N, V) of what comes next after texts (N, n) that grow by one token at each call.

    Once they are longer than `longest`, the last half of that is read again. With `cache` each token is read
    once: layers with a method `read_on(x, kept)` get only the steps that are new and what they have kept,
    such as keys and values, at first None. `scores` gives (N, V) for tokens (N, T) by a call of the model.
    """

    def __init__(
        self, scores: Callable[[Tensor], Tensor], longest: int, model: nn.Module, cache: bool
    ) -> None:
        self.scores, self.longest, self.cache = scores, longest, cache
        self.layers: list[Any] = [layer for layer in model.modules() if hasattr(layer, "read_on")]
        self.kept: dict[tuple[Any, int], Any] = {}
        self.calls: dict[Any, int] = {}
        self.begin = self.end = 0

    def __call__(self, texts: Tensor, parents: Tensor | None = None) -> Tensor:
        """`parents` (N,) are the texts of the call before from which these go on; the same where None."""
        if texts.shape[1] - self.begin > self.longest:
            self.begin = self.end = texts.shape[1] - max(1, self.longest // 2)
            self.kept = {}
        if not self.cache:
            return self.scores(texts[:, self.begin :])
        if parents is not None:
            for place, kept in self.kept.items():
                if isinstance(kept, tuple):
                    self.kept[place] = tuple(one[parents.to(one.device)] for one in kept)
        self.calls = dict.fromkeys(self.layers, 0)
        for layer in self.layers:
            layer.forward = self.reading(layer)
        try:
            found = self.scores(texts[:, self.end :])
        finally:
            for layer in self.layers:
                del layer.forward
        self.end = texts.shape[1]
        return found

    def reading(self, layer: Any) -> Callable[[Tensor], Tensor]:
        """What a layer does in place of its `forward`; it may be called several times in a pass."""

        def read_on(x: Tensor) -> Tensor:
            place = (layer, self.calls[layer])
            self.calls[layer] += 1
            found, self.kept[place] = layer.read_on(x, self.kept.get(place))
            read: Tensor = found
            return read

        return read_on
