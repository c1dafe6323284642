"""A batch in slow motion: every piece says the right thing, and the numbers are those of plain steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.catalogue import load_catalogue
from engine.document.graph import Project
from engine.document.plan import Choice
from engine.document.shipped import datasets_folder
from engine.emit.program import compile_program
from engine.feed.feed import LAYER_STEP, Feed, Snapshot
from engine.runs.settings import Settings, Stage
from engine.train import state
from engine.train.layer_steps import BACKWARD, FORWARD, UPDATE, pieces_of
from engine.train.loop import Run
from engine.train.trainer import Trainer
from tests.engine.emit.test_players import PLANS
from tests.engine.emit.test_players import iris as players
from tests.engine.sketches import gallery
from tests.engine.train.networks import digits, iris, run_of

NETWORKS: dict[str, Callable[[], Project]] = {
    "dropout and batch statistics": lambda: iris(norm=True),
    "convolution": digits,
    "one player clipped": lambda: players(PLANS["clipped"]),
    "two players": lambda: players(PLANS["two players"]),
    "accumulated": lambda: players(PLANS["taking turns"]),
    "two phases": lambda: players(PLANS["two phases"]),
    "L-BFGS": lambda: players(PLANS["L-BFGS"]),
    "EMA": lambda: players(PLANS["EMA"]),
}


def state_of(run: Run) -> dict[str, Tensor]:
    """Everything a checkpoint holds, copied."""
    return {name: value.clone() for name, value in state.capture(run)[0].items()}


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def taken(make: Callable[[], Project], look: bool) -> tuple[Run, list[dict[str, Tensor]]]:
    """A run after nine advances, evaluations among them, and its state after each."""
    run, states = run_of(make()), []
    for _ in range(9):
        if look and run.stage is Stage.TRAIN:
            before, points = state_of(run), len(run.feed.read("train_loss"))
            assert pieces_of(run)[-1].stage == UPDATE
            assert same(state_of(run), before) and len(run.feed.read("train_loss")) == points
        run.advance()
        states.append(state_of(run))
    return run, states


@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
def test_looking_at_a_step_changes_nothing(make: Callable[[], Project]) -> None:
    plain, states = taken(make, look=False)
    slow, looked = taken(make, look=True)
    assert all(same(one, other) for one, other in zip(states, looked, strict=True))
    assert slow.feed.series() == plain.feed.series()
    for name in plain.feed.series():
        if "loss" in name:
            assert slow.feed.read(name)["value"].tolist() == plain.feed.read(name)["value"].tolist()


def test_every_piece_says_what_the_step_computes() -> None:
    run = run_of(iris(dropout=0.0))
    pieces = pieces_of(run)
    order = [(piece.stage, piece.nodes) for piece in pieces]
    forward = [FORWARD] * 5
    assert [stage for stage, _ in order] == [*forward, *[BACKWARD] * 4, UPDATE]
    assert [nodes[0] for _, nodes in order[:9]] == ["n1", "n2", "n3", "n4", "n5", "n5", "n4", "n3", "n2"]
    assert set(pieces[-1].nodes) == {"n2", "n4"}

    seen: dict[str, Tensor] = {}
    run.optimiser.zero_grad()
    batch = next(
        iter(run.program.batches(run.data["train"], torch.Generator().manual_seed(run.settings.seed)))
    )
    with run.program.tapping(lambda node, port, value: seen.setdefault(node, value)):
        loss = run.program.objective(run.model, batch)["loss"]
    inner = ("n2", "n3", "n4")
    found = torch.autograd.grad(loss, [seen[node] for node in inner], retain_graph=True)
    gradients = dict(zip(inner, found, strict=True))
    loss.backward()  # type: ignore[no-untyped-call]
    for piece in pieces[:4]:
        value = seen[piece.nodes[0]]
        assert piece.shape == tuple(value.shape)
        assert piece.array.tolist() == value[0].tolist()
    assert pieces[4].array.tolist() == [pytest.approx(loss.item())]
    assert pieces[4].sentence == f"Forward to CrossEntropy: the loss of this batch is {loss.item():.3g}."
    for piece in pieces[6:9]:
        right = gradients[piece.nodes[0]]
        assert piece.gradient == pytest.approx(right.norm().item(), rel=1e-5)
        assert piece.array.tolist() == pytest.approx(right[0].tolist())
    classes = run.model.get_submodule(run.program.modules["n4"])
    size = torch.cat([one.grad.flatten() for one in classes.parameters() if one.grad is not None]).norm()
    assert pieces[6].weights == pytest.approx(size.item(), rel=1e-5)
    assert pieces[6].sentence == (
        f"Backward through “classes”: the gradient's norm is {gradients['n4'].norm():.3g}, "
        f"that of its weights {size:.3g}."
    )
    old = [one.detach().clone() for one in classes.parameters()]
    run.advance()
    far = torch.cat(
        [(a.detach() - b).flatten() for a, b in zip(classes.parameters(), old, strict=True)]
    ).norm()
    assert pieces[-1].moved["n4"][0] == pytest.approx(far.item(), rel=1e-5)
    assert pieces[-1].sentence.startswith("Update by Adam: 2 layers moved, the weights of “")
    assert [(piece.number, piece.of) for piece in pieces][::9] == [(1, 10), (10, 10)]


def test_of_a_game_the_first_objective_is_shown() -> None:
    """A GAN: the discriminator's loss forward and backward; what is made is shown, its maker not blamed."""
    project = gallery("gan-digits")
    program = compile_program(project, load_catalogue())
    run = Run(
        program,
        lambda: program.load(datasets_folder(), "cpu"),
        Settings.of(project.plan, device="cpu"),
        Feed(),
    )
    pieces = pieces_of(run)
    forward = [piece.nodes[0] for piece in pieces if piece.stage == FORWARD]
    backward = [piece.nodes[0] for piece in pieces if piece.stage == BACKWARD]
    assert forward == ["n11", "n13", "n14", "n15", "n16", "n17"]
    assert backward[0] == "n17" and set(backward) == {"n15", "n16", "n17"}
    assert pieces[1].sentence.endswith("examples of 64 numbers.")
    assert pieces[-1].sentence.startswith("Update: 3 layers moved, the weights of “generator” the furthest")


