"""Jacobians against lag are those of autograd through the layer itself, eigenvalues those of numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from engine.feed.feed import Probe
from engine.layers.sequences.recurrences import LRU, MinGRU, PeepholeLSTM
from engine.layers.sequences.stacked import DeepTransition, Stacked
from engine.look.sequences.cells import lag_gains, read, slopes, torch_cell
from engine.look.sequences.recurrent import AT_A_STEP
from tests.bench.answers import gains_at_rest, threshold
from tests.engine.look.looking import look_at, taken
from tests.engine.look.sequences.drawn_cell import H, T, drawn
from tests.engine.look.taking import take
from tests.engine.train.networks import run_of

F = 3


def rows(seed: int = 0) -> Tensor:
    return torch.randn(1, T, F, generator=torch.Generator().manual_seed(seed))


def gains_by_autograd(rnn: nn.RNNBase, x: Tensor) -> np.ndarray:
    """Of the whole state, handed to torch's own layer k steps before the end."""
    found = []
    for lag in range(T + 1):
        before = torch.zeros(2 if isinstance(rnn, nn.LSTM) else 1, 1, 1, H)
        if lag < T:
            state = rnn(x[:, : T - lag])[1]
            before = torch.stack(state) if isinstance(state, tuple) else state[None]

        def last(state: Tensor, lag: int = lag) -> Tensor:
            if not lag:
                return state
            after = rnn(x[:, T - lag :], tuple(state) if len(state) > 1 else state[0])[1]
            return torch.stack(after) if isinstance(after, tuple) else after[None]

        size = before.numel()
        jacobian = torch.autograd.functional.jacobian(last, before.detach()).reshape(size, size)
        values = torch.linalg.svdvals(jacobian)
        found.append((values.max().item(), values.square().mean().sqrt().item()))
    return np.array(found).T


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_the_gain_over_each_lag_is_that_of_autograd_through_the_layer(kind: type[nn.RNNBase]) -> None:
    torch.manual_seed(0)
    rnn, x = kind(F, H, batch_first=True), rows()
    array, facts = taken(look_at(rnn, x), "state_jacobian")
    np.testing.assert_allclose(array, gains_by_autograd(rnn, x), rtol=2e-4)
    assert facts["lags"] == T and facts["rate"] == pytest.approx(array[0, -1] ** (1 / T))
    assert facts["size"] == (2 * H if kind is nn.LSTM else H)


def test_backwards_the_lag_is_counted_from_the_first_step() -> None:
    torch.manual_seed(0)
    both, one, x = (
        nn.GRU(F, H, bidirectional=True, batch_first=True),
        nn.GRU(F, H, batch_first=True),
        rows(),
    )
    for name, weight in one.named_parameters():
        weight.data = both.get_parameter(f"{name}_reverse").data
    array, _ = taken(look_at(both, x), "state_jacobian", 0, 1)
    np.testing.assert_allclose(array, gains_by_autograd(one, x.flip(1)), rtol=2e-4)


def test_a_linear_recurrence_turns_and_shrinks_by_the_powers_of_its_factors() -> None:
    torch.manual_seed(0)
    unit = LRU(F, H)
    moduli = unit.eigenvalues().abs().detach().numpy().astype(float)
    array, _ = taken(look_at(unit, rows()), "state_jacobian")
    lags = np.arange(T + 1)
    np.testing.assert_allclose(array[0], moduli.max() ** lags, rtol=1e-4)
    powers = moduli[:, None] ** (2 * lags)
    np.testing.assert_allclose(array[1], np.sqrt(powers.mean(0)), rtol=1e-4)
    values, facts = taken(look_at(unit, rows()), "recurrent_eigenvalues")
    np.testing.assert_allclose(values[:, 0] + 1j * values[:, 1], unit.eigenvalues().detach(), rtol=1e-5)
    assert facts["parts"] == ("factors",) and facts["radius"] == pytest.approx(moduli.max(), rel=1e-5)


@pytest.mark.parametrize("made", [PeepholeLSTM(F, H), MinGRU(F, H)], ids=["peephole", "minGRU"])
def test_states_of_layers_of_ours_are_their_outputs(made: nn.Module) -> None:
    x = rows()
    output = made(x)
    output = output[0] if isinstance(output, tuple) else output
    array, facts = taken(look_at(made, x), "gates")
    np.testing.assert_allclose(array[-1], output[0].detach(), atol=1e-3)
    assert facts["gates"][-1] == "hidden" and "candidate" not in facts["open"] and facts["open"]


