"""Garbage is collected by the window's thread, never by the one that happens to make the next object."""

import gc
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject

from app.window.collecting import Collector


class Cycle:
    """Garbage that only collecting frees; notes in which thread."""

    def __init__(self, freed: list[int]) -> None:
        self.freed = freed
        self.itself = self

    def __del__(self) -> None:
        self.freed.append(threading.get_ident())


@pytest.fixture
def collector(qapp: QObject) -> Iterator[Collector]:
    made = Collector(qapp)
    yield made
    made.deleteLater()
    gc.enable()


def test_another_thread_frees_no_cycle_and_the_window_does(collector: Collector) -> None:
    freed: list[int] = []

    def work() -> None:
        kept = []
        for _ in range(3000):
            Cycle(freed)
            kept.append([])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert freed == []
    assert collector.look() == 0
    assert len(freed) == 3000 and set(freed) == {threading.get_ident()}


def test_it_looks_only_when_python_would(collector: Collector) -> None:
    gc.collect()
    assert collector.look() is None
