"""Scripts that their reader changed open with that change."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ProjectFileError
from tests.engine.importers.reading import changed, nodes, of_gallery, params, read, small, written

CNN = "mnist-cnn"


def test_numbers_of_layers_and_of_the_plan_are_read_from_the_code() -> None:
    text = changed(
        of_gallery(CNN),
        ("nn.Conv2d(1, 32, kernel_size=3)", "nn.Conv2d(1, 24, kernel_size=5)"),
        ("nn.Conv2d(32, 64, kernel_size=3)", "nn.Conv2d(24, 48, kernel_size=3)"),
        ("nn.Linear(1600, 10)", "nn.Linear(48 * 5 * 5, 10)"),
        ("nn.Dropout(0.5)", "nn.Dropout(0.25)"),
        ("lr=CONFIG.learning_rate", "lr=CONFIG.learning_rate, weight_decay=0.01"),
        ("learning_rate: float = 0.001", "learning_rate: float = 0.0005"),
        ("seed: int = 0", "seed: int = 7"),
        ("batch: int = 128", "batch: int = 64"),
        ("epochs: int = 12", "epochs: int = 30"),
        ("patience: int = 3", "patience: int = 8"),
        ("torch.tensor(digits[0]), 0.1, draw", "torch.tensor(digits[0]), 0.2, draw"),
    )
    project = read(text).project
    assert [(one["filters"], one.get("kernel", 3)) for one in params(project, "Conv2d")] == [(24, 5), (48, 3)]
    assert params(project, "Dropout") == [{"share": 0.25}]
    assert params(project, "Mnist") == [{"validation": 0.2}]
    plan = project.plan
    assert dict(plan.optimiser.params) == {"lr": 0.0005, "weight_decay": 0.01}
    assert (plan.seed, plan.batch, plan.epochs, plan.patience) == (7, 64, 30, 8)


def test_constants_in_the_place_of_the_settings_are_read_too() -> None:
    """As scripts had them that were exported before there was a `Config`."""
    text = of_gallery(CNN)
    start, end = text.index("@dataclass"), text.index("CONFIG = Config()") + len("CONFIG = Config()")
    text = text[:start] + "SEED, BATCH, EPOCHS = 3, 32, 5\nPATIENCE = 2" + text[end:]
    for name in ("seed", "batch", "epochs", "patience"):
        text = text.replace(f"CONFIG.{name}", name.upper())
    plan = read(text.replace("CONFIG.learning_rate", "0.002")).project.plan
    assert (plan.seed, plan.batch, plan.epochs, plan.patience) == (3, 32, 5, 2)
    assert plan.optimiser.params["lr"] == 0.002


def test_layers_that_were_added_are_nodes() -> None:
    text = changed(
        small(),
        (
            "        self.scores",
            "        self.drop = nn.Dropout(0.2)\n        self.extra = nn.Linear(8, 8)\n        self.scores",
        ),
        (
            "        return self.scores(x)",
            "        x = self.drop(x)\n        x = F.gelu(self.extra(x))\n        return self.scores(x)",
        ),
    )
    opened = read(text)
    assert opened.findings == () or list(opened.findings) == []
    assert params(opened.project, "Dropout") == [{"share": 0.2}]
    assert {"units": 8, "activation": "GELU"} in params(opened.project, "Linear")
    again = written(opened.project)
    assert "self.drop = nn.Dropout(0.2)" in again and "F.gelu(self.extra(x))" in again


def test_layers_of_torch_without_weights_are_nodes_too() -> None:
    text = changed(
        small(),
        ("        self.scores", "        self.act = nn.SiLU()\n        self.scores"),
        ("        return self.scores(x)", "        return self.scores(self.act(x))"),
    )
    opened = read(text)
    assert not opened.findings
    assert len(nodes(opened.project, "SiLU")) == 1


def test_a_sequential_is_its_layers_in_a_row() -> None:
    text = changed(
        small(),
        (
            "self.hidden = nn.Linear(4, 8)",
            "self.body = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))",
        ),
        ("torch.tanh(self.hidden(features))", "self.body(features)"),
    )
    opened = read(text)
    assert not opened.findings
    assert [one["units"] for one in params(opened.project, "Linear")] == [16, 8, 3]
    assert len(nodes(opened.project, "ReLU")) == 1


def test_a_layer_that_was_deleted_is_gone() -> None:
    text = changed(
        of_gallery(CNN),
        ("        self.dropout = nn.Dropout(0.5)\n", ""),
        ("        x = self.dropout(x)                      # (N, 1600)\n", ""),
    )
    opened = read(text)
    assert not opened.findings
    assert nodes(opened.project, "Dropout") == []


def test_names_are_free() -> None:
    text = of_gallery(CNN)
    for old, new in (
        ("conv1", "first"),
        ("classes", "digits_out"),
        ("Model", "Network"),
        ("objective", "compute_loss"),
        ("optimiser_for", "make_optimizer"),
        ("train", "fit_model"),
        ("measure", "metrics_of"),
        ("evaluate", "validate_split"),
        ("batches", "minibatches"),
    ):
        text = re.sub(rf"(?<![\w\"-]){old}(?![\w\"])", new, text)
    ast.parse(text)
    project = read(text).project
    assert [one.name for one in nodes(project, "Conv2d")] == ["first", "conv2"]
    assert [one.name for one in nodes(project, "Linear")] == ["digits out"]
    assert project.plan.epochs == 12


def test_a_line_that_no_node_writes_is_named_and_stands_as_a_node() -> None:
    text = changed(
        small(),
        (
            "        return self.scores(x)",
            "        x = torch.fft.rfft(x).abs()\n        return self.scores(x)",
        ),
    )
    opened = read(text)
    line = text[: text.index("torch.fft")].count("\n") + 1
    assert f"line {line}: `torch.fft.rfft(x).abs()` has no node here." in [
        str(one) for one in opened.findings
    ]
    assert len(nodes(opened.project, "Linear")) == 2


def test_what_the_loop_does_beyond_the_plan_is_named() -> None:
    text = changed(
        small(),
        ("            optimiser.step()\n", "            optimiser.step()\n            print('moved')\n"),
    )
    assert any("print('moved')" in one.message for one in read(text).findings)


def test_python_that_is_not_ours_is_refused_in_a_sentence() -> None:
    with pytest.raises(ProjectFileError, match="no class of a network"):
        read("print('hello')\n")
    with pytest.raises(ProjectFileError, match="line 2 is no Python"):
        read("x = 1\nclass (:\n")


@settings(max_examples=6, deadline=None)
@given(
    st.integers(1, 300),
    st.floats(1e-6, 10, allow_nan=False),
    st.integers(1, 10**6),
    st.integers(1, 4096),
    st.sampled_from(["F.relu", "torch.tanh", "F.gelu", "torch.sigmoid", "F.softplus"]),
)
def test_any_numbers_come_back(width: int, rate: float, epochs: int, batch: int, function: str) -> None:
    text = changed(
        small(),
        ("nn.Linear(4, 8)", f"nn.Linear(4, {width})"),
        ("nn.Linear(8, 3)", f"nn.Linear({width}, 3)"),
        ("torch.tanh(self.hidden", f"{function}(self.hidden"),
        ("learning_rate: float = 0.001", f"learning_rate: float = {rate!r}"),
        ("batch: int = 16", f"batch: int = {batch}"),
        ("epochs: int = 40", f"epochs: int = {epochs}"),
    )
    project = read(text).project
    hidden = params(project, "Linear")[0]
    assert hidden.get("units", 64) == width
    assert written(project).split('"""', 2)[2].split("def report")[0].count(function) >= 1
    plan = project.plan
    assert (plan.epochs, plan.batch) == (epochs, batch)
    assert plan.optimiser.params.get("lr", 0.001) == rate


@pytest.mark.parametrize("quote", ["'", '"'])
def test_another_layout_of_the_text_changes_nothing(quote: str) -> None:
    text = ast.unparse(ast.parse(small()))
    opened = read(text if quote == "'" else text.replace("'", '"') if text.count('"') == 0 else text)
    assert not opened.findings
    assert written(opened.project) == written(read(small()).project)
