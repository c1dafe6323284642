"""The command line, called in this process where it can be and as a program where it must be."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.cli import main as cli
from engine.document.files import save_project
from engine.emit import writing
from engine.emit.forms.form import Export
from engine.emit.writing import write
from engine.train.run_folder import read_settings
from tests.engine.train.networks import iris, with_node
from tests.warm import python

ROOT = Path(__file__).parents[3]
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Work in a folder of the test's own, with one thread."""
    monkeypatch.chdir(tmp_path)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def flowers(tmp_path: Path) -> str:
    save_project(iris(), tmp_path / "flowers.nloom")
    return "flowers.nloom"


def called(capsys: Captured, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = cli.main(list(words))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_help_lists_the_commands_and_the_exit_statuses(capsys: Captured) -> None:
    status, out, _ = called(capsys, "--help")
    assert status == 0 and "exit status" in out
    assert all(command in out for command in ("gallery", "check", "train", "export", "run", "nodes"))
    for command in ("gallery", "check", "train", "export", "run", "nodes"):
        assert called(capsys, command, "--help")[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["paint"],
        ["check"],
        ["export", "gallery:iris"],
        ["train", "gallery:iris", "--epochs", "0"],
        ["train", "gallery:iris", "--epochs", f"{10**30}"],
        ["train", "gallery:iris", "--seed", "-1"],
        ["train", "gallery:iris", "--resume"],
        ["nodes", "no such thing"],
    ],
)
def test_what_is_not_understood_is_2(words: list[str], capsys: Captured) -> None:
    status, out, err = called(capsys, *words)
    assert status == cli.USAGE and not out and err


def test_gallery_gives_ids_titles_and_rows(capsys: Captured) -> None:
    status, out, _ = called(capsys, "gallery", "--json")
    rows = {row["id"]: row for row in objects(out)}
    assert status == 0
    assert {"mnist-cnn", "mnist-mlp", "iris", "santa-fe-lstm", "two-heads"} <= rows.keys()
    assert rows["mnist-cnn"]["title"] == "MNIST CNN" and rows["mnist-cnn"]["covers"] == ["convolution"]
    assert "gallery:mnist-cnn" in called(capsys, "gallery")[1]


def test_check_gives_shapes_and_parameters(capsys: Captured) -> None:
    status, out, _ = called(capsys, "check", "gallery:mnist-cnn", "--json")
    (found,) = objects(out)
    assert status == 0 and found["problems"] == [] and found["parameters"] == 34_826
    assert found["shapes"]["n2"] == {"output": [32, 26, 26]}
    assert "34,826 parameters" in called(capsys, "check", "gallery:mnist-cnn")[1]


def test_a_project_with_errors_is_1_and_says_where(capsys: Captured, tmp_path: Path) -> None:
    save_project(with_node(iris(), "n2", units=-1), tmp_path / "bad.nloom")
    status, out, _ = called(capsys, "check", "bad.nloom", "--json")
    (found,) = objects(out)
    assert status == 1 and any(
        one["severity"] == "error" and one["node"] == "n2" for one in found["problems"]
    )
    assert "error: n2 hidden" in called(capsys, "check", "bad.nloom")[1]
    status, out, err = called(capsys, "train", "bad.nloom", "--json")
    assert status == 1 and objects(out)[0]["error"]["node"] == "n2" and "neuroloom:" in err


@pytest.mark.parametrize("content", [b"", b"{", b'{"neuroloom": 99}', b"\x80\x04K\x01.", b"[1, 2]"])
def test_a_file_that_cannot_be_read_is_3(content: bytes, capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "bad.nloom").write_bytes(content)
    for command in (["check"], ["train"], ["export", "--out", "x.py"]):
        status, out, err = called(capsys, command[0], "bad.nloom", *command[1:], "--json")
        assert status == cli.UNREADABLE and objects(out)[0]["error"]["message"] and "Traceback" not in err
    assert {path.name for path in tmp_path.iterdir()} == {"bad.nloom"}
    assert called(capsys, "check", "nowhere.nloom")[0] == cli.UNREADABLE
    assert called(capsys, "check", "gallery:nowhere")[0] == cli.UNREADABLE


def test_train_prints_a_line_a_step_and_a_line_an_epoch(capsys: Captured, flowers: str) -> None:
    status, out, err = called(capsys, "train", flowers, "--epochs", "2", "--out", "run", "--json")
    lines = objects(out)
    assert status == 0 and "the run is in run" in err
    assert [list(line) for line in lines[:3]] == [["step", "epoch", "loss"]] * 3
    assert list(lines[3]) == ["epoch", "val_loss", "val_accuracy"]
    assert [line["step"] for line in lines if "step" in line] == [1, 2, 3, 4, 5, 6]
    assert list(lines[-1]) == ["test_loss", "test_accuracy"]
    assert read_settings(Path("run"))["state"] == "finished"


