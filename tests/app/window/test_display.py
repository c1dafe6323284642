"""Why there is no window: one sentence that says what to do."""

from __future__ import annotations

import pytest

from app.window.display import PACKAGES, _reason


def everything(_name: str) -> bool:
    return True


def nothing(_name: str) -> bool:
    return False


def all_but(library: str):  # type: ignore[no-untyped-def]
    return lambda name: name != library


def test_a_desktop_needs_no_excuse() -> None:
    assert _reason({"DISPLAY": ":0"}, everything, everything) is None
    assert _reason({"WAYLAND_DISPLAY": "wayland-0"}, everything, everything) is None


def test_offscreen_needs_no_display() -> None:
    assert _reason({"QT_QPA_PLATFORM": "offscreen"}, everything, nothing) is None


def test_no_display_names_the_commands_that_work() -> None:
    reason = _reason({}, everything, everything)
    assert reason is not None
    assert "DISPLAY" in reason and "neuroloom train" in reason


@pytest.mark.parametrize("library", ["libEGL.so.1", "libxcb-cursor.so.0", "libxkbcommon-x11.so.0"])
def test_a_missing_library_names_the_packages(library: str) -> None:
    reason = _reason({"DISPLAY": ":0"}, all_but(library), everything)
    assert reason is not None
    assert library in reason and PACKAGES in reason


def test_a_missing_library_matters_off_the_screen_too() -> None:
    assert "libGL.so.1" in (
        _reason({"QT_QPA_PLATFORM": "offscreen"}, all_but("libGL.so.1"), everything) or ""
    )


def test_x11_libraries_do_not_matter_off_the_screen() -> None:
    found = _reason({"QT_QPA_PLATFORM": "offscreen"}, all_but("libxcb-cursor.so.0"), everything)
    assert found is None


def test_a_display_that_does_not_answer_is_named() -> None:
    assert ":7" in (_reason({"DISPLAY": ":7"}, everything, nothing) or "")


@pytest.mark.parametrize(
    "environment", [{}, {"DISPLAY": ":0"}, {"DISPLAY": ":9", "QT_QPA_PLATFORM": "xcb"}], ids=str
)
def test_every_reason_is_one_sentence_on_one_line(environment: dict[str, str]) -> None:
    for loads in (everything, nothing):
        reason = _reason(environment, loads, nothing)
        assert reason is not None
        assert "\n" not in reason and reason.endswith(".") and ". " not in reason
