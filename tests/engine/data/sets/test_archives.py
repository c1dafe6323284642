"""Archives give the files that were asked for, and nothing of anybody's else to anywhere else."""

from __future__ import annotations

import stat
import tarfile
from pathlib import Path

import pytest

from engine.data.sets.archives import unpack
from engine.data.watch import Stopped, Watch
from engine.errors import DataError
from tests.engine.data.packed import tar_of, zip_of

WANTED = {"deep/a.bin": 4, "b.bin": 3}
MEMBERS = {"deep/a.bin": b"aaaa", "b.bin": b"bbb", "deep/other": b"left alone"}


def entry(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


def put(folder: Path, body: bytes) -> Path:
    path = folder / "archive"
    path.write_bytes(body)
    (folder / "out").mkdir()
    return path


@pytest.mark.parametrize("made", [tar_of, zip_of])
def test_wanted_members_are_written_by_their_last_names(made: object, tmp_path: Path) -> None:
    archive = put(tmp_path, made(MEMBERS))  # type: ignore[operator]
    found = unpack(archive, WANTED, tmp_path / "out", Watch())
    assert [path.name for path in found] == ["a.bin", "b.bin"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == {
        "a.bin": b"aaaa",
        "b.bin": b"bbb",
    }


HOSTILE = {
    "up": tar_of({"../a.bin": b"x"}),
    "up in the middle": tar_of({"deep/../../a.bin": b"x"}),
    "absolute": tar_of({"/a.bin": b"x"}),
    "backslashes": zip_of({"..\\a.bin": b"x"}),
    "drive": zip_of({"C:/a.bin": b"x"}),
    "zip up": zip_of({"../../a.bin": b"x"}),
    "zip link": zip_of({"a.bin": b"/etc/passwd"}, {"a.bin": stat.S_IFLNK | 0o777}),
    "link": tar_of({}, entry("deep/a.bin", tarfile.SYMTYPE, "/etc/passwd")),
    "hard link": tar_of({}, entry("deep/a.bin", tarfile.LNKTYPE, "../../etc/passwd")),
    "device": tar_of({}, entry("deep/a.bin", tarfile.CHRTYPE)),
    "pipe": tar_of({}, entry("deep/a.bin", tarfile.FIFOTYPE)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused(name: str, tmp_path: Path) -> None:
    archive = put(tmp_path, HOSTILE[name])
    with pytest.raises(DataError, match="is refused: it holds"):
        unpack(archive, WANTED, tmp_path / "out", Watch())
    assert list((tmp_path / "out").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"archive", "out"}


DAMAGED = {
    "empty": b"",
    "no archive": b"hello" * 100,
    "cut tar": tar_of({"deep/a.bin": bytes(4), "b.bin": b"bbb"})[:60],
    "cut zip": zip_of(MEMBERS)[:-30],
    "other size": tar_of({**MEMBERS, "b.bin": b"longer"}),
    "lacking": tar_of({"deep/a.bin": b"aaaa"}),
    "folder instead": tar_of({"deep/a.bin": b"aaaa"}, entry("b.bin", tarfile.DIRTYPE)),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_archives_are_a_sentence(name: str, tmp_path: Path) -> None:
    archive = put(tmp_path, DAMAGED[name])
    with pytest.raises(DataError) as caught:
        unpack(archive, WANTED, tmp_path / "out", Watch())
    assert caught.value.message.endswith(".")
    assert not list((tmp_path / "out").glob("*.unpacking"))


def test_a_member_that_is_longer_than_it_says_is_not_kept(tmp_path: Path) -> None:
    body = bytearray(zip_of({"b.bin": b"b" * 5000}))
    at = body.rindex(b"PK\x01\x02") + 24
    body[at : at + 4] = (3).to_bytes(4, "little")  # the size in the table at the end
    archive = put(tmp_path, bytes(body))
    with pytest.raises(DataError):
        unpack(archive, {"b.bin": 3}, tmp_path / "out", Watch())
    assert list((tmp_path / "out").iterdir()) == []


def test_unpacking_can_be_stopped(tmp_path: Path) -> None:
    archive = put(tmp_path, tar_of(MEMBERS))
    with pytest.raises(Stopped):
        unpack(archive, WANTED, tmp_path / "out", Watch(stopped=lambda: True))
    assert list((tmp_path / "out").iterdir()) == []
