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

    def _check(self, x: Wire) -> None:
        need_axes(x, self)
        if self.dropout and self.layers == 1:
            raise EmitError(
                "Dropout works between stacked layers, and there is only one.",
                fix="Use more layers, set its dropout to 0, or add a Dropout node.",
            )

    def _of_ours(self, e: Emitter, x: Wire, kind: type, keeps_width: bool = False, **options: Any) -> Expr:
        """The call of layers of ours, which gives all steps, `hidden` numbers or as many as come in."""
        from engine.layers.sequences.stacked import Stacked

        self._check(x)
        if self.layers == 1 and not self.both_ways:
            made = carried(kind)(x.features, self.hidden, **options)
            return e.module(without_defaults(made))(x)
        sizes = [x.features]
        while len(sizes) < self.layers:
            sizes.append((sizes[-1] if keeps_width else self.hidden) * (2 if self.both_ways else 1))
        ways = {"both_ways": True} if self.both_ways else {}
        dropout = {"dropout": self.dropout} if self.dropout else {}
        made = carried(Stacked)(carried(kind), sizes, self.hidden, **ways, **dropout, **options)
        layer = e.module(made)
        return layer(x, x.lengths) if self.both_ways and x.lengths is not None else layer(x)

    def _end(self, sequence: Expr, x: Wire) -> Expr:
        """(N, T, hidden) -> (N, hidden) at the step that was read last; both directions side by side."""
        from engine.layers.ragged import last_places

        last = sequence[:, -1] if x.lengths is None else carried(last_places)(sequence, x.lengths)
        if not self.both_ways:
            return last
        return torch.cat((last[:, : self.hidden], sequence[:, 0, self.hidden :]), 1)

    def summary(self) -> str:
        text = plural(self.hidden, "unit")
        if self.layers > 1:
            text += f" × {self.layers} layers"
        return text + (" · both ways" if self.both_ways else "")


class Nonlinear(Recurrent, abstract=True):
    """Base of the recurrent layers that torch has, whose transition may be deep."""

    transition: int = param(
        1,
        minimum=1,
        maximum=64,
        label="Transition depth",
        doc="cells that the state passes at each step, the first of which reads the input "
        "(Pascanu and others, 2014)",
    )

    def _constructor(self, kind: Expr, x: Wire, **options: Any) -> Expr:
        self._check(x)
        if self.layers > 1:
            options["num_layers"] = self.layers
        if self.dropout:
            options["dropout"] = self.dropout
        if self.both_ways:
            options["bidirectional"] = True
        return kind(x.features, self.hidden, **options, batch_first=True)

    def _deep(self, e: Emitter, x: Wire, cell: Expr, **options: Any) -> Expr:
        """The call of layers with a deep transition, which gives all steps."""
        from engine.layers.sequences.stacked import DeepTransition

        return self._of_ours(e, x, DeepTransition, cell=cell, depth=self.transition, **options)

    def _read(self, layer: Expr, x: Wire) -> Expr:
        """The call that reads a sequence; one of rows that differ in length ends where each row does."""
        from engine.layers.ragged import read_to_end

        return layer(x) if x.lengths is None else carried(read_to_end)(layer, x, x.lengths)

    def _last(self, state: Expr) -> Expr:
        """(layers, N, hidden) -> (N, hidden) of the top layer; both directions side by side."""
        return torch.cat((state[-2], state[-1]), 1) if self.both_ways else state[-1]

    def summary(self) -> str:
        return super().summary() + (f" · {self.transition} cells deep" if self.transition > 1 else "")


class Elman(Nonlinear):
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
        if self.transition > 1:
            output = self._deep(e, x, nn.RNNCell, **options)
            return {"output": output, "h": self._end(output, x)}
        rnn = e.module(self._constructor(nn.RNN, x, **options))
        output, h = e.unpack(self._read(rnn, x), "output", "h")
        return {"output": output, "h": self._last(h)}


class LSTM(Nonlinear):
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
        if self.transition > 1:
            if self.remembers is not None:
                raise EmitError("How long a cell remembers at first is set where its transition is one cell.")
            output, cells = e.unpack(self._deep(e, x, nn.LSTMCell), "output", "cells")
            return {"output": output, "h": self._end(output, x), "c": self._end(cells, x)}
        made = self._constructor(nn.LSTM, x)
        if self.remembers is not None:
            from engine.layers.sequences.recurrences import remembering

            made = carried(remembering)(made, self.remembers)
        lstm = e.module(made)
        output, (h, c) = e.unpack(self._read(lstm, x), "output", ("h", "c"))
        return {"output": output, "h": self._last(h), "c": self._last(c)}


class GRU(Nonlinear):
    """Reads a sequence step by step with two gates: lighter than an LSTM, often as good.

    The reset gate r acts on U h + b, as in the paper's first preprint; in print it acts on h, before U.
    """

    aliases = ("gated recurrent unit", "rnn")
    formula = "r, z = σ(W x + U h + b), one each; n = tanh(W x + b + r · (U h + b)); h ← (1 - z) · n + z · h"
    source = "Cho and others, 2014 (arXiv:1406.1078v1)"
    ports_out = (Port("output", doc=STATES[0]), Port("h", doc=STATES[1]))

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        if self.transition > 1:
            output = self._deep(e, x, nn.GRUCell)
            return {"output": output, "h": self._end(output, x)}
        gru = e.module(self._constructor(nn.GRU, x))
        output, h = e.unpack(self._read(gru, x), "output", "h")
        return {"output": output, "h": self._last(h)}


class PeepholeLSTM(Recurrent):
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

        output, cells = e.unpack(self._of_ours(e, x, Made), "output", "cells")
        return {"output": output, "h": self._end(output, x), "c": self._end(cells, x)}


class MinGRU(Recurrent):
    """A gated recurrence whose gates see the input alone, so that all steps are computed at once.

    Several of them, with dense layers between, see as far as an LSTM and train faster on long sequences.
    """

    title = "minGRU"
    aliases = ("minimal gru", "parallel scan", "linear recurrence", "state space")
    formula = "z = σ(W x + b); h ← (1 - z) · h + z · (V x + b)"
    source = "Feng, Tung, Ahmed, Bengio and Hajimirsadeghi, 2024"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.sequences.recurrences import MinGRU as Made

        return self._of_ours(e, x, Made)


class LRU(Recurrent):
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

        if self.least >= self.most:
            raise EmitError("The least modulus must be below the greatest.")
        moduli = {"least": self.least} if self.least else {}
        moduli |= {"most": self.most} if self.most < 1 else {}
        return self._of_ours(e, x, Made, keeps_width=True, **moduli)
