"""The gates of recurrent layers at every step, worked out again from their weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from engine.errors import NeuroloomError

GATES: dict[type[nn.RNNBase], tuple[str, ...]] = {
    nn.LSTM: ("input gate", "forget gate", "output gate", "candidate", "cell", "hidden"),
    nn.GRU: ("reset gate", "update gate", "candidate", "hidden"),
    nn.RNN: ("hidden",),
}
OPEN = ("input gate", "forget gate", "output gate", "reset gate", "update gate")  # between 0 and 1


def gates_of(rnn: nn.RNNBase, x: Tensor, layer: int = 0, *, backwards: bool = False) -> dict[str, Tensor]:
    """Gates and states of one layer for one sequence (T, features), each (T, hidden), in the order of time.

    Step t of a layer that reads backwards has seen the steps from t to the last. States begin at zero, and
    nothing is dropped between layers. Source: Hochreiter and Schmidhuber, 1997; Gers, Schmidhuber and
    Cummins, 2000; Cho and others, 2014. Errors: `NeuroloomError` for a layer with a projection.
    """
    if rnn.proj_size:
        raise NeuroloomError("The gates of a layer with a projection can't be shown.")
    with torch.no_grad():
        for below in range(layer):
            ways = [_read(rnn, x, below, back)["hidden"] for back in (False, True)[: 1 + rnn.bidirectional]]
            x = torch.cat(ways, 1)
        return _read(rnn, x, layer, backwards)


def _read(rnn: nn.RNNBase, x: Tensor, layer: int, backwards: bool) -> dict[str, Tensor]:
    end = f"_l{layer}{'_reverse' if backwards else ''}"
    inward, recurrent = getattr(rnn, f"weight_ih{end}"), getattr(rnn, f"weight_hh{end}")
    zero = x.new_zeros(len(inward))
    bias_in, bias_back = (getattr(rnn, f"bias_{way}{end}") if rnn.bias else zero for way in ("ih", "hh"))
    given = x @ inward.T + bias_in
    h = c = x.new_zeros(rnn.hidden_size)
    steps: list[dict[str, Tensor]] = []
    for t in range(len(x) - 1, -1, -1) if backwards else range(len(x)):
        back = recurrent @ h + bias_back
        if isinstance(rnn, nn.LSTM):
            found = _lstm(given[t] + back, c)
            c = found["cell"]
        elif isinstance(rnn, nn.GRU):
            found = _gru(given[t], back, h)
        else:
            total = given[t] + back
            found = {"hidden": total.relu() if rnn.mode == "RNN_RELU" else total.tanh()}
        h = found["hidden"]
        steps.append(found)
    if backwards:
        steps.reverse()
    return {name: torch.stack([step[name] for step in steps]) for name in GATES[type(rnn)]}


def _lstm(total: Tensor, cell: Tensor) -> dict[str, Tensor]:
    i, f, g, o = total.chunk(4)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cell = f * cell + i * g
    return {
        "input gate": i,
        "forget gate": f,
        "output gate": o,
        "candidate": g,
        "cell": cell,
        "hidden": o * cell.tanh(),
    }


def _gru(given: Tensor, back: Tensor, hidden: Tensor) -> dict[str, Tensor]:
    (given_r, given_z, given_n), (back_r, back_z, back_n) = given.chunk(3), back.chunk(3)
    r, z = (given_r + back_r).sigmoid(), (given_z + back_z).sigmoid()
    n = (given_n + r * back_n).tanh()
    return {"reset gate": r, "update gate": z, "candidate": n, "hidden": (1 - z) * n + z * hidden}
