"""These nets are tiny: two threads would wait for each other on a busy machine, so training uses one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from engine import devices


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(devices, "_THREADS_AT_FIRST", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