def test_a_rule_has_no_backward_pass_and_what_it_moves_is_told() -> None:
    """The perceptron: one example, then the update of its own rule."""
    project = gallery("perceptron-gates")
    program = compile_program(project, load_catalogue())
    settings = Settings.of(project.plan, device="cpu")
    run = Run(program, lambda: program.load(datasets_folder(), "cpu"), settings, Feed())
    pieces = pieces_of(run)
    assert {piece.stage for piece in pieces} == {FORWARD, UPDATE}
    assert pieces[0].sentence.endswith("gives one example of 2 numbers.")
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    run.advance()
    moved = {name for name, value in run.model.state_dict().items() if not torch.equal(value, before[name])}
    assert {program.modules[node] for node in pieces[-1].nodes} == {name.split(".")[0] for name in moved}


@pytest.fixture
def trainers(tmp_path: Path) -> Iterator[tuple[Trainer, Trainer]]:
    made = tuple(Trainer(load_catalogue(), datasets_folder(), tmp_path / name) for name in ("one", "two"))
    yield made[0], made[1]
    assert all([one.close() for one in made])


def ask(trainer: Trainer, *methods: str) -> Snapshot | None:
    for method in methods:
        getattr(trainer, method)()
        assert trainer.wait()
    shown = trainer.feed.latest(LAYER_STEP)
    return shown if shown is not None and shown.extra else None


def stage(trainer: Trainer, *methods: str) -> tuple[Any, ...]:
    shown = ask(trainer, *methods)
    return () if shown is None else (shown.extra["stage"], *shown.extra["nodes"][:1])


def losses(trainer: Trainer) -> list[float]:
    found: list[float] = trainer.feed.read("train_loss")["value"].tolist()
    return found


