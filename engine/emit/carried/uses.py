"""What a script carries, and who calls what of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

Function = ast.FunctionDef


@dataclass
class Carried:
    """A function or class that a script carries, as it is and as it was written."""

    text: str
    tree: Function | ast.ClassDef
    changed: bool = False


class Uses:
    """The calls of each function and where they stand, and what is used other than by a call."""

    def __init__(self, found: Mapping[str, Carried], rest: ast.Module) -> None:
        self.calls: dict[str, list[ast.Call]] = {name: [] for name in found}
        self.callers: dict[str, set[str]] = {name: set() for name in found}
        self.escaped: set[str] = set()
        asked: set[str] = set()
        other: set[str] = set()
        for owner, tree in [*((name, one.tree) for name, one in found.items()), ("", rest)]:
            called: set[int] = set()
            for node in ast.walk(tree):
                match node:
                    case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id=name) as kind]):
                        if name in found:
                            called.add(id(kind))
                            asked.add(name)
                    case ast.Call(func=ast.Name(id=name) as function) if name in found:
                        called.add(id(function))
                        self.calls[name].append(node)
                        self.callers[name].add(owner)
                        if any(isinstance(one, ast.Starred) for one in node.args):
                            self.escaped.add(name)
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and node.id in found and id(node) not in called:
                    other.add(node.id)
                    if node.id != owner:
                        self.escaped.add(node.id)
        self.never = {
            name
            for name in asked - other
            if isinstance(found[name].tree, ast.ClassDef) and not self.calls[name]
        }


def reached(found: Mapping[str, Carried], rest: ast.Module) -> set[str]:
    """The definitions that the rest of the script needs, and those that these need."""
    reached: set[str] = set()
    waiting: list[ast.AST] = [rest]
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Name) and node.id in found and node.id not in reached:
                reached.add(node.id)
                waiting.append(found[node.id].tree)
    return reached
