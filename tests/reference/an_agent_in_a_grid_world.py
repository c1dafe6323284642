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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    seed: int = 0
    batch: int = 64
    epochs: int = 60
    learning_rate: float = 0.001


CONFIG = Config()


def split_at_random(n: int, *, validation: float, test: float, seed: int) -> dict[str, Tensor]:
    """Any row into any split."""
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    held, tested = round(validation * n), round(test * n)
    return {
        "train": order[held + tested :],
        "validation": order[tested : held + tested],
        "test": order[:tested],
    }


class GridWorld(nn.Module):
    """`agents` side by side, each in a grid of its own, moved by 0 up, 1 right, 2 down and 3 left."""
    # Source: Russell and Norvig, 1995; Sutton and Barto, 1998.

    states: Tensor
    ways: Tensor
    begins: Tensor
    worth: Tensor
    ends: Tensor
    place: Tensor
    time: Tensor
    actions = ("up", "right", "down", "left")
    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))  # by rows and columns

    def __init__(
        self,
        agents: int,
        layout: str = "...G/.#.O/S...",
        slip: float = 0.0,
        step: float = -0.04,
        goal: float = 1.0,
        pit: float = -1.0,
        limit: int = 50,
    ) -> None:
        super().__init__()
        rows = layout.split("/")
        cells, self.width = "".join(rows), len(rows[0])
        self.slip, self.limit = slip, limit
        self.draws: torch.Generator | None = None  # none: torch's own
        ways = [[self.beside(rows, at, way) for way in range(4)] for at in range(len(cells))]
        begins = [at for at, letter in enumerate(cells) if letter == "S"]
        begins = begins or [at for at, letter in enumerate(cells) if letter == "."]
        worth = {"G": step + goal, "O": step + pit}
        tables = {
            "states": torch.eye(len(cells)),
            "ways": torch.tensor(ways),
            "begins": torch.tensor(begins),
            "worth": torch.tensor([worth.get(letter, step) for letter in cells]),
            "ends": torch.tensor([letter in "GO" for letter in cells]),
        }
        for name, table in tables.items():  # of the layout, not of the state: files do not hold them
            self.register_buffer(name, table, persistent=False)
        self.register_buffer("place", torch.zeros(agents, dtype=torch.int64))
        self.register_buffer("time", torch.zeros(agents, dtype=torch.int64))

    def beside(self, rows: list[str], at: int, way: int) -> int:
        """The cell that a move from a cell leads to."""
        (row, column), (down, right) = divmod(at, self.width), self.moves[way]
        row, column = row + down, column + right
        inside = 0 <= row < len(rows) and 0 <= column < self.width and rows[row][column] != "#"
        return row * self.width + column if inside else at

    def observed(self, place: Tensor) -> Tensor:
        """The states (n, cells) of agents in some cells (n,)."""
        return self.states[place]

    def reset(
        self, seed: int | None = None, options: dict[str, Tensor] | None = None
    ) -> tuple[Tensor, dict[str, Any]]:
        """Begin again: all agents, or those of `options["reset_mask"]` (agents,)."""
        if seed is not None:
            self.draws = torch.Generator().manual_seed(seed)
        mask = torch.ones_like(self.ends[self.place]) if options is None else options["reset_mask"]
        drawn = torch.randint(len(self.begins), (len(self.place),), generator=self.draws)
        self.place = torch.where(mask, self.begins[drawn.to(mask.device)], self.place)
        self.time = torch.where(mask, 0, self.time)
        return self.observed(self.place), {}

    def step(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Any]]:
        """Move each agent by `action` (agents,): states, rewards, whether ended, whether cut off, facts."""
        drawn = torch.rand(len(action), generator=self.draws).to(action.device)
        turn = (drawn < self.slip).long() - 2 * (drawn < self.slip / 2).long()
        self.place = self.ways[self.place, (action + turn) % 4]
        self.time = self.time + 1
        ended = self.ends[self.place]
        return (
            self.observed(self.place),
            self.worth[self.place],
            ended,
            (self.time >= self.limit) & ~ended,
            {},
        )


