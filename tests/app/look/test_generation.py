"""Codes and decodings, two players, energies, recall, Gibbs sampling and films of known arrays."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.charts.chart import Curve, Marks, Pieces
from app.look.base import Subject
from app.look.energy.energy import EnergyLandscape, Recall, basin_colours
from app.look.energy.sampling import Denoising, Gibbs
from app.look.generation.latent import LatentExplorer
from app.look.generation.players import PLAYERS, TwoPlayers
from app.look.registry import proposed
from app.theme import current_theme
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes
from engine.document.graph import Link, Node
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.planes import add
from tests.app.look.showing import painted, shown, snapshot


def coder(workspace: Workspace) -> None:
    """Images in a row (n2) to two numbers (n3) and back (n4), compared with the row (n5)."""
    nodes = (
        Node("n1", "Digits"),
        Node("n2", "Flatten"),
        Node("n3", "Linear", "code", {"units": 2}),
        Node("n4", "Linear", "back", {"units": 64}),
        Node("n5", "MSE"),
    )
    links = (
        Link("n1", "image", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "x"),
        Link("n4", "output", "n5", "prediction"),
        Link("n2", "output", "n5", "target"),
    )
    assert workspace.apply("Add", AddNodes(nodes, links))


def memory(workspace: Workspace, form: str = "2-D") -> None:
    """Patterns (n1) into a Hopfield net (n2), compared with what was stored (n3)."""
    nodes = (
        Node("n1", "Patterns", "", {"form": form}),
        Node("n2", "Hopfield"),
        Node("n3", "MeanSquaredError"),
    )
    links = (
        Link("n1", "start", "n2", "x"),
        Link("n2", "output", "n3", "prediction"),
        Link("n1", "stored", "n3", "target"),
    )
    assert workspace.apply("Add", AddNodes(nodes, links))


CODES = np.array([[-1, -1, 0], [1, 1, 1], [1, -1, 0]], np.float32)
CODE_FACTS = {"size": 2, "drawn": False, "names": ("direction 1", "direction 2"), "classes": ("a", "b")}
MADE_FACTS = {"size": 2, "shape": (64,), "names": ("direction 1", "direction 2")}


def test_a_dragged_point_asks_for_what_becomes_of_it(shaped: Workspace, qtbot: QtBot) -> None:
    coder(shaped)
    view = LatentExplorer(Subject(shaped, "n4"))
    qtbot.addWidget(view)
    codes, first = Probe("n4", "codes", (-1, -1)), Probe("n4", "decoding", ("point", -1, -1, 0))
    assert view.probes() == {codes, first}
    image = np.linspace(0, 1, 64).reshape(1, 8, 8)
    facts = {**MADE_FACTS, "places": np.array([[0.5, -0.25]])}
    shown(view, {codes: snapshot(CODES, **CODE_FACTS), first: snapshot(image, **facts)})
    painted(view, 440, 280)
    marks = [layer for layer in view.pad.layers if isinstance(layer, Marks)]
    np.testing.assert_allclose(marks[0].x, [-1, 1])  # class a
    assert marks[0].shape != marks[1].shape  # classes differ without colour too
    assert (marks[-1].x[0], marks[-1].y[0]) == (0.5, -0.25)
    np.testing.assert_allclose(view.images.rows[0].images[0], image[0])
    x, y = (int(part[0]) for part in view.pad.to_pixels(np.array([1.0]), np.array([-1.0])))
    with qtbot.waitSignal(view.needs_changed):
        qtbot.mouseClick(view.pad, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    (asked,) = view.probes() - {codes}
    assert asked.detail[:4] == ("point", -1, -1, 0)
    np.testing.assert_allclose(asked.detail[4:], (1, -1), atol=0.05)
    other = LatentExplorer(Subject(shaped, "n4"))
    qtbot.addWidget(other)
    other.restore(view.state())
    assert other.probes() == view.probes()
    with qtbot.waitSignal(view.needs_changed):
        qtbot.keyClick(view.pad, Qt.Key.Key_Left)
    (moved,) = view.probes() - {codes}
    assert moved.detail[4] < asked.detail[4] and moved.detail[5] == pytest.approx(asked.detail[5])


def test_a_way_goes_on_to_the_code_that_is_clicked(shaped: Workspace, qtbot: QtBot) -> None:
    coder(shaped)
    view = LatentExplorer(Subject(shaped, "n3"))
    qtbot.addWidget(view)
    view.restore({"way": "way", "ends": [0, 1]})
    codes, way = Probe("n3", "codes", (-1, -1)), Probe("n3", "decoding", ("way", -1, -1, 0, 0, 1, 9))
    assert view.probes() == {codes, way}
    images = np.broadcast_to(np.linspace(0, 1, 9)[:, None, None], (9, 8, 8))
    facts = {**MADE_FACTS, "ends": (0, 1), "drawn": False}
    shown(view, {codes: snapshot(CODES, **CODE_FACTS), way: snapshot(images, **facts)})
    painted(view, 440, 280)
    assert view.note.startswith("from example 1 to 2")
    line = next(layer for layer in view.pad.layers if isinstance(layer, Curve))
    np.testing.assert_allclose(np.stack([line.x, line.y], 1), CODES[:2, :2])
    x, y = (int(part[0]) for part in view.pad.to_pixels(np.array([1.0]), np.array([-0.9])))
    qtbot.mouseClick(view.pad, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    assert Probe("n3", "decoding", ("way", -1, -1, 0, 1, 2, 9)) in view.probes()


def test_a_grid_has_a_row_a_height(shaped: Workspace, qtbot: QtBot) -> None:
    coder(shaped)
    view = LatentExplorer(Subject(shaped, "n3"))
    qtbot.addWidget(view)
    view.restore({"way": "grid"})
    (grid,) = view.probes() - {Probe("n3", "codes", (-1, -1))}
    y, x = np.meshgrid([1, 0, -1], [-2, 0, 2], indexing="ij")
    images = np.arange(9.0)[:, None, None] * np.ones((1, 8, 8))
    facts = {**MADE_FACTS, "places": np.stack([x.ravel(), y.ravel()], 1).astype(float)}
    shown(view, {grid: snapshot(images, **facts)})
    pixels = painted(view, 300, 220)
    assert [row.name for row in view.images.rows] == ["1.00", "0.00", "-1.00"]
    origin = view.images.pos()
    for row in range(3):
        for column in range(3):
            at = view.images.cell(row, column).center().toPoint() + origin
            assert abs(int(pixels[at.y(), at.x(), 0]) - 255 * (3 * row + column) / 8) <= 1


def test_two_players_with_the_line_at_a_half(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = TwoPlayers(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    rows = np.array([[10, 0.9, 0.1, 0.3, 2.0], [20, 0.7, 0.3, 0.5, 1.0], [30, 0.5, 0.5, 1.4, 0.7]])
    samples = np.zeros((4, 6, 6))
    painted(view, 420, 280)
    shown(view, {PLAYERS: snapshot(rows, samples=samples, names=("D(x)", "D(G(z))"))})
    half, real, made = view.probabilities.layers
    assert half.y.tolist() == [0.5, 0.5] and half.x.tolist() == [10, 30]
    np.testing.assert_allclose(real.y, [0.9, 0.7, 0.5])
    np.testing.assert_allclose(made.y, [0.1, 0.3, 0.5])
    assert real.style != made.style
    np.testing.assert_allclose(view.losses.layers[1].y, [2, 1, 0.7])
    assert view.note == "D(x) 0.50 · D(G(z)) 0.50 · balance at 0.5 · since step 10"
    assert not view.samples.isHidden() and not view.losses.isHidden()
    painted(view, 200, 150)
    assert view.samples.isHidden() and view.losses.isHidden()
    assert "D(G(z)) 0.3" in view.probabilities.read(21.0, 0.5)


def landscape() -> tuple[np.ndarray, dict[str, object]]:
    line = np.linspace(-1.2, 1.2, 61)
    x, y = np.meshgrid(line, line)
    ways = np.array([[[0.5, 0.1], [1.0, 0.0]], [[-0.5, 0.2], [-1.0, 0.0]]])
    facts: dict[str, object] = {
        "units": 2,
        "example": 0,
        "split": "validation",
        "paths": ways,
        "plane": -(x**2) + y**2,
        "basins": np.where(x > 0.01, 0, np.where(x < -0.01, 1, 2)),
        "ends": [0, 1],
        "rests": np.array([[1.0, 0], [-1, 0], [0, 0]]),
        "stable": [True, True, False],
        "levels": np.array([-1.0, -1.0, 0.0]),
        "scanned": True,
        "lines": False,
        "reach": 1.2,
    }
    return np.array([[-0.24, -1.0], [-0.21, -1.0]]), facts


def test_basins_have_the_colours_of_their_rests(shaped: Workspace, qtbot: QtBot) -> None:
    memory(shaped)
    view = EnergyLandscape(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    energies, facts = landscape()
    shown(view, {Probe("n2", "energy"): snapshot(energies, **facts)})
    pixels = painted(view, 460, 280)
    assert view.note == "2 stable fixed points, 1 unstable · energy -1 to 0 · validation examples"
    colours = basin_colours(np.array([[0, 1, -1]]), current_theme())[0]
    for x, colour in ((0.35, colours[0]), (-0.35, colours[1])):
        across, down = view.plane.to_pixels(np.array([x]), np.array([-0.9]))
        window = pixels[int(down[0]) - 3 : int(down[0]) + 4, int(across[0]) - 3 : int(across[0]) + 4]
        expected = [(int(colour) >> shift) & 255 for shift in (16, 8, 0)]
        assert (np.abs(window.astype(int) - expected).max(axis=2) <= 2).any()
    assert colours[2] & 0xFFFFFF == current_theme().panel.rgb() & 0xFFFFFF  # nothing comes to rest
    curves = [layer for layer in view.plane.layers if isinstance(layer, Curve)]
    np.testing.assert_allclose(curves[1].x, [-0.5, -1.0])
    levels = [layer for layer in view.plane.layers if isinstance(layer, Pieces)]
    for line, level in zip(levels, np.linspace(-1.44, 1.44, 11)[1:-1], strict=True):
        x, y = line.ends[..., 0], line.ends[..., 1]
        np.testing.assert_allclose(y**2 - x**2, level, atol=0.01)
    assert "falls to (1, 0)" in view.plane.read(0.8, 0.3)
    falls = [layer for layer in view.curve.layers if isinstance(layer, Curve)]
    np.testing.assert_allclose(falls[0].y, energies[0])
    hollow = [layer for layer in view.plane.layers if isinstance(layer, Marks) and layer.hollow]
    assert len(hollow) == 1 and (hollow[0].x[0], hollow[0].y[0]) == (0, 0)
    rings = [layer for layer in view.curve.layers if isinstance(layer, Marks) and layer.hollow]
    assert len(rings) == 1 and (rings[0].x[0], rings[0].y[0]) == (1, 0)  # its energy, at the last step
    assert view.curve.read(1.0, -0.9) == "energy -1\n(1, 0): stable\n(-1, 0): stable"


def test_three_rows_and_a_slider_of_the_iteration(shaped: Workspace, qtbot: QtBot) -> None:
    memory(shaped, "digits")
    view = Recall(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    stored = np.where(np.arange(64) % 8 < 4, 1.0, -1.0)
    states = np.stack([[-stored], [stored * np.where(np.arange(64) < 32, 1, -1)], [stored]])
    right = np.array([[0.0], [0.5], [1.0]])
    facts = {
        "shape": (8, 8),
        "stored": stored[None],
        "right": right,
        "example": 0,
        "split": "validation",
    }
    shown(view, {Probe("n2", "recall"): snapshot(states, **facts)})
    pixels = painted(view, 300, 260)
    assert [row.name for row in view.images.rows] == ["disturbed", "recalled", "stored"]
    origin = view.images.pos()
    for row, (left, other) in enumerate(((0, 255), (255, 0), (255, 0))):
        cell = view.images.cell(row, 0)
        y, quarter = int(cell.center().y()) + origin.y() + 3, cell.width() / 4
        assert pixels[y, int(cell.left() + quarter), 0] == left
        assert pixels[y, int(cell.right() - quarter), 0] == other
    assert view.note.startswith("1 of 1 recalled whole")
    view.slider.setValue(1)
    np.testing.assert_allclose(view.images.rows[1].images.ravel(), states[1, 0])
    assert view.note.startswith("0 of 1 recalled whole") and view.state() == {"iteration": 1}
    assert view.table()[1][1] == (1, 1, 0.5)


def test_dreams_step_by_step_with_what_is_held_hatched(shaped: Workspace, qtbot: QtBot) -> None:
    nodes = (Node("n1", "Digits"), Node("n2", "Flatten"), Node("n3", "RBM", "", {"hidden": 9}))
    links = (Link("n1", "image", "n2", "x"), Link("n2", "output", "n3", "x"))
    assert shaped.apply("Add", AddNodes(nodes, links))
    assert "gibbs" in {kind.id for kind in proposed(Subject(shaped, "n3"))}
    view = Gibbs(Subject(shaped, "n3"))
    qtbot.addWidget(view)
    view.restore({"chain": 5, "held": 4, "begins": "random", "step": 2})
    probe = Probe("n3", "gibbs", (5, 4, "random", 1))
    assert view.probes() == {probe}
    chain = np.zeros((6, 2, 64), np.uint8)
    chain[:, :, :] = np.arange(6)[:, None, None] * 50
    hidden = np.zeros((6, 2, 9), np.uint8)
    hidden[2, 0, :3] = 1
    held = np.arange(64) < 32
    facts = {"hidden": hidden, "held": held, "shape": (8, 8), "example": 3, "split": "validation"}
    shown(view, {probe: snapshot(chain, examples=np.full((2, 64), 255, np.uint8), **facts)})
    assert (view.held.value(), view.held.maximum()) == (4, 8)
    assert (view.images.rows[0].images == 255).all()  # the whole example, though the chain began with half
    pixels = painted(view, 360, 300)
    assert view.slider.maximum() == 5 and view.slider.value() == 2
    assert [row.name for row in view.images.rows] == ["example", "step 2", "hidden"]
    assert view.note == "17% of 9 hidden units on · validation example 4 first · hatched: held"
    origin, cell = view.images.pos(), view.images.cell(1, 0)
    left, right = int(cell.left()) + 3, int(cell.right()) - 3
    middle = int(cell.center().y()) + origin.y()
    upper = pixels[int(cell.top()) + origin.y() + 3 : middle - 3, left:right].reshape(-1, 3)
    lower = pixels[middle + 3 : int(cell.bottom()) + origin.y() - 3, left:right].reshape(-1, 3)
    assert (lower == 100).all()
    assert (upper == 100).all(axis=1).any() and not (upper == 100).all()
    with qtbot.waitSignal(view.needs_changed):
        view.again.click()
    with qtbot.waitSignal(view.needs_changed):
        view.held.setValue(3)
    assert view.probes() == {Probe("n3", "gibbs", (5, 3, "random", 2))}
    assert view.state() == {"chain": 5, "held": 3, "begins": "random", "step": 2}


def test_a_film_from_noise_to_the_image(
    shaped: Workspace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_iris(shaped)
    monkeypatch.setattr(shaped.catalogue.get("Linear"), "shows", ("denoising",))
    assert "denoising" not in {kind.id for kind in proposed(Subject(shaped, "n2"))}, "four numbers, no image"
    shaped.undo()
    add(shaped, "Mnist", "image", "CrossEntropy", "digit", 10)
    assert "denoising" in {kind.id for kind in proposed(Subject(shaped, "n2"))}
    view = Denoising(Subject(shaped, "n2"))
    qtbot.addWidget(view)
    (probe,) = view.probes()
    assert probe == Probe("n2", "denoising", (4, 1))
    frames = np.zeros((3, 2, 4, 4))
    frames[-1, :, :2] = 1.0  # the finished images: white above, black below
    frames[0] = 0.5
    shown(view, {probe: snapshot(frames, steps=(10, 5, 0), total=10)})
    pixels = painted(view, 300, 220)
    for column, (above, below) in enumerate(((127, 127), (0, 0), (255, 0))):
        cell = view.film.cell(1, column)
        x = int(cell.center().x())
        assert abs(int(pixels[int(cell.top() + cell.height() / 4), x, 0]) - above) <= 1
        assert abs(int(pixels[int(cell.bottom() - cell.height() / 4), x, 0]) - below) <= 1
    assert view.table()[1][2][:3] == (1, 0, 1.0)


def test_what_is_proposed_where(shaped: Workspace) -> None:
    memory(shaped)
    assert "energy-landscape" in {kind.id for kind in proposed(Subject(shaped, "n2"))}
    assert "recall" not in {kind.id for kind in proposed(Subject(shaped, "n2"))}  # two units are no image
    for node in ("n1", "n3"):
        found = {kind.id for kind in proposed(Subject(shaped, node))}
        assert not found & {"energy-landscape", "recall", "gibbs", "latent-explorer", "gan-monitor"}


def test_a_generator_and_its_judge(shaped: Workspace) -> None:
    nodes = (
        Node("n1", "Digits"),
        Node("n2", "Flatten"),
        Node("n3", "Linear", "judge", {"units": 1}),
        Node("n4", "GaussianNoise", "", {"size": (8,)}),
        Node("n5", "Linear", "maker", {"units": 64}),
        Node("n6", "Linear", "on made", {"units": 1}, shares="n3"),
        Node("n7", "DiscriminatorLoss"),
    )
    links = (
        Link("n1", "image", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n4", "output", "n5", "x"),
        Link("n5", "output", "n6", "x"),
        Link("n3", "output", "n7", "real"),
        Link("n6", "output", "n7", "made"),
    )
    assert shaped.apply("Add", AddNodes(nodes, links))
    names = {
        node: {kind.id for kind in proposed(Subject(shaped, node))}
        for node in shaped.document.project.graph.nodes
    }
    assert all("gan-monitor" in names[node] for node in ("n3", "n5", "n6", "n7"))
    assert "gan-monitor" not in names["n1"]
    assert {node for node, found in names.items() if "latent-explorer" in found} == {"n4", "n5"}
