"""Kernels, units, means, copies, samples and made images: the right maps in the right places."""

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.charts.arrays.cells import Sheet, Sheets, short
from app.look.base import Subject
from app.look.generation.generated_images import EARLIER, ModelReconstructions, Samples
from app.look.images.excitation import Excitation, Strongest
from app.look.images.pixels import ClassImages, FilterKernels, OneUnit, PixelWeights
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe, Snapshot
from tests.app.look.image_nets import add_branches, add_copying
from tests.app.look.showing import painted, shown, snapshot


def test_maps_share_a_scale_and_a_click_enlarges_one(qapp: object) -> None:
    view = Sheets()
    view.show_sheets([Sheet("a", np.array([[1.0, 0.0], [0.0, -2.0]])), Sheet("b", np.zeros((2, 2)))])
    image = painted(view, 400, 200)
    assert view.scale == (-2.0, 2.0)
    box = view.boxes[0]
    cell = box.width() / 2
    last = image[round(box.bottom() - 6), round(box.right() - 6)].tolist()
    assert last == [0x05, 0x30, 0x61]  # the end of the scale: dark blue
    QTest.mouseClick(
        view, Qt.MouseButton.LeftButton, pos=QPoint(round(box.left() + cell), round(box.top() + 9))
    )
    painted(view, 400, 200)
    assert view.enlarged_index == 0 and len(view.boxes) == 1 and view.boxes[0].width() >= box.width()
    assert "row 2, column 2: -2" in view.describe(view.boxes[0].bottomRight().toPoint() - QPoint(4, 4))
    QTest.keyClick(view, Qt.Key.Key_Escape)
    painted(view, 400, 200)
    assert view.enlarged_index == -1 and len(view.boxes) == 2


def test_numbers_stand_in_cells_that_are_large_enough(qapp: object) -> None:
    view = Sheets()
    values = np.array([[0.25, 1.0]])
    view.show_sheets([Sheet("", values, signed=False)])
    wide = painted(view, 400, 200)
    box = view.boxes[0].toRect()
    left = wide[box.top() + 4 : box.bottom() - 4, box.left() + 4 : box.center().x() - 4]
    assert len(np.unique(left.reshape(-1, 3), axis=0)) > 3
    small = painted(view, 40, 200)
    box = view.boxes[0].toRect()
    left = small[box.top() + 3 : box.bottom() - 3, box.left() + 3 : box.center().x() - 3]
    assert len(np.unique(left.reshape(-1, 3), axis=0)) == 1
    assert [short(value) for value in (-0.001, 3.14159, 42.4, 1234.0)] == ["0.00", "3.14", "42.4", "1234"]


def test_the_kernels_of_a_filter_with_their_sum_first(shaped: Workspace) -> None:
    add_branches(shaped)
    picture = FilterKernels(Subject(shaped, "n5"))
    kernels = np.arange(27.0).reshape(3, 3, 3) - 13
    facts = {"combined": kernels.sum(0), "bias": 0.5, "filter": 0, "filters": 4, "channels": 3}
    shown(picture, {Probe("n5", "filter_kernels", (0,)): snapshot(kernels, **facts)})
    assert [sheet.title for sheet in picture.sheets.sheets] == ["sum", "1", "2", "3"]
    assert picture.sheets.sheets[0].marked and picture.sheets.scale == (-13, 13)
    assert picture.note == "3 channels · bias 0.5 · -13 (blue) to 13 (red) · sum to ±12"
    picture.restore({"filter": 3})
    assert picture.probes() == {Probe("n5", "filter_kernels", (3,))}


def test_a_unit_shows_its_weights_where_they_lie(shaped: Workspace) -> None:
    add_copying(shaped)
    picture = OneUnit(Subject(shaped, "n3"))
    weights = np.arange(64.0)
    facts = {"weights": weights, "bias": 0.25, "values": np.linspace(0, 1, 100), "gradients": None}
    facts |= {"unit": 0, "units": 12, "rows": 128, "example": 3}
    shown(picture, {Probe("n3", "unit", (0,)): snapshot([0.75], **facts)})
    np.testing.assert_array_equal(picture.weights.sheets[0].values, weights.reshape(8, 8))
    assert picture.note == "unit 1 of 12 · value 0.75 · bias 0.25 · 128 examples"
    assert picture.values.distribution.mean == 0.5 and "no loss" in picture.gradients.message
    assert picture.unit.count() == 12


