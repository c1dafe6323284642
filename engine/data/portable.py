"""The source of functions and classes that an export has to carry, found by following the names they use."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterable
from functools import cache
from types import ModuleType
from typing import Any

from engine.errors import EmitError

OURS = (
    "engine.data.",
    "engine.layers.",
    "engine.look.",
    "engine.optim.",
    "engine.procedures.",
    "engine.catalogue.training.penalties",
)

# what an exported script imports at its top
IMPORTS: dict[str, str] = {
    "Any": "from typing import Any",
    "Callable": "from collections.abc import Callable",
    "F": "import torch.nn.functional as F",
    "Iterable": "from collections.abc import Iterable",
    "Iterator": "from collections.abc import Iterator",
    "Mapping": "from collections.abc import Mapping",
    "Path": "from pathlib import Path",
    "Sequence": "from collections.abc import Sequence",
    "Tensor": "from torch import Tensor",
    "_BatchNorm": "from torch.nn.modules.batchnorm import _BatchNorm",
    "csv": "import csv",
    "gzip": "import gzip",
    "io": "import io",
    "json": "import json",
    "load_file": "from safetensors.torch import load_file",
    "math": "import math",
    "nn": "from torch import nn",
    "np": "import numpy as np",
    "os": "import os",
    "re": "import re",
    "torch": "import torch",
    "unicodedata": "import unicodedata",
}


def portable_source(functions: Iterable[Callable[..., Any]]) -> list[str]:
    """The source of `functions` and of all of ours that they use, each before what uses it.

    Errors: `EmitError` if one uses a name that an exported script does not have.
    """
    return [_source(thing) for thing in _collected(functions)]


def portable_things(functions: Iterable[Callable[..., Any]]) -> list[Any]:
    """The functions and classes that the portable source of `functions` defines. Errors: as for that."""
    return _collected(functions)


def portable_names(functions: Iterable[Callable[..., Any]]) -> frozenset[str]:
    """The names of all that the portable source of `functions` defines. Errors: as for `portable_source`."""
    return frozenset(thing.__name__ for thing in _collected(functions))


def portable_imports(functions: Iterable[Callable[..., Any]]) -> list[str]:
    """The import lines (of `IMPORTS`) that the portable source of `functions` needs, sorted by name."""
    used = {name for thing in _collected(functions) for name in _names(thing) if name in IMPORTS}
    return [IMPORTS[name] for name in sorted(used)]


def _collected(functions: Iterable[Callable[..., Any]]) -> list[Any]:
    found: dict[Any, None] = {}

    def visit(thing: Any) -> None:
        if thing in found or thing in open_:
            return
        open_.append(thing)
        for name in _names(thing):
            used = _global(thing, name)
            if _is_ours(used):
                visit(used)
        open_.pop()
        found[thing] = None

    open_: list[Any] = []
    for function in functions:
        visit(inspect.unwrap(function))
    return list(found)


def _global(thing: Any, name: str) -> Any:
    """What a bare name means in the module of `thing`; None where it is local, built in or in `IMPORTS`."""
    module = vars(sys.modules[thing.__module__])
    if name in IMPORTS or name not in module:
        return None
    used = module[name]
    used = inspect.unwrap(used) if callable(used) else used
    if not _is_ours(used):
        raise EmitError(
            f"{thing.__qualname__} cannot be exported: it uses {name}, which a script does not have."
        )
    return used


def _is_ours(thing: Any) -> bool:
    return (
        not isinstance(thing, ModuleType)
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__.startswith(OURS)
    )


@cache
def _source(thing: Any) -> str:
    return inspect.getsource(thing).rstrip()


@cache
def _names(thing: Any) -> tuple[str, ...]:
    """The names that the source of `thing` reads, annotations included, in order and each once."""
    return names_read(ast.parse(_source(thing)))


def names_read(tree: ast.AST) -> tuple[str, ...]:
    """The names that a definition reads and does not bind itself, in order and each once."""
    nodes: list[ast.Name] = []
    bound: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name():
                nodes.append(node)
                if isinstance(node.ctx, ast.Store):
                    bound.add(node.id)
            case ast.arg():
                bound.add(node.arg)
            case ast.alias():
                bound.add(node.asname or node.name)
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    return tuple(dict.fromkeys(node.id for node in nodes if node.id not in bound))