@pytest.mark.parametrize("cell", [nn.RNNCell, nn.GRUCell, nn.LSTMCell])
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
def test_each_layer_of_a_stack_with_deep_transitions_is_seen(
    cell: type[nn.RNNCellBase], backwards: bool
) -> None:
    torch.manual_seed(0)
    made, x = Stacked(DeepTransition, [F, 2 * H], H, True, cell=cell, depth=2), rows()
    array, facts = taken(look_at(made, x), "gates", 1, int(backwards))
    output = made(x)
    output = output[0] if isinstance(output, tuple) else output
    half = slice(H, 2 * H) if backwards else slice(H)
    np.testing.assert_allclose(array[-1], output[0, :, half].detach(), atol=1e-3)
    assert facts["gates"] == ("state 1", "hidden") and facts["layers"] == 2 and facts["both"]


def test_eigenvalues_are_those_of_the_weights_or_of_the_last_step() -> None:
    torch.manual_seed(0)
    rnn, x = nn.RNN(F, H, batch_first=True), rows()
    weight = rnn.weight_hh_l0.detach().double().numpy()
    last = rnn(x)[0][0, -1].detach().double().numpy()
    for which, matrix in enumerate((weight, np.diag(1 - last**2) @ weight)):
        array, facts = taken(look_at(rnn, x), "recurrent_eigenvalues", 0, 0, which)
        wanted = np.linalg.eigvals(matrix)
        np.testing.assert_allclose(
            np.sort_complex(array[:, 0] + 1j * array[:, 1]), np.sort_complex(wanted), atol=1e-5
        )
        assert facts["radius"] == pytest.approx(np.abs(wanted).max(), rel=1e-5)
        assert facts["stretch"] == pytest.approx(np.linalg.norm(matrix, 2), rel=1e-5)
    assert facts["parts"] == ("recurrent weights", AT_A_STEP)


def test_a_block_that_is_drawn_and_scanned_is_seen_like_a_layer() -> None:
    run = run_of(drawn())
    kinds = ("gates", "state_jacobian", "recurrent_eigenvalues")
    values, gains, turned = take(run, *(Probe("n2", kind) for kind in kinds), pinned=3)
    cell = run.model.get_submodule("cell")
    into, again = cell.get_submodule("into"), cell.get_submodule("again")
    x, h = run.data["validation"]["window"][3], torch.zeros(H)
    states, product = [], torch.eye(H, dtype=torch.float64)
    with torch.no_grad():
        for step in x:
            h = torch.tanh(into(step) + again(h))
            states.append(h)
        for h in reversed(states):
            product = product @ (torch.diag(1 - h**2) @ again.weight).double()
    assert values.extra["gates"] == ("memory",)  # neither summands nor what is squashed into it
    assert values.extra["gates"][-1] == "memory" and values.extra["mode"] == "drawn"
    np.testing.assert_allclose(values.array[-1], torch.stack(states), atol=1e-3)
    np.testing.assert_allclose(values.extra["inputs"], x, rtol=1e-6)
    assert gains.array[0, -1] == pytest.approx(torch.linalg.matrix_norm(product, 2).item(), rel=1e-3)
    wanted = np.linalg.eigvals(again.weight.detach().double().numpy())
    found = turned.array[:, 0] + 1j * turned.array[:, 1]
    assert turned.extra["parts"][0] == "again"
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(wanted), atol=1e-5)
    assert not cell._forward_pre_hooks


def test_gradients_vanish_below_a_largest_singular_value_of_1_or_of_4() -> None:
    for squash, rest, edge in ((torch.tanh, 0.0, 1.0), (torch.sigmoid, 0.5, 4.0)):
        assert threshold(squash, rest) == edge
        for factor in (0.9, 1.1):
            gains = gains_at_rest(squash, rest, factor * edge)
            np.testing.assert_allclose(gains, factor ** np.arange(61.0), rtol=1e-9)


def test_below_that_value_they_vanish_whatever_comes_in() -> None:
    torch.manual_seed(0)
    rnn, x = nn.RNN(F, H).double(), torch.randn(60, F, dtype=torch.float64)
    with torch.no_grad():
        rnn.weight_hh_l0 *= 0.8 / torch.linalg.matrix_norm(rnn.weight_hh_l0, 2)
    cell = torch_cell(rnn)
    _, before = read(cell, x, x.new_zeros(H))
    gains = np.array(list(lag_gains(slopes(cell, x, before))))[:, 0]
    assert (gains <= 0.8 ** np.arange(61) * (1 + 1e-9)).all()
