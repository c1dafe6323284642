"""Which kinds of views there are: every module of the package that registers one."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache

from app.look.base import LiveView, Subject, ViewKind

log = logging.getLogger(__name__)

GROUPS = ("Curves", "Images", "Answers", "Sequences", "Weights", "Generation", "Model")

_KINDS: dict[str, ViewKind] = {}
_Class = type[LiveView]


def view_kind(
    id: str,
    title: str,
    about: str,
    group: str,
    suits: Callable[[Subject], bool],
    *,
    rank: int = 50,
    whole: bool = False,
    leads: int | None = None,
    leads_for: Callable[[Subject], bool] | None = None,
) -> Callable[[_Class], _Class]:
    """Registers a class of views. Errors: `ValueError` for an id that is taken or an unknown group."""

    def register(made: _Class) -> _Class:
        if id in _KINDS and _KINDS[id].make is not made and _KINDS[id].make.__module__ != made.__module__:
            raise ValueError(f"there are two kinds of view called {id!r}")
        if group not in GROUPS:
            raise ValueError(f"there is no group of views called {group!r}")
        _KINDS[id] = ViewKind(id, title, about, group, made, suits, rank, whole, leads, leads_for)
        return made

    return register


@cache
def view_kinds() -> Mapping[str, ViewKind]:
    """All kinds by id; the first call imports the modules of this package."""
    package = __name__.rpartition(".")[0]
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(found.name)
    return _KINDS


def _suits(kind: ViewKind, subject: Subject) -> bool:
    try:
        return kind.suits(subject)
    except Exception:  # one kind that fails must not take the others with it
        log.exception("%s could not say whether it suits a node", kind.id)
        return False


def proposed(subject: Subject) -> list[ViewKind]:
    """The kinds that suit a subject, best first."""
    fitting = [
        kind
        for kind in view_kinds().values()
        if kind.whole == (not subject.node_id) and _suits(kind, subject)
    ]
    return sorted(fitting, key=lambda kind: (kind.rank, GROUPS.index(kind.group), kind.title))