def test_the_seed_decides_the_numbers_and_is_an_override(capsys: Captured, flowers: str) -> None:
    runs = [
        called(capsys, "train", flowers, "--epochs", "1", "--seed", seed, "--json", "--out", f"run{index}")[1]
        for index, seed in enumerate(("5", "5", "6"))
    ]
    assert runs[0] == runs[1] != runs[2]


def test_a_run_for_people_and_a_folder_that_is_taken(capsys: Captured, flowers: str) -> None:
    status, out, _ = called(capsys, "train", flowers, "--epochs", "1")
    assert status == 0 and "epoch   1/1  loss" in out and "test_accuracy" in out
    (folder,) = Path("runs").iterdir()
    assert folder.name.startswith("flowers-")
    status, _, err = called(capsys, "train", flowers, "--out", str(folder))
    assert status == cli.USAGE and "not empty" in err


def test_a_missing_device_is_said_and_replaced(capsys: Captured, flowers: str) -> None:
    status, _, err = called(capsys, "train", flowers, "--epochs", "1", "--device", "cuda:99")
    assert status == 0 and "cuda:99" in err


def test_export_writes_a_script_with_weights_and_data(capsys: Captured, flowers: str) -> None:
    called(capsys, "train", flowers, "--epochs", "1", "--out", "run")
    status, out, _ = called(capsys, "export", flowers, "--out", "deep/net.py", "--weights", "run", "--json")
    (found,) = objects(out)
    assert status == 0 and found["files"] == ["deep/net.py", "deep/net.safetensors"]
    compile(Path("deep/net.py").read_text(), "net.py", "exec")
    status, _, err = called(capsys, "export", "gallery:mnist-mlp", "--out", "m.py", "--weights", "run")
    assert status == 1 and "another model" in err and not Path("m.py").exists()
    status, out, _ = called(capsys, "export", "gallery:santa-fe-lstm", "--out", "s.py", "--with-data")
    assert status == 0 and any(Path("santafe").iterdir()) and "s.py" in out
    assert called(capsys, "export", flowers, "--out", "deep")[0] == cli.USAGE
    assert called(capsys, "export", flowers, "--out", "e.py", "--weights", "nowhere")[0] == 1


