"""Points that were drawn: they stand in the script."""

from __future__ import annotations

from engine.emit.sources.parts import divided, listed_lines
from engine.emit.sources.splitting import split_lines
from engine.emit.sources.straight import Function, Reading, Straight
from engine.emit.statements import quoted, tree

OWN = ("points", "values", "spare")
DRAWN = """
<lines>
written = [point.split() for line in lines for point in line.split(",")]
table = torch.tensor([[float(word) for word in point] for point in written], dtype=torch.float64)
points = table[:, :2].float()
labels = table[:, 2].long()  #? labels
rows = dict.fromkeys(("train", "validation", "test"), torch.arange(len(points)))  #? few
<split>
"""


def write_drawn(reading: Reading) -> Straight | None:
    """Points of two coordinates with a class, or the second of them as it hangs on the first."""
    how = reading.options
    count = sum(len(line.split(",")) for line in how["points"])
    if not count or ("balance" in how and how["values"]):
        return None  # the application says why not
    values, few = how["values"], count < how["spare"]
    splitting = {name: value for name, value in how.items() if name not in OWN}
    inputs, classes = ("points[:, :1]", "None") if values else ("points", "labels")
    split, called = (
        ([], list[Function]()) if few else split_lines(splitting, "len(points)", classes, [inputs], classes)
    )
    columns = {
        "x": "points[:, :1]",
        "y": "points[:, 1:]",
        "point": "points",
        "label": "labels",
        "side": "torch.where(labels[:, None] == 0, -1.0, 1.0)",
    }
    gathered, value = divided({name: columns[name] for name in reading.wanted})
    lines = tree(
        DRAWN,
        lines=listed_lines("lines", [quoted(line) for line in how["points"]]),
        labels=not values,
        few=few,
        split=split,
    )
    return Straight([*lines, gathered], value, called)
