"""Sets that formulas make: their closed forms and statistics, to the number where there is one."""

import math
from itertools import pairwise

import pytest
import torch

from engine.data.sets.chaos import chaotic
from engine.data.sets.curves import curve
from engine.data.sets.synthetic_images import digit_templates
from engine.errors import ParamError
from nodes.data.synthetic import Curve, Points
from nodes.data.synthetic_sets import (
    BarImages,
    Blobs,
    ChaoticSeries,
    Copying,
    GaussianMixture,
    RandomGraphs,
    Sheets,
    ShiftedDigits,
)
from tests.nodes.data.test_sets import Recorder

SETS = [Blobs, GaussianMixture, Sheets, BarImages, ShiftedDigits, Copying, ChaoticSeries, RandomGraphs]


def loaded(node):
    recorder = Recorder()
    node.emit(recorder)
    return recorder.loader(None, "cpu", **recorder.values)


def together(node):
    splits = loaded(node)
    return {name: torch.cat([part[name] for part in splits.values()]) for name in splits["train"]}


@pytest.mark.parametrize("node_type", SETS, ids=lambda found: found.type_id)
def test_columns_are_as_declared_and_a_seed_gives_them_again(node_type):
    node = node_type({"rows": 300})
    splits, again, other = loaded(node), loaded(node), loaded(node_type({"rows": 300, "seed": 1}))
    assert list(splits) == ["train", "validation", "test"]
    assert sum(len(next(iter(part.values()))) for part in splits.values()) == 300
    for split, part in splits.items():
        assert list(part) == [column.name for column in node.columns()]
        for column in node.columns():
            values = part[column.name]
            assert tuple(values.shape[1:]) == column.shape
            assert str(values.dtype) == f"torch.{column.dtype}"
            assert torch.equal(values, again[split][column.name])
            assert values.isfinite().all()
            if column.classes:
                known = set(values.flatten().tolist()) - {-100}  # which no loss counts
                assert known <= set(range(len(column.classes)))
    first = node.columns()[0].name
    assert not torch.equal(splits["train"][first], other["train"][first])
    assert node.summary()


@pytest.mark.parametrize("node_type", SETS, ids=lambda found: found.type_id)
def test_every_parameter_reaches_the_loader(node_type):
    recorder = Recorder()
    node_type().emit(recorder)
    assert recorder.values == {spec.name: spec.default for spec in node_type.params}


# -- points in the plane


@pytest.mark.parametrize("noise", [0.0, 0.1, 2.0])
def test_the_gap_of_two_halves_is_as_wide_as_said(noise):
    for margin in (0.05, 0.2, 1.0):
        found = together(Points({"form": "two halves", "margin": margin, "noise": noise, "rows": 20_000}))
        far = (found["point"].sum(1, keepdim=True) / math.sqrt(2) * found["side"]).flatten()
        assert far.min() >= margin / 2 - 1e-6
        first, second = (far[found["label"] == one].min().item() for one in (0, 1))
        assert first + second == pytest.approx(margin, abs=0.02)


def test_the_best_line_through_overlapping_classes_errs_as_often_as_it_must():
    found = together(Points({"form": "overlapping", "noise": 0.0, "rows": 100_000}))
    wrong = (found["point"].sum(1).sign() != found["side"][:, 0]).float().mean().item()
    # Centres at +-(1/2, 1/2), deviation 0.7: Phi(-sqrt(1/2) / 0.7)
    assert wrong == pytest.approx(0.5 * math.erfc(math.sqrt(0.5) / 0.7 / math.sqrt(2)), abs=0.005)


def test_a_disc_lies_within_the_unit_circle_and_a_ring_outside():
    found = together(Points({"form": "disc in ring", "noise": 0.0, "margin": 0.2, "rows": 20_000}))
    radius = found["point"].norm(dim=1)
    inner, outer = radius[found["label"] == 0], radius[found["label"] == 1]
    assert inner.max() <= 0.9 + 1e-6 and outer.min() >= 1.1 - 1e-6 and outer.max() <= 2 + 1e-6
    assert (inner**2).mean() == pytest.approx(0.9**2 / 2, rel=0.02)  # evenly over the area
    assert (outer**2).mean() == pytest.approx((1.1**2 + 4) / 2, rel=0.02)


def test_spirals_turn_as_often_as_asked():
    found = together(Points({"form": "spirals", "noise": 0.0, "turns": 2.0, "rows": 1000}))
    radius = found["point"].norm(dim=1)
    angle = 4 * math.pi * (radius - 0.1) / 0.9 + math.pi * found["label"]
    arms = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    assert torch.allclose(arms, found["point"], atol=1e-4)