@pytest.mark.usefixtures("warm_python")
def test_export_is_verified_and_a_difference_is_an_error(
    capsys: Captured, flowers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("export", flowers, "--out", "net.py", "--verify", "--steps", "3", "--replace")
    status, out, _ = called(capsys, *words, "--json")
    found = objects(out)[0]["verified"]
    assert status == cli.OK and found["equal"] and found["steps"] == 3 and len(found["losses"]) == 3

    def written_wrong(made: Export, *options: Any, **more: Any) -> list[Path]:
        files = write(made, *options, **more)
        files[0].write_text(files[0].read_text("utf-8").replace("optimiser.step()", "pass"), "utf-8")
        return files

    monkeypatch.setattr(writing, "write", written_wrong)
    status, out, _ = called(capsys, *words)
    assert status == cli.PROBLEMS
    assert out.splitlines()[-1].startswith("Step 2, loss: ")


def test_export_writes_a_notebook(capsys: Captured, flowers: str) -> None:
    status, out, _ = called(capsys, "export", flowers, "--out", "net.ipynb", "--notebook", "--json")
    assert status == 0 and objects(out) == [{"notebook": "net.ipynb", "files": ["net.ipynb"]}]
    assert json.loads(Path("net.ipynb").read_text("utf-8"))["nbformat"] == 4
    assert called(capsys, "export", flowers, "--out", "n", "--notebook", "--package")[0] == cli.USAGE


def test_export_writes_a_package(capsys: Captured, flowers: str) -> None:
    status, out, _ = called(capsys, "export", flowers, "--out", "net", "--package", "--json")
    written = objects(out)[0]
    assert status == 0 and written["package"] == "net"
    assert all(Path(one).is_file() for one in written["files"])
    assert Path(written["files"][0]).name == "train.py" and Path("net/pyproject.toml").is_file()
    Path("file").touch()
    assert called(capsys, "export", flowers, "--out", "file", "--package")[0] == cli.USAGE


def test_a_failed_export_leaves_no_file(capsys: Captured, tmp_path: Path) -> None:
    save_project(with_node(iris(), "n2", units=-1), tmp_path / "bad.nloom")
    status, _, err = called(capsys, "export", "bad.nloom", "--out", "bad.py", "--with-data")
    assert status == 1 and err and {path.name for path in tmp_path.iterdir()} == {"bad.nloom"}


def test_an_export_replaces_a_file_that_differs_only_when_it_is_told(capsys: Captured, flowers: str) -> None:
    words, script = ("export", flowers, "--out", "net.py"), Path("net.py")
    assert called(capsys, *words)[0] == 0 == called(capsys, *words)[0]  # the same is no loss
    text = script.read_text()
    script.write_text(f"{text}# my own line\n")
    status, _, err = called(capsys, *words)
    assert status == 1 and "net.py is there already" in err and "--replace" in err
    assert script.read_text() == f"{text}# my own line\n"
    assert called(capsys, *words, "--replace")[0] == 0 and script.read_text() == text


def test_nodes_are_listed_and_explained(capsys: Captured) -> None:
    status, out, _ = called(capsys, "nodes", "--json")
    ids = [row["id"] for row in objects(out)]
    assert status == 0 and len(ids) >= 40 and "Conv2d" in ids
    for word in ("Conv2d", "conv 2-d"):
        assert "filters" in called(capsys, "nodes", word)[1]
    (row,) = objects(called(capsys, "nodes", "LSTM", "--json")[1])
    assert [port["name"] for port in row["outputs"]] == ["output", "h", "c"]


def program(*words: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python(), "-m", "engine.cli", *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_stops_within_a_batch_and_the_run_can_go_on(tmp_path: Path, flowers: str) -> None:
    running = program("train", flowers, "--epochs", "100000", "--out", "run", "--json")
    assert running.stdout is not None and running.stderr is not None
    first = running.stdout.readline()
    assert json.loads(first)["step"] == 1
    running.send_signal(signal.SIGINT)
    out, err = running.stdout.read(), running.stderr.read()  # also lines that were read along with the first
    running.wait(60)
    assert running.returncode == 130 and "stopped after" in err and "Traceback" not in err
    settings = read_settings(tmp_path / "run")
    assert (
        settings["state"] == "stopped"
        and settings["steps"] == sum('"step"' in one for one in out.split("\n")) + 1
    )
    assert (tmp_path / "run" / "checkpoint.json").exists()


SLOW = """
import sys, time
sys.stderr.write("loading\\n")
try:
    while True:
        time.sleep(0.1)
except KeyboardInterrupt:
    raise ImportError("cannot load it")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("command", ["check", "run"])
def test_ctrl_c_while_torch_loads_ends_it_with_one_line(command: str, tmp_path: Path, flowers: str) -> None:
    """As numpy does, this torch makes another error of it."""
    (tmp_path / "torch.py").write_text(SLOW, "utf-8")
    running = subprocess.Popen(
        [sys.executable, "-m", "app.main", command, flowers],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))},
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),
    )
    assert running.stderr is not None and running.stderr.readline() == "loading\n"
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=60)[1] == "neuroloom: stopped\n" and running.returncode == 130


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_killed_outright_a_run_goes_on_to_the_same_end(capsys: Captured, tmp_path: Path) -> None:
    """C-14: kill -9 in the middle of it."""
    save_project(iris(epochs=700), tmp_path / "long.nloom")
    running = program("train", "long.nloom", "--out", "run", stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not Path("run/checkpoint.json").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    running.kill()
    running.communicate()
    done = json.loads(Path("run/checkpoint.json").read_text())["step"]
    assert 0 < done < 2100
    status, out, _ = called(capsys, "train", "long.nloom", "--out", "run", "--resume", "--json")
    assert status == 0
    _, whole, _ = called(capsys, "train", "long.nloom", "--out", "whole", "--json")
    lines = out.splitlines()
    assert json.loads(lines[0]).get("step", done + 1) == done + 1
    assert whole.splitlines()[-len(lines) :] == lines


def test_a_reader_that_goes_away_ends_the_run_quietly(tmp_path: Path, flowers: str) -> None:
    running = program("train", flowers, "--epochs", "100000", "--out", "run", "--json")
    assert running.stdout is not None and running.stderr is not None
    running.stdout.readline()
    running.stdout.close()
    assert running.wait(60) in (0, 130)
    assert "Traceback" not in running.stderr.read()
    running.stderr.close()
    assert read_settings(tmp_path / "run")["state"] == "stopped"


def test_the_light_commands_load_neither_torch_nor_qt() -> None:
    code = (
        "import sys; from engine.cli.main import main; main(['gallery']); main(['nodes']);"
        "print([name for name in ('torch', 'PySide6') if name in sys.modules], file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert found.returncode == 0 and found.stderr.strip() == "[]"
