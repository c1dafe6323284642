"""Two runs in one process: each as if it were alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from engine.train.taking_turns import Turns
from engine.train.trainer import Trainer
from tests.engine.train.networks import DATASETS, catalogue, iris, settle


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Trainer, Trainer]]:
    made = [Trainer(catalogue(), DATASETS, tmp_path / name) for name in ("one", "two")]
    yield made[0], made[1]
    assert all([one.close() for one in made])


def losses(trainer: Trainer) -> list[float]:
    return trainer.feed.read("train_loss")["value"].tolist()


def test_runs_at_the_same_time_are_what_each_is_alone(pair: tuple[Trainer, Trainer]) -> None:
    """C-3: neither a point of the other's curve nor a random number of the other's drop-out."""
    one, two = pair
    project = iris(dropout=0.5)
    one.start(project, seed=1, epochs=6)
    settle(one, "finished")
    two.start(project, seed=2, epochs=6)
    settle(two, "finished")
    alone = losses(one), losses(two)
    assert alone[0] != alone[1]
    one.start(project, seed=1, epochs=6)
    two.start(project, seed=2, epochs=6)
    settle(one, "finished")
    settle(two, "finished")
    assert (losses(one), losses(two)) == alone


class Owner:
    """Somebody who takes turns."""


def test_each_finds_its_numbers_where_it_left_them() -> None:
    turns, first, second = Turns(), Owner(), Owner()
    with turns.of(first):
        torch.manual_seed(1)
        expected = torch.rand(4).tolist()
        torch.manual_seed(1)
        found = torch.rand(2).tolist()
    with turns.of(second):
        torch.manual_seed(2)
        torch.rand(3)
    with turns.of(first):
        found += torch.rand(2).tolist()
    assert found == expected


def test_turns_go_round_and_an_error_ends_one() -> None:
    turns, seen = Turns(), []
    owners = [Owner(), Owner()]
    with pytest.raises(ValueError, match="mine"), turns.of(owners[0]):
        raise ValueError("mine")

    def take(name: int) -> None:
        for _ in range(200):
            with turns.of(owners[name]):
                seen.append(name)

    threads = [threading.Thread(target=take, args=(name,)) for name in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(seen) == 400
