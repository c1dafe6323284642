"""What the rows and columns of a layer's parameters are called."""

from __future__ import annotations

from math import prod

_GATES = {
    "LSTM": ("input gate", "forget gate", "cell", "output gate"),
    "GRU": ("reset gate", "update gate", "candidate"),
}
_PARTS = {"in_proj_weight": ("query", "key", "value"), "in_proj_bias": ("query", "key", "value")}

Shape = tuple[int, ...]


def parameter_words(name: str) -> str:
    """A parameter as the inspector would call it: `weight_ih_l0` becomes "weight ih l0"."""
    return name.replace("_", " ")


def captions(layer: str, name: str, shape: Shape) -> tuple[str, str]:
    """What the rows are and what the columns are, with their numbers."""
    if len(shape) == 1:
        return "", f"{shape[0]:,} {_plural(_row_noun(layer, name))}"
    rows, columns = shape[0], prod(shape[1:])
    below = f"{columns:,} {_plural(_column_noun(layer, name))}"
    if len(shape) > 2:
        sizes = " × ".join(f"{size:,}" for size in shape[1:])
        below = f"{sizes} weights each"
    return f"{rows:,} {_plural(_row_noun(layer, name))}", below


def cell_words(layer: str, name: str, shape: Shape, row: int, column: int) -> str:
    """The name of one weight, its places counted from 0 here and from 1 in words."""
    if len(shape) == 1:
        return _row_words(layer, name, shape, column)
    begin = _row_words(layer, name, shape, row)
    if len(shape) == 2:
        return f"{begin}, {_column_noun(layer, name)} {column + 1}"
    places = []
    for size in reversed(shape[1:]):
        column, place = divmod(column, size)
        places.append(place + 1)
    words = ["channel", "row", "column"] if len(shape) == 4 else ["channel", "place"]
    words += ["place"] * (len(places) - len(words))
    return ", ".join([begin, *(f"{word} {at}" for word, at in zip(words, reversed(places), strict=True))])


def _row_words(layer: str, name: str, shape: Shape, row: int) -> str:
    parts = _PARTS.get(name.rpartition(".")[2]) or _GATES.get(layer if len(name) > 2 else "")
    if parts is not None and shape[0] % len(parts) == 0 and _gated(layer, name):
        size = shape[0] // len(parts)
        return f"{parts[row // size]} {row % size + 1}"
    return f"{_row_noun(layer, name)} {row + 1}"


def _gated(layer: str, name: str) -> bool:
    last = name.rpartition(".")[2]
    return last in _PARTS or (layer in _GATES and last.startswith(("weight_ih", "weight_hh", "bias_")))


def _row_noun(layer: str, name: str) -> str:
    if layer == "Embedding":
        return "entry"
    if "Transpose" in layer:
        return "channel" if name.endswith("weight") else "filter"
    return "filter" if layer.startswith("Conv") else "unit"


def _column_noun(layer: str, name: str) -> str:
    if layer == "Embedding":
        return "dimension"
    return "state" if "_hh_" in name else "input"


def _plural(noun: str) -> str:
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
