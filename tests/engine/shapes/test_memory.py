"""What a run takes is estimated from shapes, and held against what torch keeps and the system counts."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from engine import devices
from engine.catalogue.training.numbers import with_number
from engine.catalogue.training.optimisers import OPTIMISERS
from engine.document.edits import AddNodes
from engine.document.graph import Node, Project
from engine.document.plan import Choice, Minimise, Phase, Stop
from engine.document.shipped import datasets_folder
from engine.emit.program import compile_program
from engine.errors import TrainingError
from engine.optim import heavy_ball
from engine.shapes.memory import Memory, bytes_of, estimate, in_bytes, kept_of
from engine.shapes.shapes import check
from engine.shapes.signatures import Signature
from tests.engine.sketches import Sketch, catalogue, classifier, gallery, mended
from tests.engine.train.networks import run_of

GIB = 2**30


def found_for(project: Project) -> Memory:
    found = estimate(project, check(project, catalogue()))
    assert found is not None
    return found


def saved_by_torch(project: Project, rows: int) -> int:
    """The bytes that torch saves for the backward pass of a real batch, without weights and the batch."""
    program = compile_program(project, catalogue())
    data, model = program.load(datasets_folder()), program.make_model("cpu")
    batch = {name: column[:rows] for name, column in data["train"].items()}
    known = [*model.parameters(), *model.buffers(), *batch.values()]
    own = {one.untyped_storage()._cdata for one in known}
    found: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            found[storage._cdata] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        losses = program.objective(model, batch)
    assert losses
    return sum(one.nbytes() for one in found.values())


@pytest.mark.parametrize(
    "project_id", ["iris", "digits-augmented", "residual-blocks", "two-heads", "point-clouds", "co2-series"]
)
def test_what_is_kept_of_a_batch_is_what_torch_saves(project_id: str) -> None:
    project = gallery(project_id)
    trained, book = check(project, catalogue()).as_trained(project)
    kept, rows = kept_of(trained, book).values(), 16
    mine = sum(rows * one.each + one.once for one in kept)
    assert mine == pytest.approx(saved_by_torch(project, rows), rel=0.1, abs=400)


def test_a_wire_counts_once_whoever_keeps_it() -> None:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    one = sketch.add("Linear", "one", {"units": 10, "activation": "tanh"}, x=f"{data}.features")
    for name in ("left", "right"):
        scores = sketch.add("Linear", name, {"units": 3}, x=one)
        sketch.add("CrossEntropy", f"{name}_loss", prediction=scores, target=f"{data}.species")
    kept = kept_of(sketch.project, sketch.check())
    assert kept[one].each == 4 * 10  # tanh keeps what leaves it, which both heads read


REMEMBERED = {
    "SGD": torch.optim.SGD,
    "Adam": torch.optim.Adam,
    "AdamW": torch.optim.AdamW,
    "RMSprop": torch.optim.RMSprop,
    "Adagrad": torch.optim.Adagrad,
    "Adadelta": torch.optim.Adadelta,
    "HeavyBall": heavy_ball.HeavyBall,
    "LBFGS": torch.optim.LBFGS,
}


@pytest.mark.parametrize("name", REMEMBERED)
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_optimisers_remember_as_much_as_they_say(name: str, momentum: float) -> None:
    kind = OPTIMISERS[name]
    rolls = any(spec.name == "momentum" for spec in kind.params)
    weights = torch.nn.Parameter(torch.randn(1000, generator=torch.Generator().manual_seed(0)))
    made = REMEMBERED[name]([weights], lr=0.01, **({"momentum": momentum} if rolls else {}))
    if name == "LBFGS":
        made.param_groups[0]["history_size"] = 10

    def loss() -> Tensor:
        made.zero_grad()
        value = (weights.square() * torch.arange(1, 1001)).sum()
        value.backward()
        return value

    for _ in range(15):
        made.step(loss)

    def numbers(value: object) -> int:
        if isinstance(value, Tensor):
            return value.numel() if value.dim() else 0
        return sum(map(numbers, value)) if isinstance(value, list) else 0

    real = sum(numbers(value) for value in made.state[weights].values())
    declared = kind({"momentum": momentum} if rolls else {}).remembered(1000)
    assert real == pytest.approx(declared, rel=0.12)


def test_a_matrix_of_weights_by_weights_is_counted() -> None:
    assert OPTIMISERS["BFGS"]({}).remembered(1000) >= 10**6


def test_the_parts_of_a_small_network_are_those_worked_out_by_hand() -> None:
    sketch = classifier().plan(batch=10)
    weights = 4 * (4 * 8 + 8 + 8 * 3 + 3)
    found = found_for(sketch.project)
    assert (found.weights, found.optimiser, found.copies) == (2 * weights, 2 * weights, 0)
    assert found.data == 150 * (4 * 4 + 8) and found.rows == 10
    hidden, logits = 4 * 8, 2 * 4 * 3  # tanh's output; scores and their log-softmax
    assert 10 * (hidden + logits / 2 + 24) <= found.batch <= 10 * (hidden + logits + 24 + 2 * 4 * 8 + 24)
    waiting = replace(sketch.project.plan.phases[0], stop=Stop(patience=3))
    sketch.project.plan = replace(sketch.project.plan, phases=(waiting,))
    assert found_for(sketch.project).copies == weights  # the best so far
    average = Phase((Minimise(average=Choice("EMA")),))
    sketch.project.plan = replace(sketch.project.plan, phases=(average,))
    assert found_for(sketch.project).copies == weights


def test_a_batch_is_no_larger_than_the_data_and_all_rows_are_all() -> None:
    assert found_for(classifier().plan(batch=100_000).project).rows == 150
    assert found_for(classifier().plan(batch=0).project).rows == 150


def test_a_sequence_counts_each_of_its_steps() -> None:
    def lstm(steps: int) -> float:
        sketch = Sketch()
        start = sketch.add("Input", "series", {"shape": (steps, 5)})
        layer = sketch.add("LSTM", "lstm", {"hidden": 7}, x=start)
        assert sketch.check().errors == []
        return kept_of(sketch.project, sketch.check())[layer].each

    assert lstm(400) == pytest.approx(40 * lstm(10), rel=0.1)


def test_of_a_node_that_is_not_yet_known_nothing_is_said() -> None:
    """A window asks between an edit and the shapes that follow it, also inside of a block."""
    project = gallery("residual-blocks").copy()
    book = check(project, catalogue())
    assert book.memory(project) is not None
    for number, scope in enumerate((next(iter(project.blocks)), "")):
        AddNodes((Node(f"n{900 + number}", "ReLU"),), into=scope).apply(project)
        assert book.memory(project) is None
        book.update(project)
        assert book.knows(project)


def test_sizes_are_said_as_people_say_them() -> None:
    assert bytes_of(Signature((3, 4), "int64")) == 96
    told = [in_bytes(size) for size in (12, 3 * 2**10, 30 * 2**20, 1.25 * GIB, 200 * GIB)]
    assert told == ["12 bytes", "3.0 kB", "30 MB", "1.2 GB", "200 GB"]
    memory = Memory(weights=30 * 2**20, optimiser=60 * 2**20, batch=GIB, rows=64)
    assert str(memory) == (
        "About 1.1 GB of memory: weights 30 MB, optimiser 60 MB, a batch of 64 examples 1.0 GB."
    )


def wide(units: int = 4096, batch: int = 50_000) -> Sketch:
    """Digits, a wide hidden layer n2, scores and a loss."""
    sketch = Sketch("Wide").plan(batch=batch)
    data = sketch.add("Mnist", "digits")
    flat = sketch.add("Flatten", "flat", x=f"{data}.image")
    hidden = sketch.add("Linear", "hidden", {"units": units, "activation": "tanh"}, x=flat)
    scores = sketch.add("Linear", "scores", {"units": 10}, x=hidden)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.digit")
    return sketch


def have(monkeypatch: pytest.MonkeyPatch, memory: int) -> None:
    monkeypatch.setattr(devices, "_own_memory", lambda: memory)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)


def test_a_batch_that_is_too_large_is_a_problem_with_the_size_that_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sketch = wide()
    assert sketch.check().errors == []
    have(monkeypatch, GIB)
    (problem,) = sketch.check().errors
    assert problem.node_id == "n3" and problem.code == "memory"
    needed = in_bytes(found_for(sketch.project).total)
    assert problem.message == f"Training takes about {needed} of memory, but this computer has 1.0 GB."
    with pytest.raises(TrainingError) as refused:
        run_of(sketch.project)
    assert refused.value.message == problem.message and refused.value.node_id == "n3"
    assert problem.fix is not None and problem.fix.label == "Use a batch of 8,192"
    assert mended(sketch, problem).errors == []
    assert sketch.project.plan.batch == 8192 and found_for(sketch.project).total <= GIB


def test_a_layer_that_is_too_large_for_any_batch_is_offered_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, GIB)
    for units in (10**5, 10**9):  # too much with the optimiser, and with gradients alone
        sketch = wide(units=units, batch=1)
        (problem,) = sketch.check().errors
        assert problem.node_id == "n3" and problem.fix is not None
        assert problem.fix.label.startswith("Give hidden ")
        assert mended(sketch, problem).errors == []
        assert sketch.project.graph.node("n3").params["units"] >= 2**13


def test_phases_with_batches_of_their_own_get_the_size_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, GIB)
    sketch = wide(batch=16)
    sketch.project.plan = replace(sketch.project.plan, phases=(Phase(batch=0), Phase(batch=8)))
    (problem,) = sketch.check().errors
    assert mended(sketch, problem).errors == []
    assert [one.batch for one in sketch.project.plan.phases] == [8192, 8]
    assert sketch.project.plan.batch == 16


MEASURE = """
import gc, re, sys, torch
from dataclasses import replace
from tests.engine.shapes.test_memory import found_for
from tests.engine.sketches import gallery
from tests.engine.train.networks import run_of

