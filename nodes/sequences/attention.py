"""Attention: steps of a sequence that read each other."""

from __future__ import annotations

import math

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.axes import SEQUENCE
from engine.catalogue.symbols import carried, without_defaults
from engine.errors import EmitError
from nodes.wires import listed, need_axes, plural


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


class MatrixProduct(Layer):
    """Multiplies two matrices of an example: every row of the first with every column of the second.

    With queries as the first and keys, transposed, as the second these are the scores of attention; with the
    weights as the first and values as the second, what is read.
    """

    family = "merge"
    title = "Matrix product"
    aliases = ("matmul", "dot product", "attention scores", "bmm", "@")
    takes_whole = True
    formula = "y = a b; transposed: y = a bᵀ; scaled: divided by √d, d numbers in each sum"
    source = "Vaswani and others, 2017"
    ports_in = (Port("a"), Port("b"))
    transposed: bool = param(False, doc="the rows of the second are taken for its columns")
    scaled: bool = param(False, doc="divided by the square root of how many numbers each sum has")

    def emit(self, e: Emitter, a: Wire, b: Wire) -> Emitted:
        if len(a.shape) < 2 or len(a.shape) != len(b.shape) or a.shape[:-2] != b.shape[:-2]:
            raise EmitError(f"Matrix product needs matrices alike in number, but {listed([a, b])} come in.")
        inner = b.shape[-1] if self.transposed else b.shape[-2]
        if a.shape[-1] != inner:
            raise EmitError(
                f"Rows of {a.shape[-1]:,} numbers and columns of {inner:,} cannot be multiplied.",
                fix="Turn Transposed on or off, or give both the same size.",
            )
        second = b.transpose(-2, -1) if self.transposed else b
        product = a @ second
        return product / math.sqrt(inner) if self.scaled else product

    def summary(self) -> str:
        return " · ".join(one for one in ("a bᵀ" if self.transposed else "a b", "/ √d" * self.scaled) if one)


class MaskedSoftmax(Layer):
    """Turns scores between steps into weights: each row adds up to 1, and later steps have none of it.

    Not causal, it is the softmax over the last axis.
    """

    family = "attention"
    title = "Masked softmax"
    aliases = ("attention weights", "causal mask", "triangular", "look-ahead")
    takes_whole = True
    formula = "yᵢⱼ = exp(xᵢⱼ) / Σₖ exp(xᵢₖ); causal: over k ≤ i, and 0 for j > i"
    source = "Vaswani and others, 2017"
    causal: bool = param(True, doc="each step reads itself and what came before, never what comes after")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.attention import earlier_softmax

        if len(x.shape) < 2 or x.shape[-1] != x.shape[-2]:
            raise EmitError("It needs scores of steps by steps, a square matrix.")
        if x.dtype == "int64":
            raise EmitError("It needs scores, which are measurements; whole numbers come in.")
        return carried(earlier_softmax)(x) if self.causal else x.softmax(-1)

    def summary(self) -> str:
        return "causal" if self.causal else "all steps"
