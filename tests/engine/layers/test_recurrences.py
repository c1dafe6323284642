"""Recurrent layers that torch lacks: step by step against their equations, and scanned against a loop."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from engine.layers.ragged import last_places, read_to_end
from engine.layers.sequences.recurrences import LRU, MinGRU, PeepholeLSTM, linear_scan, remembering
from engine.layers.sequences.stacked import DeepTransition, Stacked

N, T, F, H = 3, 11, 4, 5


def draws(*size: int) -> Tensor:
    return torch.randn(*size, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(size)))


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 7, 8, 9, 64])
@pytest.mark.parametrize("kind", [torch.float64, torch.complex128])
def test_a_scan_is_the_loop(steps: int, kind: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(steps)
    factor = torch.randn(N, steps, H, dtype=kind, generator=generator, requires_grad=True)
    added = torch.randn(N, steps, H, dtype=kind, generator=generator, requires_grad=True)
    h = torch.zeros(N, H, dtype=kind)
    states = []
    for step in range(steps):
        h = factor[:, step] * h + added[:, step]
        states.append(h)
    wanted = torch.stack(states, 1)
    found = linear_scan(factor, added)
    torch.testing.assert_close(found, wanted)
    given = (factor, added)
    slopes = torch.autograd.grad(wanted.abs().square().sum(), given, materialize_grads=True)
    others = torch.autograd.grad(found.abs().square().sum(), given, materialize_grads=True)
    for slope, other in zip(slopes, others, strict=True):
        torch.testing.assert_close(other, slope)


def test_min_gru_is_its_equation() -> None:
    made, x = MinGRU(F, H).double(), draws(N, T, F)
    h = torch.zeros(N, H, dtype=torch.float64)
    for step in range(T):
        gate = torch.sigmoid(x[:, step] @ made.gate.weight.T + made.gate.bias)
        h = (1 - gate) * h + gate * (x[:, step] @ made.new.weight.T + made.new.bias)
        torch.testing.assert_close(made(x)[:, step], h)


def test_a_peephole_lstm_without_peepholes_is_torchs_lstm() -> None:
    made, x = PeepholeLSTM(F, H).double(), draws(N, T, F)
    plain = nn.LSTM(F, H, batch_first=True).double()
    with torch.no_grad():
        made.peepholes.zero_()
        plain.weight_ih_l0.copy_(made.into.weight)
        plain.weight_hh_l0.copy_(made.back.weight)
        plain.bias_ih_l0.copy_(made.into.bias)
        plain.bias_hh_l0.zero_()
    wanted, (_, c) = plain(x)
    output, cells = made(x)
    torch.testing.assert_close(output, wanted)
    torch.testing.assert_close(cells[:, -1], c[0])


def test_peepholes_show_the_cell_to_the_gates() -> None:
    made, x = PeepholeLSTM(1, 1).double(), torch.ones(1, 2, 1, dtype=torch.float64)
    with torch.no_grad():
        made.into.weight.fill_(0.3)
        made.into.bias.zero_()
        made.back.weight.fill_(0.2)
        made.peepholes.copy_(torch.tensor([[0.5], [-0.4], [0.7]]))
    sigma, tanh = torch.sigmoid, torch.tanh
    first = sigma(torch.tensor(0.3)) * tanh(torch.tensor(0.3))
    h1 = sigma(0.3 + 0.7 * first) * tanh(first)
    a = 0.3 + 0.2 * h1
    second = sigma(a - 0.4 * first) * first + sigma(a + 0.5 * first) * tanh(a)
    h2 = sigma(a + 0.7 * second) * tanh(second)
    output, cells = made(x)
    torch.testing.assert_close(output.flatten(), torch.stack([h1, h2]).double(), atol=1e-6, rtol=0)
    torch.testing.assert_close(cells[:, -1].flatten(), second.double().reshape(1), atol=1e-6, rtol=0)


TORCH: dict[str, tuple[type[nn.RNNBase], type[nn.RNNCellBase]]] = {
    "Elman": (nn.RNN, nn.RNNCell),
    "LSTM": (nn.LSTM, nn.LSTMCell),
    "GRU": (nn.GRU, nn.GRUCell),
}


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize("both", [False, True], ids=["forwards", "both ways"])
def test_stacked_layers_are_torchs(name: str, both: bool) -> None:
    whole, cell = TORCH[name]
    plain = whole(F, H, 3, batch_first=True, bidirectional=both).double()
    sizes = [F, H * (1 + both), H * (1 + both)]
    made = Stacked(DeepTransition, sizes, H, both, cell=cell, depth=1).double()
    with torch.no_grad():
        for number, ways in enumerate(made.layers):
            for end, layer in zip(("", "_reverse"), ways.children(), strict=False):
                for part, weight in layer.get_submodule("cells.0").named_parameters():
                    weight.copy_(plain.get_parameter(f"{part}_l{number}{end}"))
    x, lengths = draws(N, T, F), torch.tensor([T, 4, 1])
    found = made(x)
    torch.testing.assert_close(found[0] if name == "LSTM" else found, plain(x)[0])
    wanted, state = read_to_end(plain, x, lengths)
    found = made(x, lengths)
    found, cells = found if name == "LSTM" else (found, None)
    for row, length in enumerate(lengths.tolist()):
        torch.testing.assert_close(found[row, :length], wanted[row, :length])
    if cells is not None:
        torch.testing.assert_close(last_places(cells, lengths)[:, :H], state[1][-1 - both])


@pytest.mark.parametrize("kind", [PeepholeLSTM, MinGRU, LRU])
def test_layers_of_ours_are_stacked_both_ways_by_hand(kind: type[nn.Module]) -> None:
    wide = F if kind is LRU else H
    made, x = Stacked(kind, [F, 2 * wide], H, True).double(), draws(N, T, F)
    found = x
    for ways in made.layers:
        there, back = ways.children()
        outputs = [there(found), back(found.flip(1))]
        outputs = [one[0] if isinstance(one, tuple) else one for one in outputs]
        found = torch.cat((outputs[0], outputs[1].flip(1)), 2)
    output = made(x)
    torch.testing.assert_close(output[0] if isinstance(output, tuple) else output, found)


@pytest.mark.parametrize("name", TORCH)
def test_a_deep_transition_is_cells_one_after_the_other_at_each_step(name: str) -> None:
    made, x = DeepTransition(F, H, TORCH[name][1], 3).double(), draws(N, T, F)
    h = c = x.new_zeros(N, H)
    for step in range(T):
        for number, cell in enumerate(made.cells.children()):
            weights = dict(cell.named_parameters())
            into = weights["bias_ih"] + (x[:, step] @ weights["weight_ih"].T if number == 0 else 0)
            back = h @ weights["weight_hh"].T + weights["bias_hh"]
            if name == "Elman":
                h = torch.tanh(into + back)
            elif name == "LSTM":
                i, f, g, o = (into + back).chunk(4, 1)
                c = f.sigmoid() * c + i.sigmoid() * g.tanh()
                h = o.sigmoid() * c.tanh()
            else:
                (ri, zi, ni), (rb, zb, nb) = into.expand_as(back).chunk(3, 1), back.chunk(3, 1)
                z = (zi + zb).sigmoid()
                h = (1 - z) * (ni + (ri + rb).sigmoid() * nb).tanh() + z * h
    output = made(x)
    torch.testing.assert_close(output[0][:, -1] if name == "LSTM" else output[:, -1], h)


def test_an_lru_is_a_real_recurrence_of_turning_and_shrinking() -> None:
    """Each complex state is two real ones that a scaled turning changes."""
    torch.manual_seed(1)
    made, x = LRU(F, H, least=0.5, most=0.95).double(), draws(N, T, F)
    modulus, angle = (-made.nu.exp()).exp(), made.theta
    assert bool(((modulus >= 0.5 - 1e-6) & (modulus <= 0.95 + 1e-6)).all())
    scale = (1 - modulus**2).sqrt()
    real = imaginary = torch.zeros(N, H, dtype=torch.float64)
    for step in range(T):
        now = x[:, step]
        turned = modulus * (angle.cos() * real - angle.sin() * imaginary)
        imaginary = modulus * (angle.sin() * real + angle.cos() * imaginary) + scale * (now @ made.into[1].T)
        real = turned + scale * (now @ made.into[0].T)
        wanted = real @ made.out[0].T - imaginary @ made.out[1].T + made.skip * now
        torch.testing.assert_close(made(x)[:, step], wanted)


def test_whatever_nu_is_the_factors_stay_inside_the_disc() -> None:
    made = LRU(F, 1000).double()
    with torch.no_grad():
        made.nu.copy_(torch.linspace(-20, 3, 1000))
    assert bool((made.eigenvalues().abs() < 1).all())


def test_moduli_begin_with_as_much_area_in_each_ring() -> None:
    torch.manual_seed(0)
    squares = LRU(F, 20_000, least=0.3, most=0.9).eigenvalues().abs().detach().square()
    share = (squares - 0.09) / (0.81 - 0.09)
    assert share.min() >= -1e-5 and share.max() <= 1 + 1e-5
    counts = torch.histc(share.clamp(0, 1), 10, 0, 1) / 20_000
    assert (counts - 0.1).abs().max() < 0.01


def test_an_lstm_that_remembers_begins_to_forget_within_so_many_steps() -> None:
    torch.manual_seed(0)
    steps, wide = 50, 4000
    plain = nn.LSTM(2, wide)
    others = {name: found.clone() for name, found in plain.named_parameters() if "weight" in name}
    made = remembering(plain, steps)
    bias = made.bias_ih_l0 + made.bias_hh_l0
    enter, forget = torch.sigmoid(bias[:wide]), torch.sigmoid(bias[wide : 2 * wide])
    kept_for = 1 / (1 - forget)  # steps after which e^-1 is left
    assert 2 <= kept_for.min() < 2.1 and 49.9 < kept_for.max() <= steps + 1e-3
    assert kept_for.mean().item() == pytest.approx(26, abs=1)  # evenly between
    torch.testing.assert_close(enter, 1 - forget)
    assert all(torch.equal(made.get_parameter(name), found) for name, found in others.items())
