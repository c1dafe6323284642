"""Data sets that one portable function reads or makes: a node type names it, and takes what it takes."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar

from engine.catalogue import Data, Emitted, Emitter, param
from engine.values import Value

argument = partial(param, None)  # declares a keyword of the loader, whose default stands in its signature


class Loaded(Data, abstract=True):
    """A data set of the function `loader`, written `module:function`; its parameters are that one's keywords.

    The call gives every keyword in the order of the signature, but those of `first` before all others. What
    the class `makes`, written `module:Class`, takes beside its first argument goes before them: the loader
    hands it on.
    """

    loader: ClassVar[str]
    makes: ClassVar[str] = ""
    first: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(abstract=abstract, **kwargs)
        if not abstract:
            taken = cls.taken()
            cls.params = tuple(replace(spec, default=taken[spec.name]) for spec in cls.params)

    def emit(self, e: Emitter) -> Emitted:
        names = dict.fromkeys((*self.first, *self.taken()))
        return e.load(resolve_name(self.loader), **{name: getattr(self, name) for name in names})

    @classmethod
    def taken(cls) -> dict[str, Value]:
        """What the loader takes by name, and the defaults."""
        return {**(options(cls.makes) if cls.makes else {}), **keywords(cls.loader)}


def keywords(loader: str) -> dict[str, Value]:
    """The keywords of a loader and their defaults. They are read, not imported: that would load torch."""
    module, _, name = loader.partition(":")
    arguments = _functions(module)[name].args
    defaults = [None if default is None else ast.literal_eval(default) for default in arguments.kw_defaults]
    return {found.arg: default for found, default in zip(arguments.kwonlyargs, defaults, strict=True)}


def options(made: str) -> dict[str, Value]:
    """What a class takes beside itself and its first argument, and the defaults; read as `keywords`."""
    module, _, name = made.partition(":")
    arguments = _functions(module)[f"{name}.__init__"].args
    taken = [one.arg for one in arguments.args[2:]]
    return dict(zip(taken, [ast.literal_eval(one) for one in arguments.defaults], strict=True))


@cache
def _functions(module: str) -> dict[str, ast.FunctionDef]:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"There is no source of {module}.", name=module)
    tree = ast.parse(Path(spec.origin).read_text("utf-8"))
    found = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    for made in (one for one in tree.body if isinstance(one, ast.ClassDef)):
        methods = (one for one in made.body if isinstance(one, ast.FunctionDef))
        found.update({f"{made.name}.{one.name}": one for one in methods})
    return found
