"""Layers without weights as the functions that they call: `nn.ReLU()(x)` as `F.relu(x)`.

What a layer of torch calls stands in its own `forward`, whose source is read; attributes there are arguments
of the constructor by the same names.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache

from engine.catalogue.symbols import lift, resolved
from engine.errors import NeuroloomError
from engine.importers.spelling import Spelling, dotted_name, spelled

ALIASES = {"F": "torch.nn.functional", "torch": "torch"}


def as_function(constructor: ast.expr, given: list[ast.expr]) -> ast.expr | None:
    """The call of a function that a layer without weights is; None for any other constructor."""
    if not isinstance(constructor, ast.Call) or constructor.args:
        return None
    dotted = dotted_name(constructor.func) or ""
    found = _forward(dotted)
    if found is None or len(given) != 1:
        return None
    parameter, body = found
    options = _options(dotted, {str(one.arg): one.value for one in constructor.keywords})
    if options is None:
        return None
    return spelled(_WithOptions(options).visit(_copied(body)), Spelling(ALIASES, {parameter: given[0]}))


def _copied(tree: ast.expr) -> ast.expr:
    made = ast.parse(ast.unparse(tree), mode="eval")
    return made.body


@cache
def _forward(dotted: str) -> tuple[str, ast.expr] | None:
    """What `forward` of a layer of torch takes and returns, where that is one expression."""
    import torch

    try:
        kind = resolved(dotted)
        if not (isinstance(kind, type) and issubclass(kind, torch.nn.Module)):
            return None
        [tree] = ast.parse(textwrap.dedent(inspect.getsource(kind.forward))).body
    except (NeuroloomError, AttributeError, OSError, TypeError, SyntaxError):
        return None
    assert isinstance(tree, ast.FunctionDef)
    body = [
        one for one in tree.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ]
    if (
        len(tree.args.args) != 2
        or len(body) != 1
        or not isinstance(body[0], ast.Return)
        or body[0].value is None
    ):
        return None
    return tree.args.args[1].arg, body[0].value


def _options(dotted: str, given: Mapping[str, ast.expr]) -> dict[str, ast.expr] | None:
    """The arguments of a constructor by name, with its defaults."""
    try:
        parameters = inspect.signature(resolved(dotted)).parameters
    except (NeuroloomError, AttributeError, TypeError, ValueError):
        return None
    found: dict[str, ast.expr] = {}
    for name, one in parameters.items():
        if name in given:
            found[name] = given[name]
        elif one.default is not inspect.Parameter.empty:
            try:
                found[name] = lift(one.default).tree
            except NeuroloomError:
                continue
    if "stride" in found and isinstance(found["stride"], ast.Constant) and found["stride"].value is None:
        found["stride"] = found.get("kernel_size", found["stride"])  # as the layers that pool take it
    return found


class _WithOptions(ast.NodeTransformer):
    def __init__(self, options: Mapping[str, ast.expr]) -> None:
        self.options = options

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in self.options:
            return self.options[node.attr]
        return self.generic_visit(node)
