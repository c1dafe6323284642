"""Which views follow the selection by themselves: the best of a node, and what the user chose."""

from __future__ import annotations

import json
from collections.abc import Sequence

from app.look.base import ViewKind
from app.workspace.settings import Settings

FIRST = (  # what everybody wants to see
    "nearest-words",
    "hidden-tokens",
    "masks",
    "next-token",
    "unit-steps",
    "example",
    "prediction",
    "activations",
    "filters",
    "histograms",
)
OF_ALL = ("try-it", "model-reconstructions", "neurons", "layer_table")  # of the whole network
RANK, ENOUGH = 30, 4  # where these are fewer than so many, others with a rank up to this
_KEY = "views/followed"


def following(kinds: Sequence[ViewKind], settings: Settings, enough: int = ENOUGH) -> list[ViewKind]:
    """Those of the kinds, best first, that are shown for what is selected, or for the whole network."""
    chosen = _choices(settings)
    best = {kind.id for kind in kinds} & {*FIRST, *OF_ALL}
    others = [kind.id for kind in kinds if kind.id not in best and kind.rank <= RANK]
    best.update(others[: max(0, enough - len(best))])
    return [kind for kind in kinds if chosen.get(kind.id, kind.id in best)]


def may_lead(kind: ViewKind, settings: Settings) -> bool:
    """Whether the kind that shows best what the network is for is shown; the user may have turned it off."""
    return _choices(settings).get(kind.id, True)


def follow(kind_id: str, follows: bool, settings: Settings) -> None:
    """Shows a kind for every node that is selected, or for none; of the whole network where nothing is."""
    settings.keep(_KEY, json.dumps({**_choices(settings), kind_id: follows}))


def _choices(settings: Settings) -> dict[str, bool]:
    try:
        found = json.loads(settings.text(_KEY, "{}"))
    except ValueError:  # a settings file that someone has edited
        return {}
    return {str(key): bool(value) for key, value in found.items()} if isinstance(found, dict) else {}
