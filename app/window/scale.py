"""How large the interface is, beside the system's own scaling: chosen in the menu, used by the next start."""

from __future__ import annotations

import os

from app.window.actions import SCALES
from app.workspace.settings import Settings

_SCALE = "window/scale"


def scale_of(settings: Settings) -> int:
    """The size of the interface in per cent of what the system gives it."""
    return settings.number(_SCALE, 100, SCALES[0], SCALES[-1])


def keep_scale(settings: Settings, percent: int) -> None:
    """Remembers it for the next start."""
    settings.keep(_SCALE, percent)


def scale_interface(settings: Settings) -> None:
    """Sizes the interface; Qt reads this before the application is made."""
    percent = scale_of(settings)
    if percent != 100 and "QT_SCALE_FACTOR" not in os.environ:
        os.environ["QT_SCALE_FACTOR"] = f"{percent / 100:g}"
