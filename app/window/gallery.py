"""The gallery that is installed: examples by topic and level, read without building them."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

log = logging.getLogger(__name__)

OTHERS = "Others"
_SUFFIX = ".nloom"


@dataclass(frozen=True)
class Example:
    """What a card shows of a project of the gallery: `places` and `types` are by node id."""

    path: Path
    title: str
    notes: str
    covers: tuple[str, ...]
    places: dict[str, tuple[float, float]]
    types: dict[str, str]
    links: tuple[tuple[str, str], ...]
    topic: str = OTHERS
    level: str = ""

    @property
    def line(self) -> str:
        """The first sentence of its notes."""
        words = [line.strip() for line in self.notes.splitlines()]
        text = next((line for line in words if line and not line.startswith("#")), "")
        sentence = text.partition(". ")[0]
        return sentence if not sentence or sentence[-1] in ".?!" else f"{sentence}."

    def image(self, theme: str) -> Path:
        """Where the result of its training is kept as an image, for the theme of this name."""
        return self.path.parent / "images" / f"{self.path.stem}-{theme}.png"


@dataclass(frozen=True)
class Contents:
    """Topics and levels in the order they are shown, and the (topic, level) of an example by its id."""

    topics: tuple[str, ...]
    levels: tuple[str, ...]
    places: dict[str, tuple[str, str]]


def example_path(example_id: str) -> Path:
    """Where the example called `example_id` is installed, if there is one."""
    return Path(str(files("resources").joinpath("gallery"))) / f"{example_id}{_SUFFIX}"


def contents() -> Contents:
    """What `contents.json` beside the examples says."""
    data = json.loads(example_path("").with_name("contents.json").read_text(encoding="utf-8"))
    levels = tuple(str(level) for level in data["levels"])
    places = {
        name: (str(topic["title"]), levels[level])
        for topic in data["topics"]
        for name, level in topic["examples"].items()
    }
    return Contents(tuple(str(topic["title"]) for topic in data["topics"]), levels, places)


def examples() -> list[Example]:
    """The gallery that is installed, topic by topic; what no topic names comes last.

    A project that cannot be read is left out, and logged.
    """
    known = contents().places
    order = list(known)
    found = []
    for path in sorted(
        example_path("").parent.glob(f"*{_SUFFIX}"),
        key=lambda path: (order.index(path.stem) if path.stem in known else len(order), path.stem),
    ):
        try:
            found.append(_read(path, *known.get(path.stem, (OTHERS, ""))))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            log.exception("The example %s cannot be read", path.name)
    return found


def _read(path: Path, topic: str, level: str) -> Example:
    # Not opened as a project: checking the graph would load networkx, a fifth of a second of the start.
    data = json.loads(path.read_text(encoding="utf-8"))
    nodes = data["nodes"]
    return Example(
        path,
        str(data["title"]),
        str(data["notes"]),
        tuple(str(row) for row in data.get("covers", ())),
        {node["id"]: (float(node["position"][0]), float(node["position"][1])) for node in nodes},
        {node["id"]: str(node["type"]) for node in nodes},
        tuple((link[0], link[2]) for link in data["links"]),
        topic,
        level,
    )
