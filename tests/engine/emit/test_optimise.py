"""Optimisers get the values of the plan; schedules follow their curve, batch by batch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from engine.catalogue.symbols import F, evaluate, name
from engine.catalogue.training.checks import check_objective, check_plan
from engine.catalogue.training.optimisers import OPTIMISERS, SCHEDULES
from engine.data.portable import portable_imports, portable_source
from engine.document.plan import Choice, Minimise, Phase, Plan
from engine.emit.optimise import carried_by, optimiser_lines, residual_vector
from engine.emit.statements import printed
from engine.errors import EmitError, NeuroloomError, ParamError
from engine.optim.noise import add_gradient_noise
from tests.engine.sketches import classifier, configured, program_of

STEPS, EPOCHS = 5, 8  # batches an epoch, epochs


def rates(name: str, **params: Any) -> list[float]:
    """The learning rate of every batch, as a share of the plan's."""
    sketch = classifier().plan(schedule=Choice(name, params), optimiser=Choice("SGD", {"lr": 2.0}))
    program = program_of(sketch)
    optimiser, schedule = configured(program, program.Model(), STEPS, EPOCHS)
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


def exported(objective: Minimise, model: nn.Module, **where: Any) -> tuple[str, torch.optim.Optimizer]:
    """The text of `optimiser_for`, and what it makes of a model; as a script has it, with its own source."""
    text = "\n".join(line.plain for line in printed(optimiser_lines(objective, **where)))
    carried = carried_by(objective)
    parts = [
        "from __future__ import annotations",
        *portable_imports(carried),
        *portable_source(carried),
        text,
    ]
    names: dict[str, Any] = {"__name__": "exported", "torch": torch, "nn": nn}
    exec(compile("\n\n".join(parts), "exported.py", "exec"), names)
    return text, names["optimiser_for"](model)


def small() -> nn.Module:
    model = nn.Module()
    model.hidden = nn.Linear(4, 8)
    model.norm = nn.LayerNorm(8)
    model.blocks = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 3)])
    return model


def set_to(name: str) -> dict[str, Any]:
    """Values that are no defaults."""
    values: dict[str, Any] = {"float": 0.125, "int": 3, "bool": True}
    found = {spec.name: values.get(spec.kind, spec.choices[-1:]) for spec in OPTIMISERS[name].params}
    found = {key: value[0] if isinstance(value, tuple) else value for key, value in found.items()}
    return found | ({"factor": 3.0} if "factor" in found else {})


