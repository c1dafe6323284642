"""The index says what the folders say, whatever happens to it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.document.locks import hold
from engine.runs.index import INDEX, RunIndex, read_run
from engine.runs.records import LOCK, Labels, lower_is_better, write_labels
from tests.engine.train.stored_runs import METRICS, write_run


def test_a_run_is_read_with_its_settings_and_the_best_and_last_of_each_value(tmp_path: Path) -> None:
    write_run(tmp_path, "one", results={"test_loss": 0.25})
    (record,) = RunIndex(tmp_path).refresh()
    assert (record.title, record.optimiser, record.lr, record.seed) == ("one", "SGD", 0.1, 7)
    assert (record.epochs_done, record.steps, record.seconds) == (3, 30, 3.5)
    assert record.best == {"train_loss": 1 / 3, "val_loss": 2 / 3, "val_accuracy": 0.53, "test_loss": 0.25}
    assert record.last["val_loss"] == 2 / 3 and record.plan_hash and record.graph_hash


def test_losses_fall_and_accuracies_rise() -> None:
    assert lower_is_better("val_loss") and lower_is_better("val_mean_absolute_error")
    assert not lower_is_better("val_accuracy") and not lower_is_better("val_top5_accuracy")


def test_what_a_run_says_of_its_values_counts_more_than_their_names() -> None:
    higher = ("recalled",)
    assert not lower_is_better("val_recalled", higher) and not lower_is_better("test_recalled", higher)
    assert lower_is_better("val_accuracy", higher) and lower_is_better("train_loss", higher)


def test_what_changes_in_a_folder_is_seen_and_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    one, two = write_run(tmp_path, "one"), write_run(tmp_path, "two")
    index = RunIndex(tmp_path)
    assert len(index.refresh()) == 2
    with open(one / "metrics.csv", "a") as file:
        file.write("4,40,4.5,0.1,0.1,0.05,0.9\n")
    write_labels(one, Labels(("good",), "the best so far"))
    for path in two.iterdir():
        path.unlink()
    two.rmdir()
    (record,) = index.refresh()
    assert record.best["val_loss"] == 0.05 and record.tags == ("good",) and record.note == "the best so far"


@pytest.mark.parametrize("damage", ["gone", "junk", "torn", "other version", "other values"])
def test_a_damaged_index_is_made_anew_from_the_folders(damage: str, tmp_path: Path) -> None:
    write_run(tmp_path, "one")
    before = RunIndex(tmp_path).refresh()
    path = tmp_path / INDEX
    if damage == "gone":
        path.unlink()
    elif damage == "junk":
        path.write_bytes(b"this is no database" * 300)
    elif damage == "torn":
        os.truncate(path, path.stat().st_size // 2 + 100)
    else:
        import sqlite3

        base = sqlite3.connect(path)
        values = damage == "other values"
        base.execute("UPDATE runs SET tags = '[', seed = 'x'" if values else "PRAGMA user_version = 99")
        base.commit()
        base.close()
    assert RunIndex(tmp_path).refresh() == before


def test_the_rows_come_from_the_index_when_nothing_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path, "one")
    before = RunIndex(tmp_path).refresh()

    def unexpected(folder: Path) -> None:
        raise AssertionError(f"{folder} was read again")

    monkeypatch.setattr("engine.runs.index.read_metrics", unexpected)
    assert RunIndex(tmp_path).refresh() == before


def test_no_folder_no_runs_and_no_index(tmp_path: Path) -> None:
    assert RunIndex(tmp_path / "nowhere").refresh() == []
    assert RunIndex(tmp_path).refresh() == [] and not (tmp_path / INDEX).exists()


def test_a_folder_that_cannot_be_read_is_listed_with_the_reason(tmp_path: Path) -> None:
    write_run(tmp_path, "good")
    bad = write_run(tmp_path, "bad")
    (bad / "settings.json").write_text("{")
    odd = write_run(tmp_path, "odd")
    (odd / "settings.json").write_text('{"epochs": "many"}')
    found = {record.name: record for record in RunIndex(tmp_path).refresh()}
    assert found["good"].state == "finished"
    assert found["bad"].state == found["odd"].state == "unreadable"
    assert "cannot be read" in found["bad"].error and "could not convert" in found["odd"].error


DEEP = "[" * 100_000
DAMAGES = {
    "metrics.csv": (
        METRICS + "1,10,1.5,0.1,1.0,2.0,0.5,9,9\n",
        METRICS + "many,10\n",
        METRICS + "inf,10\n",
        "step\n1\n",
        METRICS + "9" * 200_000 + "\n",
    ),
    "labels.json": ('{"tags": 5}', "[1]", DEEP, '{"tags": [1], "note": "\\ud800"}'),
    "settings.json": (
        '{"seed": 123456789012345678901234567, "state": "finished"}',
        '{"seconds": Infinity}',
        '{"epochs": NaN}',
        '{"plan": {"phases": 3}}',
        '{"plan": {"phases": [{"objectives": [{"optimiser": {"name": []}}]}]}}',
        '{"title": "\\ud800"}',
        '{"results": [1]}',
        DEEP,
        "\xff",
    ),
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in DAMAGES.items() for text in texts]
)
def test_a_damaged_run_hides_no_other(name: str, text: str, tmp_path: Path) -> None:
    """Each file in turn, whatever stands in it: the run is listed, mostly as unreadable with the reason."""
    write_run(tmp_path, "good")
    (write_run(tmp_path, "odd") / name).write_text(text, "latin-1")
    for _ in range(2):  # the second time from the index
        found = {record.name: record for record in RunIndex(tmp_path).refresh()}
        assert found["good"].state == "finished" and len(found) == 2
        RunIndex(tmp_path).note(tmp_path / "odd")
        if "ud800" not in text:
            assert found["odd"].state == "unreadable"
            assert f"{name} of odd cannot be read: " in found["odd"].error


@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize("name", ["settings.json", "metrics.csv", "labels.json", LOCK])
def test_what_is_no_file_in_the_place_of_one_hides_no_run_and_holds_up_nobody(
    name: str, kind: str, tmp_path: Path
) -> None:
    write_run(tmp_path, "good")
    odd = write_run(tmp_path, "odd", state="running")
    (odd / name).unlink(missing_ok=True)
    os.mkfifo(odd / name) if kind == "pipe" else (odd / name).mkdir()
    found = {record.name: record for record in RunIndex(tmp_path).refresh()}
    assert found["good"].state == "finished"
    assert found["odd"].state == ("interrupted" if name == LOCK else "unreadable")
    if name == LOCK:
        with pytest.raises(OSError):
            hold(odd / LOCK)


def test_a_run_whose_program_is_gone_is_interrupted(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "one", state="running")
    assert read_run(folder).state == "interrupted"
    code = (
        "import sys; from engine.document.locks import hold; from pathlib import Path\n"
        f"lock = hold(Path({str(folder / LOCK)!r}))\n"
        "print('held', flush=True); sys.stdin.read()\n"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdin is not None and other.stdout is not None
    try:
        assert other.stdout.readline() == b"held\n"
        assert read_run(folder).state == "running" and RunIndex(tmp_path).refresh()[0].state == "running"
    finally:
        other.kill()
        other.communicate()
    assert read_run(folder).state == RunIndex(tmp_path).refresh()[0].state == "interrupted"


def test_two_programs_may_write_at_once(tmp_path: Path) -> None:
    folders = [write_run(tmp_path, f"run-{number}") for number in range(12)]
    RunIndex(tmp_path).refresh()
    code = (
        "import sys; from pathlib import Path; from engine.runs.index import RunIndex\n"
        f"runs = Path({str(tmp_path)!r})\n"
        "for number in range(12):\n"
        "    folder = runs / f'run-{number}'\n"
        "    (folder / 'labels.json').write_text('{\"tags\": [\"' + sys.argv[1] + '\"]}')\n"
        "    RunIndex(runs).note(folder); RunIndex(runs).refresh()\n"
    )
    programs = [subprocess.Popen([sys.executable, "-c", code, tag]) for tag in ("a", "b")]
    assert [program.wait(60) for program in programs] == [0, 0]
    found = RunIndex(tmp_path).refresh()
    assert len(found) == len(folders) and {record.tags for record in found} <= {("a",), ("b",)}


def test_a_note_of_one_run_makes_no_index_where_nobody_keeps_one(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "one")
    RunIndex(tmp_path).note(folder)
    assert not (tmp_path / INDEX).exists()


def test_a_lock_is_held_by_one_program(tmp_path: Path) -> None:
    lock = hold(tmp_path / LOCK)
    assert lock is not None and hold(tmp_path / LOCK) is None
    lock.close()
    again = hold(tmp_path / LOCK)
    assert again is not None
    again.close()
