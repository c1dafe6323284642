"""Attention: steps of a sequence that read each other."""

from __future__ import annotations

from engine.catalogue import Emitted, Emitter, Layer, Wire, param
from engine.catalogue.axes import SEQUENCE
from engine.catalogue.symbols import carried, without_defaults
from engine.errors import EmitError
from nodes.wires import need_axes, plural


class SelfAttention(Layer):
    """Lets each step of a sequence read those steps whose keys fit its query, with several heads at once.

    A causal one reads no later steps, as a model of the next token must; what fills up a shorter row is never
    read. It sees no order: put Positions before it. With a skip connection, layer norm and two dense layers
    it is a layer of a transformer.
    """

    family = "attention"
    title = "Self-attention"
    aliases = ("transformer", "multi-head attention", "decoder", "causal", "scaled dot product", "gpt")
    formula = "y = W [softmax(q kᵀ / √d) v of each head] + b; q, k, v = W' x + b'; causal: no later keys"
    source = "Vaswani and others, 2017"
    shows = ("attention",)
    takes_axes = SEQUENCE
    reads_lengths = True
    keeps_places = ("output",)
    heads: int = param(4, minimum=1, maximum=1024, doc="how many it has; they share the features")
    causal: bool = param(True, doc="each step reads itself and what came before, never what comes after")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.attention import SelfAttention as Whole
        from engine.layers.attention import SelfAttentionToEnd

        need_axes(x, self)
        if x.features % self.heads:
            raise EmitError(
                f"{plural(self.heads, 'head')} cannot share {plural(x.features, 'feature')} evenly.",
                fix="Let the number of heads divide that of the features.",
            )
        kind = Whole if x.lengths is None else SelfAttentionToEnd
        made = carried(kind)(x.features, heads=self.heads, causal=self.causal)
        given = (x,) if x.lengths is None else (x, x.lengths)
        return e.module(without_defaults(made))(*given)

    def summary(self) -> str:
        return f"{plural(self.heads, 'head')}{' · causal' if self.causal else ''}"
