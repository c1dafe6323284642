"""Forecasts of the Santa Fe laser by the protocols of `docs/reproductions.md`.

`python -m tests.reproductions.santa_fe [PROTOCOL ...] [--nets mlp lstm50 lstm10] [--seeds 0 1 2 3 4]` prints
a line of JSON for each run: errors over the 100 readings after training, in raw intensity squared.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from engine.data.sets.laser import read_laser
from engine.document.shipped import datasets_folder

TRAINED, TESTED = 1000, 100
BATCH, RATE = 50, 0.005
SAMPLED = 10  # readings at the end of a window that are the network's own, in scheduled sampling
NETS = {"mlp": (100, 50), "lstm50": (50, 100), "lstm10": (10, 100)}  # lag and hidden units
EPOCHS = {"mlp": 300, "lstm50": 100, "lstm10": 150}


@dataclass(frozen=True)
class Protocol:
    """What is done; the fields are those of the table in the document."""

    scale: str = "standardised"  # or "0 to 1"
    border: str = "across"  # or "within": the first window is the first of the test readings
    trained: int = TRAINED  # readings to train on, the others before the test being left out
    every_step: bool = False  # the loss is taken at each step of a window, not at its last one
    carried: bool = False  # the state has read the whole series when the free run begins
    sampling: bool = False
    noise: float = 0.0


BASE = Protocol()
PROTOCOLS = {
    "base": BASE,
    "0 to 1": replace(BASE, scale="0 to 1"),
    "within": replace(BASE, border="within"),
    "900 readings": replace(BASE, trained=900),
    "every step": replace(BASE, every_step=True),
    "state carried": replace(BASE, every_step=True, carried=True),
    "scheduled sampling": replace(BASE, sampling=True),
    "input noise": replace(BASE, noise=0.05),
}


class Perceptron(nn.Module):
    """One hidden layer of tanh on a window (N, lag, 1); gives the next reading (N, 1)."""

    def __init__(self, lag: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(lag, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, window: Tensor) -> Tensor:
        found: Tensor = self.layers(window)
        return found


class Recurrent(nn.Module):
    """An LSTM on a window (N, lag, 1); gives the next reading (N, 1), or with `steps` that after each."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.memory = nn.LSTM(1, hidden, batch_first=True)
        self.answer = nn.Linear(hidden, 1)

    def forward(self, window: Tensor, steps: bool = False) -> Tensor:
        output, _ = self.memory(window)
        found: Tensor = self.answer(output if steps else output[:, -1])
        return found[:, :, 0] if steps else found


def readings(protocol: Protocol, trained: int) -> tuple[Tensor, float]:
    """The scaled series (1100,), by the readings to train on, and how many raw units one of it is."""
    raw = read_laser(datasets_folder())
    known = raw[:trained]
    if protocol.scale == "0 to 1":
        low, unit = known.min(), known.max() - known.min()
    else:
        low, unit = known.mean(), known.std(correction=0)
    return ((raw - low) / unit).float(), unit.item()


def sampled_windows(net: nn.Module, window: Tensor, draw: torch.Generator, rate: float) -> Tensor:
    """Windows (N, lag, 1) whose last readings are forecasts of those before, each with probability `rate`."""
    lag = window.shape[1]
    count = min(SAMPLED, lag - 1)
    given = torch.cat((window[:, :1].expand(-1, count, -1), window), 1)  # so that each forecast has a past
    with torch.no_grad():
        for at in range(count + lag - count, count + lag):
            own = torch.rand(len(window), 1, generator=draw) < rate
            given[:, at] = torch.where(own, net(given[:, at - lag : at]), given[:, at])
    return given[:, count:]


