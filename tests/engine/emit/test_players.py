"""Plans of several phases and players: the export trains step for step as the application does."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest
import torch
from vulture import Vulture

from engine.catalogue import load_catalogue
from engine.document.files import from_text, to_text
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import WHOLE, ChangeModel, Choice, Minimise, Phase, Plan, Rule, Stop
from engine.document.shipped import datasets_folder
from engine.emit.program import compile_program
from engine.emit.script import export_script, write_script
from engine.errors import NeuroloomError
from engine.feed.feed import Feed
from engine.runs.settings import Settings, Stage
from engine.train import state
from engine.train.headless import run_headless
from engine.train.loop import Run
from tests.engine.sketches import gallery

SGD = Choice("SGD", {"lr": 0.1, "momentum": 0.9})


def iris(plan: Plan) -> Project:
    """Iris through three layers (n2, n3, n4), a dropout (n7), a loss (n5) and a metric (n6)."""
    nodes = [
        Node("n1", "Iris", "iris"),
        Node("n2", "Linear", "first", {"units": 8, "activation": "tanh"}),
        Node("n7", "Dropout", "drop", {}),
        Node("n3", "Linear", "second", {"units": 8, "activation": "tanh"}),
        Node("n4", "Linear", "species", {"units": 3}),
        Node("n5", "CrossEntropy", "cost"),
        Node("n6", "Accuracy", "accuracy"),
    ]
    links = [
        Link("n1", "features", "n2", "x"),
        Link("n2", "output", "n7", "x"),
        Link("n7", "output", "n3", "x"),
        Link("n3", "output", "n4", "x"),
        *(Link("n4", "output", one, "prediction") for one in ("n5", "n6")),
        *(Link("n1", "species", one, "target") for one in ("n5", "n6")),
    ]
    return Project(title="Players", graph=Graph(nodes, links), plan=plan, next_id=8)


def phase(*objectives: Any, epochs: int = 2, **more: Any) -> Phase:
    stop = Stop(epochs, **{key: more.pop(key) for key in ("patience", "monitor", "also") if key in more})
    return Phase(objectives, stop, **more)


PLANS = {
    "clipped": Plan((phase(Minimise(clip=0.5)),), 32),
    "two players": Plan(
        (phase(Minimise(optimiser=SGD, of=("n2",), name="lower"), Minimise(of=("n3", "n4"), name="upper")),),
        32,
    ),
    "taking turns": Plan(
        (
            phase(
                Minimise(optimiser=SGD, of=("n2",), name="lower", every=3), Minimise(of=("n4",), accumulate=2)
            ),
        ),
        16,
    ),
    "every third batch": Plan(
        (phase(Minimise(of=("n2",), every=3, name="lower"), Minimise(optimiser=SGD, of=("n4",), name="up")),),
        16,
    ),
    "some layers": Plan((phase(Minimise(of=("n4",), clip=0.1, schedule=Choice("Cosine"))),), 32),
    "names of the loop's own": Plan(
        (phase(Minimise(of=("n2",), name="value"), Minimise(of=("n4",), name="loss"), batch=48),), 32
    ),
    "two phases": Plan(
        (
            phase(Minimise(of=("n2",), optimiser=SGD), name="Begin", batch=16),
            phase(Minimise(of=("n4",), schedule=Choice("Cosine")), patience=1, name="Finish"),
        ),
        32,
    ),
    "penalties and noise": Plan(
        (phase(Minimise(penalties=(Choice("L1"), Choice("WeightElimination")), noise=0.01)),), 32
    ),
    "weighted": Plan((phase(Minimise({"n5": 0.5}, rates={"n2": 0.1}, decay_biases=False)),), 32),
    "all rows": Plan((phase(Minimise(optimiser=Choice("GradientDescent", {"lr": 0.5})), batch=WHOLE),), 32),
    "L-BFGS": Plan((phase(Minimise(optimiser=Choice("LBFGS"))),), WHOLE),
    "Newton's kin": Plan((phase(Minimise(optimiser=Choice("BFGS"))),), WHOLE),
    "watching accuracy": Plan((phase(Minimise(), epochs=6, patience=2, monitor="val_accuracy"),), 32),
    "plateau": Plan((phase(Minimise(schedule=Choice("Plateau", {"patience": 1})), epochs=5),), 32),
    "EMA": Plan((phase(Minimise(average=Choice("EMA", {"decay": 0.9}))), phase(Minimise(optimiser=SGD))), 32),
    "SWA": Plan((phase(Minimise(average=Choice("SWA", {"start": 1})), epochs=4, patience=9),), 32),
    "stop rules": Plan(
        (
            phase(Minimise(), epochs=9, also=(Choice("Reaches", {"monitor": "val_accuracy", "value": 0.5}),)),
            phase(Minimise(), epochs=3, also=(Choice("FixedPoint", {"tolerance": 10.0}),)),
            phase(Minimise(), epochs=3, also=(Choice("GradientNorm", {"below": 1e6}),)),
        ),
        32,
    ),
}


def in_phases(*phases: Phase) -> Plan:
    return Plan(phases, 32)


LOWER, UPPER = Minimise(of=("n2",), name="lower"), Minimise(optimiser=SGD, of=("n3", "n4"), name="upper")
PLANS |= {
    "one after the other": in_phases(
        phase(LOWER, name="Begin"), phase(UPPER, batch=WHOLE), phase(Minimise(name="both"), batch=16)
    ),
    "one, then two": in_phases(
        phase(LOWER, epochs=5, patience=1, monitor="val_accuracy"),
        Phase((UPPER, replace(LOWER, name="lower again")), Stop(2, restore_best=False)),
    ),
    "watching what nothing measures": in_phases(
        phase(LOWER, monitor="val_cost"), phase(UPPER, monitor="val_loss", patience=2, epochs=4)
    ),
    "cut in rounds": in_phases(
        phase(LOWER),
        phase(ChangeModel(Choice("Prune", {"fraction": 0.5}), name="left"), Minimise(name="rest")),
        phase(replace(LOWER, name="low"), UPPER, ChangeModel(Choice("Prune", {"fraction": 0.8}), name="few")),
    ),
    "other rates and no decay of biases": in_phases(
        phase(
            Minimise(optimiser=Choice("AdamW"), of=("n2", "n3"), decay_biases=False, rates={"n2": 0.5}), UPPER
        ),
        phase(
            Minimise(optimiser=Choice("AdamW"), of=("n2", "n3"), decay_biases=False), replace(UPPER, name="b")
        ),
    ),
    "clipped in groups": Plan(
        (
            phase(
                Minimise(
                    optimiser=Choice("AdamW"),
                    of=("n2", "n3"),
                    decay_biases=False,
                    clip=0.1,
                    rates={"n3": 0.5},
                )
            ),
        ),
        32,
    ),
    "watched otherwise": in_phases(
        phase(LOWER, monitor="val_accuracy", patience=1), phase(UPPER, patience=1)
    ),
}


SHORT = (
    "clipped",
    "two players",
    "every third batch",
    "some layers",
    "names of the loop's own",
    "weighted",
    "all rows",
    "L-BFGS",
    "Newton's kin",
    "watching accuracy",
    "one after the other",
    "one, then two",
    "cut in rounds",
    "other rates and no decay of biases",
    "clipped in groups",
)


def trained(project: Project, **options: Any) -> tuple[list[dict[str, Any]], Any]:
    lines: list[dict[str, Any]] = []
    outcome = run_headless(
        project, load_catalogue(), datasets_folder(), device="cpu", on_line=lines.append, **options
    )
    return lines, outcome.run


def exported(project: Project) -> list[dict[str, Any]]:
    """The lines that the exported script prints with --json."""
    text = export_script(project, load_catalogue()).text
    module = ModuleType("exported")  # dataclasses look their module up
    module.__file__ = "exported.py"
    out = io.StringIO()
    words = ["exported.py", "--json", "--device", "cpu"]
    with patch.dict(sys.modules, {"exported": module}), patch.object(sys, "argv", words):
        exec(compile(text, "exported.py", "exec"), module.__dict__)
        with contextlib.redirect_stdout(out):
            module.__dict__["main"]()
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_export_gives_the_same_numbers(plan: Plan) -> None:
    project = iris(plan)
    lines, run = trained(project)
    assert exported(project) == lines
    assert run.step > 0 and run.results["test_loss"] < 2
    assert trained(from_text(to_text(project)))[0] == lines


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_of_phases_that_ask_for_no_more_has_a_short_loop(name: str) -> None:
    text = export_script(iris(PLANS[name]), load_catalogue()).text
    assert ("class Player" not in text) == ("class Phase" not in text) == (name in SHORT)


@pytest.mark.parametrize("project_id", ["dqn-grid", "perceptron-gates", "pruned-digits", "teacher-student"])
def test_the_export_of_an_example_gives_the_same_numbers(project_id: str) -> None:
    project = gallery(project_id)
    phases = [replace(one, stop=replace(one.stop, epochs=2)) for one in project.plan.phases]
    project.plan = replace(project.plan, phases=tuple(phases))
    assert exported(project) == trained(project)[0]


@pytest.mark.parametrize("gate", ["AND", "XOR"])
def test_an_epoch_without_a_mistake_ends_the_training(gate: str) -> None:
    project = gallery("perceptron-gates")
    (rules,) = project.plan.phases
    chosen = [one for one in rules.objectives if one.name == gate]
    project.plan = replace(project.plan, phases=(replace(rules, objectives=tuple(chosen)),))
    lines = exported(project)
    assert lines == trained(project)[0]
    epochs = [line["epoch"] for line in lines if "step" not in line and "epoch" in line]
    assert "class Player" not in export_script(project, load_catalogue()).text
    assert (len(epochs) < rules.stop.epochs) == (gate == "AND")


def test_layers_that_rest_in_a_phase_keep_their_statistics() -> None:
    project = iris(in_phases(phase(LOWER), phase(UPPER, epochs=1)))
    nodes = [
        replace(one, type="BatchNorm") if one.id == "n7" else one for one in project.graph.nodes.values()
    ]
    project.graph = Graph(nodes, project.graph.links)
    text = export_script(project, load_catalogue()).text
    assert "class Player" not in text and "for layer in still:" in text
    lines, run = trained(project)
    assert exported(project) == lines
    assert run.model.state_dict()["drop.num_batches_tracked"] == 0


def test_a_notebook_keeps_the_values_of_phases() -> None:
    text = write_script(iris(PLANS["one, then two"]), load_catalogue(), notebook=True).plain.text
    assert 'history.append({"step": step, "phase": number, "epoch": epoch, **values})' in text
    assert "train(model, data, CONFIG.seed, None, history)" in text


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("distributed", [False, True], ids=["for one", "for several"])
def test_a_script_has_only_the_fields_and_parameters_that_its_plan_uses(name: str, distributed: bool) -> None:
    found = Vulture()
    found.scan(export_script(iris(PLANS[name]), load_catalogue(), distributed=distributed).text)
    assert {one.name for one in found.get_unused_code(min_confidence=60)} == {"forward"}


def test_only_the_chosen_layers_move() -> None:
    still = Minimise({"n5": 0.0}, of=("n2",), name="idle")
    _, before = trained(iris(Plan((phase(still),), 32)))
    _, after = trained(iris(Plan((phase(still, Minimise(of=("n3",), name="middle")),), 32)))

    def moved(layer: str) -> bool:
        first, then = (run.model.get_submodule(layer).weight for run in (before, after))
        return not bool((first == then).all())

    assert [moved(layer) for layer in ("first", "second", "species")] == [False, True, False]


@pytest.mark.parametrize(
    "name", ["two players", "two phases", "taking turns", "L-BFGS", "plateau", "stop rules", "EMA", "SWA"]
)
def test_a_run_resumed_anywhere_goes_on_bit_for_bit(name: str, tmp_path: Path) -> None:
    project = iris(PLANS[name])
    whole, _ = trained(project)
    for stop_after in (1, 3, 5):
        lines: list[dict[str, Any]] = []
        count = 0

        def stopped() -> bool:
            nonlocal count
            count += 1
            return count > stop_after  # noqa: B023

        folder = tmp_path / f"{stop_after}"
        options: dict[str, Any] = {"device": "cpu", "folder": folder}
        first = run_headless(
            project, load_catalogue(), datasets_folder(), on_line=lines.append, stopped=stopped, **options
        )
        if first.run.stage is Stage.DONE:
            continue
        run_headless(
            project, load_catalogue(), datasets_folder(), on_line=lines.append, resume=True, **options
        )
        assert lines == whole


def test_layers_before_what_is_trained_are_computed_without_gradients() -> None:
    text = export_script(iris(PLANS["two players"]), load_catalogue()).text
    upper = text[text.index("def upper(") : text.index("def upper_optimiser")]
    assert "with torch.no_grad():\n        x = torch.tanh(model.first(features))" in upper
    assert "no_grad" not in text[text.index("def lower(") : text.index("def lower_optimiser")]


def shadowed(text: str) -> set[str]:
    """The functions of a module whose name is a variable inside one of them."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    inner = [node for function in functions for node in ast.walk(function)]
    variables = {one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return variables & {function.name for function in functions}


@pytest.mark.parametrize("project_id", ["gan-digits", "stacked-autoencoder", "teacher-student", "delta-rule"])
def test_no_variable_hides_a_function(project_id: str) -> None:
    assert shadowed(export_script(gallery(project_id), load_catalogue()).text) == set()


def test_a_layer_may_be_called_like_what_its_objective_calls() -> None:
    plan = Plan((phase(Minimise(penalties=(Choice("L1"),), name="first"), Minimise(name="second")),), 32)
    project = iris(plan)
    nodes = [
        replace(node, name="l1" if node.id == "n4" else node.name) for node in project.graph.nodes.values()
    ]
    project.graph = Graph(nodes, project.graph.links)
    text = export_script(project, load_catalogue()).text
    assert shadowed(text) == set() and "l1_output = model.l1(x)" in text
    lines, _ = trained(project)
    assert exported(project) == lines


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan((phase(Rule("n2")),)), "rule"),
        (Plan((phase(Minimise("n99")),)), "not in the graph"),
        (Plan((phase(Minimise(of=("n7",))),)), "without weights"),
        (Plan((phase(Minimise(optimiser=Choice("LBFGS"), clip=1.0)),)), "clipped"),
        (Plan((phase(Minimise(), also=(Choice("Bored"),)),)), "stop rule"),
    ],
)
def test_what_a_plan_cannot_do_is_said(plan: Plan, words: str) -> None:
    with pytest.raises(NeuroloomError, match=words):
        export_script(iris(plan), load_catalogue())


