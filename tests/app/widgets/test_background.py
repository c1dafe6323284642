"""Work beside the window."""

from __future__ import annotations

import threading

import pytest

from app.widgets.background import Background
from engine.errors import EmitError


def test_the_answer_comes_in_the_thread_of_the_window(qtbot) -> None:  # type: ignore[no-untyped-def]
    background = Background("test")
    heard: list[tuple[object, object, threading.Thread]] = []
    background.finished.connect(lambda value, error: heard.append((value, error, threading.current_thread())))
    background.ask(lambda: threading.current_thread().name)
    qtbot.waitUntil(lambda: bool(heard), timeout=5000)
    assert heard == [("test", None, threading.main_thread())]
    assert not background.busy


def test_only_the_latest_request_waits(qtbot) -> None:  # type: ignore[no-untyped-def]
    background = Background("test")
    gate, ran = threading.Event(), []
    heard: list[object] = []
    background.finished.connect(lambda value, _error: heard.append(value))
    background.ask(lambda: gate.wait(10))
    for number in range(5):
        background.ask(lambda number=number: ran.append(number) or number)  # type: ignore[misc]
    gate.set()
    qtbot.waitUntil(lambda: len(heard) == 2, timeout=5000)
    assert ran == [4] and heard == [True, 4]


def test_a_failure_is_an_answer(qtbot) -> None:  # type: ignore[no-untyped-def]
    background = Background("test")

    def fail() -> None:
        raise EmitError("It does not fit.", node_id="n7")

    with qtbot.waitSignal(background.finished, timeout=5000) as told:
        background.ask(fail)
    assert told.args[1].node_id == "n7"


@pytest.mark.logs("test failed")
def test_an_unexpected_error_becomes_a_sentence(qtbot) -> None:  # type: ignore[no-untyped-def]
    background = Background("test")
    with qtbot.waitSignal(background.finished, timeout=5000) as told:
        background.ask(lambda: 1 // 0)
    assert str(told.args[1]).endswith(".")


def test_closing_waits_and_says_nothing_more(qtbot) -> None:  # type: ignore[no-untyped-def]
    background = Background("test")
    done = threading.Event()
    with qtbot.assertNotEmitted(background.finished, wait=50):
        background.ask(done.set)
        background.close()
    assert done.is_set() and not background.busy
