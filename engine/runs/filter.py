"""Filters runs by what the user types: words, and comparisons such as `lr<0.01` or `val_accuracy>=.98`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

from engine.runs.index import RunRecord

Test = Callable[[RunRecord], bool]

_COMPARISON = re.compile(r"^([\w ./-]+?)\s*(<=|>=|!=|==|=|<|>|:)\s*(.+)$")
_TEXT = ("title", "name", "state", "optimiser", "device", "note", "branched_from", "started")
_ALSO = {
    "rate": "lr",
    "learning_rate": "lr",
    "optimizer": "optimiser",
    "run": "name",
    "time": "seconds",
    "tag": "tags",
    "weights": "parameters",
    "done": "epochs_done",
}
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
HELP = "words to find, or a comparison: Adam, tag:good, state=finished, lr<0.01, val_accuracy>=0.98"


def matching(records: Iterable[RunRecord], text: str) -> list[RunRecord]:
    """The runs that pass every part of the filter; all for an empty one."""
    tests = [_test(word) for word in _words(text)]
    return [record for record in records if all(test(record) for test in tests)]


def _words(text: str) -> list[str]:
    """The parts between blanks; blanks about a comparison sign, and inside quotes, do not part."""
    joined = re.sub(r"\s*(<=|>=|!=|==|<|>|=)\s*", r"\1", text.strip())
    return [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', joined)]


def _test(word: str) -> Test:
    found = _COMPARISON.match(word)
    if found is None:
        return lambda record: word.casefold() in _all_text(record)
    name, sign, wanted = found.groups()
    key = name.strip().casefold().replace(" ", "_")
    key = _ALSO.get(key, key)
    return lambda record: _compares(_value(record, key), sign, wanted)


def _all_text(record: RunRecord) -> str:
    return " ".join([*(str(getattr(record, name)) for name in _TEXT), *record.tags]).casefold()


def _value(record: RunRecord, key: str) -> Any:
    """A field of a run, or its best value of a recorded series; None where there is neither."""
    if key in record.last:
        return record.best.get(key, record.last[key])
    return getattr(record, key, None)


def _compares(value: Any, sign: str, wanted: str) -> bool:
    if value is None or callable(value):
        return False
    if isinstance(value, (int, float)):
        try:
            number = float(wanted)
        except ValueError:
            return sign == "!="
        if sign in _OPERATORS:
            return _OPERATORS[sign](value, number)
        return (value == number) != (sign == "!=")
    texts = [str(part).casefold() for part in (value if isinstance(value, tuple) else (value,))]
    if sign in _OPERATORS:
        return any(_OPERATORS[sign](text, wanted.casefold()) for text in texts)
    hit = any(wanted.casefold() in text for text in texts)
    return hit != (sign == "!=")