class Follow:
    """Moves the weights of `layer` to those of `leader` by a fraction `rate` of the way; 1 copies them."""
    # Source: copied now and then: Mnih et al., 2015; a little each time: Lillicrap et al., 2016.

    def __init__(self, layer: nn.Module, leader: nn.Module, rate: float = 1.0) -> None:
        self.layer, self.leader, self.rate = layer, leader, rate

    def __call__(self, *_: Any) -> dict[str, Tensor]:
        pairs = list(zip(self.layer.parameters(), self.leader.parameters(), strict=True))
        apart = torch.cat([(mine - other).flatten() for mine, other in pairs]).square().mean().sqrt()
        for mine, other in pairs:
            mine.lerp_(other, self.rate)
        for kept, seen in zip(self.layer.buffers(), self.leader.buffers(), strict=True):
            kept.copy_(seen)
        return {"loss": apart}


class LinearExploration:
    """The probability of a random action: `first`, and less by the same each turn until `last`."""

    def __init__(self, first: float, last: float, turns: int) -> None:
        self.first, self.last, self.turns = first, last, turns

    def __call__(self, turn: int) -> float:
        return self.last + (self.first - self.last) * max(0.0, 1 - turn / self.turns)


class Replay(nn.Module):
    """`agents` act in an environment, and the last `memory` transitions are kept to draw batches from."""
    # Source: Lin, 1992.

    seed: Tensor
    turn: Tensor
    seen: Tensor
    now: Tensor
    earned: Tensor
    latest: Tensor
    state: Tensor
    action: Tensor
    reward: Tensor
    next_state: Tensor
    end: Tensor

    def __init__(
        self, environment: Callable[..., Any], agents: int = 16, memory: int = 10_000, **options: Any
    ) -> None:
        super().__init__()
        self.make, self.options, self.memory = environment, options, memory
        self.world = environment(agents, **options)
        seed = torch.randint(2**31, ())
        state, _ = self.world.reset(seed=int(seed))
        shape = state.shape[1:]
        self.register_buffer("seed", seed)
        self.register_buffer("turn", torch.zeros((), dtype=torch.int64))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))  # transitions so far
        self.register_buffer("now", state)  # what the agents see
        self.register_buffer("earned", torch.zeros(agents))  # since their episodes began
        self.register_buffer("latest", torch.zeros(()))  # the mean return of the episodes that ended last
        self.register_buffer("state", torch.zeros(memory, *shape))
        self.register_buffer("action", torch.zeros(memory, dtype=torch.int64))
        self.register_buffer("reward", torch.zeros(memory, 1))
        self.register_buffer("next_state", torch.zeros(memory, *shape))
        self.register_buffer("end", torch.zeros(memory, 1))

    def begin_turn(self) -> torch.Generator:
        """Count a turn; returns what all of its draws come from."""
        draws = torch.Generator().manual_seed(int(self.seed) * 1_000_003 + int(self.turn))
        self.turn += 1
        self.world.draws = draws
        return draws

    def move(self, scores: Callable[[Tensor], Tensor], explore: float, draws: torch.Generator) -> Tensor:
        """Let each agent act once: the best action, or any with the probability `explore`."""
        best = scores(self.now).argmax(1)
        count = len(self.now)
        any_one = torch.randint(len(self.world.actions), (count,), generator=draws).to(best.device)
        explores = (torch.rand(count, generator=draws) < explore).to(best.device)
        action = torch.where(explores, any_one, best)
        after, reward, ended, cut_off, _ = self.world.step(action)
        rows = (self.seen + torch.arange(count, device=best.device)) % self.memory
        self.state[rows], self.action[rows], self.next_state[rows] = self.now, action, after
        self.reward[rows], self.end[rows] = reward[:, None], ended[:, None].float()
        self.seen += count
        over = ended | cut_off
        earned: Tensor = self.earned + reward
        self.earned = torch.where(over, 0.0, earned)
        self.now = self.world.reset(options={"reset_mask": over})[0]
        return earned[over]

    def drawn(self, rows: int, draws: torch.Generator) -> dict[str, Tensor]:
        """A batch of transitions out of those that are kept, each as likely."""
        filled = min(int(self.seen), self.memory)
        chosen = torch.randint(filled, (rows,), generator=draws).to(self.action.device)
        columns = ("state", "action", "reward", "next_state", "end")
        return {name: getattr(self, name)[chosen] for name in columns}

    def mean_return(self, scores: Callable[..., Tensor], model: Any, episodes: int) -> Tensor:
        """What an episode earns when the agent always takes the best action: the mean over the same ones."""
        world = self.make(episodes, **self.options).to(self.now.device)
        state, _ = world.reset(seed=0)
        earned = torch.zeros(episodes, device=state.device)
        running = torch.ones_like(earned, dtype=torch.bool)
        while running.any():
            state, reward, ended, cut_off, _ = world.step(scores(model, state).argmax(1))
            earned += torch.where(running, reward, 0.0)
            running &= ~(ended | cut_off)
        return earned.mean()