def test_weights_and_means_one_a_class(shaped: Workspace) -> None:
    add_copying(shaped)
    weights = PixelWeights(Subject(shaped, "n3"))
    maps = np.zeros((12, 8, 8))
    maps[2, 0, 0] = -3
    shown(weights, {Probe("n3", "pixel_weights"): snapshot(maps, units=12, channels=1)})
    assert weights.sheets.sheets[2].title == "unit 3" and weights.note == "12 units · -3 (blue) to 3 (red)"
    means = ClassImages(Subject(shaped, "n1"))
    (probe,) = means.probes()
    assert probe == Probe("n1", "class_images", ("image", "digit"))
    shown(means, {probe: snapshot(np.zeros((10, 8, 8)), counts=(5, 6, 7, 8, 9, 5, 5, 5, 5, 5), looked_at=60)})
    assert [sheet.title for sheet in means.sheets.sheets] == list("0123456789")
    assert means.note == "5 to 9 training examples of each class"


def test_copies_stand_under_their_originals(shaped: Workspace) -> None:
    add_copying(shaped)
    picture = ModelReconstructions(Subject(shaped, ""))
    both = np.stack([np.zeros((3, 8, 8)), np.ones((3, 8, 8))])
    facts = {"errors": np.array([0.5, 0.25, 1.0]), "mean_error": 0.5, "looked_at": 64, "rows": (4, 0, 1)}
    picture.resize(460, 220)
    shown(picture, {Probe("", "reconstructions"): snapshot(both, **facts, split="validation")})
    assert [sheet.title for sheet in picture.sheets.sheets] == ["5", "1", "2", "0.5", "0.25", "1"]
    image = painted(picture, 460, 220)
    given, made = picture.sheets.boxes[0], picture.sheets.boxes[3]
    assert given.left() == made.left() and given.bottom() < made.top()
    assert image[given.center().toPoint().y(), given.center().toPoint().x()].max() == 0
    assert image[made.center().toPoint().y(), made.center().toPoint().x()].min() == 255
    assert picture.table()[1][0] == (5, 0.5)


def test_earlier_samples_stay_within_bounds_and_go_back_with_the_slider(shaped: Workspace) -> None:
    add_branches(shaped)
    picture = Samples(Subject(shaped, "n2"))
    probe = Probe("n2", "samples", (0,))
    for step in range(1, 60):
        shown(picture, {probe: Snapshot(1, step, np.full((4, 8, 8), float(step)), {})})
        assert len(picture.earlier) <= EARLIER
        assert picture.strip.isHidden() == (step == 1), "of one moment there is no earlier one"
    steps = [step for step, _ in picture.earlier]
    assert steps == sorted(set(steps)) and steps[0] == 1 and steps[-1] == 59
    shown(picture, {probe: Snapshot(1, 20, np.zeros((4, 8, 8)), {})})
    assert picture.earlier[-1][0] == 20 and max(step for step, _ in picture.earlier) == 20
    picture.again.click()
    assert picture.probes() == {Probe("n2", "samples", (1,))} and picture.earlier == []


def test_an_excited_image_is_asked_for_stage_by_stage(shaped: Workspace) -> None:
    add_branches(shaped)
    picture = Excitation(Subject(shaped, "n8"))
    asked = []
    picture.needs_changed.connect(lambda: asked.append(sorted(one.detail for one in picture.probes())))
    facts = {"scores": tuple(range(17)), "natural": 5.0, "unit": 0, "stages": 2}
    shown(picture, {Probe("n8", "excitation", (0, 1, 1)): snapshot(np.eye(8), **facts, stage=1)})
    assert asked == [[(0, 1, 1), (0, 2, 1)]] and picture.note == "16 · best of 64 examples 5 · step 16 …"
    shown(picture, {Probe("n8", "excitation", (0, 2, 1)): snapshot(np.eye(8), **facts, stage=2)})
    assert len(asked) == 1 and picture.note.endswith("step 16")
    picture.again.click()
    assert asked[-1] == [(0, 1, 2)]


def test_the_strongest_examples_come_with_their_values(shaped: Workspace) -> None:
    add_branches(shaped)
    picture = Strongest(Subject(shaped, "n2"))
    facts = {"rows": (8, 3), "values": np.array([2.5, 1.0]), "mean": 0.5, "looked_at": 300}
    shown(picture, {Probe("n2", "strongest", (0,)): snapshot(np.zeros((2, 8, 8)), **facts)})
    assert [one.lines for one in picture.sheet.examples] == [("2.5", "example 9"), ("1", "example 4")]
    assert picture.note == "mean 0.5 over 300 examples" and picture.unit.count() == 3
    assert picture.table()[1] == [(9, 2.5), (4, 1.0)]


def test_what_is_proposed_on_a_graph_made_by_hand(shaped: Workspace) -> None:
    add_branches(shaped)
    names = {
        node: {kind.id for kind in proposed(Subject(shaped, node))} for node in ("n1", "n2", "n5", "n8", "")
    }
    assert {"filters", "activations", "filter-kernels", "window-steps"} <= names["n2"] & names["n5"]
    assert "class-images" in names["n1"] and "pixel-weights" not in names["n8"]
    assert not names[""] & {"model-reconstructions", "samples"}
