"""Functions that measure: what a source draws for a loss is drawn once, and the model gets the same."""

import torch

from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.emit.program import compile_program
from engine.emit.script import export_script
from tests.engine.train.networks import catalogue, run_of


def noisy(*, into_model: bool) -> Project:
    """Iris through a linear layer that is to answer noise, or to hand on the noise that it gets."""
    nodes = [
        Node("n1", "Iris"),
        Node("n2", "Linear", "answer", {"units": 4}),
        Node("n3", "GaussianNoise", "noise", {"size": 4}),
        Node("n4", "MSE"),
        Node("n5", "MeanSquaredError", "off", {}),
        Node("n6", "Add"),
    ]
    links = [
        Link("n1", "features", "n6", "x1"),
        Link("n3" if into_model else "n1", "output" if into_model else "features", "n6", "x2"),
        Link("n6", "output", "n2", "x"),
        Link("n2", "output", "n4", "prediction"),
        Link("n3", "output", "n4", "target"),
        Link("n2", "output", "n5", "prediction"),
        Link("n3", "output", "n5", "target"),
    ]
    return Project("Noise", graph=Graph(nodes, links), plan=Plan(batch=16), next_id=9)


def test_noise_that_a_loss_compares_with_is_drawn_once() -> None:
    for into_model in (False, True):
        text = export_script(noisy(into_model=into_model), catalogue()).text
        for function in ("objective", "measure"):
            body = text.split(f"def {function}(")[1].split("\ndef ")[0]
            assert body.count("torch.randn(") == 1, body
            assert ", noise)" in body


def test_the_model_and_the_loss_see_the_same_noise() -> None:
    project = noisy(into_model=True)
    run = run_of(project)
    program = compile_program(project, catalogue())
    seen: dict[tuple[str, str], torch.Tensor] = {}
    batch = {name: column[:8] for name, column in run.data["validation"].items()}
    model = program.make_model("cpu")
    with torch.no_grad(), program.tapping(lambda node, port, value: seen.__setitem__((node, port), value)):
        found = program.measure(model, batch)
    noise, answer = seen["n3", "output"], seen["n2", "output"]
    torch.testing.assert_close(seen["n6", "output"], batch["features"] + noise)
    torch.testing.assert_close(found["loss"], (answer - noise).square().mean())
    torch.testing.assert_close(found["off"], found["loss"])
    for _ in range(3):
        run.advance()
    assert run.step == 3
