"""Whatever lies at a path: opening, reading and a script end in data or in one sentence that names the file.

Nothing is waited for, no size is believed, and no file is changed.
"""

from __future__ import annotations

import builtins
import errno
import gzip
import io
import os
import random
import re
import signal
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.catalogue import Data
from engine.data.images.stopping import ToldFile
from engine.data.open.opening import OPENERS, Opened, open_data, open_for, readers
from engine.data.watch import Watch
from engine.document.files import load_project
from engine.emit.writing import export
from engine.errors import DataError, NeuroloomError
from tests.engine.data.any_files import KINDS, idx, picture, saved
from tests.engine.data.sentences import assert_sentence
from tests.engine.data.test_spoiled_files import CATALOGUE, as_script, in_program, node_of, outcome, same
from tests.gallery.recipes import data_project

FILES = Path(__file__).parents[2] / "data_files"
PLANTS = (FILES / "plants.csv").read_bytes()
ENDS = sorted(one for ends in OPENERS.values() for one in ends if one.startswith("."))
LARGE = 64 << 20  # bytes of memory that no small file may ask for
HOSTILE = {
    "line": "new\nline",
    "quote": 'quo"te',
    "percent": "per%(cent)s %s",
    "braces": "{0}{} {name!r}",
    "long": "x" * 220,
    "right to left": "\u202eright to left",
    "emoji": "🙂",
    "shell": "a'b`c$(d)",
    "dash": "-o",
    "blank": " ",
    "dots": "a..b..",
    "backslash": "a\\nb",
    "no text": os.fsdecode(b"caf\xe9"),
}


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """Whatever waits for ever is ended, so that the suite goes on; no test is judged by it."""

    def stop(*_: object) -> None:
        raise AssertionError("it waits for something that does not come")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


class Counted(Watch):
    """Counts how often one may say stop."""

    looks = 0

    def look(self, share: float | None, doing: str) -> None:
        assert share is None or 0 <= share <= 1
        assert doing
        self.looks += 1
        assert self.looks < 10_000


def opened(path: Path, *others: Path) -> Opened | None:
    """The node, or None where a sentence says why there is none."""
    try:
        found = open_data(path, Counted())
    except DataError as error:
        assert_sentence(error.message, path, *others)
        return None
    for remark in found.remarks:
        assert remark.endswith((".", "?")) and "\n" not in remark, remark
    return found


def read(found: Opened, path: Path, *others: Path) -> bool:
    """Whether the node's loader, and a script, read the data; a sentence is as good, the same from both."""
    node = node_of(found)
    said, alone = outcome(lambda: in_program(node)), outcome(as_script(node))
    if isinstance(said, str):
        assert_sentence(said, path, *others)
        assert alone == said
        return False
    assert not isinstance(alone, str) and same(said, alone), alone
    return True


def settled(path: Path, *others: Path) -> bool:
    """Whether a path is opened and read."""
    found = opened(path, *others)
    return found is not None and read(found, path, *others)


# -- names


@pytest.mark.parametrize("odd", HOSTILE)
@pytest.mark.parametrize("name", ["csv", "parquet", "xlsx", "npz", "idx", "corpus", "labelled jsonl", "pairs",
                                  "series", "cloud a.ply", "edges", "graphml"])  # fmt: skip
def test_hostile_names_of_files_are_names(name: str, odd: str, tmp_path: Path) -> None:
    folder = tmp_path / HOSTILE[odd]
    folder.mkdir()
    path, _ = KINDS[name].write(folder)
    if name != "idx":  # its name says what it is
        path = path.rename(folder / f"{HOSTILE[odd]}{path.suffix}")
    content, before = path.read_bytes(), path.stat().st_mtime_ns
    found = KINDS[name].opened(path)
    assert found.params["path"] == str(path)
    assert read(found, path)
    assert path.read_bytes() == content and path.stat().st_mtime_ns == before


@pytest.mark.parametrize("odd", HOSTILE)
@pytest.mark.parametrize(
    "name",
    ["folder of png", "image list", "masks", "folders of text", "folder of clouds", "folder of graphs"],
)
def test_hostile_names_of_folders_and_classes_are_names(name: str, odd: str, tmp_path: Path) -> None:
    folder = tmp_path / HOSTILE[odd]
    folder.mkdir()
    path, file = KINDS[name].write(folder)
    if path.is_dir() and name != "masks":
        (folder / "b").rename(folder / HOSTILE[odd])
    found = KINDS[name].opened(path)
    assert read(found, file, path)


