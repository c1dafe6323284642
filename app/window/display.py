"""Whether a window can be opened here, found out without Qt: Qt aborts the process when it cannot."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping

# What the Debian packages bring, in the order in which Qt would miss it.
_FOR_QT = (
    "libEGL.so.1",
    "libGL.so.1",
    "libfontconfig.so.1",
    "libglib-2.0.so.0",
    "libdbus-1.so.3",
    "libxkbcommon.so.0",
)
_FOR_X11 = (
    "libX11-xcb.so.1",
    "libxkbcommon-x11.so.0",
    "libxcb-cursor.so.0",
    "libxcb-icccm.so.4",
    "libxcb-keysyms.so.1",
    "libxcb-image.so.0",
    "libxcb-render-util.so.0",
    "libxcb-shape.so.0",
    "libxcb-randr.so.0",
    "libxcb-xkb.so.1",
)
PACKAGES = (
    "libegl1 libgl1 libglib2.0-0 libfontconfig1 libdbus-1-3 libxkbcommon0 libxkbcommon-x11-0 libx11-xcb1 "
    "libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 "
    "libxcb-shape0 libxcb-sync1 libxcb-xfixes0 libxcb-xinerama0 libxcb-xkb1"
)
_HEADLESS = "without a window, `neuroloom train gallery:mnist-cnn` and the other commands work"
_OFFSCREEN = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")


def why_no_window(environment: Mapping[str, str] | None = None) -> str | None:
    """One sentence that says why no window can be opened and what to do; None when one can."""
    if not sys.platform.startswith("linux"):
        return None
    return _reason(os.environ if environment is None else environment, _loads, _answers)


def _reason(
    environment: Mapping[str, str], loads: Callable[[str], bool], answers: Callable[[str], bool]
) -> str | None:
    platform = environment.get("QT_QPA_PLATFORM", "").split(";")[0].partition(":")[0]
    display = environment.get("DISPLAY", "")
    wayland = environment.get("WAYLAND_DISPLAY", "")
    missing = next((library for library in _FOR_QT if not loads(library)), None)
    if missing is None and platform in _OFFSCREEN:
        return None
    if missing is None and not (display or wayland):
        return (
            "Neuroloom needs a display to open its window, but neither DISPLAY nor WAYLAND_DISPLAY is set: "
            f"start it on a desktop; {_HEADLESS}."
        )
    if missing is None and platform in ("", "xcb") and display:
        missing = next((library for library in _FOR_X11 if not loads(library)), None)
    if missing is not None:
        return (
            f"Neuroloom cannot open its window because Qt misses {missing}: on Debian or Ubuntu, "
            f"`apt-get install {PACKAGES}` brings it; {_HEADLESS}."
        )
    if platform in ("", "xcb") and display and not (wayland and not platform) and not answers(display):
        return (
            f"Neuroloom cannot open its window because the display {display} (DISPLAY) does not answer: "
            f"start it on a desktop; {_HEADLESS}."
        )
    return None


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _answers(display: str) -> bool:
    """Whether an X server accepts a connection."""
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(display.encode(), None)
    try:
        return bool(xcb.xcb_connection_has_error(connection) == 0)
    finally:
        xcb.xcb_disconnect(connection)
