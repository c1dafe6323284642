"""An export holds nothing that it does not use: no function, field, variable or branch."""

from __future__ import annotations

import pytest
from vulture import Vulture

from engine.emit.script import export_script
from tests.engine.sketches import GALLERY_IDS, catalogue, gallery
from tests.sampling import every

# What others call by these names.
CALLED = {
    "forward",  # torch
    "set_to_none",  # a parameter that torch's own method has
    "samples",  # views of a chain, and whoever goes on with its samples
    "accepted",
    "first",  # step of a text, read by attention with rotary positions
}


@pytest.mark.parametrize("project_id", every(3, GALLERY_IDS))
def test_everything_in_a_script_is_used(project_id: str) -> None:
    found = Vulture()
    found.scan(export_script(gallery(project_id), catalogue(), procedures="all").text)
    unused = {one.name for one in found.get_unused_code(min_confidence=60)} - CALLED
    assert unused == set()