def test_a_spoiled_file_of_a_hostile_name_is_still_one_line(tmp_path: Path) -> None:
    for name in HOSTILE.values():
        said = []
        for end in ENDS:
            path = tmp_path / f"{name}{end}"
            path.write_bytes(b"\0\1\2")
            try:
                open_data(path)
            except DataError as error:
                said.append(error.message)
        assert said and not [words for words in said if "\n" in words or "\u202e" in words]


# -- what is no ordinary file


def test_what_is_no_ordinary_file_is_a_sentence(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dead.csv").symlink_to(tmp_path / "nowhere.csv")
    ring = tmp_path / "ring"
    ring.mkdir()
    (ring / "again").symlink_to(ring)
    (tmp_path / "empty").mkdir()
    for name in ("pipe.csv", "loop", "dead.csv", "ring", "empty", "missing.csv"):
        assert opened(tmp_path / name) is None
    assert opened(Path(os.devnull)) is None
    for type_id in readers():
        for name in ("pipe.csv", "loop", "dead.csv", "missing.csv", "ring"):
            with pytest.raises(DataError) as told:
                open_for(tmp_path / name, type_id)
            assert_sentence(told.value.message, tmp_path / name)


def test_a_project_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "net.nloom")
    with pytest.raises(NeuroloomError, match=r'"net\.nloom" .*not an ordinary file'):
        load_project(tmp_path / "net.nloom")


def turn_into(what: str, path: Path) -> None:
    path.unlink()
    makers: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "a folder": path.mkdir,
        "a pipe": lambda: os.mkfifo(path),
        "a pipe far away": lambda: (os.mkfifo(path.parent / "far"), path.symlink_to(path.parent / "far")),
        "a link to nothing": lambda: path.symlink_to(path.parent / "nowhere"),
        "a link to itself": lambda: path.symlink_to(path.name),
        "a device": lambda: path.symlink_to(os.devnull),
        "an endless device": lambda: path.symlink_to("/dev/zero"),
        "an empty file": path.touch,
    }
    makers[what]()


@pytest.mark.parametrize(
    "what",
    ["nothing", "a folder", "a pipe", "a pipe far away", "a link to nothing", "a link to itself", "a device",
     "an endless device", "an empty file"],
)  # fmt: skip
@pytest.mark.parametrize("name", KINDS)
def test_what_became_of_a_file_after_it_was_opened_is_said(name: str, what: str, tmp_path: Path) -> None:
    path, file = KINDS[name].write(tmp_path)
    found = KINDS[name].opened(path)
    turn_into(what, file)
    read(found, file, path)
    opened(path, file)


@pytest.mark.parametrize("name", KINDS)
def test_what_may_not_be_read_is_said(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As root everything may be read, so opening is refused here by Python's own functions."""
    path, file = KINDS[name].write(tmp_path)
    found = KINDS[name].opened(path)
    original = builtins.open

    def refused(place: Any, *more: Any, **how: Any) -> Any:
        if not isinstance(place, int) and os.fspath(place) == str(file):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
        return original(place, *more, **how)

    def told(made: ToldFile, place: Path) -> None:
        refused(place, "rb").close()
        begin(made, place)

    begin = ToldFile.__init__
    monkeypatch.setattr(builtins, "open", refused)
    monkeypatch.setattr(io, "open", refused)
    monkeypatch.setattr(ToldFile, "__init__", told)
    assert not read(found, file, path)
    opened(path, file)


@pytest.mark.skipif(os.geteuid() == 0, reason="everything may be read by root")
@pytest.mark.parametrize("name", KINDS)
def test_what_the_system_forbids_is_said(name: str, tmp_path: Path) -> None:
    path, file = KINDS[name].write(tmp_path)
    found = KINDS[name].opened(path)
    file.chmod(0)
    assert not read(found, file, path)
    opened(path, file)


@pytest.mark.parametrize("name", [name for name in KINDS if "folder" in name or name == "masks"])
def test_a_folder_that_may_not_be_listed_is_said(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, file = KINDS[name].write(tmp_path)
    found = KINDS[name].opened(path)
    for function in ("scandir", "listdir"):
        original = getattr(os, function)

        def refused(place: Any = ".", original: Any = original) -> Any:
            if os.fspath(place) == str(file.parent):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file.parent))
            return original(place)

        monkeypatch.setattr(os, function, refused)
    assert not read(found, file.parent, path)
    assert opened(path, file.parent) is None


