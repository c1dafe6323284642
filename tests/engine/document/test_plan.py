"""A plan is read strictly, kept whole, and changed without saying where a field lives."""

from __future__ import annotations

import json

import pytest

from engine.catalogue.training.numbers import with_number
from engine.document.plan import LARGEST_SEED, WHOLE, Choice, Minimise, Phase, Plan, Rule, Stop
from engine.errors import GraphError, ProjectFileError


def test_the_default_trains_one_supervised_net() -> None:
    plan = Plan()
    assert (plan.batch, plan.seed, plan.epochs, plan.patience) == (64, 0, 10, None)
    assert (plan.optimiser.name, plan.schedule.name, plan.objective.loss) == ("Adam", "Constant", "all")


def test_a_field_is_changed_where_it_lives() -> None:
    plan = Plan().with_(
        batch=128,
        seed=7,
        epochs=12,
        patience=3,
        monitor="val_accuracy",
        restore_best=False,
        loss="n4",
        optimiser=Choice("SGD", {"lr": 0.1}).with_param("momentum", 0.9),
        schedule=Choice("Cosine"),
    )
    assert plan == Plan(
        (
            Phase(
                (Minimise("n4", Choice("SGD", {"lr": 0.1, "momentum": 0.9}), Choice("Cosine")),),
                Stop(12, 3, "val_accuracy", False),
            ),
        ),
        128,
        7,
    )
    assert Plan() == Plan(), "changing one plan leaves the default alone"


def test_a_change_leaves_the_other_phases_alone() -> None:
    second = Phase(stop=Stop(epochs=99))
    plan = Plan(phases=(Phase(), second)).with_(epochs=3)
    assert [phase.stop.epochs for phase in plan.phases] == [3, 99]


def test_a_field_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(TypeError):
        Plan().with_(epoch=3)


@pytest.mark.parametrize(
    "change",
    [
        {"batch": -1},
        {"batch": 1.5},
        {"batch": True},
        {"seed": -1},
        {"seed": LARGEST_SEED + 1},
        {"epochs": 0},
        {"patience": 0},
        {"patience": "3"},
    ],
    ids=str,
)
def test_a_number_out_of_range_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(GraphError, match=r"least|most|whole number"):
        Plan().with_(**change)


def test_a_plan_and_a_phase_are_not_empty() -> None:
    with pytest.raises(GraphError, match="phase"):
        Plan(phases=())
    with pytest.raises(GraphError, match="objective"):
        Phase(objectives=())
    with pytest.raises(GraphError, match="name"):
        Choice("")


def test_json_gives_back_the_plan_and_keeps_what_is_unknown() -> None:
    plan = Plan(batch=32).with_(patience=3, optimiser=Choice("SGD", {"lr": 0.1, "nesterov": True}))
    assert Plan.from_json(plan.to_json()) == plan
    data = plan.to_json() | {"clip": 1}
    data["phases"][0]["objectives"][0]["sometimes"] = 2
    again = Plan.from_json(data)
    assert (again.extra, again.objective.extra) == ({"clip": 1}, {"sometimes": 2})
    assert again.to_json() == data
    assert again.with_(batch=1).extra == {"clip": 1}


def test_what_cannot_be_read_is_an_error_that_says_where() -> None:
    data = Plan().to_json()
    data["phases"][0]["stop"]["patience"] = "three"
    with pytest.raises(ProjectFileError, match='phase 1 of the plan, stop,: "patience"'):
        Plan.from_json(data)


def test_a_plan_of_several_players_comes_back_from_its_file() -> None:
    plan = Plan(
        (
            Phase((Rule("n3", "hebb"),), Stop(1, also=(Choice("CleanPass"),)), name="Store", batch=WHOLE),
            Phase(
                (
                    Minimise(
                        {"n5": 1.0, "n6": -0.5},
                        Choice("Adam", {"lr": 2e-4}),
                        name="fool",
                        of=("n2", "n3"),
                        every=2,
                        clip=1.0,
                        accumulate=4,
                        noise=0.1,
                        decay_biases=False,
                        rates={"n2": 0.5},
                        penalties=(Choice("L1", {"strength": 0.01}),),
                        average=Choice("EMA", {"decay": 0.99}),
                    ),
                    Minimise("n7"),
                ),
                Stop(monitor="val_accuracy"),
            ),
        ),
        batch=WHOLE,
        fast=True,
    )
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
    assert not plan.supervised
    assert plan.with_(epochs=7).phases[0].stop.epochs == 7


def test_a_plain_plan_says_no_more_in_its_file_than_it_did() -> None:
    assert list(Plan().to_json()["phases"][0]["objectives"][0]) == ["minimise", "optimiser", "schedule"]
    assert Plan().supervised
    assert not Plan((Phase((Minimise(clip=1.0),)),)).supervised


HUGE = 10**400


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("objective", {"rates": {"n2": HUGE}}),
        ("objective", {"clip": HUGE}),
        ("objective", {"noise": HUGE}),
        ("objective", {"minimise": {"n4": HUGE}}),
        ("objective", {"every": HUGE}),
        ("objective", {"accumulate": HUGE}),
        ("phase", {"batch": 10**30}),
        ("stop", {"epochs": 10**30}),
        ("stop", {"patience": HUGE}),
        ("plan", {"batch": 10**30}),
        ("plan", {"seed": HUGE}),
    ],
)
def test_numbers_beyond_all_measure_are_refused_with_a_sentence(part: str, change: dict[str, object]) -> None:
    data = Plan().to_json()
    phase = data["phases"][0]
    parts = {"plan": data, "phase": phase, "objective": phase["objectives"][0], "stop": phase["stop"]}
    parts[part].update(change)
    with pytest.raises(ProjectFileError) as caught:
        Plan.from_json(data)
    assert (len(str(caught.value)) < 160 and "digits" in str(caught.value)) or "at most" in str(caught.value)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -float("inf")])
@pytest.mark.parametrize("name", ["lr", "batch", "patience", "seed"])
def test_a_sweep_takes_finite_numbers(name: str, value: float) -> None:
    with pytest.raises(GraphError, match="is a finite number, not"):
        with_number(Plan(), name, value)
