"""What the command line prints of anybody's texts can neither break its lines nor steer a terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.cli.words import say
from engine.document.edits import Rename
from engine.document.files import save_project
from engine.runs.records import Labels, write_labels
from tests.engine.sketches import classifier
from tests.engine.train.stored_runs import write_run

HOSTILE = "two\nlines\x1b[2J\x9b31m\u202eover\u2028 \ud800 \x00end"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    main(list(words))
    captured = capsys.readouterr()
    found = captured.out + captured.err
    odd = {letter for letter in found if not letter.isprintable()} - {"\n"}
    assert odd == set()
    return found


def test_check_train_and_export_write_names_out(capsys: pytest.CaptureFixture[str]) -> None:
    project = classifier().project
    Rename("n2", HOSTILE).apply(project)
    project.title = HOSTILE
    save_project(project, Path("net.nloom"))
    lines = printed(capsys, "check", "net.nloom").splitlines()
    assert len(lines) == 7
    assert lines[1].split()[1].startswith(r"two\nlines\x1b[2J")
    assert r"nowhere\x1b[2J" in printed(capsys, "check", "nowhere\x1b[2J")
    told = printed(capsys, "train", "net.nloom", "--epochs", "1", "--out", "run\x1b[2J")
    assert r"the run is in run\x1b[2J" in told


def test_runs_and_their_tags(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    name = "run\x1b[2J\nsecond"
    write_run(tmp_path / "runs", name, 2)
    write_labels(tmp_path / "runs" / name, Labels(("\x1b]0;title\x07",), "a\nnote"))
    assert len(printed(capsys, "runs", "list").splitlines()) == 2
    assert r"run\x1b[2J\nsecond" in printed(capsys, "runs", "list")
    printed(capsys, "runs", "show", name)
    printed(capsys, "runs", "csv", name)
    printed(capsys, "runs", "show", "\x1b[2J")
    printed(capsys, "runs", "tag", name, "\x1b[31m")


def test_data_look(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{row / 10},{row % 7},{'ab'[row % 2]}\x1b[31m" for row in range(40)]
    Path("odd\x1b[2J.csv").write_text("\n".join(["width\x1b]0;x\x07,height,kind", *rows]))
    found = printed(capsys, "data", "look", "odd\x1b[2J.csv")
    assert found.startswith(r"odd\x1b[2J.csv: Table")
    printed(capsys, "data", "look", "nothing\x1b[2J.csv")
    printed(capsys, "nodes", "nothing\x1b[2J")


ENCODINGS = ("ascii", "latin-1", "cp1252", "utf-8")
# The standard output as Python opens it, in one encoding after the other: to start one takes seconds.
IN_EACH = """
import sys
from engine.cli.main import main
print(sys.stdout.encoding, sys.stdout.errors, file=sys.stderr)
for encoding in sys.argv[1:]:
    sys.stdout = open(f"{encoding}.txt", "w", encoding=encoding, errors=sys.__stdout__.errors)
    assert main(["check", "net.nloom"]) == 0
    sys.stdout.close()
"""


def test_letters_that_a_terminal_lacks_are_written_out(tmp_path: Path) -> None:
    project = classifier().project
    Rename("n2", "層 \ud800 ·").apply(project)
    save_project(project, tmp_path / "net.nloom")
    done = subprocess.run(
        [sys.executable, "-c", IN_EACH, *ENCODINGS],
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.decode().split() == ["ascii", "strict"]
    for encoding in ENCODINGS:
        text = (tmp_path / f"{encoding}.txt").read_text(encoding)
        assert r"\ud800" in text and ("層" if encoding == "utf-8" else r"\u5c64") in text


def test_what_is_printable_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    say("naïve 層 3×28×28 · 👩\u200d🔬")
    assert out.getvalue() == "naïve 層 3×28×28 · 👩\u200d🔬\n"
