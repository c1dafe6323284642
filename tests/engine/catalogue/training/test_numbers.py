"""Numbers of a plan by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.catalogue.training.explorations import make_exploration
from engine.catalogue.training.numbers import number_of, with_number
from engine.document.plan import Choice, Minimise, Phase, Plan, Rollout, Rule
from engine.errors import NeuroloomError

GAME = Plan((Phase((Rule("n2"),)), Phase((Rule("n2"), Minimise(name="second")), batch=16)))


@pytest.mark.parametrize(
    ("name", "value"), [("lr", 0.003), ("weight_decay", 0.1), ("batch", 32), ("patience", 5), ("seed", 7)]
)
def test_what_is_set_is_read_again(name: str, value: float) -> None:
    changed = with_number(Plan(), name, value)
    assert changed is not None and number_of(changed, name) == value
    assert number_of(Plan(), name) != value


def test_the_number_goes_where_the_phase_has_it() -> None:
    changed = with_number(GAME, "batch", 8, 1)
    assert changed is not None and (changed.batch, changed.phases[1].batch) == (64, 8)
    changed = with_number(GAME, "lr", 0.5, 1)
    assert changed is not None and number_of(changed, "lr", 1) == 0.5
    assert with_number(GAME, "lr", 0.5) is None and number_of(GAME, "lr") is None
    assert with_number(Plan(), "momentum", 0.5) is None  # Adam has none
    assert with_number(Plan().with_(optimiser=Choice("SGD")), "momentum", 0.5) is not None


@pytest.mark.parametrize(("name", "value"), [("batch", 1.5), ("batch", -1), ("lr", -0.1), ("seed", -1)])
def test_what_is_out_of_range_is_a_sentence(name: str, value: float) -> None:
    with pytest.raises(NeuroloomError):
        with_number(Plan(), name, value)


ROLLOUT = Rollout("n1", policy="n2")
AGENT = Plan(phases=(Phase((ROLLOUT, Minimise("n3"))), Phase((replace(ROLLOUT, moves=2), Minimise("n3")))))


@pytest.mark.parametrize(
    ("name", "value", "places"),
    [
        ("moves", 3, [3, 2]),
        ("agents", 4, [4, 4]),
        ("memory", 500, [500, 500]),
        ("exploration_first", 0.5, [0.5, 1.0]),
        ("exploration_turns", 70, [70, 1000]),
    ],
)
def test_a_number_of_a_rollout_is_set(name: str, value: float, places: list[float]) -> None:
    changed = with_number(AGENT, name, value)
    assert changed is not None and number_of(changed, name) == value
    rollouts = [one for one in changed.objectives if isinstance(one, Rollout)]
    own = name.removeprefix("exploration_")
    found = [one if own == name else make_exploration(one.exploration) for one in rollouts]
    assert [getattr(one, own) for one in found] == places
    assert number_of(Plan(), name) is None and with_number(Plan(), name, value) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("moves", 0), ("memory", 3), ("agents", 1.5), ("exploration_first", 2.0), ("exploration_turns", 0)],
)
def test_a_number_of_a_rollout_out_of_range_is_a_sentence(name: str, value: float) -> None:
    with pytest.raises(NeuroloomError):
        with_number(AGENT, name, value)
    assert with_number(AGENT, "exploration_half_life", 3) is None  # it falls linearly
