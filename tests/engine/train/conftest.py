"""These nets are tiny: two threads would wait for each other on a busy machine, so training uses one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from engine import devices
from engine.train.trainer import Trainer
from tests.engine.train.networks import DATASETS, catalogue


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(devices, "_THREADS_AT_FIRST", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def trainer(tmp_path: Path) -> Iterator[Trainer]:
    made = Trainer(catalogue(), DATASETS, tmp_path / "runs")
    yield made
    assert made.close()
