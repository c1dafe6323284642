"""What a plan chooses by name: optimisers, schedules, penalties. Each is declared as node types are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from engine.catalogue.params import Parametrised, collect
from engine.document.plan import Choice
from engine.errors import ParamError


class Choosable(Parametrised):
    """Something chosen by name in a plan; its values are attributes of an instance.

    `formula` is what it computes, as a line of text. Raises ParamError for a value that is out of range or a
    parameter that doesn't exist.
    """

    formula: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.params = collect(cls)
        cls.title = cls.__dict__.get("title") or cls.__name__


Chosen = TypeVar("Chosen", bound=Choosable)


def chosen(choice: Choice, among: Mapping[str, type[Chosen]], what: str) -> Chosen:
    """Return what a plan names, its values checked. Raises ParamError."""
    found = among.get(choice.name)
    if found is None:
        raise ParamError(f"There is no {what} called {choice.name!r}.", fix=f"Choose {', '.join(among)}.")
    return found(choice.params)
