"""`neuroloom run`: the list, what is refused in one sentence, and what a run's weights give."""

from __future__ import annotations

import io
import json
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli import main as cli
from engine.document.files import save_project
from engine.emit.writing import export
from engine.runs.checkpoints import write_tensors
from tests.engine.procedures.running import loaded
from tests.engine.procedures.test_boltzmann import machine
from tests.engine.sketches import catalogue

ROOT = Path(__file__).parents[3]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a project and weights of it."""
    monkeypatch.chdir(tmp_path)
    save_project(machine(), tmp_path / "net.nloom")
    _, model, _ = loaded(machine())
    write_tensors(tmp_path / "net.safetensors", dict(model.state_dict()))
    return tmp_path


def called(capsys: Captured, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = cli.main(["run", "net.nloom", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_list_names_procedures_with_their_inputs(capsys: Captured, net: Path) -> None:
    status, out, err = called(capsys)
    assert status == 0 and not err
    assert "gibbs  Draws hidden units" in out and "--rest blank|random (blank)" in out
    rows = [json.loads(line) for line in called(capsys, "--json")[1].splitlines()]
    (row,) = [one for one in rows if one["name"] == "gibbs"]
    assert row["title"] == "Gibbs sampling"
    assert {
        key: value
        for key, value in next(one for one in row["inputs"] if one["name"] == "rounds").items()
        if key != "doc"
    } == {"name": "rounds", "kind": "int", "default": 20, "minimum": 1, "maximum": 1_000_000}
    assert called(capsys, "gibbs", "--help")[1].startswith("gibbs  ")


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("gibs",), 1, "This network has no procedure 'gibs'; it has "),
        (("gibbs", "--weights", "W", "--rounds", "many"), 1, "Rounds needs a whole number"),
        (("gibbs", "--weights", "W", "--rounds", "0"), 1, "0 is outside that."),
        (("gibbs", "--weights", "W", "--round", "3"), 1, "gibbs takes no '--round'; it takes --split"),
        (("gibbs", "--weights", "W", "--rest", "full"), 1, "Rest is one of blank, random; not 'full'."),
        (("gibbs", "--weights", "W", "--rows", "99999"), 1, "Rows are numbers from 0 to "),
        (("gibbs", "--weights", "nowhere"), 1, "There are no weights in nowhere."),
        (("gibbs",), 2, "gibbs needs --weights W"),
        (("--rounds", "3"), 2, "--rounds is no procedure"),
        (("gibbs", "--seed", "x"), 2, "invalid int value: 'x'"),
        (("gibbs", "--weights", "W", "--seed", "-1"), 1, "A seed is a number from 0"),
        (("gibbs", "--weights", "W", "--input", "none.json"), 3, "none.json: No such file"),
        (("gibbs", "--weights", "W", "--input", "net.nloom"), 1, "net.nloom has 'neuroloom'; the columns"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_sentence(
    capsys: Captured, net: Path, words: tuple[str, ...], status: int, sentence: str
) -> None:
    words = tuple("net.safetensors" if one == "W" else one for one in words)
    found, out, err = called(capsys, *words)
    assert (found, out) == (status, "") and sentence in err and "Traceback" not in err


def test_states_are_lines_for_people_or_json_and_the_seed_decides_them(capsys: Captured, net: Path) -> None:
    words = ("gibbs", "--weights", "net.safetensors", "--rounds", "4", "--rows", "0", "2")
    status, out, err = called(capsys, *words)
    lines = out.splitlines()
    assert status == 0 and not err and len(lines) == 5 and lines[1].startswith("step 1  visible [0.")
    runs = [called(capsys, *words, "--json", f"--seed={seed}")[1] for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    assert list(json.loads(runs[0].splitlines()[0])) == ["step", "visible", "state", "hidden"]
    assert len(json.loads(runs[0].splitlines()[0])["state"]) == 2


def test_an_error_is_json_for_machines(capsys: Captured, net: Path) -> None:
    _, out, _ = called(capsys, "gibs", "--json")
    assert json.loads(out)["error"]["message"].startswith("This network has no procedure 'gibs'")


def test_rows_of_a_file_stand_in_place_of_those_of_the_data(capsys: Captured, net: Path) -> None:
    words = ("gibbs", "--weights", "net.safetensors", "--rounds", "1", "--json", "--input", "rows.json")
    (net / "rows.json").write_text(json.dumps({"start": [[0.5, 1], [1, 0]]}))
    first = json.loads(called(capsys, *words)[1].splitlines()[0])
    assert first["visible"] == [[0.5, 1.0], [1.0, 0.0]]
    for rows, sentence in (
        ({"start": [[1, 2, 3]]}, "A row of 'start' in rows.json is of [3] instead of [2]."),
        ({"end": [[1, 2]]}, "rows.json has 'end'; the columns of these data are start, stored."),
        ({"stored": [[1, 2]]}, "The file has no 'start', which is needed here."),
    ):
        (net / "rows.json").write_text(json.dumps(rows))
        status, _, err = called(capsys, *words)
        assert status == 1 and sentence in err
    (net / "rows.json").write_text("no JSON")
    status, _, err = called(capsys, *words)
    assert status == 1 and "Expecting value" in err


def test_weights_whose_size_is_learned_are_taken_and_others_refused(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", "gallery:gaussian-process", "--out", "fitted", "--json"]) == 0
    capsys.readouterr()
    words = ["run", "gallery:gaussian-process", "predict", "--json", "--weights"]
    assert cli.main([*words, "fitted"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] != [0.0]
    assert cli.main(["export", "gallery:gaussian-process", "--out", "gp.py", "--weights", "fitted"]) == 0
    assert cli.main(["run", "gallery:iris", "predict", "--weights", "fitted"]) == 1
    assert "belong to another model" in capsys.readouterr().err


GIBBS = ("gibbs", "--weights", "net.safetensors", "--json", "--rounds")
WAYS = pytest.mark.parametrize("exported", [False, True], ids=["command", "script"])


class Watched(io.StringIO):
    """Knows how many lines there were each time that what was written had to be passed on."""

    def __init__(self) -> None:
        super().__init__()
        self.passed_on: list[int] = []

    def flush(self) -> None:
        self.passed_on.append(self.getvalue().count("\n"))


@WAYS
def test_a_state_is_passed_on_before_the_next_is_computed(
    net: Path, monkeypatch: pytest.MonkeyPatch, exported: bool
) -> None:
    out = Watched()
    monkeypatch.setattr(sys, "stdout", out)
    if exported:
        export(machine(), catalogue(), net / "net.py", with_data=True, procedures=["gibbs"])
        monkeypatch.setattr(sys, "argv", ["net.py", *GIBBS, "3"])
        runpy.run_path("net.py", run_name="__main__")
    else:
        assert cli.main(["run", "net.nloom", *GIBBS, "3"]) == 0
    assert out.getvalue().count("\n") == 4
    assert [count for count in dict.fromkeys(out.passed_on) if count] == [1, 2, 3, 4]


@pytest.mark.skipif(os.name != "posix", reason="signals")
@WAYS
def test_ctrl_c_ends_it_with_one_line(net: Path, exported: bool) -> None:
    begin, words = "run_module('engine.cli'", ["neuroloom", "run", "net.nloom"]
    if exported:
        export(machine(), catalogue(), net / "net.py", with_data=True, procedures=["gibbs"])
        begin, words = "run_path('net.py'", ["net.py"]
    listens = "signal.signal(signal.SIGINT, signal.default_int_handler)"  # a shell may have turned that off
    starts = (
        f"import runpy, signal, sys; {listens}; sys.argv = sys.argv[1:]; runpy.{begin}, run_name='__main__')"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", starts, *words, *GIBBS, "1000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )
    assert running.stdout is not None
    assert json.loads(running.stdout.readline())["step"] == 0
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130 and err == (
        "net.py gibbs: stopped\n" if exported else "neuroloom: stopped\n"
    )
    assert len(out.splitlines()) < 1_000_000
