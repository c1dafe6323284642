"""The gallery as the welcome page reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.window import gallery
from app.window.gallery import OTHERS, contents, example_path, examples
from app.window.welcome import WelcomePage
from app.workspace.document_file import DocumentFile
from app.workspace.workspace import Workspace
from engine.document.files import load_project


def test_cards_say_what_the_projects_say() -> None:
    found = examples()
    assert {example.path.stem for example in found} >= {
        "mnist-cnn",
        "mnist-mlp",
        "iris",
        "santa-fe-lstm",
        "two-heads",
    }
    for example in found:
        project = load_project(example.path)
        assert example.title == project.title
        assert example.notes == project.notes
        assert example.types == {node.id: node.type for node in project.graph.nodes.values()}
        assert set(example.links) == {(link.source, link.target) for link in project.graph.links}
        assert example.line.endswith((".", "?", "!"))
        assert example.covers
        assert len(example.line) <= 120  # what a card has room for


def test_every_example_has_a_topic_and_a_level() -> None:
    listed = contents()
    assert set(listed.places) == {path.stem for path in example_path("").parent.glob("*.nloom")}
    found = examples()
    assert not [example.path.stem for example in found if example.topic == OTHERS or not example.level]
    topics = [example.topic for example in found]
    assert tuple(dict.fromkeys(topics)) == listed.topics
    assert topics == sorted(topics, key=listed.topics.index), "a topic's examples stand together"
    assert {example.level for example in found} == set(listed.levels)


@pytest.mark.logs("cannot be read")
def test_a_broken_example_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.nloom").write_text("{}", "utf-8")
    (tmp_path / "iris.nloom").write_bytes(example_path("iris").read_bytes())
    (tmp_path / "contents.json").write_text('{"levels": [], "topics": []}', "utf-8")
    monkeypatch.setattr(gallery, "example_path", lambda name: tmp_path / f"{name}.nloom")
    assert [example.path.stem for example in examples()] == ["iris"]


def test_recent_files_are_listed_once_saved(workspace: Workspace, qtbot, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = DocumentFile(workspace)
    page = WelcomePage(workspace.catalogue, file.recent)
    qtbot.addWidget(page)
    page.show()
    assert not page._recents.isVisible()
    file.save(tmp_path / "flowers.nloom")
    assert page._recents.isVisible()
    assert page._recent.count() == 1
    file.close()


def test_cards_fill_the_width(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    file = DocumentFile(workspace)
    page = WelcomePage(workspace.catalogue, file.recent)
    qtbot.addWidget(page)
    page.show()
    page.resize(1440, 900)
    first = page._sections[0].cards
    qtbot.waitUntil(lambda: len({card.y() for card in first[:4]}) == 1)
    page.resize(640, 700)
    assert page._columns == 2
    qtbot.waitUntil(lambda: first[0].y() < first[2].y() == first[3].y())
    file.close()


def test_search_and_level_choose_the_cards(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    file = DocumentFile(workspace)
    page = WelcomePage(workspace.catalogue, file.recent)
    qtbot.addWidget(page)
    page.show()

    def shown() -> set[str]:
        return {card.example.path.stem for card in page.cards() if card.isVisible()}

    everything = shown()
    assert everything == {card.example.path.stem for card in page.cards()}
    page.search.setText("lstm")
    assert "santa-fe-lstm" in shown() and "iris" not in shown()
    page.search.setText("backpropagation")  # a word of what it covers
    assert "delta-rule" in shown()
    page.search.setText("no such thing")
    assert not shown() and page._none.isVisible()
    page.search.clear()
    page.levels.choose("Advanced")
    assert "rbm-mnist" in shown() and "iris" not in shown()
    page.levels.choose("")
    assert shown() == everything
    file.close()
