"""The data panel: rows, classes, ranges and samples of the splits that the trainer has read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.data.facts import (
    Source,
    facts_of,
    gather,
    graph_of_file,
    graphs_of,
    graphs_side_by_side,
)
from app.data.panel import DataPanel
from app.data.samples import DataSamples
from app.widgets.segments import Segments
from app.workspace.workspace import Workspace
from engine.catalogue import Column
from engine.data.checks.findings import Asked
from engine.data.loading.node import read_node
from engine.document.edits import Remove, SetParam
from engine.document.graph import Link, Node
from tests.app.fake_run import DIGITS, FakeTrainer, workspace_with_fakes
from tests.engine.sketches import catalogue, gallery

torch = pytest.importorskip("torch")


def splits(rows: int = 90) -> dict[str, dict[str, Any]]:
    generator = torch.Generator().manual_seed(0)
    made = {}
    for split, fraction in (("train", 1.0), ("validation", 0.3), ("test", 0.2)):
        count = int(rows * fraction)
        made[split] = {
            "image": torch.rand(count, 1, 8, 8, generator=generator),
            "digit": torch.arange(count) % 10,
        }
    return made


class Shown:
    """A data panel on screen."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.workspace: Workspace
        self.trainer: FakeTrainer
        self.workspace, self.trainer = workspace_with_fakes(folder)
        self.panel = DataPanel(self.workspace)
        qtbot.addWidget(self.panel)
        self.panel.resize(1064, 280)
        with qtbot.waitExposed(self.panel):
            self.panel.show()

    def words(self) -> list[str]:
        return [found.text() for found in self.panel.findChildren(QLabel) if found.isVisible()]


@pytest.fixture
def shown(qtbot: QtBot, tmp_path: Path) -> Iterator[Shown]:
    made = Shown(qtbot, tmp_path)
    yield made
    made.workspace.close()


def test_the_panel_waits_for_the_data_and_then_shows_them(shown: Shown, qtbot: QtBot) -> None:
    assert any("Reading the data" in words for words in shown.words())
    shown.trainer.data = splits()
    qtbot.waitUntil(lambda: [bar.value for bar in shown.panel.counts.bars] == [90.0, 27.0, 18.0])
    assert [bar.name for bar in shown.panel.classes.bars] == list(DIGITS)
    pages = shown.panel.findChild(Segments, "dataPages")
    qtbot.mouseClick(pages, Qt.MouseButton.LeftButton, pos=pages.rect_of("columns").center())
    image, digit = shown.panel.columns.columns.lines
    assert (image.name, image.cells[0]) == ("image", "1×8×8 · float32")
    assert (digit.name, digit.cells[2]) == ("digit", "10 classes")
    shown.panel.grab()


def test_another_split_can_be_looked_at(shown: Shown, qtbot: QtBot) -> None:
    shown.trainer.data = splits()
    qtbot.waitUntil(lambda: bool(shown.panel.counts.bars))
    choice = shown.panel.findChild(Segments, "dataSplit")
    qtbot.mouseClick(choice, Qt.MouseButton.LeftButton, pos=choice.rect_of("test").center())
    assert sum(bar.value for bar in shown.panel.classes.bars) == 18


def test_more_rows_can_be_turned_to(shown: Shown, qtbot: QtBot) -> None:
    shown.trainer.data = splits()
    more = shown.panel.findChild(QPushButton, "moreSamples")
    qtbot.waitUntil(more.isVisible)
    assert "Rows 1 to 60" in shown.words()
    qtbot.mouseClick(more, Qt.MouseButton.LeftButton)
    assert "Rows 61 to 90" in shown.words()
    assert shown.panel.samples.tiles.captions[0] == "row 61: digit 0"
    qtbot.mouseClick(more, Qt.MouseButton.LeftButton)
    assert "Rows 1 to 60" in shown.words()


def test_without_a_data_node_the_panel_says_what_would_fill_it(shown: Shown) -> None:
    shown.workspace.apply("Delete", Remove(("n1",)))
    assert any("add a data node" in words for words in shown.words())


@pytest.mark.logs("could not be summarised")
def test_data_that_cannot_be_summarised_say_so_and_are_not_tried_again(shown: Shown, qtbot: QtBot) -> None:
    shown.trainer.data = {"train": {"image": "not a tensor"}}
    qtbot.waitUntil(lambda: any("could not be summarised" in words for words in shown.words()))


def test_samples_of_large_sets_are_few() -> None:
    facts = gather(splits(900))
    assert len(facts.samples["train"]["image"]) == 240
    assert facts.summary.rows == {"train": 900, "validation": 270, "test": 180}


