"""Recurrent layers against their equations, step by step (seed 000 §2.2.2)."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.engine.sketches import Sketch, batch_of, image, program_of
from tests.nodes.values import close


def all_ports(type_id: str, params: dict[str, object]) -> tuple[nn.Module, tuple[str, ...]]:
    sketch, start = image(6, 3)
    memory = sketch.add(type_id, "memory", {"hidden": 4, **params}, x=start)
    ports = ("output", "h", "c") if "LSTM" in type_id else ("output", "h")
    for port in ports:
        sketch.add("Output", port, x=f"{memory}.{port}")
    return program_of(sketch).Model(), ports


def test_an_lstm_follows_its_equations() -> None:
    model, _ = all_ports("LSTM", {})
    cell = model.memory
    x = torch.randn(5, 6, 3)
    h = c = torch.zeros(5, 4)
    steps = []
    for step in range(6):
        gates = x[:, step] @ cell.weight_ih_l0.T + cell.bias_ih_l0 + h @ cell.weight_hh_l0.T + cell.bias_hh_l0
        entry, forget, new, out = gates.chunk(4, 1)
        c = torch.sigmoid(forget) * c + torch.sigmoid(entry) * torch.tanh(new)
        h = torch.sigmoid(out) * torch.tanh(c)
        steps.append(h)
    output, last_h, last_c = model(x)
    assert close(output, torch.stack(steps, 1)) and close(last_h, h) and close(last_c, c)


def test_a_gru_follows_its_equations() -> None:
    model, _ = all_ports("GRU", {})
    cell = model.memory
    x = torch.randn(5, 6, 3)
    h = torch.zeros(5, 4)
    for step in range(6):
        into = (x[:, step] @ cell.weight_ih_l0.T + cell.bias_ih_l0).chunk(3, 1)
        back = (h @ cell.weight_hh_l0.T + cell.bias_hh_l0).chunk(3, 1)
        reset, update = torch.sigmoid(into[0] + back[0]), torch.sigmoid(into[1] + back[1])
        h = (1 - update) * torch.tanh(into[2] + reset * back[2]) + update * h
    output, last = model(x)
    assert close(last, h) and torch.equal(output[:, -1], last)


@pytest.mark.parametrize(("type_id", "deep"), [("LSTM", 1), ("GRU", 1), ("PeepholeLSTM", 1), ("LSTM", 2)])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("both", [False, True])
def test_states_are_those_of_the_top_layer(type_id: str, deep: int, layers: int, both: bool) -> None:
    params: dict[str, object] = {"layers": layers, "both_ways": both, "dropout": 0.0}
    model, _ = all_ports(type_id, params | ({"transition": deep} if deep > 1 else {}))
    output, h, *_ = model(torch.randn(5, 6, 3))
    assert torch.equal(h[:, :4], output[:, -1, :4])  # forwards, the last step is read last
    if both:
        assert torch.equal(h[:, 4:], output[:, 0, 4:])  # backwards, the first


@pytest.mark.parametrize(
    ("type_id", "port"), [("LSTM", "output"), ("LSTM", "h"), ("LSTM", "c"), ("GRU", "output"), ("GRU", "h")]
)
@pytest.mark.parametrize("both", [False, True])
def test_every_port_can_be_trained_from(type_id: str, port: str, both: bool) -> None:
    sketch = Sketch()
    data = sketch.add("SantaFe", "laser", {"lag": 5})
    params = {"hidden": 4, "both_ways": both, "layers": 2, "dropout": 0.25}
    memory = sketch.add(type_id, "memory", params, x=f"{data}.window")
    last = f"{memory}.{port}" if port != "output" else sketch.add("LastStep", "last", x=memory)
    head = sketch.add("Linear", "head", {"units": 1}, x=last)
    sketch.add("MSE", "loss", prediction=head, target=f"{data}.next")
    program = program_of(sketch)
    torch.manual_seed(0)
    model, batch = program.Model(), batch_of(program, 32)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.02)
    before = program.evaluate(model, batch)["loss"]
    for _ in range(12):
        optimiser.zero_grad()
        program.objective(model, batch)["loss"].backward()
        optimiser.step()
    assert program.evaluate(model, batch)["loss"] < before
    assert all(weight.grad is not None for weight in model.parameters())
