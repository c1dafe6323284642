"""Charts paint what they are given where their axes say."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFontMetrics

from app.charts.axes import fraction_ticks
from app.charts.chart import Chart, Columns, Curve, Entry, Frame, Ground, Marks
from app.charts.scale import WIDTH, ends
from app.theme import SMALL, current_theme
from tests.app.look.showing import painted

RED = QColor("#ff0000")


def red(theme: object) -> QColor:
    return RED


def is_red(image: np.ndarray) -> np.ndarray:
    return (image[..., 0] > 180) & (image[..., 1] < 80) & (image[..., 2] < 80)


def test_a_mark_stands_where_its_values_are(qapp: object) -> None:
    chart = Chart()
    chart.show_layers(
        Frame((0, 10), (0, 4), "x", "y"), [Marks(np.array([2.5]), np.array([3.0]), red, size=9)]
    )
    rows, columns = np.nonzero(is_red(painted(chart)))
    area = chart.area()
    assert columns.mean() == pytest.approx(area.left() + area.width() / 4, abs=1)
    assert rows.mean() == pytest.approx(area.bottom() - area.height() * 3 / 4, abs=1)
    assert chart.to_values(QPointF(columns.mean(), rows.mean())) == pytest.approx((2.5, 3.0), abs=0.05)


def test_a_curve_leaves_a_gap_where_it_is_not_a_number(qapp: object) -> None:
    chart = Chart()
    y = np.array([1.0, 1.0, np.nan, 1.0, 1.0])
    chart.show_layers(Frame((0, 4), (0, 2)), [Curve(np.arange(5.0), y, red, 3)])
    seen = is_red(painted(chart)).any(axis=0)
    area = chart.area()
    quarters = [seen[int(area.left() + area.width() * fraction)] for fraction in (0.1, 0.5, 0.9)]
    assert quarters == [True, False, True]


def test_bars_stand_on_zero(qapp: object) -> None:
    chart = Chart()
    chart.show_layers(Frame((0, 2), (0, 4)), [Columns(np.arange(3.0), np.array([1.0, 3.0]), red)])
    seen, area = is_red(painted(chart)), chart.area()
    first, second = (seen[:, int(area.left() + area.width() * fraction)].sum() for fraction in (0.25, 0.75))
    assert second == pytest.approx(3 * first, abs=4)


def test_the_first_row_of_a_ground_is_at_the_bottom(qapp: object) -> None:
    chart = Chart()
    colours = np.array([[0xFFFF0000], [0xFF0000FF]], np.uint32)
    chart.show_layers(Frame(), [Ground(lambda theme: colours, smooth=False)])
    image, area = painted(chart), chart.area()
    middle = int(area.center().x())
    assert is_red(image)[int(area.bottom()) - 10, middle]
    assert image[int(area.top()) + 10, middle].tolist() == [0, 0, 255]


@pytest.mark.parametrize("width", range(220, 420, 12))
@pytest.mark.parametrize("height", [100, 260])
def test_how_many_more_names_there_are_is_whole(qapp: object, width: int, height: int) -> None:
    chart = Chart()
    entries = [Entry(f"{index} 0.9{index}", "accent") for index in range(11)]
    chart.alone = False
    chart.show_layers(Frame(legend=entries), [Curve(np.array([0.0, 1]), np.array([0.0, 1]))])
    painted(chart, width, height)
    places = chart._legend_places()
    more = QFontMetrics(current_theme().font(SMALL)).horizontalAdvance("+11")
    assert len(places) == 11 or places[-1][1] + places[-1][2] + more <= width


@pytest.mark.parametrize(("name", "above"), [("value", False), ("change of CO2 (ppm)", True)])
def test_a_name_too_long_for_a_low_axis_stands_behind_the_legend(
    qapp: object, name: str, above: bool
) -> None:
    images = []
    for named in ("", name):
        chart = Chart()
        chart.alone = False
        frame = Frame(y_name=named, legend=[Entry("series", "accent")])
        chart.show_layers(frame, [Curve(np.array([0.0, 1]), np.array([0.0, 1]))])
        images.append(painted(chart, 600, 110).astype(int))
    behind = np.s_[: int(chart.area().top()), 300:]
    assert (images[0][behind] != images[1][behind]).any() == above


def test_the_legend_takes_a_second_row_where_it_must(qapp: object) -> None:
    chart = Chart()
    entries = [Entry(f"a rather long name {index}", "accent", "circle") for index in range(4)]
    chart.show_layers(Frame(legend=entries), [Curve(np.array([0.0, 1]), np.array([0.0, 1]))])
    painted(chart, 900)
    wide = chart.area().top()
    painted(chart, 300)
    assert chart.area().top() > wide


def test_small_charts_keep_the_curves_and_leave_the_words_out(qapp: object) -> None:
    chart = Chart()
    legend = [Entry("a curve", "accent")]
    chart.show_layers(Frame(x_name="x", legend=legend), [Curve(np.array([0.0, 1]), np.array([0.0, 1]))])
    for height in (300, 120, 80):
        painted(chart, 240, height)
        assert chart.area().height() >= height / 2
    assert chart.area().top() < 10


def test_ticks_of_shares() -> None:
    assert fraction_ticks(-0.02, 1.02, 4) == [0, 0.25, 0.5, 0.75, 1]
    assert fraction_ticks(-0.02, 1.02, 2) == [0, 0.5, 1]
    assert fraction_ticks(0.5, 1.0, 5) == [0.5, 0.6, 0.7, 0.8, 0.9, 1]


def test_a_role_is_the_themes(qapp: object) -> None:
    chart = Chart()
    chart.show_layers(Frame((0, 1), (0, 1)), [Columns(np.array([0.0, 1]), np.array([1.0]), "accent")])
    image, area = painted(chart), chart.area()
    accent = current_theme().accent
    assert image[int(area.center().y()), int(area.center().x())].tolist() == [
        accent.red(),
        accent.green(),
        accent.blue(),
    ]


@pytest.mark.parametrize(("low", "high"), [(6.7e-24, 1.0), (-1.2e-5, 3.4e-6), (-98765.0, 1e12), (-0.123, 5)])
def test_numbers_beside_a_scale_of_colours_have_room(low: float, high: float, qapp: object) -> None:
    marks = ends(low, high)
    metrics = QFontMetrics(current_theme().mono(SMALL))
    assert max(metrics.horizontalAdvance(text) for _, text in marks) <= WIDTH - 14
    assert ends(6.7e-24, 1.0)[0] == (0.0, "0")


def test_a_line_of_one_point_is_a_dot(qapp: object) -> None:
    chart = Chart()
    frame = Frame((0, 1), (0, 1), "x", "y")
    chart.show_layers(frame, [])
    empty = painted(chart)
    chart.show_layers(frame, [Curve(np.array([0.25, np.nan, 0.75]), np.array([0.5, np.nan, 0.5]))])
    seen = (painted(chart) != empty).any(axis=2)
    for x, y in np.stack(chart.to_pixels(np.array([0.25, 0.75]), np.array([0.5, 0.5])), 1):
        assert seen[round(y), round(x)]