def test_a_series_is_shown_in_order_and_a_table_by_histograms(qtbot: QtBot) -> None:
    samples = DataSamples()
    qtbot.addWidget(samples)
    follow = np.arange(20.0)[:, None]
    samples.show_samples({"window": np.zeros((20, 5, 1)), "next": follow}, {})
    assert samples.series.lines[0].values.tolist() == follow[:, 0].tolist()
    signals = np.arange(80.0).reshape(2, 1, 40)  # one channel of 40 numbers
    samples.show_samples({"signal": signals}, {})
    assert samples.series.lines[0].values.tolist() == signals[0, 0].tolist()
    samples.show_samples({"features": np.random.default_rng(0).normal(size=(30, 4))}, {})
    assert [picture.isHidden() for picture in samples.histograms] == [False] * 4 + [True] * 4
    flowers = Column("features", (4,), names=("sepal length", "sepal width", "petal length", "petal width"))
    rows = {"features": np.random.default_rng(0).normal(size=(30, 4))}
    samples.show_samples(rows, {}, replace(flowers, scaled="standardised"))
    assert [one.text() for one in samples._names[:4]] == list(flowers.names)
    assert samples._title.text() == "features: 4 numbers a row, standardised"
    samples.show_samples({"features": np.zeros((0, 4))}, {})
    assert samples.tiles.message == "There are no rows in this split."


def test_three_channels_are_shown_in_colour(qtbot: QtBot) -> None:
    samples = DataSamples()
    qtbot.addWidget(samples)
    samples.resize(300, 200)
    images = np.zeros((2, 3, 4, 4), np.float32)
    images[0, 0] = 1.0
    images[1, 2] = 0.5
    samples.show_samples({"image": images, "kind": np.array([1, 0])}, {"kind": ("cat", "dog")})
    samples.grab()
    grid = samples.tiles._grid
    colours = samples.tiles.colours(0, 2, grid)
    assert [hex(colour[0, 0]) for colour in colours] == ["0xffff0000", "0xff00007f"]
    assert samples.tiles.captions == ["row 1: kind dog", "row 2: kind cat"]


def test_masks_stand_beside_their_images_with_a_legend(qtbot: QtBot) -> None:
    samples = DataSamples()
    qtbot.addWidget(samples)
    samples.resize(400, 200)
    masks = np.zeros((30, 4, 4), np.int64)
    masks[0, 0, 0], masks[1, :2] = -100, 1
    columns = {"image": np.ones((30, 1, 4, 4), np.float32), "mask": masks}
    samples.show_samples(columns, {"mask": ("sky", "tree")})
    samples.grab()
    assert samples._stack.currentWidget() is samples._masked and samples.maps.names == ("sky", "tree")
    assert samples.legend.toolTip() == "sky\ntree\nno class" and samples.can_turn
    assert samples._title.text() == "Rows 1 to 24, each with its mask"
    samples.turn()
    assert samples._title.text() == "Rows 25 to 30, each with its mask"
    assert samples.legend.toolTip() == "sky\ntree"
    samples.show_samples({"image": columns["image"]}, {})
    assert samples._stack.currentWidget() is samples.tiles


def test_reading_ends_when_something_else_is_asked_for() -> None:
    from app.data import facts as data_facts
    from engine.data.telling import tell

    reader, told, go = data_facts.FactsReader(), threading.Event(), threading.Event()

    def slow(source: object) -> None:
        tell(3, 1000, "images")
        told.set()
        assert go.wait(20)
        tell(4, 1000, "images")
        raise AssertionError("nobody wanted it")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data_facts, "facts_of", slow)
        reader.ask("a", lambda: None)  # type: ignore[arg-type,return-value]
        assert told.wait(20) and reader.progress == "Reading 3 of 1,000 images …"
        reader.ask("b", lambda: None)  # type: ignore[arg-type,return-value]
        go.set()
        reader.join()
    assert not reader.busy and reader.error == "" and not reader.about("a")


