"""The tokens page: what was learned, found by its text, in the Data panel of a text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.data.asking import source_of
from app.data.facts import facts_of
from app.data.panel import DataPanel
from app.data.tokens import TokensPage
from app.workspace.workspace import Workspace
from engine.data.open.opening import open_data
from engine.data.open.text import open_pairs
from engine.data.text.piece_steps import piece_steps
from engine.data.text.token_names import TokenTable, Vocabulary
from engine.data.text.tokenisers import learned_tokeniser, shown
from engine.data.watch import Watch
from engine.document.edits import AddNodes
from engine.document.graph import Node, Project
from tests.app.fake_run import workspace_with_fakes
from tests.gallery.recipes import FILES

ROWS = ((0, "[pad]", "", 4), (5, "␣", "", 9), (6, "t", "", 2), (7, "th", "t + h", 0), (8, "␣th", "␣ + th", 1))


def cells(page: TokensPage) -> list[tuple[str, ...]]:
    model = page.model
    return [
        tuple(
            model.data(model.index(row, at))
            for at in range(model.columnCount())
            if not page.table.isColumnHidden(at)
        )
        for row in range(model.rowCount())
    ]


@pytest.fixture
def page(qtbot: QtBot) -> TokensPage:
    made = TokensPage()
    qtbot.addWidget(made)
    return made


def test_each_token_says_what_it_was_joined_from(page: TokensPage) -> None:
    page.show_tables((TokenTable("tokens", ROWS, True, 3, 30),))
    assert cells(page)[3:] == [("7", "th", "t + h", "0"), ("8", "␣th", "␣ + th", "1")]
    assert page.said.text() == (
        "5 tokens, pieces in the order in which they were joined · counted in 3 of 30 training rows · "
        "1 of them never"
    )
    assert page.vocabulary.isHidden()


def test_tokens_are_found_by_their_text(page: TokensPage) -> None:
    page.show_tables((TokenTable("tokens", ROWS, True, 30, 30),))
    page.search.setText("TH")
    assert [row[1] for row in cells(page)] == ["th", "␣th"]
    assert page.said.text().startswith("2 of 5 tokens")
    page.search.setText("")
    assert len(cells(page)) == 5


def test_two_vocabularies_are_shown_one_at_a_time(page: TokensPage) -> None:
    one, two = TokenTable("source", ROWS[:1], False, 3, 3), TokenTable("next", ROWS[1:], False, 3, 3)
    page.show_tables((one, two))
    assert not page.vocabulary.isHidden() and cells(page) == [("0", "[pad]", "4")]
    page.vocabulary.choose("next")
    assert len(cells(page)) == 4


def test_a_slider_through_the_joins_cuts_a_text_by_those_up_to_there(page: TokensPage) -> None:
    made = learned_tokeniser(["low lower lowest"], way="BPE", size=30)
    steps = piece_steps(Vocabulary(tuple(made.tokens), tuple(made.merges), made), "low lower lowest")
    page.show_tables((TokenTable("tokens", ROWS, True, 3, 30, steps),))
    box, last = page.steps, len(made.merges)
    assert not box.isHidden() and box.slider.value() == last == box.slider.maximum()
    assert box.typed.text() == "low lower lowest"
    whole = [shown(made.tokens[number]) for number in made.ids("low lower lowest").tolist()]
    assert [token.text for token in box.cut.tokens] == whole
    box.slider.setValue(0)
    assert [token.text for token in box.cut.tokens] == [*"low␣lower␣lowest"]
    assert box.said.text() == f"characters only · 0 of {last} joins · 16 tokens"
    box.slider.setValue(1)
    left, right = made.merges[0]
    new = [token for token in box.cut.tokens if token.mark]
    assert new and {token.text for token in new} == {left + right}
    assert box.said.text().startswith(f"{left} + {right} → {left + right} · 1 of {last} joins")
    box.typed.setText("slow")
    assert box.cut.tokens[0].text == "s"
    page.show_tables((TokenTable("tokens", ROWS, True, 3, 30),))
    assert box.isHidden()


def test_what_the_network_does_not_read_is_not_counted(page: TokensPage) -> None:
    page.show_tables((TokenTable("source", ROWS[:2], False, 0, 0),))
    assert cells(page) == [("0", "[pad]"), ("5", "␣")]
    assert page.said.text() == "2 tokens · not counted: the network does not read source"


@pytest.fixture
def workspace(qtbot: QtBot, tmp_path: Path) -> Iterator[Workspace]:
    made, _ = workspace_with_fakes(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("type_id", "tables"),
    [("TextCorpus", ["tokens"]), ("LabelledText", ["tokens"]), ("TextPairs", ["source", "next"])],
)
def test_the_facts_of_a_text_hold_its_tokens(workspace: Workspace, type_id: str, tables: list[str]) -> None:
    if type_id == "TextPairs":
        opened = open_pairs(FILES / "pairs.tsv", Watch()).params
    else:
        opened = open_data(FILES / ("story.txt" if type_id == "TextCorpus" else "reviews.jsonl")).params
    node = Node("n1", type_id, "text", {**opened, "tokeniser": "BPE", "size": 64})
    workspace.document.replace(Project(), None)
    workspace.apply("Add", AddNodes((node,), ()))
    facts = facts_of(source_of(workspace, node, None))
    assert [table.column for table in facts.tokens] == tables
    for table in facts.tokens:
        assert [row[1] for row in table.rows[:5]] == ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]"]
        assert any(row[2] for row in table.rows) and table.joined and table.counted == table.total
        values = facts.samples["train"][table.column]
        assert sum(row[3] for row in table.rows) == values.size


def test_the_panel_offers_the_page_of_texts_only(workspace: Workspace, qtbot: QtBot) -> None:
    panel = DataPanel(workspace)
    qtbot.addWidget(panel)
    assert [key for key, _, _ in panel._options(0, table=False, tokens=True)] == [
        "overview",
        "columns",
        "tokens",
        "findings",
    ]
    assert "tokens" not in [key for key, _, _ in panel._options(0, table=True)]
