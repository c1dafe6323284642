"""Attention: steps of a sequence that read each other, or the steps of another sequence."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.axes import SEQUENCE, Axes
from engine.catalogue.symbols import Expr, carried, nn, without_defaults
from engine.catalogue.traits import LayerTraits
from engine.errors import EmitError
from nodes.wires import listed, need_axes, plural

SCORES = ("scaled dot", "dot", "cosine", "additive")


class Attending(Layer, abstract=True):
    """Base of the layers of attention."""

    family = "attention"
    shows = ("attention",)
    takes_axes = SEQUENCE
    reads_lengths = True
    keeps_places = ("output",)
    heads: int = param(4, minimum=1, maximum=1024, doc="how many it has; they share the features")

    def _check(self, x: Wire, groups: int = 0) -> None:
        """Errors: `EmitError` where heads do not share the features, or keys, evenly."""
        need_axes(x, self)
        if x.features % self.heads:
            raise EmitError(
                f"{plural(self.heads, 'head')} cannot share {plural(x.features, 'feature')} evenly.",
                fix="Let the number of heads divide that of the features.",
            )
        if groups and self.heads % groups:
            raise EmitError(
                f"{plural(self.heads, 'head')} cannot share {plural(groups, 'head')} of keys and values "
                "evenly.",
                fix="Let the number of key heads divide that of the heads.",
            )


class SelfAttention(Attending):
    """Lets each step of a sequence read those steps whose keys fit its query, with several heads at once.

    A causal one reads no later steps, as a model of the next token must; what fills up a shorter row is never
    read. It sees no order: put Positions before it, or choose positions inside it. With a skip connection,
    layer norm and two dense layers it is a layer of a transformer.
    """

    title = "Self-attention"
    aliases = (
        "transformer",
        "multi-head attention",
        "decoder",
        "causal",
        "scaled dot product",
        "gpt",
        "rope",
    )
    formula = "y = W [softmax(q kᵀ / √d) v of each head] + b; q, k, v = W' x + b'; causal: no later keys"
    source = "Vaswani and others, 2017"
    causal: bool = param(True, doc="each step reads itself and what came before, never what comes after")
    score: str = param(
        "scaled dot", choices=SCORES, doc="how a query fits a key; additive needs memory for every pair"
    )
    positions: str = param(
        "none",
        choices=("none", "rotary", "relative"),
        label="Positions inside",
        doc="rotary turns queries and keys by their places; relative adds a learned number for each offset",
    )
    reach: int = param(32, minimum=1, maximum=65_536, doc="the farthest offset that relative positions tell")
    groups: int = param(
        0,
        minimum=0,
        maximum=1024,
        label="Key heads",
        doc="heads of keys and values, each for several; 0: one each",
    )
    dropout: float = param(
        0.0, minimum=0, below=1, doc="fraction of what is read that is dropped in training"
    )

    def reads_on(self) -> bool:
        return self.causal

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        self._check(x, self.groups)
        plain = self.score == "scaled dot" and self.positions == "none"
        if plain and not self.groups and not self.dropout:
            from engine.layers.attention import SelfAttention as Whole
            from engine.layers.attention import SelfAttentionToEnd

            kind = Whole if x.lengths is None else SelfAttentionToEnd
            made = carried(kind)(x.features, heads=self.heads, causal=self.causal)
            layer = e.module(without_defaults(made))
            return layer(x) if x.lengths is None else layer(x, x.lengths)
        if self.positions != "none" and self.score != "scaled dot":
            raise EmitError(
                "Positions inside attention need scores by the scaled dot product.",
                fix="Choose that score, or put Positions before the layer.",
            )
        if self.positions == "rotary" and (x.features // self.heads) % 2:
            raise EmitError(
                "Rotary positions turn pairs of numbers: a head needs an even number of features."
            )
        options: dict[str, Any] = {"reach": self.reach} if self.positions == "relative" else {}
        options |= {"causal": self.causal} if self.causal else {}
        options |= {"groups": self.groups} if self.groups else {}
        options |= {"dropout": self.dropout} if self.dropout else {}
        layer = e.module(_made(self.score, self.positions)(x.features, x.features, self.heads, **options))
        return layer(x) if x.lengths is None else layer(x, lengths=x.lengths)

    def summary(self) -> str:
        parts = [plural(self.heads, "head")]
        parts += ["causal"] if self.causal else []
        parts += [self.score] if self.score != "scaled dot" else []
        parts += [self.positions] if self.positions != "none" else []
        return " · ".join(parts)


class CrossAttention(Attending):
    """Lets each step of a sequence read a memory: the steps of another sequence, such as a text to translate.

    Queries come from the sequence; keys and values from the memory. It is how a decoder reads its encoder.
    """

    title = "Cross-attention"
    aliases = ("encoder-decoder attention", "alignment", "bahdanau", "luong", "memory", "translation")
    formula = "y = W [softmax(q kᵀ / √d) v of each head] + b; q = W' x + b', k, v = W'' m + b''"
    source = "Vaswani and others, 2017; additive: Bahdanau, Cho and Bengio, 2015"
    ports_in = (
        Port("x", doc="the sequence that reads"),
        Port("memory", doc="the sequence that is read; it may have other sizes"),
    )
    score: str = param(
        "scaled dot", choices=SCORES, doc="how a query fits a key; additive needs memory for every pair"
    )
    dropout: float = param(
        0.0, minimum=0, below=1, doc="fraction of what is read that is dropped in training"
    )

    def emit(self, e: Emitter, x: Wire, memory: Wire) -> Emitted:
        self._check(x)
        need_axes(memory, self)
        options = {"dropout": self.dropout} if self.dropout else {}
        layer = e.module(_made(self.score, "none")(x.features, memory.features, self.heads, **options))
        return layer(x, memory) if memory.lengths is None else layer(x, memory, memory.lengths)

    def summary(self) -> str:
        parts = [plural(self.heads, "head")]
        return " · ".join(parts + ([self.score] if self.score != "scaled dot" else []))


class ClassToken(Layer):
    """Puts a learned step before a sequence, in which a transformer gathers what it says of the whole."""

    title = "Class token"
    family = "attention"
    aliases = ("cls", "vision transformer", "bert", "summary token")
    formula = "y = [c, x₁, ..., x_T], c learned"
    source = "Devlin, Chang, Lee and Toutanova, 2018; of images: Dosovitskiy and others, 2021"
    takes_axes = SEQUENCE
    traits = LayerTraits(leads=1, part="embedding")

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        return SEQUENCE

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.sequences.tokens import ClassToken as Made

        need_axes(x, self)
        return e.module(carried(Made)(x.features))(x)


class WholeLayer(Attending, abstract=True):
    """Base of the whole layers of transformers that torch has."""

    wide: int = param(
        256, minimum=1, label="Hidden units", doc="of the two dense layers; four times the features is usual"
    )
    norm_first: bool = param(True, label="Norm first", doc="norms stand before attention and dense layers")
    activation: str = param("gelu", choices=("gelu", "relu"), doc="between the two dense layers")
    dropout: float = param(0.0, minimum=0, below=1, doc="fraction dropped in training, in all its parts")

    attends: ClassVar[int] = 1  # how often: once to itself, a decoder to a memory, too

    def parts(self, shape: tuple[int, ...], parameters: int) -> dict[str, int]:
        size = shape[-1]
        attention = self.attends * 4 * (size + 1) * size
        norms = (self.attends + 1) * 2 * size
        return {"attention": attention, "norm": norms, "dense": parameters - attention - norms}

    def _constructor(self, kind: Expr, x: Wire) -> Expr:
        self._check(x)
        options: dict[str, Any] = {"dropout": self.dropout}
        options |= {"activation": "gelu"} if self.activation == "gelu" else {}
        options |= {"batch_first": True}
        options |= {"norm_first": True} if self.norm_first else {}
        return kind(x.features, self.heads, self.wide, **options)

    def summary(self) -> str:
        return f"{plural(self.heads, 'head')} · {self.wide} units"


class TransformerEncoderLayer(WholeLayer):
    """A whole layer of a transformer: self-attention, then two dense layers, each with a skip and a norm.

    Norm first trains deep stacks without warm-up; behind the skip is how it was published.
    """

    title = "Transformer layer"
    aliases = ("encoder layer", "gpt", "bert", "feed forward", "pre-norm", "post-norm", "block")
    formula = (
        "y = x + A(norm(x)), z = y + W' φ(W norm(y)); norm behind: y = norm(x + A(x)), z = norm(y + ...)"
    )
    source = "Vaswani and others, 2017; norm first: Xiong and others, 2020"
    causal: bool = param(False, doc="each step reads itself and what came before, never what comes after")

    def reads_on(self) -> bool:
        return self.causal

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.sequences.tokens import filled_up
        from engine.layers.sequences.transformers import CausalLayer

        kind = carried(CausalLayer) if self.causal else nn.TransformerEncoderLayer
        layer = e.module(self._constructor(kind, x))
        if x.lengths is None:
            return layer(x)
        filled = carried(filled_up)(x, x.lengths)
        return layer(x, filled) if self.causal else layer(x, src_key_padding_mask=filled)

    def summary(self) -> str:
        return super().summary() + (" · causal" if self.causal else "")


class TransformerDecoderLayer(WholeLayer):
    """A layer of a decoder: causal self-attention, attention over a memory, two dense layers."""

    title = "Decoder layer"
    attends = 2
    aliases = ("transformer decoder", "translation", "encoder-decoder")
    formula = "y = x + A(norm(x)); z = y + C(norm(y), m); w = z + W' φ(W norm(z))"
    source = "Vaswani and others, 2017"
    ports_in = (
        Port("x", doc="the sequence that is written; no step sees a later one"),
        Port("memory", doc="the sequence that is read, of as many features"),
    )

    def emit(self, e: Emitter, x: Wire, memory: Wire) -> Emitted:
        from engine.layers.sequences.tokens import later_steps

        layer = e.module(self._constructor(nn.TransformerDecoderLayer, x))
        need_axes(memory, self)
        if memory.features != x.features:
            raise EmitError(
                f"The memory has {plural(memory.features, 'feature')} and the sequence {x.features}.",
                fix="Put a dense layer before one of them.",
            )
        words: dict[str, Any] = {"tgt_mask": carried(later_steps)(x), "tgt_is_causal": True}
        if memory.lengths is not None:
            from engine.layers.sequences.tokens import filled_up

            words["memory_key_padding_mask"] = carried(filled_up)(memory, memory.lengths)
        return layer(x, memory, **words)


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


def _made(score: str, positions: str) -> Expr:
    """The class of attention with these scores and positions."""
    from engine.layers.sequences import attention as made

    kinds: dict[str, Any] = {
        "scaled dot": made.Attention,
        "dot": made.DotAttention,
        "cosine": made.CosineAttention,
        "additive": made.AdditiveAttention,
        "rotary": made.RotaryAttention,
        "relative": made.RelativeAttention,
    }
    return carried(kinds[score if positions == "none" else positions])
