"""Which procedures there are: every module of this package that declares one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from engine.catalogue.identifiers import slug
from engine.errors import NeuroloomError
from engine.procedures.declare import Bound, Net, Offer, Procedure

if TYPE_CHECKING:
    from engine.document.graph import Project
    from engine.shapes.shapes import ShapeBook

MAIN, ALL = "main", "all"


@cache
def procedures() -> tuple[type[Procedure], ...]:
    """All that are declared, by name; the first call imports the modules of this package."""
    package = __name__.rpartition(".")[0]
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(found.name)
    return tuple(sorted(_declared(Procedure), key=lambda one: (not one.main, one.name)))


def _declared(kind: type[Procedure]) -> Iterator[type[Procedure]]:
    for one in kind.__subclasses__():
        yield one
        yield from _declared(one)


def offers(project: Project, book: ShapeBook) -> tuple[Offer, ...]:
    """The procedures that a network has, those that it is for first.

    One that runs at several nodes goes by their names, too: `recall_hebb`. There are none while a node is not
    known to the book.
    """
    if any(one not in book.types for one in project.graph.nodes):
        return ()
    net = Net(project, book)
    found = []
    for one in procedures():
        bound = list(one.bind(net))
        names = [one.name] if len(bound) == 1 else _names(one, bound, project)
        found += [Offer(name, one, place) for name, place in zip(names, bound, strict=True)]
    return tuple(found)


def chosen(known: Iterable[Offer], which: str | Iterable[str]) -> tuple[Offer, ...]:
    """Offers by name, or the "main" ones, or "all". Errors: `NeuroloomError` for an unknown name."""
    known = tuple(known)
    if isinstance(which, str):
        return tuple(one for one in known if which == ALL or one.procedure.main)
    return tuple(offer_called(known, name) for name in dict.fromkeys(which))


def offer_called(known: Iterable[Offer], name: str) -> Offer:
    """The offer of a name. Errors: `NeuroloomError` that lists those there are."""
    known = tuple(known)
    found = next((one for one in known if one.name == name), None)
    if found is None:
        listed = ", ".join(one.name for one in known)
        there = f"it has {listed}" if listed else "it has none"
        raise NeuroloomError(f"This network has no procedure {name[:60]!r}; {there}.")
    return found


def _names(procedure: type[Procedure], bound: Iterable[Bound], project: Project) -> list[str]:
    found: list[str] = []
    for one in bound:
        node = project.graph.nodes[one.node_id]
        name = wanted = f"{procedure.name}_{slug(node.name or node.type, one.node_id)}"
        number = 2
        while name in found:
            name, number = f"{wanted}_{number}", number + 1
        found.append(name)
    return found
