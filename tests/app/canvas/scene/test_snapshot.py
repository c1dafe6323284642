"""Images of the graph: vector text, what is left out, themes, and errors in a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtSvg import QSvgRenderer

from app.canvas.scene.snapshot import Look, save_image
from app.canvas.view import GraphView
from app.theme import DARK, LIGHT, current_theme
from app.workspace.workspace import Workspace
from engine.document.edits import Rename, SetTitle
from engine.document.graph import Link
from engine.errors import NeuroloomError

Build = Callable[..., None]


def texts(svg: str) -> set[str]:
    return {found.strip() for found in re.findall(r"<text[^>]*>(.*?)</text>", svg, re.S)}


@pytest.mark.usefixtures("chain")
def test_an_svg_holds_the_texts_as_text_and_opens(
    view: GraphView, workspace: Workspace, tmp_path: Path
) -> None:
    path = save_image(workspace, tmp_path / "graph.svg")
    svg = path.read_text()
    assert {"digits-n1", "linear-n2", "linear-n3", "linear-n4"} <= texts(svg)
    renderer = QSvgRenderer(str(path))
    assert renderer.isValid()
    bounds = view.graph_scene.bounds()
    assert bounds is not None
    assert renderer.defaultSize().width() > bounds.width()
    assert renderer.defaultSize().width() < bounds.width() + 120


@pytest.mark.usefixtures("chain")
def test_an_image_of_a_selection_holds_it_and_the_wires_in_it(workspace: Workspace, tmp_path: Path) -> None:
    whole = save_image(workspace, tmp_path / "whole.svg").read_text()
    part = save_image(workspace, tmp_path / "part.svg", only=("n2", "n3")).read_text()
    assert texts(part) & {"digits-n1", "linear-n2", "linear-n3", "linear-n4"} == {"linear-n2", "linear-n3"}
    assert len(part) < len(whole)


@pytest.mark.usefixtures("chain")
def test_a_selection_a_hover_and_the_parts_of_a_plan_do_not_show(
    view: GraphView, workspace: Workspace, tmp_path: Path
) -> None:
    before = save_image(workspace, tmp_path / "a.svg").read_text()
    workspace.select(("n1", "n2"))
    view.graph_scene.select_links((Link("n2", "output", "n3", "x"),))
    view.graph_scene.node_items["n3"].show_hovered(True)
    view.graph_scene.node_items["n4"].show_dimmed(True)
    workspace.show_parts({"n2": "trained", "n3": "untouched"})
    assert save_image(workspace, tmp_path / "b.svg", shown=view.graph_scene).read_text() == before
    assert workspace.selection == ("n1", "n2")
    assert view.graph_scene.node_items["n1"].selected


@pytest.mark.usefixtures("chain")
def test_the_theme_of_an_image_is_chosen_and_the_window_keeps_its_own(
    workspace: Workspace, tmp_path: Path
) -> None:
    before = current_theme()
    for name, theme in (("light", LIGHT), ("dark", DARK)):
        image = QImage(str(save_image(workspace, tmp_path / f"{name}.png", Look(theme=name))))
        assert image.pixelColor(2, 2) == theme.canvas
        assert current_theme() is before
    image = QImage(str(save_image(workspace, tmp_path / "own.png", Look(theme=""))))
    assert image.pixelColor(2, 2) == before.canvas


@pytest.mark.usefixtures("chain")
def test_without_a_background_an_image_is_clear_around_the_nodes(
    workspace: Workspace, tmp_path: Path
) -> None:
    image = QImage(str(save_image(workspace, tmp_path / "a.png", Look(background=False, scale=1.0))))
    assert image.pixelColor(2, 2) == QColor(0, 0, 0, 0)
    twice = QImage(str(save_image(workspace, tmp_path / "b.png", Look(background=False, scale=2.0))))
    assert abs(twice.width() - 2 * image.width()) <= 1
    colours = {
        image.pixelColor(x, y).name() for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)
    }
    assert LIGHT.node.name() in colours


@pytest.mark.usefixtures("chain")
def test_a_pdf_has_one_page_with_fonts(workspace: Workspace, tmp_path: Path) -> None:
    content = save_image(workspace, tmp_path / "graph.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert content.count(b"/Type /Page\n") == 1
    assert b"/FontFile2" in content or b"/FontFile3" in content


@pytest.mark.usefixtures("chain")
def test_another_suffix_becomes_a_png(workspace: Workspace, tmp_path: Path) -> None:
    path = save_image(workspace, tmp_path / "net.v2")
    assert path.name == "net.v2.png"
    assert not QImage(str(path)).isNull()


def test_a_graph_as_wide_as_a_street_is_drawn_smaller(
    workspace: Workspace, build: Build, tmp_path: Path
) -> None:
    build([("n1", "Linear", 0, 0), ("n2", "Linear", 200_000, 0)], [("n1", "output", "n2", "x")])
    image = QImage(str(save_image(workspace, tmp_path / "wide.png")))
    assert 1000 < image.width() <= 20_000
    assert save_image(workspace, tmp_path / "wide.pdf").read_bytes().count(b"/Type /Page\n") == 1


def test_an_empty_graph_and_a_folder_that_is_missing_are_said(
    workspace: Workspace, build: Build, tmp_path: Path
) -> None:
    with pytest.raises(NeuroloomError, match="nothing to save"):
        save_image(workspace, tmp_path / "none.svg")
    build([("n1", "Linear", 0, 0)])
    with pytest.raises(NeuroloomError, match="cannot be saved to"):
        save_image(workspace, tmp_path / "no such folder" / "a.svg")
    assert current_theme() in (DARK, LIGHT)


@pytest.mark.usefixtures("chain")
def test_an_svg_is_well_formed_whatever_things_are_called(workspace: Workspace, tmp_path: Path) -> None:
    name = "a\x1b[2J\x00 < & > \" ' \ufffe \ud800 ]]> \x0b"
    workspace.apply("Rename", Rename("n2", name))
    workspace.apply("Title", SetTitle(name))
    path = save_image(workspace, tmp_path / "graph.svg")
    found = ElementTree.fromstring(path.read_bytes())
    words = "".join(found.itertext())
    assert "\ufffd[2J" in words and "< & >" in words
