"""Which pictures follow the selection by themselves: the best of a node, and what the user chose."""

from __future__ import annotations

import json
from collections.abc import Sequence

from PySide6.QtCore import QSettings

from app.pictures.base import PictureKind

RANK, MOST = 30, 6  # of those with a rank up to this, so many
_KEY = "views/followed"


def following(kinds: Sequence[PictureKind], settings: QSettings) -> list[PictureKind]:
    """Those of the kinds, best first, that are shown for a selected node."""
    chosen = _choices(settings)
    best = {kind.id for kind in [kind for kind in kinds if kind.rank <= RANK][:MOST]}
    return [kind for kind in kinds if chosen.get(kind.id, kind.id in best)]


def follow(kind_id: str, follows: bool, settings: QSettings) -> None:
    """Shows a kind for every node that is selected, or for none."""
    settings.setValue(_KEY, json.dumps({**_choices(settings), kind_id: follows}))


def _choices(settings: QSettings) -> dict[str, bool]:
    try:
        found = json.loads(str(settings.value(_KEY, "{}")))
    except ValueError:  # a settings file that someone has edited
        return {}
    return {str(key): bool(value) for key, value in found.items()} if isinstance(found, dict) else {}
