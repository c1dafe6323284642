"""C-26: data are in memory and batches are slices of it, so there are no loader workers to hang."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from engine.train.trainer import Trainer
from tests.engine.train.networks import DATASETS, catalogue, digits, iris, run_of, settle

LONG = 100_000


@pytest.mark.parametrize("project", [iris(), digits()], ids=["iris", "digits"])
def test_the_script_has_no_loader_with_workers(project) -> None:  # type: ignore[no-untyped-def]
    text = run_of(project).program.source.text
    assert "DataLoader" not in text and "num_workers" not in text and "multiprocessing" not in text


def test_twenty_runs_in_the_background_end_and_leave_no_child(tmp_path: Path) -> None:
    """C-26: every other one is stopped in the middle of an epoch."""
    before = set(psutil.Process().children(recursive=True))
    trainer = Trainer(catalogue(), DATASETS, tmp_path)
    try:
        for number in range(20):
            trainer.start(iris(epochs=LONG if number % 2 else 1))
            if number % 2:
                assert trainer.wait(20, until=lambda: trainer.progress.step > 2)
                trainer.stop()
                settle(trainer, "idle")
            else:
                settle(trainer, "finished")
            assert set(psutil.Process().children(recursive=True)) <= before
    finally:
        assert trainer.close()