def test_circles_moons_and_corners_lie_where_they_should():
    rings = together(Points({"form": "circles", "noise": 0.0}))
    assert torch.allclose(rings["point"].norm(dim=1), torch.where(rings["label"] == 0, 0.4, 1.0))
    moons = together(Points({"form": "moons", "noise": 0.0}))
    centre = torch.cat([0.5 * moons["side"], -0.25 * moons["side"]], 1)
    assert torch.allclose((moons["point"] - centre).norm(dim=1), torch.ones(400), atol=1e-5)
    corners = together(Points({"form": "XOR", "noise": 0.0}))
    assert torch.equal(corners["point"].prod(1).sign(), -corners["side"][:, 0])


# -- curves


@pytest.mark.parametrize(
    ("form", "x", "y"),
    [
        ("sine", 0.5, 1.0),
        ("two waves", 0.5, 0.5),
        ("bump", 0.2, 0.5),
        ("three bumps", -0.6, 1.0),
        ("sinc", 0.1, 2 / math.pi),
        ("cubic", -1.0, -0.5),
        ("quintic", math.cos(math.pi / 5), -1.0),
        ("hinges", 0.0, 1.0),
        ("hinges", 0.5, 0.0),
        ("step", -0.3, -1.0),
        ("staircase", -1.0, -1.0),
        ("staircase", 0.0, 0.0),
        ("staircase", 1.0, 1.0),
    ],
)
def test_values_of_curves(form, x, y):
    assert curve(form, torch.tensor([x])).item() == pytest.approx(y, abs=1e-3)


def test_noise_as_a_deviation_is_added_to_the_curve_itself():
    values = {"noise": 0.3, "noise_as": "deviation", "rows": 50_000, "form": "sine"}
    found = together(Curve(values))
    assert torch.allclose(found["clean"], torch.sin(math.pi * found["x"]))
    assert (found["y"] - found["clean"]).std().item() == pytest.approx(0.3, rel=0.02)
    assert (found["deviation"] == 0.3).all()


@pytest.mark.parametrize(
    ("spread", "left", "middle", "right"),
    [("even", 1, 1, 1), ("growing", 0, 1, 2), ("in the middle", 0, 2, 0), ("at the ends", 2, 0, 2)],
)
def test_noise_that_depends_on_x(spread, left, middle, right):
    found = together(Curve({"noise": 0.5, "noise_as": "deviation", "spread": spread, "rows": 60_001}))
    for at, times in ((-1.0, left), (0.0, middle), (1.0, right)):
        near = (found["x"] - at).abs() < 0.02
        assert found["deviation"][near].mean().item() == pytest.approx(0.5 * times, abs=0.02)
        off = (found["y"] - found["clean"])[near]
        assert off.std().item() == pytest.approx(0.5 * times, abs=0.06)
    assert found["deviation"].mean().item() == pytest.approx(0.5, rel=0.01)


@pytest.mark.parametrize("placing", ["evenly", "at random"])
def test_nothing_lies_in_a_gap(placing):
    values = {"gap_from": -0.2, "gap_to": 0.4, "placing": placing, "rows": 1400}
    x = together(Curve(values))["x"][:, 0].sort().values
    assert len(x) == 1400 and x.min() >= -1 and x.max() <= 1
    assert not ((x > -0.2 + 1e-6) & (x < 0.4 - 1e-6)).any()
    assert ((x <= -0.2 + 1e-6).float().mean().item()) == pytest.approx(0.8 / 1.4, abs=0.05)
    if placing == "evenly":
        gaps = x.diff()
        assert gaps.sort().values[-2].item() == pytest.approx(1.4 / 1399, rel=0.01)


def test_a_gap_that_leaves_nothing_is_a_sentence():
    with pytest.raises(ValueError, match="The gap spans all of -1 to 1"):
        loaded(Curve({"gap_from": -1.0, "gap_to": 1.0}))


# -- classes, mixtures, sheets


def test_blobs_lie_about_their_centres():
    found = together(Blobs({"classes": 5, "noise": 0.2, "rows": 50_000}))
    for one in range(5):
        own = found["point"][found["label"] == one]
        angle = 2 * math.pi * one / 5
        assert len(own) == 10_000
        assert own.mean(0).tolist() == pytest.approx([math.cos(angle), math.sin(angle)], abs=0.01)
        assert own.std(0).tolist() == pytest.approx([0.2, 0.2], rel=0.03)
    line = together(Blobs({"classes": 3, "dimensions": 1, "noise": 0.0}))
    assert line["point"][:, 0].tolist() == [[-1.0, 0.0, 1.0][one] for one in line["label"].tolist()]


