"""What enters a network without data: Input nodes of the sizes that the script's blank examples have."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from engine.catalogue import Catalogue, Input
from engine.document.graph import BLOCK_INPUT
from engine.errors import EmitError
from engine.values import Value


def input_of(catalogue: Catalogue, tree: ast.Module, at: int) -> tuple[str, Mapping[str, Value]]:
    """The type and values of the node for an argument of the network. Errors: `EmitError` without one."""
    kind = next((one for one in catalogue if issubclass(one, Input) and one.type_id != BLOCK_INPUT), None)
    if kind is None:
        raise EmitError("No type of node stands for what enters a network.")
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "zeros"
    ]
    values: dict[str, Value] = {}
    if at < len(found):
        sizes = tuple(
            one.value
            for one in found[at].args[1:]
            if isinstance(one, ast.Constant) and isinstance(one.value, int)
        )
        whole = any("int64" in ast.unparse(word.value) for word in found[at].keywords)
        told: tuple[tuple[str, Value], ...] = (("shape", sizes), ("whole", whole))
        for name, value in told:
            if kind.param_spec(name) is not None and value:
                values[name] = value
    return kind.type_id, values
