"""Gates are those that made the outputs; forecasts are those of a model known by heart."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from engine.catalogue import Column, Data
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.feed.feed import Probe
from engine.shapes.heads import CLASSES, Head
from engine.train.loop import Run
from tests.bench.setting import gallery_project
from tests.engine.look.looking import look_at, taken
from tests.engine.look.taking import take
from tests.engine.train.networks import iris, run_of


def test_gates_of_the_node_are_those_behind_its_outputs() -> None:
    run = run_of(gallery_project("santa-fe-lstm"))
    (found,) = take(run, Probe("n2", "gates"), pinned=3)
    assert found.extra["gates"][-1] == "hidden" and found.extra["steps"] == 50
    assert found.array.shape == (6, 50, 100) and found.extra["units"] == tuple(range(100))
    lstm = run.model.get_submodule("lstm")
    output, _ = lstm(run.data["validation"]["window"][3:4])
    np.testing.assert_allclose(found.array[-1], output[0].detach(), atol=1e-3)
    np.testing.assert_allclose(found.extra["inputs"], run.data["validation"]["window"][3], rtol=1e-6)
    assert not lstm._forward_pre_hooks


def test_the_way_back_of_the_second_layer() -> None:
    torch.manual_seed(0)
    gru = nn.GRU(3, 4, 2, bidirectional=True, batch_first=True)
    x = torch.randn(2, 6, 3)
    array, facts = taken(look_at(gru, x), "gates", 1, 1)
    assert facts["mode"] == "GRU" and facts["layers"] == 2 and facts["both"]
    np.testing.assert_allclose(array[-1], gru(x)[0][0, :, 4:].detach(), atol=1e-3)


def test_of_long_sequences_and_wide_layers_a_part() -> None:
    rnn = nn.RNN(1, 300, batch_first=True)
    array, facts = taken(look_at(rnn, torch.randn(1, 1000, 1)), "gates")
    assert array.shape == (1, 400, 125) and facts["first"] == 600 and facts["of"] == 300
    assert facts["units"][0] == 0 and len(facts["units"]) == 125


def persistence(run: Run, hidden_gain: float = 0.0) -> None:
    """The forecast is the last value: x goes past the recurrent layer's state unchanged."""
    linear = run.model.get_submodule(run.program.modules["n3"])
    with torch.no_grad():
        linear.weight.zero_()
        linear.weight[0, -1] = 1.0  # the last number of the window, laid out in a row
        linear.bias.fill_(hidden_gain)


def series() -> Project:
    """The laser's windows in a row through one linear layer (n3) to a squared error (n4)."""
    nodes = [
        Node("n1", "SantaFe", "", {"lag": 8}),
        Node("n2", "Flatten"),
        Node("n3", "Linear", "forecast", {"units": 1}),
        Node("n4", "MSE"),
    ]
    links = [
        Link("n1", "window", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "prediction"),
        Link("n1", "next", "n4", "target"),
    ]
    return Project("Series", graph=Graph(nodes, links), plan=Plan(batch=32).with_(epochs=1))


def test_one_step_ahead_and_running_free_of_a_model_that_adds_a_half_to_the_last_value() -> None:
    run = run_of(series())
    persistence(run, 0.5)
    (found,) = take(run, Probe("n4", "forecast", ("validation", 10)))
    target = run.data["validation"]["next"][:, 0].numpy()
    count = len(target) - 10
    assert found.array.shape == (count, 3) and found.extra["of"] == len(target)
    np.testing.assert_allclose(found.array[:, 0], target[10:])
    np.testing.assert_allclose(found.array[:, 1], target[9:-1] + 0.5, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        found.array[:, 2], target[9] + 0.5 * np.arange(1, count + 1), rtol=1e-5, atol=1e-4
    )
    assert found.extra["splits"] == ("train", "validation", "test") and found.extra["lag"] == 8


def test_the_next_token_has_the_scores_of_the_head() -> None:
    run = run_of(iris(dropout=0.0))
    (found,) = take(run, Probe("n5", "next_token"), pinned=2)
    batch = {name: column[2:3] for name, column in run.data["validation"].items()}
    run.model.eval()
    scores = run.program.forward(run.model, batch)
    np.testing.assert_allclose(found.array, scores[0].detach(), rtol=1e-5)
    assert found.extra["target"] == int(batch["species"][0])
    assert found.extra["names"] == ("setosa", "versicolor", "virginica")
    assert found.extra["kept"] is None and found.extra["places"] == 1


def test_any_place_of_a_sequence_and_the_tokens_before_it() -> None:
    class Words(Data):
        def columns(self) -> tuple[Column, ...]:
            return (Column("x", (3,), "int64", ("the", "cat", "sat")),)

    class Shifted(nn.Module):
        """Scores (N, tokens, places): the next token is surely the present one plus 1."""

        def forward(self, x: Tensor) -> Tensor:
            return 5.0 * nn.functional.one_hot((x + 1) % 3, 3).transpose(1, 2).float()

    x = torch.tensor([[0, 1, 2], [2, 0, 1]])
    look = look_at(Shifted(), x, {"n1": Words()}, pinned=1)
    head = Head("n3", CLASSES, ("n2", "output"), ("n1", "y"), 3, "y", ("the", "cat", "sat"))
    look = replace(look, heads=(head,), data={"validation": {"x": x, "y": (x + 1) % 3}})
    last, facts = taken(look, "next_token")
    assert last.tolist() == [0, 0, 5] and facts["target"] == 2
    assert facts["context"] == ("sat", "the", "cat") and facts["places"] == 3 and facts["place"] == 2
    first, facts = taken(look, "next_token", 0)
    assert first.tolist() == [5, 0, 0] and facts["target"] == 0 and facts["context"] == ("sat",)


def test_iris_is_no_series() -> None:
    (found,) = take(run_of(iris()), Probe("n5", "forecast"))
    assert "windows of a series" in found.extra["failed"]