def status(key):
    return int(re.search(key + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

def train(rows):
    project = gallery(sys.argv[1])
    project.plan = replace(project.plan, batch=rows)
    run = run_of(project)
    run.advance(), run.advance()
    return project, run

torch.set_num_threads(1)
train(16)
gc.collect()
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
project, run = train(int(sys.argv[2]))
print((status("VmHWM") - before) / found_for(project).total)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system's own count is Linux's")
def test_the_estimate_is_of_the_size_that_the_system_counts() -> None:
    asked = [sys.executable, "-c", MEASURE, "mnist-cnn", "2048"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=300)
    assert 0.5 < float(found.stdout.split()[-1]) < 2


@pytest.mark.parametrize("project_id", ["dqn-grid"])
def test_what_agents_keep_is_counted(project_id: str) -> None:
    project = gallery(project_id)
    plan = with_number(project.plan, "memory", 4096)
    assert plan is not None
    project.plan = plan
    stop = replace(plan.stop, patience=None)
    for patience, times in ((None, 1), (3, 2)):  # the best weights so far hold it once more
        phases = [replace(one, stop=replace(stop, patience=patience)) for one in plan.phases]
        project.plan = replace(plan, phases=tuple(phases))
        model = compile_program(project, catalogue()).make_model("cpu")
        (replay,) = (one for one in model.modules() if isinstance(getattr(one, "memory", None), int))
        kept = sum(one.nbytes for one in replay.buffers())
        assert found_for(project).replay == pytest.approx(times * kept, rel=0.01)
    found = found_for(project)
    assert found.to_json()["replay"] == found.replay > 0 and "what agents have seen" in str(found)
    assert found.nodes[next(iter(project.plan.objectives)).node][0] >= found.replay  # type: ignore[union-attr]


def test_a_replay_too_large_says_so_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    sketch = Sketch()
    sketch.project = project = gallery("dqn-grid")
    plan = with_number(project.plan, "memory", 50_000_000)
    assert plan is not None
    project.plan = plan
    have(monkeypatch, GIB)
    (problem,) = [one for one in check(project, catalogue()).problems if one.code == "memory"]
    assert "Training takes about" in problem.message and problem.fix is not None
    assert problem.fix.label.startswith("Keep ") and problem.fix.label.endswith(" transitions")
    assert not [one for one in mended(sketch, problem).problems if one.code == "memory"]