def test_a_checkpoint_holds_every_players_state() -> None:
    _, run = trained(iris(PLANS["two players"]))
    tensors, facts = state.capture(run)
    assert any(name.startswith("optimiser1/") for name in tensors)
    assert len(facts["others"]) == 1


def test_what_is_kept_is_the_average() -> None:
    plan = Plan((Phase((Minimise(average=Choice("SWA")),), Stop(3, restore_best=False)),), 32)
    project = iris(plan)
    program = compile_program(project, load_catalogue())
    run = Run(
        program, lambda: program.load(datasets_folder(), "cpu"), Settings.of(plan, device="cpu"), Feed()
    )
    seen = []
    while run.stage is not Stage.TEST:
        if run.stage is Stage.VALIDATE:
            seen.append(run.model.get_submodule("first").weight.detach().clone())
        run.advance()
    torch.testing.assert_close(run.model.get_submodule("first").weight, torch.stack(seen).mean(0))


@pytest.mark.parametrize("measured", [True, False], ids=["with a loss", "alone"])
def test_a_score_of_a_rule_is_measured_on_what_came_into_the_layer(measured: bool) -> None:
    nodes = [
        Node("n1", "Digits", "digits"),
        Node("n2", "Flatten", "pixels"),
        Node("n3", "RBM", "rbm", {"hidden": 9}),
        Node("n4", "Linear", "head", {"units": 10}),
        Node("n5", "CrossEntropy", "cost"),
    ]
    links = [
        Link("n1", "image", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "x"),
        Link("n4", "output", "n5", "prediction"),
        Link("n1", "digit", "n5", "target"),
    ]
    if not measured:
        nodes, links = nodes[:3], links[:2]
    plan = Plan((phase(Rule("n3"), epochs=1),), 32)
    project = Project("Scores", graph=Graph(nodes, links), plan=plan, next_id=6)
    records, run = trained(project)
    program, model = run.program, run.model
    validation = run.data["validation"]
    torch.manual_seed(1)
    found = program.evaluate(model, validation)["pseudo_likelihood"]
    torch.manual_seed(1)
    batches = [batch["image"].flatten(1) for batch in program.batches(validation)]
    with torch.no_grad():
        wanted = sum(len(one) * model.rbm.pseudo_likelihood(one).item() for one in batches)
    assert found == pytest.approx(wanted / sum(map(len, batches)), rel=1e-5)
    assert any("val_pseudo_likelihood" in record for record in records)
    assert not any("pseudo_likelihood" in record for record in records)  # not of single batches
