"""Texts with classes, tags and answers."""

from __future__ import annotations

from engine.data.text.annotated import annotated_columns
from engine.data.text.token_names import TOKENISERS
from engine.data.text.tokenisers import portions, words_of
from engine.emit.sources.parts import Beside, divided
from engine.emit.sources.splitting import split_lines
from engine.emit.sources.straight import Function, Reading, Straight
from engine.emit.sources.text import text_lines
from engine.emit.sources.tokens import add_tokeniser
from engine.emit.statements import Statement, quoted, tree

MAY_CARRY: tuple[Function, ...] = (annotated_columns, words_of, portions)
OWN = ("file", "encoding", "classes", "tags", "learn", "size", "lower", "length")

ROWS = r"""
names, *cells = [line.split("\t") for line in text.split("\n") if line.strip()]
if any(len(one) != len(names) for one in cells):
    raise SystemExit(f"There are not {len(names)} cells in each line.")
found = [dict(zip(names, one, strict=True)) for one in cells]
texts = [" ".join((one.get("first", ""), one.get("second", ""))) for one in found]
<split>
made = $learn([texts[row] for row in rows["train"].tolist()], $size)
$kept[:] = [made]  #? keeps
"""


def write_annotated(reading: Reading) -> Straight:
    """Texts or pairs of them as tokens, with what is told about them."""
    how = reading.options
    beside = Beside(reading.outside)
    carries = [annotated_columns, *add_tokeniser(beside, how["learn"], how["lower"])]
    splitting = {name: value for name, value in how.items() if name not in OWN}
    split, called = split_lines(splitting, "len(found)", inputs=["texts"])
    lines = text_lines(how["file"], how["encoding"])
    learn = how["learn"].__name__
    lines += tree(ROWS, split=split, learn=learn, size=how["size"], kept=TOKENISERS, keeps=reading.keeps)
    tags = tuple(how["tags"]) if "tags" in reading.wanted else ()
    lines.append(Statement(f"annotated_columns(made, found, {tags!r}, {how['length']})", target="told"))
    items = {}
    for name in reading.wanted:
        known = tuple(how["classes"].get(name, ()))
        classes = f"torch.tensor([{known!r}.index(one[{quoted(name)}]) for one in found])"
        items[name] = classes if known else f"told[{quoted(name)}]"
    gathered, value = divided(items)
    return Straight([*lines, gathered], value, [*carries, *called], beside.parts)
