"""C-26: the next batch is read by a thread that ends with it, and with who asked for it."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.data.lazy import Lazy
from engine.data.reading_ahead import read_ahead


class Numbers(Lazy):
    """Rows that are their own numbers; notes who read them, and fails at one."""

    def __init__(self, count: int, bad: int = -1) -> None:
        super().__init__(count, (), torch.int64, "cpu")
        self.readers: list[str] = []
        self.bad = bad

    def read(self, rows: Tensor) -> Tensor:
        self.readers.append(threading.current_thread().name)
        if self.bad in rows:
            raise ValueError(f"row {self.bad} is damaged.")
        return rows


def left() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "reading ahead"]


def parts(count: int) -> Any:
    return torch.arange(count).flip(0).split(4)


def test_batches_come_in_order_and_the_next_is_read_meanwhile() -> None:
    column = Numbers(10)
    found = []
    for batch in read_ahead({"x": column}, parts(10)):
        for one in left():
            one.join()  # what is read ahead is there before it is asked for
        assert len(column.readers) == min(3, len(found) + 2)
        found += batch["x"].tolist()
    assert found == list(range(10))[::-1] and not left()
    assert column.readers == [threading.current_thread().name, "reading ahead", "reading ahead"]


def test_tensors_are_sliced_without_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "Thread", None)
    batches = list(read_ahead({"x": torch.arange(10)}, parts(10)))
    assert [len(batch["x"]) for batch in batches] == [4, 4, 2]
    assert list(read_ahead({"x": torch.arange(0)}, ())) == []


def test_twenty_readings_that_are_left_early_leave_no_thread() -> None:
    """C-26"""
    for _ in range(20):
        for _ in read_ahead({"x": Numbers(40)}, parts(40)):
            break
        assert not left()
        with pytest.raises(RuntimeError, match="in the middle"):
            for _ in read_ahead({"x": Numbers(40)}, parts(40)):
                raise RuntimeError("in the middle")
        assert not left()
        waiting = read_ahead({"x": Numbers(40)}, parts(40))
        next(waiting)
        waiting.close()
        assert not left()


def test_a_batch_that_cannot_be_read_is_told_where_it_is_asked_for() -> None:
    batches = read_ahead({"x": Numbers(12, bad=3)}, parts(12))  # rows 11 to 8, 7 to 4, 3 to 0
    assert [next(batches)["x"][0].item() for _ in range(2)] == [11, 7]
    with pytest.raises(ValueError, match="row 3 is damaged"):
        next(batches)
    assert not left()
    with pytest.raises(ValueError, match="row 11 is damaged"):
        next(read_ahead({"x": Numbers(12, bad=11)}, parts(12)))


def test_no_random_number_is_drawn() -> None:
    before = torch.get_rng_state()
    list(read_ahead({"x": Numbers(10)}, parts(10)))
    assert torch.equal(before, torch.get_rng_state())