# -- sizes that are not believed


def bomb_npy(folder: Path) -> Path:
    content = saved(np.zeros((4, 4)))
    (folder / "x.npy").write_bytes(content.replace(b"(4, 4), }" + b" " * 9, b"(9999999999, 4), }"))
    return folder / "x.npy"


def bomb_gz(folder: Path) -> Path:
    head = idx(np.zeros((1, 1, 1)))[:4] + struct.pack(">3I", 1 << 20, 64, 64)
    (folder / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + bytes(1 << 20)))
    return folder / "train-images-idx3-ubyte.gz"


def bomb_png(folder: Path) -> Path:
    """A picture of a few bytes that says it has 40,000 x 40,000 pixels."""
    for at, kind in enumerate("ab" * 3):
        place = folder / kind
        place.mkdir(exist_ok=True)
        (place / f"{at}.png").write_bytes(picture("PNG"))
    head = struct.pack(">IIBBBBB", 40_000, 40_000, 8, 2, 0, 0, 0)
    content = picture("PNG")
    chunk = b"IHDR" + head
    (folder / "a" / "0.png").write_bytes(
        content[:12] + chunk + struct.pack(">I", zlib.crc32(chunk)) + content[33:]
    )
    return folder


def bomb_xlsx(folder: Path) -> Path:
    """A sheet that says its last cell is in row 1,048,576 and column 16,384."""
    path, _ = KINDS["xlsx"].write(folder)
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    sheet = next(name for name in parts if "sheet1" in name)
    parts[sheet] = parts[sheet].replace(
        b"</sheetData>", b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            book.writestr(name, content)
    return path


def bomb_ply(folder: Path) -> Path:
    path, _ = KINDS["cloud b.ply"].write(folder)
    path.write_bytes(path.read_bytes().replace(b"vertex 20", b"vertex 99999999999"))
    return path


def bomb_off(folder: Path) -> Path:
    (folder / "a.off").write_bytes(b"OFF\n999999999999 999999999999 0\n0 0 0\n")
    return folder / "a.off"


def bomb_json(folder: Path) -> Path:
    (folder / "a.json").write_bytes(b"[" * 200_000)
    return folder / "a.json"


def bomb_xml(folder: Path) -> Path:
    entities = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10 if at else "ha" * 10}">' for at in range(12))
    (folder / "a.graphml").write_text(
        f"<?xml version='1.0'?><!DOCTYPE g [{entities}]><graphml>&e11;</graphml>"
    )
    return folder / "a.graphml"


BOMBS = {name.removeprefix("bomb_"): make for name, make in globals().items() if name.startswith("bomb_")}


def peak_of(work: Callable[[], object]) -> int:
    """Bytes of memory that work needs at its peak beyond those that are there before."""
    status = Path("/proc/self/status")

    def said(what: str) -> int:
        found = re.search(rf"{what}:\s+(\d+) kB", status.read_text())
        assert found is not None
        return int(found[1]) * 1024

    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = said("VmRSS")
    work()
    return said("VmHWM") - before


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells its peak of memory")
@pytest.mark.parametrize("name", BOMBS)
def test_a_size_that_a_file_claims_is_not_believed(name: str, tmp_path: Path) -> None:
    path = BOMBS[name](tmp_path)
    file = path / "a" / "0.png" if path.is_dir() else path
    settled(FILES / "plants.csv")  # what is imported stays
    assert peak_of(lambda: settled(path, file)) < 4 * LARGE
    assert not settled(path, file)


def test_an_array_that_is_packed_a_thousandfold_keeps_to_the_memory_given(tmp_path: Path) -> None:
    head = saved(np.zeros((4, 8))).replace(b"(4, 8), }" + b" " * 7, b"(1048576, 8), } ")
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", head[:128] + bytes(64 << 20))
    found = opened(tmp_path / "x.npz")
    assert found is not None
    assert read(Opened(found.type, {**found.params, "memory": 128}, found.name), tmp_path / "x.npz")
    assert not read(Opened(found.type, {**found.params, "memory": 16}, found.name), tmp_path / "x.npz")