class Rollout:
    """Lets the agents of a replay act `moves` times, then puts transitions drawn from it into the batch."""
    # Source: Mnih et al., 2015.

    def __init__(
        self,
        replay: Any,
        scores: Callable[[Any, Tensor], Tensor],
        explore: Callable[[int], float],
        moves: int = 1,
    ) -> None:
        self.replay, self.scores, self.explore, self.moves = replay, scores, explore, moves

    def __call__(self, model: Any, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        replay, rows = self.replay, len(next(iter(batch.values())))
        explore = self.explore(int(replay.turn))
        draws = replay.begin_turn()

        def scores(state: Tensor) -> Tensor:
            return self.scores(model, state)

        returns = []
        while int(replay.seen) < rows:
            returns.append(replay.move(scores, 1.0, draws))
        returns += [replay.move(scores, explore, draws) for _ in range(self.moves)]
        ended = torch.cat(returns)
        if len(ended):
            replay.latest = ended.mean()
        batch.update(replay.drawn(rows, draws))
        return {
            "loss": replay.latest,
            "weight": torch.tensor(float(len(ended))),
            "exploration": torch.tensor(explore),
        }


def played(
    replay: Any,
    scores: Callable[[Tensor], Tensor],
    *,
    draws: torch.Generator,
    moves: int,
    explore: float,
) -> Iterator[dict[str, Any]]:
    """One episode of one agent, which takes the best action, or any with the probability `explore`."""
    world = replay.make(1, **replay.options).to(replay.now.device)
    state, _ = world.reset(seed=int(torch.randint(2**31, (), generator=draws)))
    earned = 0.0
    for move in range(1, moves + 1):
        values = scores(state)[0]
        action = int(values.argmax())
        if float(torch.rand((), generator=draws)) < explore:
            action = int(torch.randint(len(world.actions), (), generator=draws))
        after, reward, ended, cut_off, _ = world.step(torch.full((1,), action, device=state.device))
        earned += float(reward)
        yield {
            "step": move,
            "action": world.actions[action],
            "reward": float(reward),
            "return": earned,
            "end": "ended" if ended else "cut off" if cut_off else "",
            "values": values,
            "state": state[0],
        }
        if ended or cut_off:
            return
        state = after


def state_in_words(state: dict[str, Any]) -> str:
    """A state as a line: large tensors by their sizes and means."""
    words = []
    for name, value in state.items():
        if isinstance(value, Tensor):
            size = "x".join(str(one) for one in value.shape)
            few = "[" + " ".join(f"{one:.4g}" for one in value.flatten().tolist()) + "]"
            value = few if value.numel() <= 12 else f"{size} mean {value.double().mean():.4g}"
        words.append(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}")
    return "  ".join(words)


def temporal_difference_target(reward: Tensor, end: Tensor, values: Tensor, discount: float = 0.99) -> Tensor:
    """What a value ought to be by what followed, (N, 1); no gradient flows through it."""
    best = values.argmax(1, keepdim=True)
    return (reward + discount * (1 - end) * values.gather(1, best)).detach()


def value_of(values: Tensor, action: Tensor) -> Tensor:
    """The value of the action that was taken: values (N, actions), action (N,) -> (N, 1)."""
    return values.gather(1, action[:, None])


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


def load(device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test.

    state (N, 30); action (N,); reward (N, 1); next_state (N, 30); end (N, 1).
    """
    rows, seed = 2000, 0
    world = GridWorld(
        16, layout=".....G/.##.#O/....../.#.##./......", slip=0.1, step=-0.04, goal=1.0, pit=-1.0, limit=50
    )
    state, _ = world.reset(seed=seed)
    names = ("state", "action", "reward", "next_state", "end")
    seen: dict[str, list[Tensor]] = {name: [] for name in names}
    for _ in range(-(-rows // len(state))):
        action = torch.randint(len(world.actions), (len(state),), generator=world.draws)
        after, reward, ended, cut_off, _ = world.step(action)
        for name, value in zip(names, (state, action, reward[:, None], after, ended[:, None]), strict=True):
            seen[name].append(value if name == "action" else value.float())
        state, _ = world.reset(options={"reset_mask": ended | cut_off})
    columns = {name: torch.cat(parts)[:rows] for name, parts in seen.items()}
    order = split_at_random(rows, validation=0.05, test=0.05, seed=seed)
    return {split: {name: one[at].to(device) for name, one in columns.items()} for split, at in order.items()}


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["state"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(CONFIG.batch):
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


def td_error_optimiser(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.q_network.parameters(), lr=CONFIG.learning_rate)


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


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    # by name, with their optimisers (none for a rule), and every how many batches
    objectives: list[tuple[str, Any, torch.optim.Optimizer | None, int]] = [
        (
            "episode_return",
            Rollout(model.maze, action_scores, LinearExploration(first=1.0, last=0.05, turns=1000)),
            None,
            1,
        ),
        ("td_error", td_error, td_error_optimiser(model), 1),
        ("target_apart", Follow(model.target_network, model.q_network), None, 25),
    ]
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    best = float("-inf")
    kept = None
    for epoch in range(epochs):
        model.target_network.eval()
        for batch in batches(data["train"], shuffle):
            values = {}
            for name, compute, optimiser, every in objectives:
                if step % every != 0:
                    continue
                if optimiser is None:
                    with torch.no_grad():
                        values[name] = compute(model, batch)["loss"].item()
                    continue
                optimiser.zero_grad()
                loss = compute(model, batch)["loss"]
                values[name] = loss.item()
                if not math.isfinite(values[name]):
                    raise SystemExit(f"{name} is {values[name]} after {step} steps: a lower rate may help.")
                loss.backward(inputs=optimiser.param_groups[0]["params"])
                optimiser.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, **values}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)
        if found["episode_return"] > best:
            best = found["episode_return"]
            kept = {name: value.clone() for name, value in model.state_dict().items()}
    if kept is not None:
        model.load_state_dict(kept)


def command_line(description: str | None) -> argparse.ArgumentParser:
    """What training and procedures are both told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=CONFIG.seed)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def main() -> None:
    parser = command_line("An agent in a grid world")
    parser.add_argument("--epochs", type=int, default=CONFIG.epochs)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    args = parser.parse_args()

    torch.set_num_threads(1)  # faster than several for so small a network
    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


@torch.no_grad()
def play(
    model: Model, batch: dict[str, Tensor], draws: torch.Generator, **options: Any
) -> Iterator[dict[str, Any]]:
    """Plays an episode by the best actions, move by move, and says what each is worth and earns."""
    yield from played(model.maze, model.q_network, draws=draws, **options)


def run() -> None:
    """Run a procedure over trained weights, and print its states one by one."""
    parser = command_line(play.__doc__)
    parser.prog += " play"
    parser.add_argument("--weights", type=Path, required=True, help="as --save writes them")
    parser.add_argument("--moves", type=int, default=200, help="the most that are made")
    parser.add_argument("--explore", type=float, default=0.0, help="probability of a random action")
    args = parser.parse_args(sys.argv[2:])

    torch.set_num_threads(1)
    try:
        model = Model().to(args.device).eval()
        model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
        torch.manual_seed(args.seed)
        draws = torch.Generator().manual_seed(args.seed)
        for state in play(model, {}, draws, moves=args.moves, explore=args.explore):
            told = json.dumps(state, default=Tensor.tolist) if args.json else state_in_words(state)
            print(told, flush=True)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped\n")
    except (OSError, ValueError, IndexError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    if sys.argv[1:2] == ["play"]:
        run()
    else:
        main()