def test_clouds_tokens_and_points_of_the_plane_have_plots_of_their_own(qtbot: QtBot) -> None:
    samples = DataSamples()
    qtbot.addWidget(samples)
    samples.resize(400, 200)
    points, mask = np.random.default_rng(0).normal(size=(3, 5, 3)), np.ones((3, 5))
    mask[1, 3:] = 0
    samples.show_samples({"points": points, "mask": mask}, {})
    assert [len(cloud) for cloud in samples.clouds.shown] == [5, 3, 5]
    samples.grab()
    known = ("·", "?", "<", ">", "a", "b", "c")
    samples.show_samples({"tokens": np.array([[4, 5, 6, 0, 0], [6, 6, 4, 4, 4]])}, {"tokens": known})
    assert samples.texts.toPlainText() == "row 1   abc\nrow 2   ccaaa"
    samples.show_samples({"tokens": np.array([[14, 5, 0]])}, {})
    assert samples.texts.toPlainText() == "row 1   14 · 5"
    samples.show_samples({"x": np.zeros((4, 2)), "kind": np.array([0, 1, 1, 0])}, {"kind": ("a", "b")})
    assert samples.scatter.labels.tolist() == [0.0, 1.0, 1.0, 0.0]
    samples.grab()


def test_the_whole_graph_of_a_file_is_found() -> None:
    graph = gallery("karate-club").graph
    node = next(one for one in graph.nodes.values() if one.type == "GraphFile")
    found = graph_of_file(node, catalogue())
    assert set(found) == {"train", "validation", "test"}
    assert len(found["train"][0].edges) == 78


def test_graphs_that_lie_side_by_side_are_found_one_by_one(qtbot: QtBot) -> None:
    node = gallery("graph-classes").graph.node("n1")
    read = read_node(node, catalogue())
    found = graphs_side_by_side(read)
    sizes = read["train"]["sizes"][:12].tolist()
    assert [look.nodes for look in found["train"]] == sizes
    assert all(len(look.edges) == 2 * look.nodes for look in found["train"])  # two talks a guest
    labels = read["train"]["label"][:12].numpy()
    samples = DataSamples()
    qtbot.addWidget(samples)
    samples.show_samples({"label": labels}, {"label": ("alike", "anyone", "unlike")}, None, found["train"])
    first = ("alike", "anyone", "unlike")[labels[0]]
    assert samples.clouds._captions[0] == f"{first}, {sizes[0]}"
    assert graphs_side_by_side({"train": {"x": read["train"]["sizes"]}}) == {}


def test_a_graph_is_drawn_with_its_edges(qtbot: QtBot) -> None:
    joined = np.zeros((1, 3, 3))
    joined[0, 0, 1] = joined[0, 1, 2] = 1
    graphs = graphs_of({"train": {"adjacency": joined}})["train"]
    samples = DataSamples()
    qtbot.addWidget(samples)
    samples.resize(300, 200)
    samples.show_samples({"adjacency": joined}, {}, None, graphs)
    assert graphs[0].edges.tolist() == [[0, 1], [1, 2]]
    assert len(samples.clouds.shown[0]) == 3
    samples.grab()


def test_data_that_the_trainer_cannot_read_are_read_by_the_panel_itself(shown: Shown, qtbot: QtBot) -> None:
    shown.trainer.state = "failed"
    shown.workspace.apply("Set", SetParam("n1", "validation", 0.5))
    qtbot.waitUntil(
        lambda: [bar.value for bar in shown.panel.counts.bars] == [30_000.0, 30_000.0, 10_000.0],
        timeout=30_000,
    )


def test_the_button_of_a_finding_puts_a_node_behind_the_data(shown: Shown, qtbot: QtBot) -> None:
    made = splits(300)
    for part in made.values():
        part["image"] = part["image"] * 255
    shown.trainer.data = made
    pages = shown.panel.findChild(Segments, "dataPages")
    qtbot.waitUntil(lambda: bool(shown.panel.counts.bars))
    qtbot.mouseClick(pages, Qt.MouseButton.LeftButton, pos=pages.rect_of("findings").center())
    (button,) = shown.panel.findings.buttons()
    assert button.text() == "Standardise the inputs"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    graph = shown.workspace.graph
    new = next(node for node in graph.nodes.values() if node.type == "Standardise")
    assert (graph.feeding(new.id, "x"), graph.feeding("n2", "x")) == (
        Link("n1", "image", new.id, "x"),
        Link(new.id, "output", "n2", "x"),
    )
    assert new.params["over"] == "each channel"
    shown.workspace.undo()
    assert new.id not in shown.workspace.graph.nodes


def test_samples_are_shown_as_they_stand_in_the_data(workspace: Workspace) -> None:
    node = Node("n1", "Diabetes")
    facts = facts_of(Source(node, workspace.catalogue, None, Asked()))
    years = facts.samples["train"]["progression"]
    assert years.min() >= 25 and years.max() <= 346 and np.allclose(years, years.round(), atol=1e-3)
    assert facts.summary.columns["train"]["progression"].deviation == pytest.approx(1, abs=0.01)  # as trained
