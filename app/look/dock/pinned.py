"""Which views are pinned, where and how: kept with the user's settings, by project file."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from app.look.dock.card import SIZES, ViewCard
from app.workspace.settings import Settings

log = logging.getLogger(__name__)

GROUP = "views_layout"
MOST = 200  # projects remembered


@dataclass(frozen=True)
class Place:
    """One pinned card: the id of its kind of view, its node, its size, and the choices made in it."""

    kind: str
    node: str = ""
    size: str = "M"
    state: Mapping[str, Any] = field(default_factory=dict)
    compared: str = ""  # the name of a run


@dataclass(frozen=True)
class Layout:
    """The pinned cards in their order, and the views that hang on nodes as (kind, node)."""

    pinned: tuple[Place, ...] = ()
    on_nodes: tuple[tuple[str, str], ...] = ()


def place_of(card: ViewCard) -> Place:
    """What is kept of a card."""
    compared = card.compared[0] if card.compared is not None else ""
    return Place(card.kind.id, card.subject.node_id, card.size_name, card.pane.view.state(), compared)


def to_text(layout: Layout) -> str:
    """The layout as JSON on one line."""
    return json.dumps(
        {
            "pinned": [asdict(place) for place in layout.pinned],
            "on_nodes": [list(one) for one in layout.on_nodes],
        }
    )


def from_text(text: str) -> Layout:
    """The layout that was kept; what cannot be read, of a settings file that someone edited, is left out."""
    if not text:
        return Layout()
    try:
        found = json.loads(text)
        pinned = tuple(place for one in found.get("pinned", ()) if (place := _place(one)) is not None)
        on_nodes = tuple((str(kind), str(node)) for kind, node in found.get("on_nodes", ()))
    except (ValueError, TypeError, AttributeError) as error:
        log.info("the layout of the views cannot be read: %s", error)
        return Layout()
    return Layout(pinned, on_nodes)


def _place(one: Any) -> Place | None:
    if not isinstance(one, dict) or not isinstance(one.get("kind"), str):
        return None
    state = one.get("state")
    size = str(one.get("size", "M"))
    return Place(
        one["kind"],
        str(one.get("node", "")),
        size if size in SIZES else "M",
        state if isinstance(state, dict) else {},
        str(one.get("compared", "")),
    )


def keep(settings: Settings, path: Path | None, layout: Layout) -> None:
    """Keeps the layout of a project file; a project without a file has none."""
    if path is None:
        return
    settings.forget([_key(path)])  # the newest stands last
    if layout != Layout():
        keys = settings.keys(GROUP)
        settings.forget(keys[: max(0, len(keys) + 1 - MOST)])
        settings.keep(_key(path), to_text(layout))


def kept(settings: Settings, path: Path | None) -> Layout:
    """The layout that was kept of a project file."""
    return Layout() if path is None else from_text(settings.text(_key(path)))


def _key(path: Path) -> str:
    return f"{GROUP}/{sha256(str(path.resolve()).encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"
