"""Crashes of the whole program: written down by the program that ends, read by the next one."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.document import crashes

REPORT = """network {"file": "<network 7>", "nodes": {"27": ["n4", "classes"], "30": ["n5", "loss"]}}
Fatal Python error: Segmentation fault

Thread 0x00007f0000000001 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait
  File "<network 7>", line 30 in objective

Current thread 0x00007f0000000002 (most recent call first):
  File "/somewhere/torch/nn/modules/linear.py", line 114 in forward
  File "/somewhere/torch/nn/modules/module.py", line 1527 in _call_impl
  File "<network 7>", line 27 in forward
  File "/somewhere/engine/run/loop.py", line 200 in _train_batch

Extension modules: numpy.core._multiarray_umath (total: 1)
"""

NATIVE = """
import ctypes, sys
from pathlib import Path
from engine.document import crashes
crashes.watch(Path(sys.argv[1]))
{work}
"""


def run(folder: Path, work: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", NATIVE.format(work=work), str(folder)], capture_output=True, timeout=120
    )
    return done.returncode


def test_the_node_is_that_of_the_thread_that_crashed() -> None:
    found = crashes.read(REPORT)
    assert (found.what, found.node_id, found.node) == ("a segmentation fault", "n4", "classes")
    assert found.sentence.startswith("Last time Neuroloom ended with a segmentation fault in “classes”")


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("/x/torch/nn/modules/conv.py", "a conv layer"),
        ("/x/torch/autograd/graph.py", "the backward pass"),
        ("/x/numpy/linalg.py", ""),
    ],
)
def test_without_a_line_of_a_network_the_kind_of_work_is_told(line: str, place: str) -> None:
    head = "Fatal Python error: Aborted\n\nCurrent thread 0x01 (most recent call first):\n"
    found = crashes.read(f'{head}  File "{line}", line 3 in f\n')
    assert (found.what, found.node_id, found.place) == ("an abort", None, place)


@pytest.mark.skipif(sys.platform == "win32", reason="ends otherwise there")
def test_a_real_crash_is_found_once_and_its_report_kept(tmp_path: Path) -> None:
    """C-17: a segmentation fault."""
    assert run(tmp_path, "ctypes.string_at(0)") == -signal.SIGSEGV
    found = crashes.left_behind(tmp_path)
    assert found is not None and found.what == "a segmentation fault" and found.report is not None
    assert "string_at" in found.report.read_text()
    assert crashes.left_behind(tmp_path) is None
    assert [file.name for file in tmp_path.iterdir()] == [crashes.REPORT]


@pytest.mark.parametrize("work", ["crashes.unwatch()", "import os; os._exit(3)"])
def test_an_end_in_order_or_from_outside_is_no_crash(tmp_path: Path, work: str) -> None:
    run(tmp_path, work)
    assert crashes.left_behind(tmp_path) is None and list(tmp_path.iterdir()) == []


def test_a_program_that_still_runs_keeps_its_file_and_the_newest_networks(tmp_path: Path) -> None:
    recorder = crashes.Recorder(tmp_path)
    try:
        for number in range(crashes.NETWORKS + 3):
            recorder.remember(f"<network {number}>", {1: ("n1", "first")})
        assert crashes.left_behind(tmp_path) is None
        text = recorder.file.read_text()
        assert (
            text.count("network {") == crashes.NETWORKS
            and "<network 14>" in text
            and "<network 2>" not in text
        )
    finally:
        recorder.close()
    assert list(tmp_path.iterdir()) == []


def test_reports_that_cannot_be_read_keep_no_window_from_starting(tmp_path: Path) -> None:
    torn = 'network {"file": "a.py", "no\nnetwork 3\nFatal Python error: Aborted\n'
    assert crashes.read(torn).what == "an abort"
    (tmp_path / f"{crashes.PREFIX}torn{crashes.SUFFIX}").write_text(torn)
    (tmp_path / f"{crashes.PREFIX}folder{crashes.SUFFIX}").mkdir()
    (tmp_path / crashes.REPORT).mkdir()
    found = crashes.left_behind(tmp_path)
    assert found is not None and found.what == "an abort"
