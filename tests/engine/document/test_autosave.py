"""What was unsaved when the program died is found again, by one program, once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.document import autosave
from engine.document.autosave import Autosave
from engine.document.files import load_project
from engine.document.graph import Graph, Node, Project
from engine.errors import ProjectFileError

CRASHES = """
import os, signal, sys
from pathlib import Path
from engine.document.autosave import Autosave
from engine.document.graph import Project
first, second = Autosave(Path(sys.argv[1])), Autosave(Path(sys.argv[1]))
for turn in range(5):
    first.write(Project(f"first {turn}"), Path(sys.argv[2]))
    second.write(Project(f"second {turn}"), None)
print("ready", flush=True)
sys.stdin.read()
"""


def crashed(folder: Path, path: Path) -> subprocess.Popen[str]:
    """A program that holds two unsaved documents, waiting to be killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", CRASHES, str(folder), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_the_copies_of_a_killed_program_are_found_and_those_of_a_running_one_are_not(tmp_path: Path) -> None:
    folder, path = tmp_path / "state" / "recovery", tmp_path / "net.nloom"
    process = crashed(folder, path)
    assert autosave.find(folder) == []
    process.kill()
    process.communicate()
    found = autosave.find(folder)
    assert {(one.project.title, one.path) for one in found if one.project} == {
        ("first 4", path),
        ("second 4", None),
    }
    assert found[0].saved >= found[1].saved > 1e9
    assert autosave.find(folder) == [], "another window must not offer the same copies"
    autosave.release(found[0])
    autosave.discard(found[1])
    again = autosave.find(folder)
    assert [one.file for one in again] == [found[0].file]
    autosave.discard(again[0])
    assert list(folder.iterdir()) == []


def test_a_recovered_project_is_the_one_that_was_written(tmp_path: Path) -> None:
    project = Project("T", "notes", Graph([Node("n1", "Linear", "层")]), next_id=9, extra={"regions": [1]})
    keeper = Autosave(tmp_path)
    keeper.write(project, Path("relative.nloom"))
    keeper.close(keep=True)
    assert project.extra == {"regions": [1]}
    (found,) = autosave.find(tmp_path)
    assert found.project == project
    assert found.path == Path("relative.nloom").absolute()
    assert load_project(found.file).title == "T", "a copy is a project file that opens by itself"
    autosave.discard(found)


def test_closing_on_purpose_and_saving_leave_nothing(tmp_path: Path) -> None:
    with Autosave(tmp_path) as keeper:
        keeper.write(Project("one"), None)
        keeper.discard()
        assert not keeper.file.exists()
        keeper.write(Project("two"), None)
        assert load_project(keeper.file).title == "two"
    assert list(tmp_path.iterdir()) == []
    Autosave(tmp_path).close()


def test_an_exception_keeps_the_copy(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Autosave(tmp_path) as keeper:
        keeper.write(Project("kept"), None)
        raise ZeroDivisionError
    (found,) = autosave.find(tmp_path)
    assert found.project is not None and found.project.title == "kept"
    autosave.discard(found)


def test_a_copy_that_cannot_be_read_is_reported_not_lost(tmp_path: Path) -> None:
    (tmp_path / f"bad{autosave.SUFFIX}").write_bytes(b"{")
    (tmp_path / f"odd{autosave.SUFFIX}").write_text('{"neuroloom": 1, "nodes": [], "recovery": 3}')
    found = {one.file.name: one for one in autosave.find(tmp_path)}
    bad, odd = found[f"bad{autosave.SUFFIX}"], found[f"odd{autosave.SUFFIX}"]
    assert bad.project is None and "breaks off" in bad.error
    assert odd.project == Project() and odd.path is None
    for one in found.values():
        autosave.discard(one)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_copy_keeps_none_from_being_offered_and_locks_of_the_dead_go(tmp_path: Path) -> None:
    (tmp_path / "dead.recovery.lock").touch()
    os.mkfifo(tmp_path / f"pipe{autosave.SUFFIX}")
    (tmp_path / f"odd{autosave.SUFFIX}").write_text("{}")
    (tmp_path / "odd.recovery.lock").mkdir()
    found = autosave.find(tmp_path)
    assert [one.file.name for one in found] == [f"pipe{autosave.SUFFIX}"]
    assert "not an ordinary file" in found[0].error and not (tmp_path / "dead.recovery.lock").exists()
    for one in found:
        autosave.release(one)


def test_a_folder_that_is_not_there_holds_nothing_and_one_that_cannot_be_made_is_an_error(
    tmp_path: Path,
) -> None:
    assert autosave.find(tmp_path / "gone") == []
    (tmp_path / "file").write_text("")
    with pytest.raises(ProjectFileError, match="recovery copy cannot be written"):
        Autosave(tmp_path / "file").write(Project(), None)
