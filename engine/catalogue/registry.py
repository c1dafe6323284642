"""The catalogue: every node type that is installed, in the order of the palette and of a search."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import Any

from engine.catalogue.matching import COMMON, SCATTERED, score_of
from engine.catalogue.node_types import Composite, NodeType
from engine.document.graph import Node, Project
from engine.errors import EmitError, NeuroloomError, kind_and_reason, reason_of

log = logging.getLogger(__name__)

OWN = "builtin"  # the entry point of the types that come with the program
FAMILIES = (
    "files",
    "data sets",
    "synthetic data",
    "noise",
    "environments",
    "transforms",
    "images",
    "augmentation",
    "encoding",
    "convolution",
    "graphs",
    "dense",
    "recurrent",
    "attention",
    "rules",
    "estimators",
    "reinforcement learning",
    "blocks",
    "activation",
    "norm",
    "shape",
    "merge",
    "loss",
    "metric",
    "input and output",
    "other",
)


class Catalogue:
    """All node types by id."""

    def __init__(self, types: Iterable[type[NodeType]] = ()) -> None:
        self._types: dict[str, type[NodeType]] = {}
        self.left_out: dict[str, str] = {}  # packages that could not be loaded, and why
        for node_type in types:
            self.add(node_type)

    def add(self, node_type: type[NodeType]) -> type[NodeType]:
        """Register a type; usable as a decorator. Errors: `EmitError` for a second type of that id."""
        known = self._types.get(node_type.type_id)
        if known is not None and known is not node_type:
            raise EmitError(f"Two node types are called {node_type.type_id}.")
        self._types[node_type.type_id] = node_type
        return node_type

    def add_all(self, module: Any) -> None:
        """Register every concrete node type that a module defines."""
        for found in list(vars(module).values()):
            if (
                isinstance(found, type)
                and issubclass(found, NodeType)
                and not found.abstract
                and found.__module__ == module.__name__
            ):
                self.add(found)

    def get(self, type_id: str) -> type[NodeType] | None:
        return self._types.get(type_id)

    def types(self) -> list[type[NodeType]]:
        """Every type of the palette, family by family, in the order they were declared."""
        order = {family: index for index, family in enumerate(FAMILIES)}
        shown = [found for found in self._types.values() if found.palette]
        return sorted(shown, key=lambda found: order.get(found.family, len(order)))

    def families(self) -> list[tuple[str, list[type[NodeType]]]]:
        grouped: dict[str, list[type[NodeType]]] = {}
        for found in self.types():
            grouped.setdefault(found.family, []).append(found)
        return list(grouped.items())

    def make(self, node: Node, project: Project | None = None) -> NodeType:
        """The node's type with its parameters read; with a project, a block has its ports.

        Errors: `EmitError` for an unknown type, `ParamError` for a bad value; both name the node.
        """
        found = self.get(node.type)
        if found is None:
            raise EmitError(
                f"{node.name or node.id} is a {node.type[:60]!r}, which this installation does not know.",
                node_id=node.id,
                fix="Install the package that brings it, or replace the node.",
            )
        try:
            made = found(node.params)
            if isinstance(made, Composite) and project is not None:
                made.bind(project)
            return made
        except NeuroloomError as error:
            error.node_id = node.id
            raise
        except Exception as error:  # a third party's type may fail in any way
            raise EmitError(f"{found.title} failed to start: {reason_of(error)}.", node_id=node.id) from error

    def search(self, query: str, among: Iterable[type[NodeType]] | None = None) -> list[type[NodeType]]:
        """Types that match what was typed, best first, common ones before others of the kind.

        Words may be abbreviated ("cnv2" finds Conv 2-D), where nothing has them as they are.
        """
        wanted = query.casefold().split()

        def far(found: type[NodeType]) -> int | None:
            others = (found.type_id, *found.aliases)
            score = score_of(found.title, others, found.family, found.doc(), wanted)
            return score if score is None or not (found.common and wanted) else score - COMMON

        types = among if among is not None else self.types()
        scored = [(score, at, found) for at, found in enumerate(types) if (score := far(found)) is not None]
        scored.sort(key=lambda row: row[:2])
        whole = [row for row in scored if row[0] < SCATTERED - COMMON]
        return [found for _, _, found in whole or scored]

    def __iter__(self) -> Iterator[type[NodeType]]:
        return iter(self.types())

    def __len__(self) -> int:
        return len(self._types)


CATALOGUE = Catalogue()


def load_catalogue() -> Catalogue:
    """The catalogue with every installed node package registered.

    An entry point may name a module of node types, or a package that registers its own modules. One that
    fails to load, or brings an id that is taken, is left out whole, and named in `left_out` and in the log.
    Errors: `EmitError` where the program's own node types fail.
    """
    told, CATALOGUE.left_out = CATALOGUE.left_out, {}
    for entry in sorted(metadata.entry_points(group="neuroloom.nodes"), key=lambda found: found.name):
        before = dict(CATALOGUE._types)
        try:
            CATALOGUE.add_all(entry.load())
        except (Exception, SystemExit) as error:  # a third party's module may fail in any way
            reason = kind_and_reason(error).rstrip(".") + "."
            sentence = f"The node package {entry.name!r} could not be loaded. {reason}"
            if entry.name == OWN:
                raise EmitError(sentence) from error
            CATALOGUE._types = before
            CATALOGUE.left_out[entry.name] = sentence
            if told.get(entry.name) != sentence:
                log.warning("%s", sentence)
    return CATALOGUE
