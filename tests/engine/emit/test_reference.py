"""The exported text of each gallery project is the one that was last looked at and found good.

NEUROLOOM_REWRITE=1 writes the files anew; then read the difference before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.emit.forms.head import file_name
from engine.emit.script import export_script
from tests.engine.sketches import GALLERY_IDS, catalogue, gallery

FOLDER = Path(__file__).parents[2] / "reference"
MOST_LINES = 400
# Longer than they may be, and no longer than this: what they have of ours is still too long.
LONG = {
    "a_decoder_letter_by_letter.py": 587,
    "an_agent_in_a_grid_world.py": 561,
    "bert_in_small.py": 551,
    "kinds_of_graphs.py": 428,
    "words_to_digits_with_attention.py": 482,
}


@pytest.mark.parametrize("project_id", GALLERY_IDS)
def test_the_text_is_the_one_that_was_looked_at(project_id: str) -> None:
    project = gallery(project_id)
    path = FOLDER / file_name(project)
    text = export_script(project, catalogue()).text
    if os.environ.get("NEUROLOOM_REWRITE"):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    assert path.read_bytes().decode("utf-8") == text


def test_no_file_is_left_of_a_project_that_is_gone() -> None:
    names = {file_name(gallery(project_id)) for project_id in GALLERY_IDS}
    assert {path.name for path in FOLDER.glob("*.py")} == names


def test_none_is_longer_than_a_reader_would_read() -> None:
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in FOLDER.glob("*.py")}
    long = {name: count for name, count in lines.items() if count > MOST_LINES}
    assert long.keys() == LONG.keys()
    assert {name: count for name, count in long.items() if count > LONG[name]} == {}
