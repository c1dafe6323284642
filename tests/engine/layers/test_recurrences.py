"""Recurrent layers that torch lacks: step by step against their equations, and scanned against a loop."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from engine.layers.sequences.recurrences import LRU, MinGRU, PeepholeLSTM, linear_scan, remembering

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
    wanted, (h, c) = plain(x)
    for found, other in zip(made(x), (wanted, h[0], c[0]), strict=True):
        torch.testing.assert_close(found, other)


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
    output, h, c = made(x)
    torch.testing.assert_close(output.flatten(), torch.stack([h1, h2]).double(), atol=1e-6, rtol=0)
    torch.testing.assert_close(c.flatten(), second.double().reshape(1), atol=1e-6, rtol=0)
    assert torch.equal(h, output[:, -1])


def test_rows_of_different_lengths_end_where_they_do() -> None:
    made, x = PeepholeLSTM(F, H).double(), draws(N, T, F)
    lengths = torch.tensor([T, 4, 1])
    output, h, c = made(x, lengths)
    for row, length in enumerate(lengths.tolist()):
        alone = made(x[row : row + 1, :length])
        torch.testing.assert_close(output[row, :length], alone[0][0])
        torch.testing.assert_close((h[row], c[row]), (alone[1][0], alone[2][0]))


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
