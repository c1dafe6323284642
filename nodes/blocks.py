"""Blocks: a graph kept under a name and used as one node, repeated, or run along a sequence."""

from __future__ import annotations

from engine.catalogue import Column, Composite, Emitted, Emitter, Input, Output, Wire, param
from engine.catalogue.params import Ints
from engine.catalogue.symbols import Expr, carried, many_of, nn
from engine.errors import EmitError


class BlockInput(Input):
    """Where a value enters a block."""

    title = "Block input"
    palette = False
    order: int = param(0, minimum=0, doc="place among the inputs, from the top")
    state: str = param(
        "", doc="for a block that is scanned: the output that comes back here at the next step"
    )
    size: Ints | None = param(
        None, minimum=1, label="State size", doc="sizes of that state, zero at the start"
    )

    def column(self) -> Column:
        return Column("output", self.size or ())


class BlockOutput(Output):
    """Where a value leaves a block."""

    title = "Block output"
    palette = False
    order: int = param(0, minimum=0, doc="place among the outputs, from the top")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return x


class Block(Composite):
    """A graph of its own, used as one node. Changing it changes it everywhere it is used."""

    palette = False
    takes_whole = True
    aliases = ("group", "subgraph", "function")
    formula = "y = B(x); repeated: y = B(B(…x)); along a sequence: yₜ, sₜ = B(xₜ, sₜ₋₁)"
    block: str = param("", doc="which block this is")
    times: int = param(
        1, minimum=1, maximum=1000, label="Repeat", doc="how often it is run, one after the other"
    )
    own_weights: bool = param(True, doc="each repetition learns weights of its own")
    scan: bool = param(False, label="Along the sequence", doc="run it step by step, handing its states on")

    def emit(self, e: Emitter, **wires: Wire) -> Emitted:
        made = e.class_of(self)
        inputs, outputs = [port.name for port in self.inputs()], [port.name for port in self.outputs()]
        if self.scan:
            return self._along(e, e.module(made), wires)
        given: list[Expr] = [wires[port] for port in inputs]
        known = {wire.ragged: wire.lengths for wire in wires.values() if wire.lengths is not None}
        lengths = [known[axis] for axis in self.axes_read() if axis in known]
        if self.times > 1:
            if len(inputs) != 1 or len(outputs) != 1:
                raise EmitError("A block that is repeated takes one value and gives one.")
            from engine.layers.loops import in_turn, repeat, repeat_beside  # imports torch

            if self.own_weights:
                layers = e.module(nn.Sequential(many_of(made, self.times)))
                return carried(in_turn)(layers, *given, *lengths) if lengths else layers(*given)
            again = repeat_beside if lengths else repeat
            return carried(again)(e.module(made), self.times, *given, *lengths)
        call = e.module(made)(*given, *lengths)
        if len(outputs) == 1:
            return call
        return dict(zip(outputs, e.unpack(call, *(self.label_of(port) for port in outputs)), strict=True))

    def _along(self, e: Emitter, cell: Expr, wires: dict[str, Wire]) -> Emitted:
        if self.times > 1:
            raise EmitError("A block runs along a sequence or is repeated, not both.")
        outputs = [port.name for port in self.outputs()]
        states = self.states()
        sequences = [wires[port.name] for port in self.inputs() if port.name not in states]
        if not sequences:
            raise EmitError("A block that runs along a sequence needs an input that is no state.")
        started = [
            wires[port] if port in wires else sequences[0].new_zeros((sequences[0].size(0), *state.size))
            for port, state in states.items()
        ]
        fed = tuple(outputs.index(state.fed_by) for state in states.values())
        from engine.layers.loops import scan  # imports torch

        call = carried(scan)(cell, tuple(sequences), tuple(started), fed)
        if len(outputs) == 1:
            return call[0]
        found = e.unpack(call, *(self.label_of(port) for port in outputs))
        return dict(zip(outputs, found, strict=True))

    def summary(self) -> str:
        if self.scan:
            return "along the sequence"
        if self.times > 1:
            return f"× {self.times} · {'own weights' if self.own_weights else 'shared weights'}"
        return ""