def fitted(name: str, protocol: Protocol, seed: int, epochs: int, series: Tensor) -> nn.Module:
    """A network of that name after so many epochs on the windows of a series."""
    torch.manual_seed(seed)
    draw = torch.Generator().manual_seed(seed)
    lag, hidden = NETS[name]
    net = Perceptron(lag, hidden) if name == "mlp" else Recurrent(hidden)
    rows = series.unfold(0, lag + 1, 1)
    optimiser = torch.optim.Adam(net.parameters(), RATE)
    batches = -(-len(rows) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs * batches)
    for epoch in range(epochs):
        for part in torch.randperm(len(rows), generator=draw).split(BATCH):
            window, wanted = rows[part, :lag, None], rows[part, 1:]
            if protocol.sampling:
                window = sampled_windows(net, window, draw, epoch / epochs)
            if protocol.noise:
                window = window + protocol.noise * torch.randn(window.shape, generator=draw)
            steps = protocol.every_step and name != "mlp"
            guess = net(window, True) if steps else net(window)
            loss = (guess - (wanted if steps else wanted[:, -1:])).square().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    return net.eval()


def forecasts(net: nn.Module, series: Tensor, lag: int, protocol: Protocol) -> tuple[Tensor, Tensor, Tensor]:
    """What came, one step ahead, and running free, each (steps,), after the readings to train on."""
    first = TRAINED + (lag if protocol.border == "within" else 0)
    truth = series[first:]
    with torch.no_grad():
        windows = series[first - lag : -1].unfold(0, lag, 1)[:, :, None]
        ahead = net(windows)[:, 0]
        if protocol.carried and isinstance(net, Recurrent):
            output, state = net.memory(series[None, :first, None])
            free = [net.answer(output[0, -1])]
            while len(free) < len(truth):
                output, state = net.memory(free[-1].reshape(1, 1, 1), state)
                free.append(net.answer(output[0, -1]))
        else:
            window, free = series[first - lag : first], []
            while len(free) < len(truth):
                free.append(net(window[None, :, None])[0])
                window = torch.cat((window[1:], free[-1]))
    return truth, ahead, torch.cat(free)


@cache
def trained(name: str, protocol: Protocol, seed: int) -> nn.Module:
    """A network after a protocol's training, in which its border and its way to run free play no part."""
    series, _ = readings(protocol, protocol.trained)
    return fitted(name, protocol, seed, EPOCHS[name], series[: protocol.trained])


def run(name: str, label: str, seed: int) -> dict[str, Any]:
    """One network by one protocol: its errors in raw units squared."""
    protocol, lag = PROTOCOLS[label], NETS[name][0]
    series, unit = readings(protocol, protocol.trained)
    net = trained(name, replace(protocol, border=BASE.border, carried=False), seed)
    truth, ahead, free = forecasts(net, series, lag, protocol)
    errors = [((one - truth) * unit).square().mean().item() for one in (ahead, free)]
    return {"net": name, "protocol": label, "seed": seed, "steps": len(truth)} | dict(
        zip(("one_step", "free_run"), errors, strict=True)
    )


def folds(name: str, seed: int, count: int = 5) -> dict[str, Any]:
    """Errors one step ahead of folds in time: each trains on all before a sixth of the readings."""
    lag = NETS[name][0]
    size = TRAINED // (count + 1)
    found = []
    for fold in range(1, count + 1):
        series, unit = readings(BASE, fold * size)
        if fold * size <= lag:
            continue
        net = fitted(name, BASE, seed, EPOCHS[name], series[: fold * size])
        windows = series[fold * size - lag : (fold + 1) * size - 1].unfold(0, lag, 1)[:, :, None]
        with torch.no_grad():
            off = net(windows)[:, 0] - series[fold * size : (fold + 1) * size]
        found.append((off * unit).square().mean().item())
    return {"net": name, "protocol": "folds", "seed": seed, "one_step": sum(found) / len(found)}


def main() -> None:
    """Runs what is named, or all."""
    torch.set_num_threads(1)
    reading = argparse.ArgumentParser(description=main.__doc__)
    reading.add_argument("protocols", nargs="*", default=["folds", *PROTOCOLS])
    reading.add_argument("--nets", nargs="*", default=list(NETS))
    reading.add_argument("--seeds", nargs="*", type=int, default=list(range(5)))
    given = reading.parse_args()
    for label in given.protocols:
        for name in given.nets:
            if label == "within" and NETS[name][0] >= TESTED:
                continue  # nothing is left to score
            for seed in given.seeds:
                found = folds(name, seed) if label == "folds" else run(name, label, seed)
                print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
