"""Reads how an agent acts: the environment, the layer that scores its actions, and what is remembered."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from engine.catalogue import Environment
from engine.document.plan import Choice, Rollout
from engine.importers.matching import SELF

if TYPE_CHECKING:
    from engine.importers.objectives import Training


def rollout(training: Training, call: ast.Call, title: str) -> Rollout | None:
    """The step in which agents act. A finding, and None, where its environment or policy is not known."""
    from engine.importers.objectives import after, exploration, words

    reader = training.reader
    worlds = [one for one, made in reader.book.types.items() if isinstance(made, Environment)]
    replay = call.args[0] if call.args else None
    function = training.function(call.args[1]) if len(call.args) > 1 else None
    policy = _policy(training, function) if function is not None else None
    if not worlds or not isinstance(replay, ast.Attribute) or policy is None:
        training.add(call, "An agent acts in an environment, or by layers, that are not known here.")
        return None
    constructor = reader.made.layers.get(replay.attr)
    given = (
        {str(one.arg): one.value for one in constructor.keywords} if isinstance(constructor, ast.Call) else {}
    )
    usual = Rollout(worlds[0])
    numbers = {
        key: _whole(given.get(key), default)
        for key, default in (("agents", usual.agents), ("memory", usual.memory))
    }
    reader.owners.setdefault(replay.attr, worlds[0])
    reader.rename(worlds[0], words(replay.attr))
    assert function is not None
    reader.rename(policy, after(function, "agents act: those of "))
    options = {str(one.arg): one.value for one in call.keywords}
    moves = options.get("moves")
    explore = exploration(call.args[2]) if len(call.args) > 2 else None
    named = "" if title == "episode return" else title
    return Rollout(
        worlds[0],
        named,
        policy=policy,
        exploration=explore or Choice("LinearExploration"),
        moves=moves.value if isinstance(moves, ast.Constant) and isinstance(moves.value, int) else 1,
        agents=numbers["agents"],
        memory=numbers["memory"],
    )


def _whole(value: ast.expr | None, default: int) -> int:
    found = value.value if isinstance(value, ast.Constant) else None
    return found if isinstance(found, int) else default


def _policy(training: Training, function: ast.FunctionDef) -> str | None:
    """The node whose scores a function gives: the last layer that it calls."""
    found = [
        node.func.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in (SELF, function.args.args[0].arg)
    ]
    return next((training.reader.owners[one] for one in found if one in training.reader.owners), None)
