"""Layers for rows of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.axes import SEQUENCE
from engine.catalogue.symbols import carried, without_defaults
from engine.catalogue.traits import ClassCount, LayerTraits
from engine.errors import EmitError
from nodes.wires import need_axes


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
    reads_lengths = True
    keeps_places = ("tokens", "targets")
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


class SkipGram(Layer):
    """Draws pairs of words that stand near each other in a text, and for each pair words that do not.

    Look both outputs up in an embedding each: the matrix product of *word* and, transposed, *others* holds a
    score for each, which binary cross-entropy compares with *real*. The embedding of *word* then has similar
    vectors for words that are used alike. Pairs are drawn again in each epoch, and are always the same when
    the network is tested; frequencies of words are counted while it trains. Tokens 0 to 4 are not drawn.
    """

    title = "Skip-gram pairs"
    family = "encoding"
    aliases = ("word2vec", "word vectors", "negative sampling", "skipgram", "sgns")
    takes_whole = True
    classes_of: ClassVar[Mapping[str, str]] = {"word": "x", "others": "x"}
    traits = LayerTraits(class_count=ClassCount("x", "size", "tokens", exact=True))
    formula = (
        "(w, c): c at a distance d ≤ m of w with weight m + 1 - d; others by frequency^¾; "
        "log σ(u_c · v_w) + Σₖ log σ(-u_k · v_w) is to grow"
    )
    source = "Mikolov, Sutskever, Chen, Corrado and Dean, 2013"
    ports_in = (Port("x", doc="numbers of tokens"),)
    ports_out = (
        Port("word", doc="a word of each pair"),
        Port("others", doc="its neighbour, then words that were drawn from all"),
        Port("real", doc="1 for the neighbour, 0 for the others"),
    )
    size: int = param(
        1000, minimum=6, maximum=1_000_000, label="Vocabulary", doc="how many different tokens there are"
    )
    window: int = param(5, minimum=1, maximum=100, unit="words", doc="how far off a neighbour may be")
    pairs: int = param(32, minimum=1, maximum=10_000, doc="how many are drawn of each example")
    negatives: int = param(5, minimum=1, maximum=100, label="Others", doc="words that are no neighbours")
    often: float = param(
        1e-3,
        above=0,
        maximum=1,
        label="Thin out from",
        doc="words of a higher frequency are drawn less often, by the root of this over theirs; 1: none",
    )
    seed: int = param(0, minimum=0, maximum=2**31, doc="which pairs are drawn when the network is tested")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.sequences.skip_gram import SkipGram as Made

        if x.dtype != "int64" or len(x.shape) != 1:
            came = "measurements come in" if x.dtype != "int64" else f"{len(x.shape)} axes come in"
            raise EmitError(f"{self.title} needs rows of tokens, but {came}.")
        made = carried(Made)(
            self.size,
            window=self.window,
            pairs=self.pairs,
            negatives=self.negatives,
            often=self.often,
            seed=self.seed,
        )
        names = ("word", "others", "real")
        found = e.unpack(e.module(without_defaults(made))(x), *names)
        return dict(zip(names, found, strict=True))

    def summary(self) -> str:
        return f"{self.pairs} pairs · {self.negatives} others each"


class Segments(Layer):
    """Numbers tokens by the text of a pair that they are of: 0 up to and with the first end token, 1 behind.

    Look the numbers up in an embedding of two, and add that to those of tokens and places.
    """

    family = "encoding"
    aliases = ("token type", "segment embedding", "sentence pair", "bert")
    takes_whole = True
    reads_lengths = True
    keeps_places = ("output",)
    formula = "s_t = 1 where an end token (3) stands before t, else 0"
    source = "Devlin, Chang, Lee and Toutanova, 2018"
    ports_in = (Port("x", doc="numbers of tokens"),)

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        if x.dtype != "int64" or len(x.shape) != 1:
            raise EmitError(f"{self.title} needs rows of tokens.")
        ends = x.eq(3).long()
        return (ends.cumsum(1) - ends).clamp(max=1)


class Pointer(Layer):
    """Scores each step of a sequence as the place that is looked for, such as where an answer begins.

    Compare the scores with the place's number in a cross-entropy; two pointers, for begin and end, answer by
    a span of the text. What fills up a shorter row is never pointed at.
    """

    family = "attention"
    aliases = ("span", "question answering", "squad", "start and end", "pointer network", "bert")
    takes_axes = SEQUENCE
    reads_lengths = True
    shows = ("places",)
    formula = "y_t = w · x_t + b; -10⁹ behind the end of a row"
    source = "Vinyals, Fortunato and Jaitly, 2015; of spans: Devlin, Chang, Lee and Toutanova, 2018"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.sequences.tokens import Pointer as Made

        need_axes(x, self)
        layer = e.module(carried(Made)(x.features, x.shape[0]))
        return layer(x) if x.lengths is None else layer(x, x.lengths)
