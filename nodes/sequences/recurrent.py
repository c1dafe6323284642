"""Recurrent layers over sequences `(T, features)`."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.axes import SEQUENCE
from engine.catalogue.symbols import Expr, carried, nn, torch, without_defaults
from engine.errors import EmitError
from nodes.wires import need_axes, plural

STATES = "output of every step", "last hidden state", "last cell state"


class Recurrent(Layer, abstract=True):
    """Base of the recurrent layers."""

    takes_axes = SEQUENCE
    reads_lengths = True
    keeps_places = ("output",)
    family = "recurrent"
    shows: ClassVar[tuple[str, ...]] = ("gates",)
    hidden: int = param(64, minimum=1, label="Hidden units", doc="numbers the layer remembers")
    layers: int = param(1, minimum=1, maximum=256, doc="stacked on top of each other")
    dropout: float = param(0.0, minimum=0, below=1, doc="fraction dropped between stacked layers")
    both_ways: bool = param(False, label="Both directions", doc="read the sequence forwards and backwards")

    def _constructor(self, kind: Expr, x: Wire, **options: Any) -> Expr:
        need_axes(x, self)
        if self.dropout and self.layers == 1:
            raise EmitError(
                "Dropout works between stacked layers, and there is only one.",
                fix="Use more layers, set its dropout to 0, or add a Dropout node.",
            )
        if self.layers > 1:
            options["num_layers"] = self.layers
        if self.dropout:
            options["dropout"] = self.dropout
        if self.both_ways:
            options["bidirectional"] = True
        return kind(x.features, self.hidden, **options, batch_first=True)

    def _read(self, layer: Expr, x: Wire) -> Expr:
        """The call that reads a sequence; one of rows that differ in length ends where each row does."""
        from engine.layers.ragged import read_to_end

        return layer(x) if x.lengths is None else carried(read_to_end)(layer, x, x.lengths)

    def _last(self, state: Expr) -> Expr:
        """(layers, N, hidden) -> (N, hidden) of the top layer; both directions side by side."""
        return torch.cat((state[-2], state[-1]), 1) if self.both_ways else state[-1]

    def summary(self) -> str:
        text = plural(self.hidden, "unit")
        if self.layers > 1:
            text += f" × {self.layers} layers"
        return text + (" · both ways" if self.both_ways else "")


class Elman(Recurrent):
    """Reads a sequence step by step and hands on what it made of it: the simplest recurrent layer.

    What lies many steps back is soon forgotten: its slope shrinks with each step, or grows without bound.
    """

    title = "Elman RNN"
    aliases = ("simple recurrent network", "vanilla rnn", "rnn", "tanh")
    formula = "h ← φ(W x + U h + b)"
    source = "Elman, 1990"
    ports_out = (Port("output", doc=STATES[0]), Port("h", doc=STATES[1]))
    activation: str = param("tanh", choices=("tanh", "relu"), doc="φ")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        options = {} if self.activation == "tanh" else {"nonlinearity": self.activation}
        rnn = e.module(self._constructor(nn.RNN, x, **options))
        output, h = e.unpack(self._read(rnn, x), "output", "h")
        return {"output": output, "h": self._last(h)}


class LSTM(Recurrent):
    """Reads a sequence step by step and keeps a memory cell behind gates, so that it can remember long."""

    common = True
    aliases = ("long short-term memory", "rnn")
    formula = (
        "i, f, o = σ(W x + U h + b), one each; g = tanh(W x + U h + b); c ← f · c + i · g; h ← o · tanh(c)"
    )
    source = "Hochreiter and Schmidhuber, 1997; Gers, Schmidhuber and Cummins, 2000"
    ports_out = (
        Port("output", doc=STATES[0]),
        Port("h", doc=STATES[1]),
        Port("c", doc=STATES[2]),
    )
    remembers: int | None = param(
        None,
        minimum=3,
        maximum=100_000,
        unit="steps",
        doc="cells begin to keep what they hold for up to so many steps (Tallec and Ollivier, 2018); "
        "empty: for about two, as torch begins",
    )

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        made = self._constructor(nn.LSTM, x)
        if self.remembers is not None:
            from engine.layers.sequences.recurrences import remembering

            made = carried(remembering)(made, self.remembers)
        lstm = e.module(made)
        output, (h, c) = e.unpack(self._read(lstm, x), "output", ("h", "c"))
        return {"output": output, "h": self._last(h), "c": self._last(c)}


class GRU(Recurrent):
    """Reads a sequence step by step with two gates: lighter than an LSTM, often as good.

    The reset gate r acts on U h + b, as in the paper's first preprint; in print it acts on h, before U.
    """

    aliases = ("gated recurrent unit", "rnn")
    formula = "r, z = σ(W x + U h + b), one each; n = tanh(W x + b + r · (U h + b)); h ← (1 - z) · n + z · h"
    source = "Cho and others, 2014 (arXiv:1406.1078v1)"
    ports_out = (Port("output", doc=STATES[0]), Port("h", doc=STATES[1]))

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        gru = e.module(self._constructor(nn.GRU, x))
        output, h = e.unpack(self._read(gru, x), "output", "h")
        return {"output": output, "h": self._last(h)}


class Unlike(Layer, abstract=True):
    """Base of the recurrent layers that torch lacks."""

    takes_axes = SEQUENCE
    reads_lengths = True
    keeps_places = ("output",)
    family = "recurrent"
    shows: ClassVar[tuple[str, ...]] = ("gates",)
    hidden: int = param(64, minimum=1, label="Hidden units", doc="numbers the layer remembers")

    def summary(self) -> str:
        return plural(self.hidden, "unit")


class PeepholeLSTM(Unlike):
    """An LSTM whose gates see the memory cell, which helps it to measure time exactly."""

    title = "Peephole LSTM"
    aliases = ("lstm", "gates")
    formula = (
        "i, f = σ(W x + U h + p · c + b), one each; c ← f · c + i · tanh(W x + U h + b); "
        "o = σ(W x + U h + p · c + b); h ← o · tanh(c)"
    )
    source = "Gers and Schmidhuber, 2000"
    ports_out = (Port("output", doc=STATES[0]), Port("h", doc=STATES[1]), Port("c", doc=STATES[2]))

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.sequences.recurrences import PeepholeLSTM as Made

        need_axes(x, self)
        given = (x,) if x.lengths is None else (x, x.lengths)
        output, h, c = e.unpack(e.module(carried(Made)(x.features, self.hidden))(*given), "output", "h", "c")
        return {"output": output, "h": h, "c": c}


class MinGRU(Unlike):
    """A gated recurrence whose gates see the input alone, so that all steps are computed at once.

    Several of them, with dense layers between, see as far as an LSTM and train faster on long sequences.
    """

    title = "minGRU"
    aliases = ("minimal gru", "parallel scan", "linear recurrence", "state space")
    formula = "z = σ(W x + b); h ← (1 - z) · h + z · (V x + b)"
    source = "Feng, Tung, Ahmed, Bengio and Hajimirsadeghi, 2024"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.sequences.recurrences import MinGRU as Made

        need_axes(x, self)
        return e.module(carried(Made)(x.features, self.hidden))(x)


class LRU(Unlike):
    """A linear recurrence of complex numbers: each is turned and shrunk by a learned factor at every step.

    The factors stay inside the unit disc, so nothing explodes, and near its edge they remember long. It is
    linear: put dense layers between several of them.
    """

    title = "Linear recurrent unit"
    aliases = ("lru", "state space", "s4", "complex", "diagonal", "parallel scan")
    formula = "z ← λ z + √(1 - |λ|²) B x; y = Re(C z) + D x; λ = exp(-exp(ν) + i θ)"
    source = "Orvieto and others, 2023"
    least: float = param(0.0, minimum=0, below=1, label="Least modulus", doc="of the factors, at first")
    most: float = param(1.0, above=0, maximum=1, label="Greatest modulus", doc="of the factors, at first")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.sequences.recurrences import LRU as Made

        need_axes(x, self)
        if self.least >= self.most:
            raise EmitError("The least modulus must be below the greatest.")
        made = carried(Made)(x.features, self.hidden, least=self.least, most=self.most)
        return e.module(without_defaults(made))(x)