def read_by_system() -> int:
    """Bytes that this process has asked the system for so far."""
    found = re.search(r"rchar: (\d+)", Path("/proc/self/io").read_text())
    assert found is not None
    return int(found[1])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="only Linux tells how much was read")
@pytest.mark.parametrize("name", KINDS)
def test_a_file_is_read_a_few_times_at_most(name: str, tmp_path: Path) -> None:
    """Larger here than it is by many lines, so that what is read of everything else counts little."""
    path, file = KINDS[name].write(tmp_path)
    settled_once = KINDS[name].opened(path)
    read(settled_once, file, path)
    size = sum(one.stat().st_size for one in tmp_path.rglob("*") if one.is_file())
    before = read_by_system()
    KINDS[name].opened(path)
    in_program(node_of(settled_once))
    assert read_by_system() - before < 40 * size + (1 << 20)


# -- many files, and other suffixes


def test_a_folder_of_many_empty_files_is_a_sentence_after_few_looks(tmp_path: Path) -> None:
    for at in range(3000):
        (tmp_path / f"{at}.png").touch()
    watch = Counted()
    with pytest.raises(DataError) as told:
        open_data(tmp_path, watch)
    assert_sentence(told.value.message, tmp_path / "0.png")
    assert watch.looks < 3000


@pytest.mark.parametrize("end", ENDS)
def test_any_suffix_on_any_content_ends_well(end: str, tmp_path: Path) -> None:
    choose = random.Random(zlib.crc32(end.encode()))
    contents = (
        *(b"\0", b"\n", b" ", b"\xff\xfe", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", bytes(300)),
        choose.randbytes(2000),
        "a,b\n1,é\n".encode("utf-16"),
        "a,b\n1,é\n".encode("utf-32"),
        b"a;b\n1;2\n\xe9;3\n",
        PLANTS,
        picture("PNG"),
        saved(np.zeros((4, 2))),
        gzip.compress(PLANTS),
        b"{}", b"[]", b"null", b'{"a": 1}', b"[1, 2]", b'"text"',
    )  # fmt: skip
    for number, content in enumerate(contents):
        path = tmp_path / f"file{number}{end}"
        path.write_bytes(content)
        settled(path)
        for type_id in readers():
            try:
                found = open_for(path, type_id)
            except NeuroloomError as error:
                assert_sentence(error.message, path)
            else:
                read(found, path)
        assert path.read_bytes() == content
        path.unlink()


def test_a_picture_that_only_claims_to_be_one_does_not_spoil_the_others(tmp_path: Path) -> None:
    path, file = KINDS["folder of png"].write(tmp_path)
    file.write_bytes(PLANTS)
    found = opened(path)
    assert found is not None and found.params["broken"] == 1
    assert any("a/4.png" in remark for remark in found.remarks)
    assert not read(found, file)
    kept = {**found.params, "unreadable": "leave out"}
    assert read(Opened(found.type, kept, found.name), file)


@pytest.mark.parametrize("function", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_no_script_and_no_data_behind(
    function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there before stays as it was, and the sentence says why."""
    path, file = KINDS["csv"].write(tmp_path)
    before, content = file.stat().st_mtime_ns, file.read_bytes()
    found = KINDS["csv"].opened(path)
    node_type = CATALOGUE.get(found.type)
    assert node_type is not None and issubclass(node_type, Data)
    project = data_project(node_type, found.params)
    away = tmp_path / "away"
    away.mkdir()
    target = away / "alone.py"
    target.write_text("as it was")
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fails(*_: object, **__: object) -> None:
        raise full

    if function == "write":
        filled = type("Filled", (io.FileIO,), {"write": fails})
        monkeypatch.setattr("engine.document.files.hold", lambda place: filled(place, "w"))
    else:
        monkeypatch.setattr(os, function, fails)
    with pytest.raises(NeuroloomError) as told:
        export(project, CATALOGUE, target)
    monkeypatch.undo()
    assert "no space left" in told.value.message and "alone.py" in told.value.message
    assert target.read_text() == "as it was"
    assert [one.name for one in away.iterdir()] == ["alone.py"]
    assert file.read_bytes() == content and file.stat().st_mtime_ns == before
