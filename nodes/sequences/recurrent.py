"""Recurrent layers over sequences `(T, features)`."""

from __future__ import annotations

from typing import Any

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.axes import SEQUENCE
from engine.catalogue.symbols import Expr, carried, nn, torch
from engine.errors import EmitError
from nodes.wires import need_axes, plural

STATES = "output of every step", "last hidden state", "last cell state"


class Recurrent(Layer, abstract=True):
    """Base of the recurrent layers."""

    takes_axes = SEQUENCE
    reads_lengths = True
    keeps_places = ("output",)
    family = "recurrent"
    shows = ("gates",)
    hidden: int = param(64, minimum=1, label="Hidden units", doc="numbers the layer remembers")
    layers: int = param(1, minimum=1, maximum=256, doc="stacked on top of each other")
    dropout: float = param(0.0, minimum=0, below=1, doc="fraction dropped between stacked layers")
    both_ways: bool = param(False, label="Both directions", doc="read the sequence forwards and backwards")

    def _constructor(self, kind: Expr, x: Wire) -> Expr:
        need_axes(x, self)
        if self.dropout and self.layers == 1:
            raise EmitError(
                "Dropout works between stacked layers, and there is only one.",
                fix="Use more layers, set its dropout to 0, or add a Dropout node.",
            )
        options: dict[str, Any] = {}
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

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        lstm = e.module(self._constructor(nn.LSTM, x))
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
