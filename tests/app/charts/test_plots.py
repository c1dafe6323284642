"""The plots painted by hand: layout, colours, tool tips, and what a pointer does to them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from pytestqt.qtbot import QtBot

from app.charts.arrays.activations import Activations
from app.charts.arrays.confusion import Confusion, most_confused, names_below, short_names
from app.charts.arrays.filters import Filters, caption
from app.charts.arrays.matrix import Matrix
from app.charts.arrays.tiles import Tiles, lay_out, mosaic
from app.charts.bars import PROBABILITY, ROW, Bar, Bars, how_to_cut
from app.charts.colourmaps import NOT_FINITE, SIGNED, VIRIDIS, limits, shade
from app.charts.columns import Columns
from app.charts.histogram import Distribution, Histogram
from app.charts.plot import Plot, number, numbers, percent, percents
from app.charts.series import Line, SeriesPlot, extremes
from app.theme import SMALL, current_theme, set_theme
from engine.feed.feed import Snapshot


def show(qtbot: QtBot, plot: Plot, width: int = 240, height: int = 120) -> None:
    qtbot.addWidget(plot)
    plot.resize(width, height)
    with qtbot.waitExposed(plot):
        plot.show()


@given(
    st.integers(1, 600),
    st.integers(1, 200),
    st.integers(1, 200),
    st.integers(1, 900),
    st.integers(1, 400),
)
def test_tiles_never_leave_the_plot(count: int, high: int, wide: int, width: int, height: int) -> None:
    grid = lay_out(count, high, wide, width, height, 3, 10, 96)
    assert 1 <= grid.shown <= count
    assert min(grid.columns, grid.shown) * (grid.tile_width + 3) - 3 <= width
    rows = -(-grid.shown // grid.columns)
    assert rows * (grid.tile_height + 3) - 3 <= height
    assert grid.shown <= grid.columns * grid.rows


def test_tiles_prefer_whole_rows() -> None:
    grid = lay_out(32, 26, 26, 330, 140, 3, 10, 96)
    assert (grid.columns, grid.rows) == (8, 4)


def test_a_mosaic_holds_each_map_at_its_place() -> None:
    colours = np.arange(1, 7, dtype=np.uint32).reshape(6, 1, 1)
    grid = lay_out(6, 1, 1, 32, 21, 1, 10, 96)
    whole = mosaic(colours, grid, 1)
    assert grid.columns == 3
    assert whole[0, 0] == 1
    assert whole[-1, -1] == 6
    assert whole[0, grid.tile_width] == 0  # the gap is transparent


def test_colours_run_from_the_first_to_the_last_and_show_what_is_not_finite() -> None:
    values = np.array([0.0, 1.0, np.nan, np.inf])
    colours = shade(values, VIRIDIS, 0.0, 1.0)
    assert colours[0] == VIRIDIS[0]
    assert colours[1] == VIRIDIS[-1]
    assert colours[2] == colours[3] == NOT_FINITE
    assert shade(np.full((2, 2), 5.0), VIRIDIS, 5.0, 5.0).tolist() == [[VIRIDIS[0]] * 2] * 2


def test_signed_values_are_white_at_zero() -> None:
    low, high = limits(np.array([-1.0, 3.0, np.nan]), signed=True)
    assert (low, high) == (-3.0, 3.0)
    zero = int(shade(np.array([0.0]), SIGNED, low, high)[0])
    assert all((zero >> shift) & 255 > 240 for shift in (0, 8, 16))


def test_limits_of_nothing_are_usable() -> None:
    assert limits(np.array([np.nan])) == (0.0, 1.0)
    assert limits(np.array([]), signed=True) == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (0.41312, "0.413"),
        (54000.0, "54,000"),
        (1.2e-5, "1.2e-05"),
        (float("nan"), "not a number"),
    ],
)
def test_numbers_are_short(value: float, words: str) -> None:
    assert number(value) == words


def test_shares_keep_a_space_before_the_sign() -> None:
    assert [percent(0.0), percent(0.5), percent(0.0013), percent(1.0)] == ["0 %", "50 %", "0.13 %", "100 %"]
    assert percent(3.7e-8) == "<0.001 %"


def test_a_click_enlarges_a_tile_and_escape_brings_all_back(qtbot: QtBot) -> None:
    tiles = Tiles()
    show(qtbot, tiles)
    tiles.show_maps(np.random.default_rng(0).random((8, 6, 6)))
    tiles.repaint()
    place = QPoint(5, 5)
    assert tiles.tile_at(place) == 0
    assert "channel 1 of 8" in tiles.describe(place)
    with qtbot.waitSignal(tiles.enlarged) as caught:
        qtbot.mouseClick(tiles, Qt.MouseButton.LeftButton, pos=place)
    assert caught.args == [0]
    assert tiles.enlarged_index == 0
    qtbot.keyClick(tiles, Qt.Key.Key_Escape)
    assert tiles.enlarged_index == -1


def test_more_tiles_than_fit_are_cut_and_said_so(qtbot: QtBot) -> None:
    tiles = Tiles()
    show(qtbot, tiles, 60, 40)
    tiles.show_maps(np.zeros((500, 4, 4)))
    tiles.repaint()
    assert 0 < tiles.shown < 500


def test_a_hidden_plot_builds_nothing(qtbot: QtBot) -> None:
    tiles = Tiles()
    qtbot.addWidget(tiles)
    tiles.show_maps(np.zeros((4, 4, 4)))
    assert tiles.shown == 0
    tiles.resize(100, 100)
    with qtbot.waitExposed(tiles):
        tiles.show()
    tiles.repaint()
    assert tiles.shown == 4


def test_wide_maps_keep_their_proportions(qtbot: QtBot) -> None:
    grid = lay_out(1, 40, 200, 300, 200, 3, 10, 10_000)
    assert (grid.tile_width, grid.tile_height) == (300, 60)


def test_filters_name_filter_and_input(qtbot: QtBot) -> None:
    plot = Filters()
    show(qtbot, plot)
    facts = {"kind": "kernels", "shape": (2, 3, 3, 3), "out": 2, "in": 3, "shown": 6}
    snapshot = Snapshot(0, 0, np.random.default_rng(1).normal(size=(6, 3, 3)), facts)
    plot.show_snapshot(snapshot)
    plot.repaint()
    assert plot.describe(QPoint(2, 2)).startswith("filter 1, input channel 1")
    assert caption(snapshot) == "2 × 3 kernels"
    low, high = plot.scale
    assert low == -high


@pytest.mark.parametrize("shape", [(10, 1024), (1024, 10), (1, 784), (10, 16)])
def test_a_long_matrix_of_weights_is_no_thin_strip(shape: tuple[int, int], qtbot: QtBot) -> None:
    plot = Filters()
    show(qtbot, plot, 600, 150)
    plot.show_snapshot(Snapshot(0, 0, np.ones(shape), {"kind": "matrix", "shape": shape}))
    image = plot.grab().toImage()
    red = np.array([[image.pixelColor(x, y).red() for x in range(0, 600, 4)] for y in range(150)])
    other = np.array([[image.pixelColor(x, y).blue() for x in range(0, 600, 4)] for y in range(150)])
    drawn = red > other + 60
    cells = Matrix()
    qtbot.addWidget(cells)
    cells.resize(600, 150)
    cells.show_matrix(np.zeros(shape))
    assert cells.area.height() >= 48 and cells.area.width() >= 48
    assert drawn.any(axis=1).sum() >= 48 and 4 * drawn.any(axis=0).sum() >= 48


@pytest.mark.parametrize(
    ("facts", "shape", "words"),
    [
        ({"kind": "kernels", "shape": (32, 1, 3, 3), "out": 32, "in": 1}, (32, 3, 3), "32 filters"),
        (
            {"kind": "kernels", "shape": (64, 32, 3, 3), "out": 64, "in": 32},
            (256, 3, 3),
            "256 of 64 × 32 kernels",
        ),
        ({"kind": "matrix", "shape": (10, 1600)}, (10, 1024), "10 × 1024 of 10 × 1600"),
        ({"kind": "matrix", "shape": (10, 16)}, (10, 16), "10 × 16 weights"),
    ],
)
def test_captions_say_when_something_is_left_out(facts: dict, shape: tuple[int, ...], words: str) -> None:
    assert caption(Snapshot(0, 0, np.zeros(shape), facts)) == words


def test_a_distribution_counts_zeros_and_what_is_not_finite() -> None:
    found = Distribution.of(np.array([0.0, 0.0, 1.0, 3.0, np.nan]))
    assert found is not None
    assert found.zeros == 0.5
    assert found.not_finite == 1
    assert found.mean == 1.0
    assert "zeros 50 %" in found.sentence()
    assert "1 not finite" in found.sentence()
    assert Distribution.of(np.array([np.nan])) is None


def test_a_histogram_tells_a_bin(qtbot: QtBot) -> None:
    plot = Histogram()
    show(qtbot, plot)
    found = Distribution.of(np.linspace(-1, 1, 100), 10)
    assert found is not None
    plot.show_distribution(found)
    plot.repaint()
    assert "10 % of values" in plot.describe(QPoint(120, 60))


def test_bars_tell_their_values_and_grow_with_their_number(qtbot: QtBot) -> None:
    bars = Bars(unit="rows")
    show(qtbot, bars)
    bars.show_bars(
        [Bar("conv1", 0.5), Bar("conv2", float("nan")), Bar("classes", 1.0, note="weights 3 long")]
    )
    bars.repaint()
    assert bars.sizeHint().height() == 3 * ROW
    assert bars.describe(QPoint(50, 2 * ROW + 3)) == "classes: 1 rows\nweights 3 long"
    assert bars.describe(QPoint(50, 3 * ROW + 3)) == ""


def test_classes_are_told_apart_where_their_names_begin_alike() -> None:
    assert short_names(["class 1", "class 2", "class 11"]) == ("1", "2", "11")
    assert short_names(["component_a", "component_b"]) == ("a", "b")
    assert short_names(["Biscoe", "Bream"]) == ("Biscoe", "Bream")  # no whole word is shared
    assert short_names(["class ", "class 2"]) == ("class ", "class 2")  # nothing would be left of one
    assert short_names(["face"]) == ("face",) and short_names([]) == ()


def test_the_most_confused_classes_come_first() -> None:
    matrix = np.array([[50, 3, 0], [1, 40, 0], [0, 7, 20]])
    assert most_confused(matrix, ("a", "b", "c")) == [("c", "b", 7), ("a", "b", 3), ("b", "a", 1)]


def test_a_confusion_matrix_tells_a_cell(qtbot: QtBot) -> None:
    plot = Confusion()
    show(qtbot, plot, 220, 220)
    plot.show_matrix(np.array([[90, 10], [5, 95]]), ("cat", "dog"))
    plot.repaint()
    left = plot.image_origin().x()
    assert plot.describe(QPoint(left + 2, 2)) == "cat: 90 of 100 right"
    assert plot.describe(QPoint(left + 150, 10)) == "cat taken for dog: 10 of 100"
    assert plot.describe(QPoint(2, 2)) == ""


def test_names_below_a_matrix_take_lines_before_they_are_left_out() -> None:
    names, widths = ("background", "disk", "ring", "cross"), (70, 28, 28, 35)
    assert names_below(names, widths, 80, range(-90, 330)).lines == 1
    staggered = names_below(names, widths, 32, range(-90, 140))
    assert [(name, line) for name, line, _ in staggered.places] == [*zip(names, (0, 1, 0, 1), strict=True)]
    assert names_below(names, widths, 32, range(-90, 140), 1).places == (
        ("background", 0, -19),
        ("ring", 0, 66),
    )
    assert names_below(("one long name",), (90,), 32, range(-5, 60)).places == ()  # it would be cut


def test_series_keep_spikes_and_break_at_gaps(qtbot: QtBot) -> None:
    values = np.zeros(10_000)
    values[1234], values[8000] = 5.0, -3.0
    values[4000:4600] = np.nan
    at, kept = extremes(values, 100)
    assert np.nanmax(kept) == 5.0
    assert np.nanmin(kept) == -3.0
    assert np.isnan(kept).any()
    assert (np.diff(at) >= 0).all()
    plot = SeriesPlot(unit="reading")
    show(qtbot, plot)
    plot.show_lines([Line("laser", values)])
    plot.repaint()
    assert plot.describe(QPoint(int(plot.area().left()), 50)).startswith("reading 0\nlaser")


def test_activations_choose_the_plot_by_shape(qtbot: QtBot) -> None:
    shown = Activations()
    qtbot.addWidget(shown)
    shown.show_array(np.zeros((3, 5, 5)))
    assert shown.isHidden() or shown.layout().currentWidget() is shown.tiles  # type: ignore[attr-defined]
    shown.show_array(np.arange(4.0))
    assert shown.layout().currentWidget() is shown.columns  # type: ignore[attr-defined]
    shown.show_array(np.zeros((7, 1, 1)))
    assert shown.columns.values.shape == (7,)


@pytest.mark.parametrize(
    "values", [np.array([1.0, -2.0, np.nan]), np.zeros(3), np.random.default_rng(0).normal(size=3000)]
)
def test_columns_paint_anything(qtbot: QtBot, values: np.ndarray) -> None:
    plot = Columns()
    show(qtbot, plot)
    plot.show_values(values)
    plot.repaint()
    assert plot.describe(QPoint(44, 20)).startswith("unit 1 of")


def test_plots_follow_the_theme(qtbot: QtBot) -> None:
    bars = Bars()
    show(qtbot, bars)
    bars.show_bars([Bar("a", 1.0)])
    dark = bars.grab().toImage()
    try:
        set_theme("light")
        assert bars.grab().toImage() != dark
    finally:
        set_theme("dark")


def test_two_long_class_names_are_written_in_full_beside_a_small_matrix(qtbot: QtBot) -> None:
    plot = Confusion()
    show(qtbot, plot, 156, 130)
    plot.show_matrix(np.array([[19, 1], [0, 20]]), ("background", "face"))
    plot.repaint()
    metrics = QFontMetrics(current_theme().mono(SMALL))
    assert plot.rect_of(0, 0).left() - 6 >= metrics.horizontalAdvance("background")
    assert plot.rect_of(0, 1).right() < 156


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.82, 0.876, 0], ["0.820", "0.876", "0.000"]),
        ([3, 12, 0], ["3", "12", "0"]),
        ([-12.34, 0.5], ["-12.3", "0.5"]),
        ([1234.0, 0.00123], ["1,234", "0.00123"]),  # no room for alike decimals
        ([0.5, 1e-7], ["0.5", "1.0e-07"]),
        ([0.25, 0.5, float("nan")], ["0.25", "0.50", "not a number"]),
        ([], []),
    ],
)
def test_numbers_in_a_column_have_alike_decimals(values: list[float], texts: list[str]) -> None:
    assert numbers(values) == texts
    bars = Bars()
    bars.show_bars([Bar("", value) for value in values])
    assert bars.texts() == texts


@pytest.mark.parametrize(
    ("fractions", "texts"),
    [
        ([0.00161, 0.99839], ["0.16 %", "99.84 %"]),
        ([0.29, 0.0941, 0.616], ["29.0 %", "9.4 %", "61.6 %"]),
        ([0.0, 0.5, 1.0], ["0 %", "50 %", "100 %"]),
        ([3e-7, 0.9999997, 0.0], ["<0.01 %", ">99.99 %", "0.00 %"]),
        ([0.25, float("nan")], ["25 %", "not a number"]),
        ([], []),
    ],
)
def test_percentages_in_a_column_have_alike_decimals(fractions: list[float], texts: list[str]) -> None:
    assert percents(fractions) == texts
    bars = Bars(unit=PROBABILITY)
    bars.show_bars([Bar("", value) for value in fractions])
    assert bars.texts() == texts


def test_names_that_differ_at_their_ends_are_cut_in_the_middle() -> None:
    middle, end = Qt.TextElideMode.ElideMiddle, Qt.TextElideMode.ElideRight
    assert how_to_cut(["component 1", "component 2"]) == middle
    assert how_to_cut(["background", "face"]) == how_to_cut(["component 1"]) == how_to_cut([]) == end
