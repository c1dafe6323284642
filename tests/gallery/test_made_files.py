"""The files that were made for examples are those that their scripts make."""

from __future__ import annotations

from tests.gallery import gatherings_made, solids_made


def test_gatherings_are_as_they_were_made() -> None:
    for name, text in gatherings_made.made().items():
        assert (gatherings_made.FOLDER / name).read_text(encoding="utf-8") == text


def test_solids_are_as_they_were_made() -> None:
    found = solids_made.made()
    there = {path.relative_to(solids_made.FOLDER).as_posix() for path in solids_made.FOLDER.rglob("*.off")}
    assert there == set(found)
    for name, text in found.items():
        assert (solids_made.FOLDER / name).read_text(encoding="utf-8") == text
