"""The decoding of a large image tells how far it is, and ends where who listens wants that."""

from __future__ import annotations

from inspect import unwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.data.images import stopping
from engine.data.images.decoding import image_bytes, read_image, upright
from engine.data.images.files import ImageFiles
from engine.data.open.images import open_it
from engine.data.telling import listening
from engine.data.watch import Stopped, Watch

SIDE = 400
NOISE = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), np.uint8)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(stopping, "SILENT", -1.0)
    for name in ("a.png", "b.png"):
        Image.fromarray(NOISE).save(tmp_path / name)
    return tmp_path


class Ending:
    """Hears how far reading is, and ends it after so many times."""

    def __init__(self, times: int) -> None:
        self.heard: list[tuple[int, int, str]] = []
        self._times = times

    def __call__(self, done: int, count: int, what: str) -> None:
        self.heard.append((done, count, what))
        if len(self.heard) >= self._times:
            raise Stopped


def test_it_tells_and_reads_the_same(folder: Path) -> None:
    ear = Ending(1_000_000)
    with listening(ear):
        image = read_image(folder, "a.png", upright)
    assert np.array_equal(np.asarray(image), NOISE)
    size = (folder / "a.png").stat().st_size
    places = [done for done, count, what in ear.heard if (count, what) == (size, 'bytes of "a.png"')]
    assert len(places) > 5 and places == sorted(places) and size * 0.8 < places[-1] <= size


def test_it_ends_in_the_middle_with_what_was_raised(folder: Path) -> None:
    ear = Ending(5)
    with listening(ear), pytest.raises(Stopped):
        read_image(folder, "a.png", upright)
    assert ear.heard[-1][0] < ear.heard[-1][1]
    (folder / "a.png").write_bytes((folder / "a.png").read_bytes()[:300])
    with listening(Ending(1_000)), pytest.raises(ValueError, match=r"is damaged|is cut short"):
        read_image(folder, "a.png", upright)


def test_threads_that_decode_are_told_and_ended_too(folder: Path) -> None:
    def decode(folder: Path, name: str) -> np.ndarray[Any, Any]:
        return np.asarray(read_image(folder, name, upright))

    files = ImageFiles(folder, ["a.png", "b.png"], decode, {}, (SIDE, SIDE, 3), 2, "cpu")
    ear = Ending(5)
    with listening(ear), pytest.raises(Stopped):
        files.levels(files.picked)
    assert all("bytes" in what for _, _, what in ear.heard)


def test_looking_at_a_folder_ends_too(folder: Path) -> None:
    asked: list[str] = []
    with pytest.raises(Stopped):
        open_it(folder, Watch(lambda fraction, doing: asked.append(doing), lambda: len(asked) > 5))
    assert asked[-1] == 'reading bytes of "a.png"'


def test_readers_that_a_script_carries_are_told_as_well() -> None:
    names: dict[str, Any] = {}
    for one in (image_bytes, read_image):
        bare = unwrap(one)
        names[one.__name__] = type(bare)(bare.__code__, names, one.__name__, bare.__defaults__)
    names["stranger"], kept = upright, dict(names)
    stopping.connect(names)
    assert names["stranger"] is upright
    assert all(names[one] is not kept[one] for one in ("image_bytes", "read_image"))
