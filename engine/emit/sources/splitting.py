"""The lines that split the rows of a source, as they are given to its loader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.emit.sources.straight import Function
from engine.emit.statements import Statement, quoted, tree

SPLIT = """
rows = $splitter
rows["train"] = $pick(rows["train"], $classes, $seed)  #? pick
if not all(len(at) for at in rows.values()):
    raise SystemExit("There are too few rows for three splits: has the data changed?")
"""
PICKING = ("repeats", "balance")


def split_lines(
    options: Mapping[str, Any], count: str, keys: str = "None", inputs: Sequence[str] = (), classes: str = ""
) -> tuple[list[Statement], list[Function]]:
    """Lines that make `rows`, {split: rows}, and the functions they call.

    `options` hold a loader's `splitter` and what it takes, and perhaps `repeats` and `balance`; the rest are
    expressions: how many rows there are, their keys, the inputs (n, ...), and their classes (n,).
    """
    splitter, repeats, pick = (options.get(one) for one in ("splitter", *PICKING))
    assert splitter is not None
    others = {name: value for name, value in options.items() if name not in ("splitter", *PICKING)}
    if repeats is None:
        given = "".join(f", {name}={value!r}" for name, value in others.items())
        call = f"{splitter.__name__}({count}, {keys}{given})"
    else:
        given = ", ".join(f"{quoted(name)}: {value!r}" for name, value in others.items())
        columns = f"[{', '.join(inputs)}]"
        call = f"{repeats.__name__}({count}, {keys}, {columns}, {splitter.__name__}, {{{given}}})"
    lines = tree(
        SPLIT,
        splitter=call,
        pick=pick.__name__ if pick else "",
        classes=classes,
        seed=others.get("seed", 0),
    )
    return lines, [one for one in (splitter, repeats, pick) if one is not None]
