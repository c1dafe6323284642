"""Recurrent layers as cells that are called step by step, worked out again from their weights.

States of several parts stand in one row: h and c of an LSTM, the real and the imaginary parts of an LRU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from engine.errors import NeuroloomError

GATES: dict[type[nn.RNNBase], tuple[str, ...]] = {
    nn.LSTM: ("input gate", "forget gate", "output gate", "candidate", "cell", "hidden"),
    nn.GRU: ("reset gate", "update gate", "candidate", "hidden"),
    nn.RNN: ("hidden",),
}
OPEN = ("input gate", "forget gate", "output gate", "reset gate", "update gate")  # between 0 and 1
Values = dict[str, Tensor]


@dataclass(frozen=True)
class Cell:
    """One step of a recurrence.

    `step(x, state)` takes rows (N, F) and (N, `size`), and gives what it computes, each (N, H), the state
    that is handed on to other layers last, and the next state (N, `size`). `matrices` are what the state is
    multiplied by, (H, H) each; `factors` (H,) are complex, where it is only turned and shrunk.
    """

    kind: str
    size: int
    step: Callable[[Tensor, Tensor], tuple[Values, Tensor]]
    matrices: Mapping[str, Tensor] = field(default_factory=dict)
    factors: Tensor | None = None


def read(cell: Cell, x: Tensor, start: Tensor, *, backwards: bool = False) -> tuple[Values, Tensor]:
    """What a cell computes at every step of (T, F), each (T, H), and the states before them (T, S).

    Both are in the order of time; a cell that reads backwards begins at the last step.
    """
    steps: list[Values] = []
    before: list[Tensor] = []
    state = start[None]
    with torch.no_grad():
        for one in x.flip(0) if backwards else x:
            before.append(state[0])
            found, state = cell.step(one[None], state)
            steps.append(found)
    if backwards:
        steps.reverse()
        before.reverse()
    return {name: torch.cat([step[name] for step in steps]) for name in steps[0]}, torch.stack(before)


def slopes(cell: Cell, x: Tensor, before: Tensor) -> Tensor:
    """The Jacobians (N, S, S) of the next states by the states `before` (N, S), for inputs (N, F)."""
    with torch.enable_grad():
        state = before.detach().requires_grad_()
        _, after = cell.step(x.detach(), state)
        sums = after.sum(0)
        rows = [torch.autograd.grad(one, state, retain_graph=True, materialize_grads=True)[0] for one in sums]
    return torch.stack(rows, 1)


def lag_gains(jacobians: Tensor) -> Iterator[tuple[float, float]]:
    """How much a change of the state k steps earlier is stretched, k = 0, 1, ..: at most, and on average.

    `jacobians` (T, S, S) are those of the steps in the order of reading. The first is the largest singular
    value of their product, the second the root of the mean of the squares of all. Source: Bengio, Simard and
    Frasconi, 1994.
    """
    size = jacobians.shape[1]
    product = torch.eye(size, dtype=torch.float64, device=jacobians.device)
    yield 1.0, 1.0
    for one in jacobians.double().flip(0):
        product = product @ one
        most = product.abs().max()
        if not most.isfinite() or most == 0:
            yield (0.0, 0.0) if most == 0 else (float("inf"), float("inf"))
            continue
        scaled = product / most  # its square would leave the numbers there are
        largest = torch.linalg.eigvalsh(scaled @ scaled.T)[-1].clamp_min(0).sqrt()
        yield (most * largest).item(), (most * scaled.norm() / size**0.5).item()


def gates_of(rnn: nn.RNNBase, x: Tensor, layer: int = 0, *, backwards: bool = False) -> Values:
    """Gates and states of one layer for one sequence (T, features), each (T, hidden), in the order of time.

    Step t of a layer that reads backwards has seen the steps from t to the last. States begin at zero, and
    nothing is dropped between layers. Errors: `NeuroloomError` for a layer with a projection.
    """
    with torch.no_grad():
        cell = torch_cell(rnn, layer, backwards=backwards)
        below = through_layers_below(rnn, x, layer)
        return read(cell, below, x.new_zeros(cell.size), backwards=backwards)[0]


def through_layers_below(rnn: nn.RNNBase, x: Tensor, layer: int) -> Tensor:
    """What arrives at a layer of a stack, for one sequence (T, features)."""
    for below in range(layer):
        ways = []
        for back in (False, True)[: 1 + rnn.bidirectional]:
            cell = torch_cell(rnn, below, backwards=back)
            ways.append(read(cell, x, x.new_zeros(cell.size), backwards=back)[0]["hidden"])
        x = torch.cat(ways, 1)
    return x


def torch_cell(rnn: nn.RNNBase, layer: int = 0, *, backwards: bool = False) -> Cell:
    """The cell of one layer of torch's. Errors: `NeuroloomError` for one with a projection.

    Source: Elman, 1990; Hochreiter and Schmidhuber, 1997; Gers, Schmidhuber and Cummins, 2000; Cho and
    others, 2014.
    """
    if rnn.proj_size:
        raise NeuroloomError("The gates of a layer with a projection can't be shown.")
    end = f"_l{layer}{'_reverse' if backwards else ''}"
    inward, recurrent = getattr(rnn, f"weight_ih{end}"), getattr(rnn, f"weight_hh{end}")
    zero = inward.new_zeros(len(inward))
    bias_in, bias_back = (getattr(rnn, f"bias_{way}{end}") if rnn.bias else zero for way in ("ih", "hh"))
    hidden, kind = rnn.hidden_size, rnn.mode.split("_")[0]
    parts = torch.split(recurrent.detach(), hidden)

    def lstm(x: Tensor, state: Tensor) -> tuple[Values, Tensor]:
        h, c = torch.split(state, hidden, 1)
        total = x @ inward.T + bias_in + h @ recurrent.T + bias_back
        i, f, g, o = total.chunk(4, 1)
        return _remembered(i.sigmoid(), f.sigmoid(), g.tanh(), o, c)

    def gru(x: Tensor, state: Tensor) -> tuple[Values, Tensor]:
        given, back = x @ inward.T + bias_in, state @ recurrent.T + bias_back
        (given_r, given_z, given_n), (back_r, back_z, back_n) = given.chunk(3, 1), back.chunk(3, 1)
        r, z = (given_r + back_r).sigmoid(), (given_z + back_z).sigmoid()
        n = (given_n + r * back_n).tanh()
        new = (1 - z) * n + z * state
        return {"reset gate": r, "update gate": z, "candidate": n, "hidden": new}, new

    def elman(x: Tensor, state: Tensor) -> tuple[Values, Tensor]:
        total = x @ inward.T + bias_in + state @ recurrent.T + bias_back
        new = total.relu() if rnn.mode == "RNN_RELU" else total.tanh()
        return {"hidden": new}, new

    if isinstance(rnn, nn.LSTM):
        names = ("input gate", "forget gate", "candidate", "output gate")
        return Cell(kind, 2 * hidden, lstm, dict(zip(names, parts, strict=True)))
    if isinstance(rnn, nn.GRU):
        return Cell(kind, hidden, gru, dict(zip(GATES[nn.GRU][:3], parts, strict=True)))
    return Cell(kind, hidden, elman, {"recurrent weights": parts[0]})


def _remembered(entry: Tensor, keep: Tensor, new: Tensor, out: Tensor, c: Tensor) -> tuple[Values, Tensor]:
    """The step of an LSTM from its open gates; `out` is before its sigmoid."""
    cell, shown = keep * c + entry * new, out.sigmoid()
    hidden = shown * cell.tanh()
    found = {
        "input gate": entry,
        "forget gate": keep,
        "output gate": shown,
        "candidate": new,
        "cell": cell,
        "hidden": hidden,
    }
    return found, torch.cat((hidden, cell), 1)


def is_own(part: nn.Module) -> bool:
    """Whether a module is a recurrent layer of ours, known by what it has."""
    gated = all(isinstance(getattr(part, name, None), nn.Linear) for name in ("gate", "new"))
    return (
        hasattr(part, "peepholes") or (hasattr(part, "nu") and hasattr(part, "theta")) or gated or _deep(part)
    )


def _deep(part: nn.Module) -> bool:
    return hasattr(part, "two_states") and isinstance(getattr(part, "cells", None), nn.ModuleList)


def own_cell(part: nn.Module) -> Cell:
    """The cell of a recurrent layer of ours: a peephole LSTM, an LRU, a minGRU or one of several cells."""
    if hasattr(part, "peepholes"):
        return _peephole_cell(part)
    if _deep(part):
        return _deep_cell(part)
    return _linear_cell(part) if hasattr(part, "nu") else _min_gru_cell(part)


def _peephole_cell(part: nn.Module) -> Cell:
    into, back = part.get_submodule("into"), part.get_submodule("back")
    seen, forgotten, shown = part.get_parameter("peepholes")
    hidden = len(seen)

    def step(x: Tensor, state: Tensor) -> tuple[Values, Tensor]:
        h, c = torch.split(state, hidden, 1)
        entry, forget, new, out = (into(x) + back(h)).chunk(4, 1)
        entry, forget, new = (
            torch.sigmoid(entry + seen * c),
            torch.sigmoid(forget + forgotten * c),
            new.tanh(),
        )
        return _remembered(entry, forget, new, out + shown * (forget * c + entry * new), c)

    parts = torch.split(part.get_parameter("back.weight").detach(), hidden)
    names = ("input gate", "forget gate", "candidate", "output gate")
    return Cell("Peephole LSTM", 2 * hidden, step, dict(zip(names, parts, strict=True)))


def _deep_cell(part: nn.Module) -> Cell:
    parts = [one for one in part.modules() if isinstance(one, nn.RNNCellBase)]
    hidden, two = parts[0].hidden_size, isinstance(parts[0], nn.LSTMCell)

    def step(x: Tensor, state: Tensor) -> tuple[Values, Tensor]:
        found: Values = {}
        for number, cell in enumerate(parts, 1):
            after = cell(x, tuple(torch.split(state, hidden, 1)) if two else state)
            state, x = torch.cat(after, 1) if two else after, x[:, :0]
            found["hidden" if number == len(parts) else f"state {number}"] = state[:, :hidden]
        return found, state

    square = {f"cell {number}": cell.weight_hh.detach() for number, cell in enumerate(parts, 1)}
    matrices = {name: one for name, one in square.items() if len(one) == hidden}
    return Cell("Deep transition", 2 * hidden if two else hidden, step, matrices)


def _min_gru_cell(part: nn.Module) -> Cell:
    gate, new = part.get_submodule("gate"), part.get_submodule("new")

    def step(x: Tensor, state: Tensor) -> tuple[Values, Tensor]:
        z, candidate = gate(x).sigmoid(), new(x)
        after = (1 - z) * state + z * candidate
        return {"update gate": z, "candidate": candidate, "hidden": after}, after

    return Cell("minGRU", len(part.get_parameter("gate.weight")), step)


def _linear_cell(part: nn.Module) -> Cell:
    nu, theta, into = (part.get_parameter(name) for name in ("nu", "theta", "into"))
    factor = torch.polar((-nu.exp()).exp(), theta)
    scale = (1 - factor.abs().square()).sqrt()
    hidden = len(nu)

    def step(x: Tensor, state: Tensor) -> tuple[Values, Tensor]:
        real, imaginary = torch.split(state, hidden, 1)
        given = torch.complex(x @ into[0].T, x @ into[1].T) * scale
        after = factor * torch.complex(real, imaginary) + given
        found = {"modulus": after.abs(), "imaginary part": after.imag, "real part": after.real}
        return found, torch.cat((after.real, after.imag), 1)

    return Cell("linear unit", 2 * hidden, step, factors=factor.detach())
