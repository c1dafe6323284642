"""Optimisers get the values of the plan; schedules follow their curve, batch by batch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from engine.emit.optimise import check_plan
from engine.errors import NeuroloomError
from engine.optimisers import OPTIMISERS, SCHEDULES
from engine.plan import Choice, Phase, Plan
from tests.engine.sketches import classifier, program_of

STEPS, EPOCHS = 5, 8  # batches an epoch, epochs


def rates(name: str, **params: Any) -> list[float]:
    """The learning rate of every batch, as a share of the plan's."""
    sketch = classifier().plan(schedule=Choice(name, params), optimiser=Choice("SGD", {"lr": 2.0}))
    program = program_of(sketch)
    optimiser, schedule = program.configure(program.Model(), STEPS, EPOCHS)
    found = []
    for _ in range(STEPS * EPOCHS):
        found.append(optimiser.param_groups[0]["lr"] / 2.0)
        optimiser.step()
        if schedule:
            schedule.step()
    return found


def test_a_constant_rate_stays() -> None:
    assert rates("Constant") == [1.0] * STEPS * EPOCHS


def test_steps_fall_every_few_epochs() -> None:
    wanted = [0.5 ** (epoch // 3) for epoch in range(EPOCHS) for _ in range(STEPS)]
    assert rates("Step", every=3, factor=0.5) == pytest.approx(wanted)


@pytest.mark.parametrize("final", [0.0, 0.25])
def test_half_a_cosine_wave_goes_down_to_its_end(final: float) -> None:
    total = STEPS * EPOCHS
    wanted = [final + (1 - final) * (1 + math.cos(math.pi * step / total)) / 2 for step in range(total)]
    found = rates("Cosine", final=final)
    assert found == pytest.approx(wanted)
    assert found[0] == 1 and found[total // 2] == pytest.approx((1 + final) / 2)


@pytest.mark.parametrize("epochs", [1.0, 2.5])
def test_the_rate_warms_up_evenly_and_then_falls(epochs: float) -> None:
    warm = math.ceil(epochs * STEPS)
    found = rates("WarmUp", epochs=epochs, final=0.5)
    assert found[:warm] == pytest.approx([(step + 1) / warm for step in range(warm)])
    assert found[warm] == 1 and found[warm:] == sorted(found[warm:], reverse=True)
    assert found[-1] == pytest.approx(0.5, abs=0.01)


def test_a_warm_up_longer_than_the_run_only_rises() -> None:
    found = rates("WarmUp", epochs=100.0)
    assert found == sorted(found) and found[-1] < 0.1


@pytest.mark.parametrize("name", OPTIMISERS)
def test_every_value_reaches_the_optimiser(name: str) -> None:
    chosen = OPTIMISERS[name]
    values: dict[str, Any] = {spec.name: 0.125 for spec in chosen.params if spec.kind == "float"}
    values |= {spec.name: True for spec in chosen.params if spec.kind == "bool"}
    program = program_of(classifier().plan(optimiser=Choice(name, values)))
    optimiser, _ = program.configure(program.Model(), STEPS, EPOCHS)
    assert type(optimiser) is getattr(torch.optim, name)
    found = dict(optimiser.param_groups[0])
    found["beta1"], found["beta2"] = found.get("betas", (None, None))
    found["epsilon"] = found.get("eps")
    assert {key: found[key] for key in values} == values
    assert {id(weight) for group in optimiser.param_groups for weight in group["params"]} == {
        id(weight) for weight in optimiser.param_groups[0]["params"]
    }


@pytest.mark.parametrize("name", OPTIMISERS)
def test_the_defaults_shown_are_those_that_count(name: str) -> None:
    """What is left out of the text is torch's default, which must be ours."""
    program = program_of(classifier().plan(optimiser=Choice(name)))
    optimiser, _ = program.configure(program.Model(), STEPS, EPOCHS)
    found = optimiser.param_groups[0]
    for spec in OPTIMISERS[name].params:
        key = {"epsilon": "eps"}.get(spec.name, spec.name)
        value = found["betas"][int(key[-1]) - 1] if key.startswith("beta") else found[key]
        assert value == spec.default, spec.name


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_every_pair_is_a_plan_that_can_be_carried_out(optimiser: str, schedule: str) -> None:
    check_plan(Plan().with_(optimiser=Choice(optimiser), schedule=Choice(schedule)))


@pytest.mark.parametrize(
    "plan",
    [
        Plan(phases=(Phase(), Phase())),
        Plan().with_(loss="n3"),
        Plan().with_(monitor="val_accuracy"),
        Plan().with_(optimiser=Choice("SGD", {"nesterov": True})),
        Plan().with_(optimiser=Choice("SGD", {"lr": "fast"})),
        Plan().with_(schedule=Choice("Step", {"every": 0})),
    ],
)
def test_other_plans_are_refused_with_a_sentence(plan: Plan) -> None:
    with pytest.raises(NeuroloomError) as error:
        check_plan(plan)
    assert error.value.message.endswith(".")