def test_a_mixture_has_its_weights_means_deviations_and_density():
    values = {"weights": (3.0, 1.0), "x": (-1.0, 2.0), "deviations": (0.5, 0.25), "rows": 100_000}
    found = together(GaussianMixture(values))
    first = found["component"] == 0
    assert first.float().mean().item() == pytest.approx(0.75, abs=0.005)
    assert found["point"][first].mean().item() == pytest.approx(-1.0, abs=0.01)
    assert found["point"][~first].std().item() == pytest.approx(0.25, rel=0.02)

    def bell(x, mean, deviation):
        return math.exp(-(((x - mean) / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))

    for x, density in zip(found["point"][:20, 0].tolist(), found["density"][:20, 0].tolist(), strict=True):
        assert density == pytest.approx(0.75 * bell(x, -1.0, 0.5) + 0.25 * bell(x, 2.0, 0.25), rel=1e-4)


def test_a_mixture_in_the_plane():
    found = together(GaussianMixture({"dimensions": "2-D", "rows": 100_000}))
    for one, (x, y, deviation) in enumerate(((-2.0, 0.0, 0.5), (0.0, 1.0, 0.3), (2.0, 0.0, 0.8))):
        own = found["point"][found["component"] == one]
        assert own.mean(0).tolist() == pytest.approx([x, y], abs=0.02)
        assert own.std(0).tolist() == pytest.approx([deviation, deviation], rel=0.03)
    peak = found["density"].max().item()
    assert peak == pytest.approx(0.3 / (2 * math.pi * 0.3**2), rel=0.02)


def test_a_mixture_says_which_list_is_too_short():
    with pytest.raises(ParamError) as caught:
        loaded(GaussianMixture({"weights": (1.0, 1.0)}))
    assert caught.value.message == "Means needs 2 numbers, one for each weight; there are 3."


def test_sheets():
    roll = together(Sheets())
    t, h = roll["place"].T
    assert torch.allclose(roll["point"], torch.stack([t * t.cos(), h, t * t.sin()], 1), atol=1e-4)
    assert 1.5 * math.pi <= t.min() and t.max() <= 4.5 * math.pi and h.min() >= 0 and h.max() <= 21
    curve_of_s = together(Sheets({"form": "S curve"}))["point"]
    assert torch.allclose(
        curve_of_s[:, 0] ** 2 + (curve_of_s[:, 2].abs() - 1) ** 2, torch.ones(1000), atol=1e-4
    )
    plane = together(Sheets({"form": "plane in a ball"}))["point"]
    assert torch.equal(plane[:, 0], plane[:, 1]) and plane.norm(dim=1).max() <= 1 + 1e-6
    normal = together(Sheets({"form": "normal numbers", "rows": 100_000}))["point"]
    assert normal.mean(0).tolist() == pytest.approx([1, 1, -1], abs=0.02)
    wanted = [[2.0, 2.0, 0.0], [2.0, 3.0, 0.0], [0.0, 0.0, 1.0]]  # seed 002 §5.2.3
    for row, wished in zip(torch.cov(normal.T).tolist(), wanted, strict=True):
        assert row == pytest.approx(wished, abs=0.05)


# -- bars and signals


@pytest.mark.parametrize("form", ["one bar", "several bars", "stripes"])
def test_an_image_is_what_its_bars_say(form):
    found = together(BarImages({"form": form, "size": 5, "rows": 4000}))
    bars = found["bars"]
    image = torch.maximum(bars[:, :5, None], bars[:, None, 5:])
    assert torch.equal(found["image"][:, 0], image)
    across, down = bars[:, :5].sum(1), bars[:, 5:].sum(1)
    assert torch.equal(found["direction"], (across <= down).long())
    if form == "one bar":
        assert (bars.sum(1) == 1).all()
    elif form == "stripes":
        assert (across * down == 0).all()
        assert bars.sum(1).mean().item() == pytest.approx(2.5, abs=0.1)
    else:
        assert bars.mean().item() == pytest.approx(0.125, abs=0.01)


def test_so_many_pixels_are_turned_over():
    values = {"form": "one bar", "rows": 5000}
    clean, noisy = together(BarImages(values)), together(BarImages({**values, "noise": 0.1}))
    assert (clean["image"] != noisy["image"]).float().mean().item() == pytest.approx(0.1, abs=0.005)


def test_a_digit_neither_moved_nor_disturbed_is_its_template():
    values = {"shift": 1, "stretch": 0.0, "noise": 0.0, "shear": 0.0, "rows": 1000}
    found = together(ShiftedDigits(values))
    templates = digit_templates()
    assert templates[:, 0].tolist() == [0.0] * 10
    assert templates.std(1, correction=0).tolist() == pytest.approx([1.0] * 10, abs=1e-5)
    for signal, digit in zip(found["signal"][:, 0], found["digit"].tolist(), strict=True):
        top = templates[digit].abs().max()
        assert signal.abs().max() <= top + 1e-5 and signal.abs().max() > 0.75 * top
        assert signal[20:].abs().max() < 1e-5  # the rest is padding
    assert found["digit"].bincount().tolist() == [100] * 10


def test_digits_are_moved_anywhere():
    found = together(ShiftedDigits({"noise": 0.0, "shear": 0.0, "rows": 2000}))["signal"][:, 0].abs()
    first = (found > 1e-3).float().argmax(1)
    assert first.min() <= 1 and first.max() >= 24 and 10 < first.float().mean() < 18


# -- copying


def test_symbols_are_to_be_recalled_from_the_marker_on():
    found = together(Copying({"symbols": 3, "length": 2, "delay": 4, "rows": 500}))
    blank, marker = 3, 4
    for tokens, answer, recall in zip(*(found[name].tolist() for name in found), strict=True):
        symbols = tokens[:2]
        assert tokens == [*symbols, *[blank] * 4, marker, blank]
        assert answer == [*[blank] * 6, *symbols]
        assert recall == [*[-100] * 6, *symbols]
    counts = found["tokens"][:, :2].flatten().bincount()
    assert len(counts) == 3 and (counts.float() / 1000 - 1 / 3).abs().max() < 0.05


# -- chaos


def test_maps_follow_their_equations():
    logistic = chaotic("logistic map", 300, 0.001)
    assert len(logistic) == 300
    assert all(after == 3.9 * now * (1 - now) for now, after in pairwise(logistic))
    henon = chaotic("Henon", 300, 0.001)
    for before, now, after in zip(henon, henon[1:], henon[2:], strict=False):
        assert after == 1 - 1.4 * now**2 + 0.3 * before
    assert max(map(abs, henon)) < 1.3


def test_flows_keep_to_their_attractors():
    lorenz = torch.tensor(chaotic("Lorenz", 5000, 0.0))
    assert 17 < lorenz.max() < 20 and -20 < lorenz.min() < -17 and abs(lorenz.mean()) < 2
    assert lorenz.std().item() == pytest.approx(7.9, abs=0.3)
    glass = torch.tensor(chaotic("Mackey-Glass", 3000, 0.0))
    assert 1.25 < glass.max() < 1.4 and 0.2 < glass.min() < 0.5
    assert glass.mean().item() == pytest.approx(0.93, abs=0.03)


def test_windows_lie_in_the_order_of_time_and_look_so_far_ahead():
    values = {"form": "logistic map", "lag": 3, "horizon": 2, "standardise": False, "rows": 100}
    splits = loaded(ChaoticSeries(values))
    assert [len(part["next"]) for part in splits.values()] == [70, 15, 15]
    for part in splits.values():
        last, ahead = part["window"][:, -1, 0], part["next"][:, 0]
        once = 3.9 * last * (1 - last)
        assert torch.allclose(3.9 * once * (1 - once), ahead, atol=1e-4)
    assert torch.equal(splits["train"]["window"][-1, 1:], splits["validation"]["window"][0, :-1])


def test_a_series_is_scaled_by_its_training_readings_alone():
    few = loaded(ChaoticSeries({"lag": 1, "rows": 1000}))["train"]
    readings = torch.cat([few["window"][:, 0, 0], few["next"][-1:, 0]])
    assert readings.mean().item() == pytest.approx(0, abs=1e-4)
    assert readings.std(correction=0).item() == pytest.approx(1, abs=1e-4)


# -- graphs


def test_graphs_have_the_ties_that_were_asked_for():
    found = together(RandomGraphs({"rows": 4000}))
    adjacency, mask, block = found["adjacency"], found["mask"], found["block"]
    assert torch.equal(adjacency, adjacency.transpose(1, 2))
    assert adjacency.diagonal(dim1=1, dim2=2).sum() == 0
    both = mask[:, :, None] * mask[:, None, :] * (1 - torch.eye(14))
    assert (adjacency * (1 - both)).sum() == 0
    assert set(mask.sum(1).int().tolist()) == set(range(8, 15))
    same = (block[:, :, None] == block[:, None, :]) * both
    apart = found["label"] == 1
    inside = (adjacency * same)[apart].sum() / same[apart].sum()
    between = (adjacency * (both - same))[apart].sum() / (both - same)[apart].sum()
    assert inside.item() == pytest.approx(0.8, abs=0.01) and between.item() == pytest.approx(0.1, abs=0.01)
    ties = adjacency.sum((1, 2)) / both.sum((1, 2))
    assert ties[apart].mean().item() == pytest.approx(ties[~apart].mean().item(), abs=0.01)
    assert (block[mask == 0] == -100).all() and (block[~apart][mask[~apart] > 0] == 0).all()
    assert found["nodes"][:, :, 0].equal(mask)


def test_a_graph_cannot_have_fewer_than_fewest():
    with pytest.raises(ParamError, match=r"Fewest nodes is at most 10, the most nodes; not 12\."):
        loaded(RandomGraphs({"fewest": 12, "most": 10}))
