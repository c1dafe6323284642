"""Whatever lies in a file, opening it gives a data node or a sentence: no crash, no hang, no traceback."""

from __future__ import annotations

import os
import random
import zlib
from pathlib import Path

import pytest

from engine.catalogue import Data, load_catalogue
from engine.data.opening import OPENERS, Opened, Watch, open_data
from engine.data.shipped import datasets_folder
from engine.emit.builder import build
from engine.errors import DataError, EmitError, ParamError
from engine.graph import Node

FILES = Path(__file__).parents[2] / "data_files"
PLAIN = sorted(one for one in FILES.rglob("*") if one.is_file() and one.stat().st_size < 100_000)[:40]
ENDS = sorted(one for ends in OPENERS.values() for one in ends if one.startswith("."))
HOSTILE = (
    "new\nline",
    'quo"te',
    "per%(cent)s",
    "x" * 200,
    "\u202eright to left",
    "🙂",
    "a'b`c$(d)",
    "-o",
    " ",
)


def opened(path: Path) -> Opened | None:
    """The node, or None where a sentence says why there is none."""
    try:
        found = open_data(path, Watch())
    except DataError as error:
        assert error.message.endswith((".", "?")), error.message
        assert len(error.message) < 600 and "Traceback" not in error.message
        return None
    return found


def loaded(found: Opened) -> None:
    """Reads the data by the node's own loader; a sentence is as good."""
    made = load_catalogue().make(Node("n1", found.type, found.name, dict(found.params)))
    assert isinstance(made, Data)
    try:
        loader, options = build(made, "data", {}).loader or (None, {})
        assert loader is not None
        splits = loader(made.folder() or datasets_folder(), "cpu", **options)
    except (DataError, ParamError, EmitError) as error:
        assert error.message.endswith((".", "?")), error.message
    except (ValueError, OSError) as error:  # loaders are portable: plain errors with a sentence
        assert str(error)
    else:
        for name, column in splits["train"].items():
            assert len(column) == len(splits["train"][next(iter(splits["train"]))]), name


def spoiled(content: bytes, way: str, choose: random.Random) -> bytes:
    at = choose.randrange(max(1, len(content)))
    if way == "cut":
        return content[:at]
    if way == "flipped":
        changed = bytearray(content)
        for _ in range(8):
            changed[choose.randrange(len(changed))] ^= 1 << choose.randrange(8)
        return bytes(changed)
    if way == "zeros":
        return content[:at] + bytes(16) + content[at:]
    if way == "doubled":
        return content + content
    return content[::-1]


@pytest.mark.parametrize("way", ["cut", "flipped", "zeros", "doubled", "reversed"])
@pytest.mark.parametrize("file", PLAIN, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_spoiled_file_opens_or_ends_in_a_sentence(file: Path, way: str, tmp_path: Path) -> None:
    choose = random.Random(zlib.crc32(f"{file.name} {way}".encode()))
    path = tmp_path / file.name
    path.write_bytes(spoiled(file.read_bytes(), way, choose))
    found = opened(path)
    if found is not None:
        loaded(found)


@pytest.mark.parametrize("end", ENDS)
def test_any_suffix_on_any_content_ends_well(end: str, tmp_path: Path) -> None:
    choose = random.Random(zlib.crc32(end.encode()))
    contents = (
        b"\0",
        b"\n",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        bytes(300),
        choose.randbytes(2000),
        "a,b\n1,é\n".encode("utf-16"),
        b"a;b\n1;2\n\xe9;3\n",
        (FILES / "plants.csv").read_bytes(),
    )
    for number, content in enumerate(contents):
        path = tmp_path / f"file{number}{end}"
        path.write_bytes(content)
        found = opened(path)
        if found is not None:
            loaded(found)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_names(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    path = folder / f"{name}.csv"
    path.write_bytes((FILES / "plants.csv").read_bytes())
    before = path.read_bytes()
    found = opened(path)
    assert found is not None and found.type == "TableFile" and found.params["path"] == str(path)
    loaded(found)
    assert path.read_bytes() == before


def test_what_is_no_ordinary_file_is_a_sentence(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dead.csv").symlink_to(tmp_path / "nowhere.csv")
    ring = tmp_path / "ring"
    ring.mkdir()
    (ring / "again").symlink_to(ring)
    empty = tmp_path / "empty"
    empty.mkdir()
    for path in (
        tmp_path / "pipe.csv",
        tmp_path / "loop",
        tmp_path / "dead.csv",
        ring,
        empty,
        Path(os.devnull),
    ):
        assert opened(path) is None
    assert opened(tmp_path / "missing.csv") is None
