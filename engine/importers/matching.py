"""Whether one tree is another up to names: holes of a pattern take variables, its layers other attributes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

HOLE = "hole_"  # begins the name of a variable that a pattern leaves open
SELF = "self"


@dataclass(slots=True)
class Binding:
    """What a pattern's holes and layers are in the tree: `{port: variable}` and `{attribute: attribute}`."""

    holes: dict[str, str] = field(default_factory=dict)
    layers: dict[str, str] = field(default_factory=dict)

    def hole(self, name: str, variable: str) -> bool:
        return self.holes.setdefault(name, variable) == variable

    def layer(self, name: str, attribute: str) -> bool:
        return self.layers.setdefault(name, attribute) == attribute


def difference(pattern: ast.AST, tree: ast.AST, bound: Binding, places: frozenset[str]) -> int:
    """How much of a tree is not as a pattern has it: 0 where they are the same up to names.

    `places` are the variables that a hole may be.
    """
    if isinstance(pattern, ast.Name) and pattern.id.startswith(HOLE):
        if isinstance(tree, ast.Name) and tree.id in places and bound.hole(pattern.id, tree.id):
            return 0
        return 2 + size(tree)
    if _of_self(pattern) and _of_self(tree):
        assert isinstance(pattern, ast.Attribute) and isinstance(tree, ast.Attribute)
        return 0 if bound.layer(pattern.attr, tree.attr) else 2
    if type(pattern) is not type(tree):
        return size(pattern) + size(tree)
    if isinstance(pattern, ast.Constant) and isinstance(tree, ast.Constant):
        same = pattern.value == tree.value and type(pattern.value) is type(tree.value)
        return 0 if same else 1
    if isinstance(pattern, ast.Call) and isinstance(tree, ast.Call):
        return _calls(pattern, tree, bound, places)
    found = 0
    for name in pattern._fields:
        if name in ("ctx", "kind", "type_comment"):
            continue
        one, other = getattr(pattern, name), getattr(tree, name)
        if isinstance(one, ast.AST) and isinstance(other, ast.AST):
            found += difference(one, other, bound, places)
        elif isinstance(one, list) and isinstance(other, list):
            found += _lists(one, other, bound, places)
        elif one != other:
            found += 3
    return found


def _lists(one: list[ast.AST], other: list[ast.AST], bound: Binding, places: frozenset[str]) -> int:
    found = sum(difference(a, b, bound, places) for a, b in zip(one, other, strict=False))
    longer = one if len(one) > len(other) else other
    return found + sum(1 + size(left) for left in longer[min(len(one), len(other)) :])


def _calls(one: ast.Call, other: ast.Call, bound: Binding, places: frozenset[str]) -> int:
    found = difference(one.func, other.func, bound, places) + _lists(
        [*one.args], [*other.args], bound, places
    )
    words, others = ({word.arg: word.value for word in call.keywords} for call in (one, other))
    for name in words.keys() | others.keys():
        if name in words and name in others:
            found += difference(words[name], others[name], bound, places)
        else:
            found += 1 + size(words.get(name) or others[name])
    return found


def _of_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == SELF


def size(tree: ast.AST | None) -> int:
    """How many parts a tree has."""
    return 0 if tree is None else sum(1 for node in ast.walk(tree) if not isinstance(node, ast.expr_context))
