"""The form in which a file was exported: what it has beside the project's own statements."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.emit.fast import Fast
from engine.importers.spelling import dotted_name

WORLD_SIZE = "WORLD_SIZE"  # the variable by which torchrun says how many processes there are
WEIGHTS = re.compile(r"[^ /]+\.safetensors")  # a file that lies beside a script


@dataclass(frozen=True, slots=True)
class Exported:
    """How a file was exported, so that its project can be written in the same form."""

    notebook: bool = False
    fast: Fast | None = None
    distributed: bool = False
    weights: str | None = None
    procedures: Sequence[str] = ()
    names_weights: ast.AST | None = None  # where their file is named


def form_of(tree: ast.Module, notebook: bool) -> Exported:
    """The form of a file, as its statements have it."""
    texts = [one for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    named = next((one for one in texts if WEIGHTS.fullmatch(str(one.value))), None)
    return Exported(
        notebook,
        _fast(tree),
        any(one.value == WORLD_SIZE for one in texts),
        None if named is None else str(named.value),
        _procedures(tree),
        named,
    )


def _procedures(tree: ast.Module) -> list[str]:
    """The names of the procedures that a script offers as subcommands: where it begins, or in a table."""
    for one in tree.body:
        match one:
            case ast.AnnAssign(target=ast.Name(id="PROCEDURES"), value=ast.Dict(keys=keys)):
                return [str(key.value) for key in keys if isinstance(key, ast.Constant)]
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__")), body=[ast.If(test=test), *_]):
                texts = [node.value for node in ast.walk(test) if isinstance(node, ast.Constant)]
                return [text for text in texts if isinstance(text, str)]
    return []


def _fast(tree: ast.Module) -> Fast | None:
    """The settings of the fast path that a file has; None where it has none."""
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
    named = {dotted_name(one.func) or "" for one in calls}
    autocast = next((one for one in calls if _is_autocast(one)), None)
    threads = {_number(one.args[0]) for one in calls if _sets_threads(one)}
    known = {ast.unparse(one) for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
    found = Fast(
        channels_last="torch.channels_last" in known,
        fused=any(_is_fused(word) for one in calls for word in one.keywords),
        autocast=_text(autocast.args[0]) if autocast is not None else "",
        compiled="model.compile" in named,
        threads=next(iter(threads)) if len(threads) == 1 else None,
        uniform_dropout=bool(named & {"UniformDropout"}),
    )
    return found if found.only(threads=None) != Fast() else None


def _is_autocast(one: ast.Call) -> bool:
    return dotted_name(one.func) == "torch.autocast" and bool(one.args)


def _sets_threads(one: ast.Call) -> bool:
    return dotted_name(one.func) == "torch.set_num_threads" and bool(one.args)


def _is_fused(word: ast.keyword) -> bool:
    return word.arg == "fused" and isinstance(word.value, ast.Constant) and word.value.value is True


def _text(value: ast.expr) -> str:
    return str(value.value) if isinstance(value, ast.Constant) else ""


def _number(value: ast.expr) -> int | None:
    found = value.value if isinstance(value, ast.Constant) else None
    return found if isinstance(found, int) else None


def plain(tree: ast.Module) -> ast.Module:
    """The tree without the settings of the fast path, which are no part of a project."""
    made = _Plain().visit(tree)
    assert isinstance(made, ast.Module)
    return made


class _Plain(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.keywords = [word for word in node.keywords if not _is_fused(word)]
        if dotted_name(node.func) == "UniformDropout":
            node.func = ast.copy_location(ast.parse("nn.Dropout", mode="eval").body, node.func)
        return node

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        held = [one.context_expr for one in node.items]
        if all(isinstance(one, ast.Call) and _is_autocast(one) for one in held):
            return node.body
        return node
