"""Gates worked out again give the outputs of the layers they come from."""

import pytest
import torch
from torch import nn

from engine.errors import NeuroloomError
from engine.look.sequences.cells import GATES, OPEN, gates_of


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize(("layers", "both"), [(1, False), (2, True)])
@pytest.mark.parametrize("bias", [True, False])
def test_the_hidden_states_are_the_modules_outputs(
    kind: type[nn.RNNBase], layers: int, both: bool, bias: bool
) -> None:
    torch.manual_seed(0)
    rnn = kind(3, 5, layers, bias=bias, bidirectional=both, batch_first=True)
    x = torch.randn(7, 3)
    output, last = rnn(x[None])
    found = [gates_of(rnn, x, layers - 1, backwards=back)["hidden"] for back in (False, True)[: 1 + both]]
    torch.testing.assert_close(torch.cat(found, 1), output[0])
    if kind is nn.LSTM:
        cell = gates_of(rnn, x, 0)["cell"]
        torch.testing.assert_close(cell[-1], last[1][0, 0])


def test_gates_lie_between_0_and_1_and_a_shut_one_keeps_nothing() -> None:
    lstm = nn.LSTM(2, 4)
    with torch.no_grad():
        lstm.bias_ih_l0.copy_(torch.tensor([9.0] * 4 + [-99.0] * 4 + [0.0] * 4 + [0.5] * 4))
    found = gates_of(lstm, torch.randn(6, 2))
    assert tuple(found) == GATES[nn.LSTM]
    for name in OPEN[:3]:
        assert ((found[name] >= 0) & (found[name] <= 1)).all()
    assert (found["forget gate"] < 1e-6).all()
    torch.testing.assert_close(found["cell"], found["input gate"] * found["candidate"])


def test_a_rectified_layer_is_rectified_and_a_projection_is_refused() -> None:
    rnn = nn.RNN(3, 4, nonlinearity="relu")
    x = torch.randn(5, 3)
    torch.testing.assert_close(gates_of(rnn, x)["hidden"], rnn(x)[0])
    with pytest.raises(NeuroloomError):
        gates_of(nn.LSTM(3, 4, proj_size=2), x)
