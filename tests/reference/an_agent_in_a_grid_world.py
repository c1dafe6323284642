"""An agent in a grid world

Exported from Neuroloom. Needs torch and numpy only.

    python an_agent_in_a_grid_world.py
    python an_agent_in_a_grid_world.py play --weights FILE
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH = 0, 64


# engine.layers.agents.grid_world.GridWorld, 90 lines, 7c5197f78db8


# engine.data.splits.split_at_random, 11 lines, 2e98d906d7c2


# engine.data.splits.columns_of, 7 lines, ecfa9d4753f0


# engine.data.sets.experience.random_transitions, 19 lines, e70837bf6a1c


# engine.data.sets.experience.load_grid_world, 18 lines, 9b48ebe851dc


# engine.optim.follow.Follow, 20 lines, 9c8162392bf2


# engine.optim.rollout.LinearExploration, 8 lines, 28be8eea5db0


# engine.layers.agents.replay.Replay, 87 lines, a29502fcf95f


# engine.optim.rollout.Rollout, 41 lines, 48f49dfcf7af


# engine.procedures.agents.played, 35 lines, 833f1c9bead9


# engine.procedures.rows.as_many, 3 lines, 0fb81ada274e


# engine.procedures.rows.FileRows, 5 lines, 4047b69e9fef


# engine.procedures.rows.chosen_rows, 21 lines, 0d32f6f81743


# engine.procedures.rows.state_as_json, 3 lines, 96c58e94ae55


# engine.procedures.rows.state_in_words, 10 lines, b35dd774c3ec


# engine.data.weights.read_weights, 17 lines, 87ddea6fc7c9


# engine.procedures.rows.weights_of, 6 lines, f136e315ea55


# engine.layers.agents.values.temporal_difference_target, 10 lines, 39ca14af5599


# engine.layers.agents.values.value_of, 3 lines, ad17adcbd5da


class QNetwork(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(30, 64)
        self.scores = nn.Linear(64, 4)

    def forward(self, state: Tensor) -> Tensor:  # (N, 30)
        x = F.relu(self.hidden(state))           # (N, 64)
        return self.scores(x)                    # (N, 4)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q_network = QNetwork()
        self.target_network = QNetwork()
        self.maze = Replay(GridWorld, layout=".....G/.##.#O/....../.#.##./......", slip=0.1)

    def forward(
        self, state: Tensor, action: Tensor, reward: Tensor, next_state: Tensor, end: Tensor
    ) -> tuple[Tensor, Tensor]:  # (N, 30), (N,), (N, 1), (N, 30), (N, 1)
        q_network = self.q_network(state)                 # (N, 4)
        target_network = self.target_network(next_state)  # (N, 4)
        value = value_of(q_network, action)               # (N, 1)
        target = temporal_difference_target(reward, end, target_network, discount=0.95)  # (N, 1)
        return value, target


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    state (N, 30); action (N,); reward (N, 1); next_state (N, 30); end (N, 1).
    """
    return load_grid_world(
        folder,
        device,
        layout=".....G/.##.#O/....../.#.##./......",
        slip=0.1,
        step=-0.04,
        goal=1.0,
        pit=-1.0,
        limit=50,
        rows=2000,
        validation=0.05,
        test=0.05,
        seed=0,
    )


