"""Layers for rows of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.symbols import carried, without_defaults
from engine.catalogue.traits import ClassCount, LayerTraits
from engine.errors import EmitError


class MaskTokens(Layer):
    """Hides some of the tokens, for a network that learns to predict them.

    Filling, unknown, begin, end and mask itself (tokens 0 to 4) are never hidden. What is hidden is drawn
    again in each epoch; when the network is tested it is always the same, for it depends on the example's own
    tokens and the seed alone. Compare the scores with the targets in a cross-entropy: it counts the picked
    places only.
    """

    title = "Mask tokens"
    family = "encoding"
    aliases = ("bert", "masked language model", "mlm", "cloze", "fill in")
    takes_whole = True
    hands_on: ClassVar[Mapping[str, str]] = {"tokens": "x"}
    classes_of: ClassVar[Mapping[str, str]] = {"targets": "x"}
    traits = LayerTraits(class_count=ClassCount("x", "size", "tokens", exact=True))
    formula = "of each row a fraction is picked: 80 % become [mask], 10 % another token, 10 % stay"
    source = "Devlin, Chang, Lee and Toutanova, 2018; cloze: Taylor, 1953"
    ports_in = (Port("x", doc="numbers of tokens"),)
    ports_out = (
        Port("tokens", doc="the tokens, some of them hidden"),
        Port("targets", doc="what was picked, as it was; elsewhere -100, which a cross-entropy leaves out"),
    )
    size: int = param(
        256, minimum=6, maximum=1_000_000, label="Vocabulary", doc="how many different tokens there are"
    )
    share: float = param(
        0.15, above=0, maximum=1, doc="of the tokens that are picked, at least one in each row"
    )
    hidden: float = param(0.8, minimum=0, maximum=1, label="Become the mask", doc="of those picked")
    swapped: float = param(
        0.1, minimum=0, maximum=1, label="Become another", doc="of those picked; the others stay as they are"
    )
    seed: int = param(0, minimum=0, maximum=2**31, doc="which tokens are hidden when the network is tested")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.text_masking import MaskTokens as Made

        if x.dtype != "int64" or not x.shape:
            came = "measurements come in" if x.dtype != "int64" else "one number an example comes in"
            raise EmitError(f"{self.title} needs rows of tokens, but {came}.")
        if self.hidden + self.swapped > 1 + 1e-9:
            raise EmitError("More than all tokens that are picked would become the mask or another.")
        made = carried(Made)(
            self.size, rate=self.share, hidden=self.hidden, swapped=self.swapped, seed=self.seed
        )
        tokens, targets = e.unpack(e.module(without_defaults(made))(x), "tokens", "targets")
        return {"tokens": tokens, "targets": targets}

    def summary(self) -> str:
        return f"{100 * self.share:g} % of {self.size:,} tokens"
