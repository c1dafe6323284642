"""Times of nodes by a clock that is moved by hand."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch

from engine.look.layers import timing


def test_each_node_gets_the_time_since_the_value_before(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(timing, "thread_clock", lambda: lambda: now[0])
    watchers: list[Callable[[str, str, torch.Tensor], None]] = []
    passes = iter([50.0, 1.0, 1.0, 9.0])  # the first warms up; one of the others was disturbed

    @contextmanager
    def tapping(watcher: Callable[[str, str, torch.Tensor], None]) -> Iterator[None]:
        watchers.append(watcher)
        yield
        watchers.pop()

    def forward() -> None:
        slow = next(passes)
        for node_id, seconds in (("a", 2.0), ("inner", 3.0), ("inner", 3.0), ("block", 0.5), ("b", 4.0)):
            now[0] += seconds * slow
            watchers[-1](node_id, "output", torch.zeros(1))

    found = timing.times(forward, tapping, passes=3, depth={"inner": 1})
    assert found == {"a": 2.0, "inner": 6.0, "block": 6.5, "b": 4.0}
    assert not watchers