def batches(
    split: dict[str, Tensor], shuffle: torch.Generator | None = None, size: int | None = BATCH
) -> Iterator[dict[str, Tensor]]:
    n = len(split["state"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(size or n):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["state"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def action_scores(model: Model, state: Tensor) -> Tensor:
    """The scores of actions by which agents act: those of Q network."""
    return model.q_network(state)  # (N, 4)


def td_error(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """TD error: trains q_network."""
    state = batch["state"]                    # (N, 30)
    action = batch["action"]                  # (N,)
    reward = batch["reward"]                  # (N, 1)
    next_state = batch["next_state"]          # (N, 30)
    end = batch["end"]                        # (N, 1)
    with torch.no_grad():
        x = model.target_network(next_state)  # (N, 4)
        target = temporal_difference_target(reward, end, x, discount=0.95)  # (N, 1)
    x = model.q_network(state)                # (N, 4)
    value = value_of(x, action)               # (N, 1)
    return {"loss": F.huber_loss(value, target)}


def td_error_weights(model: Model) -> list[nn.Parameter]:
    return [*model.q_network.parameters()]


def td_error_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.q_network.parameters(), lr=0.001)


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    state = batch["state"]                             # (N, 30)
    action = batch["action"]                           # (N,)
    reward = batch["reward"]                           # (N, 1)
    next_state = batch["next_state"]                   # (N, 30)
    end = batch["end"]                                 # (N, 1)
    q_network = model.q_network(state)                 # (N, 4)
    target_network = model.target_network(next_state)  # (N, 4)
    value = value_of(q_network, action)                # (N, 1)
    target = temporal_difference_target(reward, end, target_network, discount=0.95)  # (N, 1)
    return {
        "loss": F.huber_loss(value, target),
        "episode_return": model.maze.mean_return(action_scores, model, len(batch["state"])),
    }


@dataclass
class Player:
    """An objective at work: what it computes, the weights it moves, and what moves them."""

    name: str
    objective: Callable[[Model, dict[str, Tensor]], dict[str, Tensor]]
    weights: list[nn.Parameter] = field(default_factory=list)
    optimiser: Any = None  # none: a rule, which moves them itself
    schedule: Any = None
    every: int = 1


def take_turn(player: Player, model: Model, batch: dict[str, Tensor], turn: int) -> dict[str, Tensor]:
    """One step of an objective; returns what it computed before the step."""
    if player.optimiser is None:
        with torch.no_grad():
            return player.objective(model, batch)
    player.optimiser.zero_grad()
    found = player.objective(model, batch)
    loss = found["loss"]
    if not math.isfinite(loss.item()):
        raise FloatingPointError(f"{player.name} is {loss.item()} after {turn} steps.")
    loss.backward(inputs=player.weights)
    player.optimiser.step()
    return found


def make_players(model: Model, steps_per_epoch: int, epochs: int) -> list[Player]:
    """The objectives of "acts and learns", with fresh optimisers."""
    td_error_by = td_error_optimiser(model)
    return [
        Player(
            "episode_return",
            Rollout(model.maze, action_scores, LinearExploration(first=1.0, last=0.05, turns=1000)),
        ),
        Player("td_error", td_error, td_error_weights(model), td_error_by),
        Player("target_apart", Follow(model.target_network, model.q_network), every=25),
    ]


@dataclass
class Phase:
    """A stretch of training: its players take turns until one of its stop rules holds."""

    players: Callable[[Model, int, int], list[Player]]
    epochs: int
    batch: int | None = None  # none: all rows at once
    frozen: tuple[str, ...] = ()  # layers that are not trained: dropout and batch statistics rest
    monitor: str = "val_loss"
    sign: int = 1  # -1: the monitored value is better when it grows
    patience: int | None = None  # epochs without a better value before the phase ends
    restore_best: bool = True
    until: tuple[tuple[str, str, float], ...] = ()  # ends as soon as one of these holds


PHASES = (
    Phase(make_players, 60, batch=64, frozen=("target_network",), monitor="val_episode_return", sign=-1),
)


def set_modes(model: Model, phase: Phase) -> None:
    """Training mode, but for the layers that the phase leaves alone."""
    model.train()
    for layer in phase.frozen:
        model.get_submodule(layer).eval()


def train(
    model: Model,
    data: dict[str, dict[str, Tensor]],
    seed: int,
    epochs: int | None,
    as_json: bool,
) -> None:
    shuffle = torch.Generator().manual_seed(seed)
    n = len(data["train"]["state"])
    step = epoch = 0
    for phase in PHASES:
        limit = epochs or phase.epochs
        players = phase.players(model, math.ceil(n / (phase.batch or n)), limit)
        best, kept, waited, turn = math.inf, None, 0, 0
        for _ in range(limit):
            set_modes(model, phase)
            sums: dict[str, tuple[float, float]] = {}  # (sum, weight) by objective
            for batch in batches(data["train"], shuffle, phase.batch):
                values = {}
                for player in players:
                    if turn % player.every == 0:
                        found = take_turn(player, model, batch, turn)
                        values[player.name] = value = found["loss"].item()
                        weight = float(found.get("weight", len(batch["state"])))
                        total, count = sums.get(player.name, (0.0, 0.0))
                        sums[player.name] = total + weight * value, count + weight
                step, turn = step + 1, turn + 1
                if as_json:
                    print(json.dumps({"step": step, "epoch": epoch, **values}))
            found = evaluate(model, data["validation"])
            record = {f"val_{name}": value for name, value in found.items()}
            report({"epoch": epoch, **record}, as_json)
            epoch += 1
            means = {f"train_{name}": total / count for name, (total, count) in sums.items() if count}
            seen = {**record, **means}
            value = phase.sign * seen.get(phase.monitor, math.nan)
            if value < best:
                best, waited = value, 0
                if phase.restore_best:
                    kept = {name: value.clone() for name, value in model.state_dict().items()}
            else:
                waited += 1
            if waited == phase.patience:
                break
        if kept is not None:
            model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="An agent in a grid world")
    parser.add_argument("--epochs", type=int, help="of each phase, in place of the plan's own")
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.set_num_threads(1)  # faster than several for so small a network
    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(Path(), args.device)
    try:
        train(model, data, args.seed, args.epochs, args.json)
    except FloatingPointError as error:
        raise SystemExit(f"{error} A lower learning rate may help.") from None
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


@torch.no_grad()
def play(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Plays an episode by the best actions, move by move, and says what each is worth and earns."""

    def scores(state: Tensor) -> Tensor:
        q_network = model.q_network(state)  # (N, 4)
        return q_network

    yield from played(model.maze, scores, draws=draws, **options)


PROCEDURES = {
    "play": (play, {
        "--moves": {"type": int, "default": 200, "help": "the most that are made"},
        "--explore": {"type": float, "default": 0.0, "help": "probability of a random action"},
    }),
}


def run(name: str, words: Sequence[str]) -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    procedure, options = PROCEDURES[name]
    parser = argparse.ArgumentParser(prog=f"{Path(__file__).name} {name}", description=procedure.__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them, or .safetensors")
    parser.add_argument("--split", default="validation", choices=["train", "validation", "test"])
    parser.add_argument("--rows", type=int, nargs="+", default=[0], help="of the split, from 0")
    parser.add_argument("--input", type=Path, help="JSON of {column: rows}, in place of rows")
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    own = [parser.add_argument(option, **facts).dest for option, facts in options.items()]
    args = parser.parse_args(words)

    torch.set_num_threads(1)
    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(weights_of(args.weights))
        columns = load(Path(), args.device)[args.split]
        batch = chosen_rows(columns, args.rows, args.input)
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in procedure(model, batch, draws, **{name: vars(args)[name] for name in own}):
            print(json.dumps(state_as_json(state)) if args.json else state_in_words(state))
    except (OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in PROCEDURES:
        run(sys.argv[1], sys.argv[2:])
    else:
        main()
