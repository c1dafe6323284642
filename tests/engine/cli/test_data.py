"""`data` lists and downloads; the server is on this computer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cli import data as cli_data
from engine.cli.main import main
from engine.cli.progress import ProgressLine
from engine.data.sets import downloads, public_files
from engine.data.sets.public_files import PublicFile, PublicSet, part_of
from engine.document.files import save_project
from engine.document.graph import Graph, Node, Project
from tests.engine.data.file_server import Shelf, serving
from tests.engine.data.public_made import public_folder

BODY = b"one line\n" * 40_000


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    monkeypatch.setattr(downloads, "WAITS", (0.0,))
    monkeypatch.delenv("http_proxy", raising=False)
    with serving() as found:
        found.files["/lines.txt"] = BODY
        file = PublicFile(
            "lines.txt",
            len(BODY),
            f"sha256:{hashlib.sha256(BODY).hexdigest()}",
            (f"{found.url}/lines.txt",),
        )
        offered = (PublicSet("lines", "Some lines", "For tests.", "Public domain", "http://x", (file,)),)
        monkeypatch.setattr(cli_data, "PUBLIC", offered)
        monkeypatch.setattr(public_files, "PUBLIC", offered)
        yield found


def test_a_set_is_downloaded_and_its_folder_printed(
    shelf: Shelf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "get", "Some Lines", "--in", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert out == f"{tmp_path / 'lines'}\n"
    assert "0.4 MB into" in err and "Public domain" in err
    assert (tmp_path / "lines" / "lines.txt").read_bytes() == BODY
    assert main(["data", "get", "lines", "--in", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"id": "lines", "folder": str(tmp_path / "lines")}
    assert len(shelf.asked) == 1


def test_the_list_says_what_is_here(shelf: Shelf, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def state() -> tuple[str, int]:
        assert main(["data", "list", "--json", "--in", str(tmp_path)]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["bytes"] == len(BODY) and found["folder"] == str(tmp_path / "lines")
        return found["state"], found["downloaded"]

    assert state() == ("not here", 0)
    file = public_files.PUBLIC[0].files[0]
    (tmp_path / "lines").mkdir()
    part_of(tmp_path / "lines", file).write_bytes(BODY[:1000])
    assert state() == ("in part", 1000)
    assert main(["data", "list", "--in", str(tmp_path)]) == 0
    assert "1 kB of 0.4 MB" in capsys.readouterr().out
    assert main(["data", "get", "lines", "--in", str(tmp_path)]) == 0
    capsys.readouterr()
    assert shelf.asked == [("/lines.txt", "bytes=1000-")]
    assert state() == ("here", len(BODY))


def test_failures_are_sentences(shelf: Shelf, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "get", "nothing"]) == 2
    assert "there are lines" in capsys.readouterr().err
    shelf.files.clear()
    assert main(["data", "get", "lines", "--in", str(tmp_path), "--json"]) == 1
    out, err = capsys.readouterr()
    assert "answered 404" in json.loads(out)["error"]["message"] and "answered 404" in err


def test_stopped_by_a_key_it_keeps_what_is_there(
    shelf: Shelf, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.hold_after = 100_000

    def show(line: object, share: float | None, doing: str) -> None:
        if share is not None and share * len(BODY) >= 100_000:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressLine, "show", show)
    assert main(["data", "get", "lines", "--in", str(tmp_path)]) == 130
    assert "is kept" in capsys.readouterr().err
    assert part_of(tmp_path / "lines", public_files.PUBLIC[0].files[0]).stat().st_size == 100_000


def test_a_project_whose_set_is_missing_says_how_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = Graph([Node("n1", "Cifar10", "photographs")])
    save_project(Project(title="Photographs", graph=graph, next_id=2), tmp_path / "p.nloom")
    monkeypatch.chdir(tmp_path)
    for command in ("check", "train"):
        assert main([command, str(tmp_path / "p.nloom")]) == 1
        out, err = capsys.readouterr()
        assert "CIFAR-10 has not been downloaded yet. `neuroloom data get cifar-10` does it" in out + err
    assert not (tmp_path / "runs").exists()
    graph = Graph([Node("n1", "Cifar10", "photographs", {"path": str(public_folder("cifar-10"))})])
    save_project(Project(title="Photographs", graph=graph, next_id=2), tmp_path / "p.nloom")
    assert main(["check", str(tmp_path / "p.nloom"), "--allow-outside"]) == 0
