"""What can be asked of a model while it learns: a name, how often, in which thread, and who takes it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.feed.feed import Probe

if TYPE_CHECKING:
    from engine.look.sight import Look

Taken = tuple[NDArray[Any], Mapping[str, Any]]
Answer = Taken | Callable[[], Taken] | None
Taker = Callable[["Look", Probe], Answer]

NOTHING = np.empty(0, np.float32)


@dataclass(frozen=True, slots=True)
class ProbeKind:
    """One kind of view.

    `take(look, probe)` answers a small array and facts about it, or None where there is nothing to show.
    It changes neither weights nor gradients. A `NeuroloomError` that it raises is shown to the user.
    `every` is the shortest time between two in seconds; more passes where training would feel it.
    `apart`: taken in a thread of its own from a copy of the weights, for what takes longer than a few steps;
    such a taker draws random numbers from a `torch.Generator` of its own only.
    `once`: taken once for each probe, and again when another `detail` is asked for.
    `tries`: reads `look.tried`; taken at once when the user feeds the model something else, in a thread of
    its own from the weights as they were at most `every` seconds ago, or more where training would feel it.
    `backward`: taken between backward and update, while the gradients are there. What it answers may be a
    function, which is called after the update.
    `group`: kinds of one group are taken together and use the same passes over the model, kept by `look`.
    `quiet`: where it fails or there is nothing to show it puts nothing, for views that stand on nodes.
    """

    name: str
    take: Taker
    every: float = 0.5
    apart: bool = False
    once: bool = False
    tries: bool = False
    backward: bool = False
    group: str = ""
    quiet: bool = False


_KINDS: dict[str, ProbeKind] = {}


def probe_kind(
    name: str,
    *,
    every: float = 0.5,
    apart: bool = False,
    once: bool = False,
    tries: bool = False,
    backward: bool = False,
    group: str = "",
    quiet: bool = False,
) -> Callable[[Taker], Taker]:
    """Registers a function as the taker of a kind. Errors: `ValueError` for a name that is taken."""

    def register(take: Taker) -> Taker:
        if name in _KINDS and _KINDS[name].take.__module__ != take.__module__:
            raise ValueError(f"there are two kinds of view called {name!r}")
        _KINDS[name] = ProbeKind(name, take, every, apart, once, tries, backward, group or name, quiet)
        return take

    return register


@cache
def probe_kinds() -> Mapping[str, ProbeKind]:
    """All kinds by name; the first call imports the modules of this package."""
    package = __name__.rpartition(".")[0]
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(found.name)
    return _KINDS
