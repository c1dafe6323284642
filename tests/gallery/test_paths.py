"""Examples name their files by where they are installed, so that they open on any machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.data.shipped import datasets_folder
from engine.paths import INSTALLED

GALLERY = sorted((datasets_folder().parent / "gallery").glob("*.nloom"))


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)


@pytest.mark.parametrize("file", GALLERY, ids=lambda file: file.stem)
def test_no_path_is_one_of_this_machine_and_every_file_is_there(file: Path) -> None:
    for node in json.loads(file.read_text("utf-8"))["nodes"]:
        for text in texts(node["params"]):
            assert not Path(text).is_absolute() and not text.startswith("project:")
            if text.startswith(INSTALLED):
                assert (datasets_folder() / text.removeprefix(INSTALLED)).exists()