def weights(trainer: Trainer) -> dict[str, Tensor]:
    run = trainer._worker.run
    assert run is not None
    return state_of(run)


@pytest.mark.parametrize("project", [iris(norm=True), digits()], ids=["dropout", "convolution"])
def test_a_person_goes_layer_by_layer_to_the_same_numbers(
    trainers: tuple[Trainer, Trainer], project: Project
) -> None:
    plain, slow = trainers
    for trainer in trainers:
        trainer.update(project, 1)
        assert trainer.wait()
    for _ in range(6):
        ask(plain, "step")
    for batch in range(6):
        shown = ask(slow, "step_layer")
        assert shown is not None, slow.error
        assert shown.extra["number"] == 1 and len(losses(slow)) == batch
        for number in range(2, shown.extra["of"] + 1):
            shown = ask(slow, "step_layer")
            assert shown is not None and shown.extra["number"] == number
        assert shown.extra["stage"] == UPDATE and slow.state == "paused"
    assert losses(slow) == losses(plain) and len(losses(slow)) == 6
    assert same(weights(slow), weights(plain))


def test_a_batch_that_is_left_half_way_is_trained_whole(trainers: tuple[Trainer, Trainer]) -> None:
    plain, slow = trainers
    project = iris(epochs=1)
    plain.update(project, 1)
    slow.update(project, 1)
    ask(plain, "step", "step")
    assert stage(slow, "step_layer", "step_layer") == (FORWARD, "n2")
    assert losses(slow) == []
    assert stage(slow, "step") == () and len(losses(slow)) == 1
    assert stage(slow, *["step_layer"] * 7) == (BACKWARD, "n4")
    assert stage(slow, "step") == () and losses(slow) == losses(plain)
    assert same(weights(slow), weights(plain))
    assert stage(slow, *["step_layer"] * 3) == (FORWARD, "n3")
    ask(plain, "resume")
    assert stage(slow, "resume") == () and slow.state == plain.state == "finished"
    assert losses(slow) == losses(plain) and same(weights(slow), weights(plain))


def test_back_goes_node_by_node_and_then_batch_by_batch(trainers: tuple[Trainer, Trainer]) -> None:
    _, slow = trainers
    slow.update(iris(), 1)
    assert stage(slow, *["step_layer"] * 10) == (UPDATE, "n2")
    assert losses(slow) and slow.can_go_back
    assert stage(slow, "step_layer", "step_layer") == (FORWARD, "n2")
    assert stage(slow, "back") == (FORWARD, "n1")
    assert stage(slow, "back") == () and slow.progress.step == 1
    assert stage(slow, "back") == () and slow.progress.step == 0 and losses(slow) == []
    assert not slow.can_go_back


def test_an_edit_begins_the_batch_anew_and_a_new_rate_moves_weights_less(
    trainers: tuple[Trainer, Trainer],
) -> None:
    _, slow = trainers
    slow.update(iris(dropout=0.0), 1)
    shown = ask(slow, *["step_layer"] * 9)
    assert shown is not None and shown.extra["stage"] == BACKWARD
    slow.set(lr=1e-6)
    shown = ask(slow, "step_layer")
    assert shown is not None and shown.extra["moved"]["n4"][0] < 1e-4
    assert stage(slow, "step_layer", "step_layer", "step_layer") == (FORWARD, "n3")
    slow.update(iris(dropout=0.0, hidden=20), 2)
    assert slow.wait() and stage(slow) == ()
    assert stage(slow, "step_layer") == (FORWARD, "n1")
    slow.stop()
    assert slow.wait() and stage(slow) == ()


def test_a_step_that_fails_ends_the_run_as_any_step_does(trainers: tuple[Trainer, Trainer]) -> None:
    _, slow = trainers
    project = iris(dropout=0.0)
    project.plan = project.plan.with_(optimiser=Choice("SGD", {"lr": 1e30}))
    slow.update(project, 1)
    ask(slow, *["step_layer"] * 10)
    assert stage(slow, "step_layer") == ()
    assert slow.state == "failed" and slow.error is not None and "learning rate" in (slow.error.fix or "")
