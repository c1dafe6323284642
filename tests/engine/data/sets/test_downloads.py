"""Downloads come whole, checked and resumed, whatever the server does; all servers are on this computer."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.data.sets import downloads
from engine.data.sets.downloads import fetch
from engine.data.sets.public_files import PUBLIC, PublicFile, PublicSet, datasets_home, part_of, public_set
from engine.data.watch import Stopped, Watch
from engine.document.locks import hold
from engine.errors import DataError
from tests.engine.data.file_server import Shelf, serving
from tests.engine.data.packed import tar_of

BODY = bytes(range(256)) * 1500  # 384,000 bytes


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "WAITS", (0.0, 0.0, 0.0))
    monkeypatch.setattr(downloads, "LOOK", 0.01)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    with serving() as found:
        found.files["/data.bin"] = BODY
        yield found


def file_of(*urls: str, body: bytes = BODY, name: str = "data.bin", **more: Any) -> PublicFile:
    return PublicFile(name, len(body), f"sha256:{hashlib.sha256(body).hexdigest()}", urls, **more)


def set_of(*files: PublicFile) -> PublicSet:
    return PublicSet("tried", "Tried", "For tests.", "none", "http://localhost", files)


def leave_a_part(folder: Path, file: PublicFile, body: bytes, url: str = "", version: str = "") -> None:
    part = part_of(folder, file)
    part.write_bytes(body)
    if url:
        part.with_name(part.name + ".json").write_text(json.dumps({"url": url, "version": version}))


class Heard:
    """A watch that keeps what it is told, and stops when `enough` says so."""

    def __init__(self, enough: Any = lambda heard: False) -> None:
        self.shares: list[float | None] = []
        self.doings: list[str] = []
        self.watch = Watch(self.tell, lambda: bool(enough(self)))

    def tell(self, share: float | None, doing: str) -> None:
        self.shares.append(share)
        self.doings.append(doing)


def test_a_file_comes_whole(shelf: Shelf, tmp_path: Path) -> None:
    wanted = set_of(file_of(f"{shelf.url}/data.bin"))
    heard = Heard()
    fetch(wanted, tmp_path / "new", heard.watch)
    assert (tmp_path / "new" / "data.bin").read_bytes() == BODY
    assert wanted.missing(tmp_path / "new") == ()
    assert {one.name for one in (tmp_path / "new").iterdir()} == {"data.bin", "SOURCE.txt", ".lock"}
    known = [share for share in heard.shares if share is not None]
    assert known == sorted(known) and known[-1] == 1.0
    assert any("384" not in doing and "0.4 MB of 0.4 MB from 127.0.0.1" in doing for doing in heard.doings)


def test_what_is_there_is_not_asked_for(shelf: Shelf, tmp_path: Path) -> None:
    wanted = set_of(file_of(f"{shelf.url}/data.bin"))
    (tmp_path / "data.bin").write_bytes(BODY)
    fetch(wanted, tmp_path)
    assert shelf.asked == []


def test_a_part_is_gone_on_with(shelf: Shelf, tmp_path: Path) -> None:
    file = file_of(f"{shelf.url}/data.bin")
    leave_a_part(tmp_path, file, BODY[:100_000])
    assert set_of(file).part(tmp_path) == 100_000
    fetch(set_of(file), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY
    assert shelf.asked == [("/data.bin", "bytes=100000-")]


def test_a_whole_part_needs_no_server(tmp_path: Path) -> None:
    file = file_of("http://127.0.0.1:1/data.bin")
    leave_a_part(tmp_path, file, BODY)
    fetch(set_of(file), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY


def test_a_server_without_ranges_sends_it_all_again(shelf: Shelf, tmp_path: Path) -> None:
    shelf.ranges = False
    file = file_of(f"{shelf.url}/data.bin")
    leave_a_part(tmp_path, file, b"x" * 100_000)
    fetch(set_of(file), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY
    assert len(shelf.asked) == 1


def test_another_version_on_the_server_is_begun_afresh(shelf: Shelf, tmp_path: Path) -> None:
    url = f"{shelf.url}/data.bin"
    file = file_of(url)
    leave_a_part(tmp_path, file, b"of the version before" * 1000, url, '"0"')
    fetch(set_of(file), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY
    assert len(shelf.asked) == 1  # If-Range: one answer, with all of it


def test_a_part_of_other_bytes_is_begun_afresh(shelf: Shelf, tmp_path: Path) -> None:
    file = file_of(f"{shelf.url}/data.bin")
    leave_a_part(tmp_path, file, b"x" * 100_000)
    fetch(set_of(file), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY
    assert [asked for _, asked in shelf.asked] == ["bytes=100000-", ""]


def test_a_part_that_is_too_long_is_begun_afresh(shelf: Shelf, tmp_path: Path) -> None:
    file = file_of(f"{shelf.url}/data.bin")
    leave_a_part(tmp_path, file, BODY + b"more")
    fetch(set_of(file), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY


def test_connections_that_are_cut_are_gone_on_with(shelf: Shelf, tmp_path: Path) -> None:
    shelf.cut_after = [50_000, 60_000, 70_000]
    fetch(set_of(file_of(f"{shelf.url}/data.bin")), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY
    begins = ["", "bytes=50000-", "bytes=110000-", "bytes=180000-"]
    assert [asked for _, asked in shelf.asked] == begins


def test_a_server_that_always_ends_early_is_given_up(shelf: Shelf, tmp_path: Path) -> None:
    shelf.cut_after = [10] * 100
    file = file_of(f"{shelf.url}/data.bin")
    with pytest.raises(DataError, match=r"127\.0\.0\.1: ended the connection too early") as caught:
        fetch(set_of(file), tmp_path)
    assert "data.bin" in (caught.value.fix or "")
    assert part_of(tmp_path, file).read_bytes() == BODY[:30]  # three rounds


def test_the_wrong_checksum_is_never_kept(shelf: Shelf, tmp_path: Path) -> None:
    shelf.files["/data.bin"] = b"y" * len(BODY)
    file = file_of(f"{shelf.url}/data.bin")
    with pytest.raises(DataError, match="sent other bytes than were published"):
        fetch(set_of(file), tmp_path)
    assert not (tmp_path / "data.bin").exists() and not part_of(tmp_path, file).exists()


def test_md5_is_enough_where_nothing_better_is_published(shelf: Shelf, tmp_path: Path) -> None:
    md5 = hashlib.md5(BODY, usedforsecurity=False).hexdigest()
    fetch(set_of(PublicFile("data.bin", len(BODY), f"md5:{md5}", (f"{shelf.url}/data.bin",))), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY


def test_a_file_of_another_size_is_not_downloaded(shelf: Shelf, tmp_path: Path) -> None:
    shelf.files["/data.bin"] = BODY * 2
    with pytest.raises(DataError, match="has 768,000 bytes under this name, not 384,000"):
        fetch(set_of(file_of(f"{shelf.url}/data.bin")), tmp_path)


def test_the_next_mirror_is_asked(shelf: Shelf, tmp_path: Path) -> None:
    gone, broken, good = (f"{shelf.url}/{name}" for name in ("gone", "broken", "data.bin"))
    shelf.files["/broken"] = b"z" * len(BODY)
    fetch(set_of(file_of("http://127.0.0.1:1/refused", gone, broken, good)), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY
    assert [path for path, _ in shelf.asked] == ["/gone", "/broken", "/data.bin"]


def test_a_mirror_goes_on_where_another_was_cut(shelf: Shelf, tmp_path: Path) -> None:
    with serving() as other:
        other.files["/data.bin"] = BODY
        other.statuses["/data.bin"] = [200, *[500] * 20]
        other.cut_after = [200_000]
        fetch(set_of(file_of(f"{other.url}/data.bin", f"{shelf.url}/data.bin")), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY
    assert shelf.asked == [("/data.bin", "bytes=200000-")]


def test_a_busy_server_is_asked_again(shelf: Shelf, tmp_path: Path) -> None:
    shelf.statuses["/data.bin"] = [503, 429]
    fetch(set_of(file_of(f"{shelf.url}/data.bin")), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY


def test_what_no_mirror_has_is_said_at_once(shelf: Shelf, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"127\.0\.0\.1: answered 404"):
        fetch(set_of(file_of(f"{shelf.url}/nothing")), tmp_path)
    assert len(shelf.asked) == 1


def test_no_network_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"127\.0\.0\.1: refused the connection"):
        fetch(set_of(file_of("http://127.0.0.1:1/data.bin")), tmp_path)


def test_a_silent_server_can_be_left_and_the_part_is_kept(shelf: Shelf, tmp_path: Path) -> None:
    shelf.hold_after = 120_000
    file = file_of(f"{shelf.url}/data.bin")
    enough = 120_000 / len(BODY)
    heard = Heard(lambda heard: any(share is not None and share >= enough for share in heard.shares))
    with pytest.raises(Stopped):
        fetch(set_of(file), tmp_path, heard.watch)
    assert part_of(tmp_path, file).read_bytes() == BODY[:120_000]
    shelf.hold_after = None
    fetch(set_of(file), tmp_path)
    assert shelf.asked[-1] == ("/data.bin", "bytes=120000-")
    assert (tmp_path / "data.bin").read_bytes() == BODY


def test_a_full_disk_is_said_before_anything_is_asked(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(DataError, match=r"needs 0\.4 MB, and 1 kB are free"):
        fetch(set_of(file_of(f"{shelf.url}/data.bin")), tmp_path)
    assert shelf.asked == []


def test_a_disk_that_fills_up_keeps_the_part(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = file_of(f"{shelf.url}/data.bin")
    real = open

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            if self.tell() >= 100_000:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(data[: 100_000 - self.tell()]) and len(data)

    def opened(path: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        return (
            Full(path, "w")
            if mode == "wb" and str(path).endswith(".part")
            else real(path, mode, *rest, **more)
        )

    monkeypatch.setattr(downloads, "open", opened, raising=False)
    with pytest.raises(DataError, match="is full"):
        fetch(set_of(file), tmp_path)
    monkeypatch.setattr(downloads, "open", real, raising=False)
    assert part_of(tmp_path, file).read_bytes() == BODY[:100_000]
    fetch(set_of(file), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == BODY


@pytest.mark.parametrize("what", ["file", "locked"])
def test_a_folder_that_cannot_be_written_is_a_sentence(
    what: str, shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kept"
    if what == "file":
        folder.write_text("in the way")
    else:
        refused = PermissionError(errno.EACCES, "Permission denied", str(folder))
        monkeypatch.setattr(Path, "mkdir", lambda *rest, **more: (_ for _ in ()).throw(refused))
    with pytest.raises(DataError, match="cannot be used" if what == "file" else "may not write"):
        fetch(set_of(file_of(f"{shelf.url}/data.bin")), folder)


def test_who_asks_second_waits_for_the_first(shelf: Shelf, tmp_path: Path) -> None:
    wanted = set_of(file_of(f"{shelf.url}/data.bin"))
    lock = hold(tmp_path / ".lock")
    assert lock is not None
    heard = Heard()

    def told(share: float | None, doing: str) -> None:
        heard.tell(share, doing)
        if "another program" in doing and not lock.closed:
            (tmp_path / "data.bin").write_bytes(BODY)  # the first is done
            lock.close()

    fetch(wanted, tmp_path, Watch(told))
    assert "another program is downloading this" in heard.doings
    assert shelf.asked == []


def test_two_at_once_do_no_harm(shelf: Shelf, tmp_path: Path) -> None:
    wanted = set_of(file_of(f"{shelf.url}/data.bin"))
    threads = [threading.Thread(target=fetch, args=(wanted, tmp_path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "data.bin").read_bytes() == BODY
    assert len(shelf.asked) == 1


def test_of_an_archive_its_files_are_kept(shelf: Shelf, tmp_path: Path) -> None:
    members = {"deep/a.bin": b"a" * 5000, "deep/b.bin": b"b" * 3, "readme": b"not wanted"}
    shelf.files["/all.tar.gz"] = body = tar_of(members)
    wanted = {"deep/a.bin": 5000, "deep/b.bin": 3}
    found = set_of(file_of(f"{shelf.url}/all.tar.gz", body=body, name="all.tar.gz", members=wanted))
    fetch(found, tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == {"a.bin", "b.bin", "SOURCE.txt", ".lock"}
    assert (tmp_path / "a.bin").read_bytes() == b"a" * 5000
    fetch(found, tmp_path)
    assert len(shelf.asked) == 1


def test_an_archive_that_a_person_has_put_there_is_used(tmp_path: Path) -> None:
    body = tar_of({"a.bin": b"a" * 5000})
    wanted = set_of(file_of("http://127.0.0.1:1/x", body=body, name="all.tar.gz", members={"a.bin": 5000}))
    (tmp_path / "all.tar.gz").write_bytes(body)
    fetch(wanted, tmp_path)
    assert (tmp_path / "a.bin").read_bytes() == b"a" * 5000
    assert (tmp_path / "all.tar.gz").read_bytes() == body


def test_servers_with_the_same_trouble_are_named_together(tmp_path: Path) -> None:
    file = file_of("http://127.0.0.1:1/data.bin", "http://localhost:1/data.bin")
    with pytest.raises(DataError, match=r"downloaded\. 127\.0\.0\.1, localhost: refused the connection\."):
        fetch(set_of(file), tmp_path)


def test_every_set_says_all_that_is_needed() -> None:
    for one in PUBLIC:
        assert public_set(one.title) is one and public_set(one.id.upper()) is one
        for file in one.files:
            kind, _, digest = file.checksum.partition(":")
            assert kind == "sha256" and len(bytes.fromhex(digest)) == 32
            assert file.size > 0 and file.urls and all(url.startswith("http") for url in file.urls)
    assert public_set("nothing of the kind") is None


def test_the_folder_is_the_one_of_the_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEUROLOOM_HOME", str(tmp_path))
    assert datasets_home() == tmp_path / "datasets"
    assert datasets_home(tmp_path / "other") == tmp_path / "other" / "datasets"


def test_nothing_is_imported_for_the_network_or_torch_when_the_facts_are_read() -> None:
    code = "import sys, engine.data.sets.public_files; print({'torch', 'urllib.request'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
