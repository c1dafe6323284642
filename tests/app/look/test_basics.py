"""The first views of a node: colours stand where the values are, tables hold the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QWidget

from app.charts.colourmaps import SIGNED
from app.look.arrays import rows_of
from app.look.base import Subject
from app.look.layers.activations import Activations
from app.look.layers.histograms import Histograms
from app.look.layers.kernels import Filters
from app.look.predictions.example import Example
from app.look.predictions.prediction import Prediction
from app.look.registry import proposed
from app.theme import current_theme
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot


@pytest.fixture
def iris(shaped: Workspace) -> Workspace:
    add_iris(shaped)
    return shaped


def of_histogram(counts: list[float], low: float, high: float) -> object:
    facts = {"mean": 0.0, "std": 1.0, "min": low, "max": high, "zeros": 0.25, "not_finite": 0.0, "count": 10}
    return snapshot(np.array(counts), edges=np.linspace(low, high, len(counts) + 1), **facts)


@contextmanager
def inside(view: QWidget) -> Iterator[Callable[[int, int], None]]:
    """A view as it is in a card, which makes it smaller than a window of its own would be."""
    host = QWidget()
    view.setParent(host)
    view.setMinimumSize(0, 0)  # that of the window it was
    view.show()
    host.show()

    def resize(width: int, height: int) -> None:
        view.resize(width, height)
        QApplication.processEvents()

    yield resize
    host.close()


def near(pixels: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    """Where a view has about this colour."""
    return np.abs(pixels.astype(int) - np.array(colour)).sum(axis=2) < 40


def test_the_highest_value_of_a_map_is_yellow_where_it_is(iris: Workspace) -> None:
    view = Activations(Subject(iris, "n2"))
    maps = np.zeros((1, 4, 4), np.float32)
    maps[0, 3, 0] = 1.0  # lower left
    shown(view, {Probe("n2", "activations"): snapshot(maps, shape=(1, 4, 4))})
    yellow = near(painted(view, 200, 200), (253, 231, 37))
    rows, columns = np.nonzero(yellow)
    assert rows.min() >= 145 and columns.max() <= 55
    assert yellow.sum() > 2000
    assert view.note == "1 map of 4 × 4 · 0 to 1"
    assert view.table() is not None and view.table()[1][12] == (1, 4, 1, 1.0)


def test_units_are_bars_with_their_values_in_a_table(iris: Workspace) -> None:
    view = Activations(Subject(iris, "n2"))
    shown(view, {Probe("n2", "activations"): snapshot([1.0, -0.5, 0.25], shape=(3,))})
    assert view.note == "3 units"
    assert view.table() == (("unit", "activation"), [(1, 1.0), (2, -0.5), (3, 0.25)])


def test_negative_weights_are_blue_and_positive_ones_red(iris: Workspace) -> None:
    view = Filters(Subject(iris, "n2"))
    facts = {"kind": "matrix", "shape": (2, 2)}
    shown(view, {Probe("n2", "filters"): snapshot([[-1.0, 1.0], [0.0, 0.0]], **facts)})
    pixels = painted(view, 200, 200).astype(int)
    ends = [np.array([(int(c) >> s) & 255 for s in (16, 8, 0)]) for c in (SIGNED[0], SIGNED[-1])]
    assert np.abs(pixels[50, 50] - ends[0]).sum() < 40
    assert np.abs(pixels[50, 150] - ends[1]).sum() < 40
    assert view.note == "2 × 2 weights · -1 (blue) to 1 (red)"
    assert view.table() == (
        ("output", "input", "weight"),
        [(1, 1, -1.0), (1, 2, 1.0), (2, 1, 0.0), (2, 2, 0.0)],
    )


def test_a_histogram_is_as_high_as_its_counts(iris: Workspace) -> None:
    view = Histograms(Subject(iris, "n2"))
    weights = Probe("n2", "weights")
    shown(view, {weights: of_histogram([0, 4, 1, 0], -1, 1)})
    colour = current_theme().good
    bars = near(painted(view, 400, 500), (colour.red(), colour.green(), colour.blue())).sum(axis=0)
    assert bars[:98].max() == 0 and bars[302:].max() == 0
    assert 3.5 < bars[150] / bars[250] < 4.5
    header, rows = view.table()
    assert header == ("of", "from", "to", "count")
    assert rows[1] == ("weights", -0.5, 0.0, 4)


def test_low_cards_show_fewer_histograms_and_say_which_are_hidden(iris: Workspace) -> None:
    view = Histograms(Subject(iris, "n2"))
    with inside(view) as resized:
        resized(250, 110)
        assert view.note == "enlarge for gradients"
        resized(250, 300)
        assert view.note == ""
        resized(600, 110)
        assert view.note == "", "side by side"


def test_the_right_class_is_green_and_the_rest_is_counted(iris: Workspace) -> None:
    view = Prediction(Subject(iris, "n2"))
    facts = {"kind": "classes", "target": 1, "classes": ("cat", "dog", "eel")}
    found = {Probe("n2", "predictions"): snapshot([0.2, 0.7, 0.1], **facts)}
    painted(view, 300, 200)
    shown(view, found)
    theme = current_theme()
    good = near(painted(view, 300, 200), (theme.good.red(), theme.good.green(), theme.good.blue()))
    rows = np.nonzero(good.any(axis=1))[0]
    assert rows.min() >= 20 and rows.max() < 40, "the second of three rows"
    assert view.table() == (
        ("class", "probability", ""),
        [("cat", 0.2, ""), ("dog", 0.7, "right"), ("eel", 0.1, "")],
    )
    with inside(view) as resized:
        resized(300, 45)
        assert view.note == "the likeliest 2 of 3"


def test_predicted_numbers_are_lines_beside_the_right_ones(iris: Workspace) -> None:
    view = Prediction(Subject(iris, "n2"))
    pairs = [[1.0, 1.5], [2.0, 2.5]]
    shown(view, {Probe("n2", "predictions"): snapshot(pairs, kind="values")})
    assert [line.values.tolist() for line in view.forecast.lines] == [[1.5, 2.5], [1.0, 2.0]]
    assert view.table() == (("example", "predicted", "right"), [(1, 1.0, 1.5), (2, 2.0, 2.5)])


def test_the_input_is_that_of_the_data_upstream_with_its_class(iris: Workspace) -> None:
    view = Example(Subject(iris, "n3"))
    assert view.probes() == {Probe("n1", "activations")}
    ports = {"features": np.arange(4.0), "species": np.array([1.0])}
    shown(view, {Probe("n1", "activations"): snapshot(np.arange(4.0), ports=ports)})
    assert view.note == "species versicolor"
    assert view.table() == (("unit", "value"), [(1, 0.0), (2, 1.0), (3, 2.0), (4, 3.0)])


def test_who_is_offered_what(iris: Workspace) -> None:
    basics = {"example", "activations", "filters", "histograms", "prediction"}
    offered = {
        node: basics & {kind.id for kind in proposed(Subject(iris, node))} for node in ("n1", "n2", "n3")
    }
    assert offered["n1"] == {"activations", "histograms"}
    assert offered["n2"] == basics
    assert offered["n3"] == {"example", "prediction"}
    best = [kind.id for kind in proposed(Subject(iris, "n2"))][:5]
    assert set(best) == basics, "what everybody wants comes first"


def test_places_in_tables_count_from_one() -> None:
    header, rows = rows_of(np.arange(8.0).reshape(2, 2, 2))
    assert header == ("channel", "row", "column", "value")
    assert rows[0] == (1, 1, 1, 0.0) and rows[-1] == (2, 2, 2, 7.0)
    assert rows_of(np.zeros((1, 1, 1, 1, 1)))[0] == (
        "axis 1",
        "axis 2",
        "axis 3",
        "axis 4",
        "axis 5",
        "value",
    )
