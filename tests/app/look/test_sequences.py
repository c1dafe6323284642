"""Gates, unrolled states, next tokens and forecasts of arrays whose right view is known."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.charts.chart import Curve
from app.charts.colourmaps import SIGNED, VIRIDIS
from app.look.base import Subject
from app.look.registry import proposed
from app.look.sequences.forecast import Forecast
from app.look.sequences.gates import Gates, UnrolledLayer
from app.look.sequences.memory import Eigenvalues, StateJacobian
from app.look.sequences.next_token import NextToken, entropy, probabilities_at
from app.look.sequences.ngrams import AgainstNgrams
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes
from engine.document.graph import Link, Node
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.look.sequences.drawn_cell import drawn

GATES = ("input gate", "forget gate", "output gate", "candidate", "cell", "hidden")
PROBE = Probe("n2", "gates", (0, 0))


def laser(workspace: Workspace) -> None:
    """The laser (n1) through an LSTM (n2) and a linear layer (n3) to a squared error (n4)."""
    nodes = (
        Node("n1", "SantaFe", "", {"lag": 10}),
        Node("n2", "LSTM", "memory", {"hidden": 4}),
        Node("n3", "Linear", "forecast", {"units": 1}),
        Node("n4", "MSE"),
    )
    links = (
        Link("n1", "window", "n2", "x"),
        Link("n2", "h", "n3", "x"),
        Link("n3", "output", "n4", "prediction"),
        Link("n1", "next", "n4", "target"),
    )
    assert workspace.apply("Add", AddNodes(nodes, links))


def gate_values() -> np.ndarray:
    values = np.zeros((6, 5, 4), np.float32)
    values[0] = 1.0  # the input gate is open all the time
    values[1, :, 2] = np.linspace(0, 1, 5)  # the forget gate of unit 3 opens
    values[5] = np.linspace(-1, 1, 5)[:, None]
    return values


def gate_facts(**changed: object) -> dict[str, object]:
    facts: dict[str, object] = {
        "gates": GATES,
        "open": GATES[:3],
        "units": (0, 1, 2, 3),
        "of": 4,
        "first": 0,
        "steps": 5,
        "layers": 1,
        "both": False,
        "mode": "LSTM",
        "inputs": np.linspace(-1, 1, 5)[:, None],
        "example": 0,
        "split": "validation",
    }
    return {**facts, **changed}


def rgb(colour: int) -> tuple[int, int, int]:
    return (int(colour) >> 16) & 255, (int(colour) >> 8) & 255, int(colour) & 255


def test_a_strip_a_gate_and_the_curves_of_one_unit(shaped: Workspace, qtbot: QtBot) -> None:
    laser(shaped)
    view = Gates(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    shown(view, {PROBE: snapshot(gate_values().astype(np.float16), **gate_facts())})
    pixels = painted(view, 420, 300)
    for index, expected in ((1, 255), (3, 0)):  # strip 0 is the input
        middle = view.strips.area(index).center().toPoint()
        assert tuple(pixels[middle.y(), middle.x()]) == rgb(VIRIDIS[expected])
    hidden = view.strips.area(6)
    ends = [pixels[int(hidden.center().y()), int(x)] for x in (hidden.left() + 5, hidden.right() - 5)]
    assert tuple(ends[0]) == rgb(SIGNED[0]) and tuple(ends[1]) == rgb(SIGNED[255])
    forget = view.strips.area(2)
    row = forget.top() + forget.height() * 2.5 / 4
    qtbot.mouseClick(
        view.strips,
        Qt.MouseButton.LeftButton,
        pos=forget.center().toPoint().__class__(int(forget.center().x()), int(row)),
    )
    curves = [layer for layer in view.chart.layers if isinstance(layer, Curve)]
    assert len(curves) == 6 and view.note.startswith("unit 3 · LSTM")
    np.testing.assert_allclose(curves[1].y, np.linspace(0, 1, 5), atol=1e-3)
    assert curves[1].x.tolist() == [1, 2, 3, 4, 5]
    assert curves[0].style != curves[5].style  # states are told from gates without colour
    header, rows = view.table()
    assert header == ("step", "unit", *GATES) and rows[2][:4] == (1, 3, 1.0, 0.0)


def test_a_stack_that_reads_both_ways_offers_each(shaped: Workspace, qtbot: QtBot) -> None:
    laser(shaped)
    view = Gates(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    shown(view, {PROBE: snapshot(gate_values(), **gate_facts(layers=2, both=True))})
    assert [view.layer.itemText(n) for n in range(4)] == [
        "layer 1",
        "layer 1, back",
        "layer 2",
        "layer 2, back",
    ]
    with qtbot.waitSignal(view.needs_changed):
        view.layer.setCurrentIndex(3)
        view.layer.activated.emit(3)
    assert view.probes() == {Probe("n2", "gates", (1, 1))}
    other = Gates(Subject(shaped, "n2"))
    qtbot.addWidget(other)
    other.restore(view.state())
    assert other.probes() == view.probes()


def test_a_tile_a_step_with_its_input_below(shaped: Workspace, qtbot: QtBot) -> None:
    laser(shaped)
    view = UnrolledLayer(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    shown(view, {PROBE: snapshot(gate_values(), **gate_facts())})
    pixels = painted(view, 420, 150)
    steps, across, _ = view.view.layout_of()
    assert steps == [0, 1, 2, 3, 4] and across == 5
    for step, colour in ((0, SIGNED[0]), (4, SIGNED[255])):
        tile = view.view.tile(step)
        assert tuple(pixels[int(tile.center().y()), int(tile.center().x())]) == rgb(colour)
        assert tuple(pixels[int(tile.bottom() + 9), int(tile.center().x())]) == rgb(colour)
    words = view.view.describe(view.view.tile(4).center().toPoint())
    assert words.startswith("step 5\nstate 1 to 1, length 2")


def test_temperature_and_entropy() -> None:
    scores = np.log(np.array([0.5, 0.25, 0.25]))
    np.testing.assert_allclose(probabilities_at(scores, 1.0), [0.5, 0.25, 0.25])
    np.testing.assert_allclose(probabilities_at(scores, 0.5), [4 / 6, 1 / 6, 1 / 6])
    np.testing.assert_allclose(probabilities_at(scores, 0.0), [1, 0, 0], atol=1e-9)
    assert entropy(probabilities_at(scores, 1.0)) == pytest.approx(1.5)
    assert entropy(np.array([1.0, 0.0])) == 0


def test_the_likeliest_tokens_with_the_right_one_marked(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = NextToken(Subject(shaped, "n3"))
    qtbot.addWidget(view)
    scores = np.log(np.array([0.125, 0.5, 0.25, 0.125]))
    facts = {
        "kept": None,
        "of": 4,
        "names": ("a", "b", "c", "d"),
        "target": 2,
        "places": 3,
        "place": 2,
        "context": ("d", "a"),
        "example": 0,
        "split": "validation",
    }
    painted(view, 300, 280)
    shown(view, {Probe("n3", "next_token", (-1,)): snapshot(scores, **facts)})
    bars = view.bars.bars
    assert [bar.name for bar in bars] == ["b", "c ✓", "a", "d"]
    np.testing.assert_allclose([bar.value for bar in bars], [0.5, 0.25, 0.125, 0.125])
    assert view.note == "entropy 1.75 of 2.00 bits · 4 tokens · validation example 1"
    assert view.context.text() == "d a …"
    view.slider.setValue(50)
    np.testing.assert_allclose([bar.value for bar in view.bars.bars], np.array([16, 4, 1, 1]) / 22)
    header, rows = view.table()
    assert header == ("token", "name", "probability") and rows[1][:2] == (2, "c")


def test_a_forecast_over_the_series_with_its_residuals(shaped: Workspace, qtbot: QtBot) -> None:
    laser(shaped)
    view = Forecast(Subject(shaped, "n4"))
    qtbot.addWidget(view)
    truth = np.sin(np.arange(30.0))
    array = np.stack([truth, truth + 0.1, truth - 0.5], 1)
    facts = {
        "split": "validation",
        "splits": ("train", "validation"),
        "start": 0,
        "of": 40,
        "name": "next",
        "lag": 10,
    }
    painted(view, 440, 280)
    shown(view, {Probe("n4", "forecast", ("validation", 0)): snapshot(array, **facts)})
    curves = {curve.colour: curve for curve in view.chart.layers if isinstance(curve, Curve)}
    np.testing.assert_allclose(curves["accent"].y, truth + 0.1)
    np.testing.assert_allclose(curves["convolution"].y, truth - 0.5)
    assert curves["accent"].x[0] == 1 and len(curves) == 3
    off = {curve.colour: curve for curve in view.residuals.layers if isinstance(curve, Curve)}
    np.testing.assert_allclose(off["accent"].y, 0.1)
    np.testing.assert_allclose(off["convolution"].y, -0.5)
    assert not view.residuals.isHidden()
    assert view.note == "RMSE 0.1 one step ahead, 0.5 running free · validation · 30 of 40 steps"
    painted(view, 300, 160)
    assert view.residuals.isHidden() and view.chart.frame_shown.x_name == "step"
    assert view.table()[1][0] == (1, *array[0].tolist())


def test_what_is_proposed_for_the_laser_and_for_iris(shaped: Workspace) -> None:
    laser(shaped)
    names = {node: {kind.id for kind in proposed(Subject(shaped, node))} for node in ("n1", "n2", "n3", "n4")}
    assert {"gates", "unrolled"} <= names["n2"]
    assert not {"gates", "unrolled"} & (names["n1"] | names["n3"] | names["n4"])
    assert "forecast" in names["n3"] & names["n4"] and "next-token" not in names["n4"]


def test_a_row_of_features_is_no_series(shaped: Workspace) -> None:
    add_iris(shaped)
    for node in ("n1", "n2", "n3"):
        found = {kind.id for kind in proposed(Subject(shaped, node))}
        assert not found & {"forecast", "next-token", "gates", "unrolled"}


def test_the_gradient_against_lag_is_drawn_in_powers_of_ten(shaped: Workspace, qtbot: QtBot) -> None:
    laser(shaped)
    view = StateJacobian(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    gains = np.stack([0.1 ** np.arange(6), 0.05 ** np.arange(6)])
    facts = gate_facts(lags=5, rate=0.1, size=8)
    shown(view, {Probe("n2", "state_jacobian", (0, 0)): snapshot(gains, **facts)})
    curves = [layer for layer in view.chart.layers if isinstance(layer, Curve)]
    np.testing.assert_allclose(curves[2].y, -np.arange(6.0), atol=1e-9)
    assert view.chart.frame_shown.y_scale == "log" and view.note.startswith("× 0.1 a step · LSTM")
    assert view.table()[1][2] == pytest.approx((2, 0.01, 0.0025))
    assert view.chart.read(2.2, 0) == "2 steps earlier\nlargest 0.01\nroot mean square 0.0025"


def test_eigenvalues_lie_about_the_unit_circle(shaped: Workspace, qtbot: QtBot) -> None:
    laser(shaped)
    view = Eigenvalues(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    parts = {"parts": ("input gate", "forget gate"), "part": 0, "radius": 2.0, "stretch": 2.5}
    values = np.array([[0.0, 2.0], [0.0, -2.0], [0.5, 0.0]], np.float32)
    asked = Probe("n2", "recurrent_eigenvalues", (0, 0, 0))
    shown(view, {asked: snapshot(values, **gate_facts(), **parts)})
    assert view.chart.frame_shown.x == pytest.approx((-2.2, 2.2)) and view.chart.frame_shown.square
    circle = max(
        (layer for layer in view.chart.layers if isinstance(layer, Curve)), key=lambda one: len(one.x)
    )
    np.testing.assert_allclose(np.hypot(circle.x, circle.y), 1)
    assert view.chart.read(0.1, 1.8).startswith("nearest: 0 + 2i\nmodulus 2, angle 90°")
    with qtbot.waitSignal(view.needs_changed):
        view.part.setCurrentIndex(1)
        view.part.activated.emit(1)
    assert view.probes() == {Probe("n2", "recurrent_eigenvalues", (0, 0, 1))}
    other = Eigenvalues(Subject(shaped, "n2"))
    qtbot.addWidget(other)
    other.restore(view.state())
    assert other.probes() == view.probes()


def test_every_recurrence_offers_its_views_and_a_dense_layer_does_not(shaped: Workspace) -> None:
    laser(shaped)
    shown_of = ({kind.id for kind in proposed(Subject(shaped, node))} for node in ("n2", "n3"))
    lstm, dense = shown_of
    views = {"gates", "unrolled", "state-jacobian", "recurrent-eigenvalues"}
    assert views <= lstm and not views & dense


def test_a_cell_that_is_drawn_and_runs_along_the_sequence_offers_them_too(shaped: Workspace) -> None:
    shaped.document.replace(drawn(), None)
    views = {"gates", "unrolled", "state-jacobian", "recurrent-eigenvalues"}
    assert views <= {kind.id for kind in proposed(Subject(shaped, "n2"))}


def test_a_network_beside_models_that_count(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = AgainstNgrams(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    facts = {"network": 1.6, "size": 72, "tokens": 8192, "split": "validation"}
    shown(view, {Probe("n2", "ngrams"): snapshot(np.array([3.25, 2.5, 1.75]), **facts)})
    painted(view)
    assert [bar.name for bar in view.bars.bars] == ["guessing", "1-gram", "2-gram", "3-gram", "this network"]
    assert view.bars.bars[0].value == pytest.approx(np.log(72)) and view.bars.bars[-1].value == 1.6
    assert view.note == "network 1.6000, best n-gram 1.7500 nats · 8,192 validation tokens"
    assert view.table() == (
        ("model", "loss"),
        [("1-gram", 3.25), ("2-gram", 2.5), ("3-gram", 1.75), ("network", 1.6)],
    )
