"""The engine knows node types by their traits: it tells none by its id, a search alias or another word."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.catalogue import NodeType, load_catalogue

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "engine").rglob("*.py"))


def types_below(base: type[NodeType]) -> Iterator[type[NodeType]]:
    for found in base.__subclasses__():
        yield found
        yield from types_below(found)


load_catalogue()
TYPES = [
    found for found in types_below(NodeType) if found.__module__.startswith("nodes.") and not found.abstract
]
IDS = {found.type_id for found in TYPES}
# Words that a parameter offers, such as an activation or the channels of an image, are no ids as they stand.
WORDS = {word for found in TYPES for spec in found.params for word in spec.choices}
# Module, id and why it stands there.
ALLOWED = {
    ("engine/document/graph.py", "Block"): "the document itself is made of blocks",
    ("engine/document/graph.py", "BlockInput"): "the document itself is made of blocks",
    ("engine/document/graph.py", "BlockOutput"): "the document itself is made of blocks",
    (
        "engine/catalogue/training/penalties.py",
        "L1",
    ): "a penalty on weights has the title that a loss has for its id",
}
TELLING = {"type_id", "aliases", "title", "family"}  # attributes of a type that a word could be compared with
SHARED = {"type", "__name__"}  # that other things have, too


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != ""


def without_docs_and_exports(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node of a tree but docstrings and `__all__`, which names objects of Python."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            exports = isinstance(child, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == "__all__" for target in child.targets
            )
            if not exports and not (isinstance(child, ast.Expr) and is_text(child.value)):
                waiting.append(child)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_engine_names_no_type_of_node(module: Path) -> None:
    name = module.relative_to(ROOT).as_posix()
    found = []
    for node in without_docs_and_exports(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and node.value in IDS - WORDS and (name, node.value) not in ALLOWED:
            found.append(f"{name}:{node.lineno}: {node.value!r} is the id of a type of node: ask for a trait")
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            asked = {side.attr for side in sides if isinstance(side, ast.Attribute)}
            words = {part.value for side in sides for part in ast.walk(side) if is_text(part)}
            if (asked & TELLING and words) or (asked & SHARED and words & IDS):
                found.append(f"{name}:{node.lineno}: {ast.unparse(node)} tells a type by a word")
    assert not found, "\n".join(found)


def test_what_is_allowed_is_still_there() -> None:
    for name, word in ALLOWED:
        assert f'"{word}"' in (ROOT / name).read_text("utf-8")
        assert word in IDS