def read_back(optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """A group's values by the names of our parameters."""
    found = dict(optimiser.param_groups[0])
    found["beta1"], found["beta2"] = found.get("betas", (None, None))
    found["epsilon"] = found.get("eps")
    found["iterations"], found["memory"] = found.get("max_iter"), found.get("history_size")
    return found


@pytest.mark.parametrize("name", OPTIMISERS)
def test_every_value_reaches_the_optimiser(name: str) -> None:
    values = set_to(name)
    model = small()
    _, optimiser = exported(Minimise(optimiser=Choice(name, values)), model)
    assert type(optimiser).__name__ == OPTIMISERS[name].makes.rpartition(".")[2]
    found = read_back(optimiser)
    assert {key: found[key] for key in values} == values
    assert sum(len(group["params"]) for group in optimiser.param_groups) == len(list(model.parameters()))


@pytest.mark.parametrize("name", OPTIMISERS)
def test_the_defaults_shown_are_those_that_count(name: str) -> None:
    """What is left out of the text is the class's default, which must be ours."""
    text, optimiser = exported(Minimise(optimiser=Choice(name)), small())
    found = read_back(optimiser)
    assert {spec.name: found[spec.name] for spec in OPTIMISERS[name].params} == {
        spec.name: spec.default for spec in OPTIMISERS[name].params
    }
    assert "lr=" in text and "weight_decay" not in text.replace("weight_decay=0.01", "")


def test_the_function_bears_the_objectives_name_and_takes_parts_of_the_model() -> None:
    model = small()
    layers = ("model.hidden", "model.blocks.1")
    text = "\n".join(line.plain for line in printed(optimiser_lines(Minimise(), "first_optimiser", layers)))
    assert text == (
        "def first_optimiser(model: Model) -> torch.optim.Optimizer:\n"
        "    return torch.optim.Adam([*model.hidden.parameters(), *model.blocks[1].parameters()], lr=0.001)"
    )
    _, optimiser = exported(Minimise(), model, layers=layers)
    wanted = [*model.hidden.parameters(), *model.blocks[1].parameters()]
    assert [id(one) for one in optimiser.param_groups[0]["params"]] == [id(one) for one in wanted]
    _, optimiser = exported(Minimise(), model, layers=("model.norm",))
    assert len(optimiser.param_groups[0]["params"]) == 2


@pytest.mark.parametrize("layers", [("model",), ("model.hidden", "model.norm")])
def test_biases_and_norms_can_be_left_without_decay(layers: tuple[str, ...]) -> None:
    objective = Minimise(optimiser=Choice("AdamW", {"weight_decay": 0.5}), decay_biases=False)
    text, optimiser = exported(objective, small(), layers=layers)
    decayed, spared = optimiser.param_groups
    assert decayed["weight_decay"] == 0.5 and spared["weight_decay"] == 0.0
    assert all(weight.ndim == 2 for weight in decayed["params"])
    assert all(weight.ndim == 1 for weight in spared["params"]) and spared["params"]
    assert "biases and norms: no decay" in text and max(map(len, text.split("\n"))) <= 110


def test_without_decay_nothing_is_parted() -> None:
    text, optimiser = exported(Minimise(decay_biases=False), small())
    assert len(optimiser.param_groups) == 1 and text.count("\n") == 1


@pytest.mark.parametrize("decay_biases", [True, False])
@pytest.mark.parametrize("layers", [("model",), ("model.hidden", "model.norm", "model.blocks")])
def test_layers_can_have_rates_of_their_own(layers: tuple[str, ...], decay_biases: bool) -> None:
    model = small()
    objective = Minimise(
        optimiser=Choice("AdamW", {"lr": 0.5, "weight_decay": 0.25}),
        rates={"n1": 0.1, "n2": 2.0, "n3": 1.0},
        decay_biases=decay_biases,
    )
    paths = {"model.hidden": 0.1, "model.blocks.1": 2.0, "model.norm": 1.0}
    text, optimiser = exported(objective, model, layers=layers, rates=paths)
    found = {
        weight: (group["lr"], group["weight_decay"])
        for group in optimiser.param_groups
        for weight in group["params"]
    }
    assert set(found) == set(model.parameters())
    for layer, factor in ((model.hidden, 0.1), (model.norm, 1), (model.blocks[0], 1), (model.blocks[1], 2)):
        for weight in layer.parameters():
            spared = not decay_biases and weight.ndim < 2
            assert found[weight] == (pytest.approx(0.5 * factor), 0.0 if spared else 0.25)
    assert max(map(len, text.split("\n"))) <= 110


def test_a_player_with_a_negative_rate_climbs() -> None:
    objective = Minimise(optimiser=Choice("Extragradient"), rates={"n1": -1.0})
    _, optimiser = exported(objective, small(), rates={"model.hidden": -1.0})
    assert [group["lr"] for group in optimiser.param_groups] == [-0.01, 0.01]


@pytest.mark.parametrize(
    ("objective", "weights", "sentence"),
    [
        (Minimise(optimiser=Choice("LBFGS"), rates={"n1": 0.5}), 0, "moves all weights as one"),
        (Minimise(optimiser=Choice("Adam"), rates={"n1": -1.0}), 0, "no layer can climb"),
        (Minimise(optimiser=Choice("Newton")), 34_826, "34,826 weights are too many"),
        (Minimise(penalties=(Choice("L3"),)), 0, "no penalty called"),
        (Minimise(penalties=(Choice("L1", {"strength": -1}),)), 0, "Strength"),
        (Minimise(schedule=Choice("Plateau", {"factor": 1.0})), 0, "Factor"),
    ],
)
def test_what_does_not_fit_together_is_refused(objective: Minimise, weights: int, sentence: str) -> None:
    with pytest.raises(ParamError, match=sentence):
        check_objective(objective, weights)
    check_objective(Minimise(optimiser=Choice("Newton"), rates={"n1": 1.0}), 4_000)


def test_gradient_noise_has_the_variance_that_falls() -> None:
    """Neelakantan et al. 2015: η / (1 + t)^0.55."""
    torch.manual_seed(0)
    weight, idle = nn.Parameter(torch.zeros(200, 200)), nn.Parameter(torch.zeros(3))
    for step in (0, 99):
        weight.grad = torch.ones(200, 200)
        add_gradient_noise([weight, idle], 0.3, step)
        assert weight.grad.mean().item() == pytest.approx(1, abs=0.01)
        assert weight.grad.var().item() == pytest.approx(0.3 / (1 + step) ** 0.55, rel=0.03)
    assert idle.grad is None


def test_residuals_stand_for_mean_squared_errors_alone() -> None:
    made, target = torch.randn(5, 2), torch.randn(5, 2)
    one, two = F.mse_loss(name("made"), name("target")), F.mse_loss(name("made"), 2 * name("target"))
    vector = residual_vector([(1.0, one), (0.25, two)])
    assert str(residual_vector([(1.0, one)])) == "residuals(made, target)"
    found = evaluate(vector, {"made": made, "target": target}).square().sum()
    mse = nn.functional.mse_loss
    torch.testing.assert_close(found, mse(made, target) + 0.25 * mse(made, 2 * target))
    for other in (F.l1_loss(name("made"), name("target")), 2 * one):
        with pytest.raises(EmitError, match="mean squared errors only"):
            residual_vector([(1.0, other)])
    with pytest.raises(EmitError):
        residual_vector([])


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_every_pair_is_an_objective_that_can_be_carried_out(optimiser: str, schedule: str) -> None:
    check_objective(Minimise(optimiser=Choice(optimiser), schedule=Choice(schedule)))


@pytest.mark.parametrize(
    "plan",
    [
        Plan((Phase((Minimise(optimiser=Choice("Adam"), rates={"n2": -1.0}),)),)),
        Plan((Phase((Minimise(penalties=(Choice("L3"),)),)),)),
        Plan((Phase((Minimise(optimiser=Choice("BFGS"), clip=1.0),)),)),
        Plan().with_(optimiser=Choice("SGD", {"nesterov": True})),
        Plan().with_(optimiser=Choice("SGD", {"lr": "fast"})),
        Plan().with_(schedule=Choice("Step", {"every": 0})),
    ],
)
def test_other_plans_are_refused_with_a_sentence(plan: Plan) -> None:
    with pytest.raises(NeuroloomError) as error:
        check_plan(plan)
    assert error.value.message.endswith(".")


def test_first_weights_are_drawn_where_the_layers_are_made() -> None:
    sketch = classifier(init="constant", init_scale=0.5)
    program = program_of(sketch)
    assert "        nn.init.constant_(self.scores.weight, 0.5)\n" in program.source.text
    assert "        nn.init.zeros_(self.scores.bias)\n" in program.source.text
    model = program.Model()
    assert (model.scores.weight == 0.5).all() and not model.scores.bias.any()
    assert "nn.init" not in program_of(classifier()).source.text
    without = program_of(classifier(init="NTK", bias=False)).source.text
    assert "kaiming_normal_(self.scores.weight" in without and "scores.bias" not in without
