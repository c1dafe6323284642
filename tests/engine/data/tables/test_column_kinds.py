"""What the columns of a table hold."""

from __future__ import annotations

import random
from dataclasses import asdict

import polars as pl
import pytest

from engine.data.tables import column_kinds
from engine.data.tables.column_kinds import guesses
from engine.data.watch import Watch


@pytest.mark.parametrize("name", ["count", "value", "text", "index", "literal", "len"])
@pytest.mark.parametrize("cells", [["a", "b", "a", "b"], ["1", "2", "1", "2"], ["1", "x", "1", "1"]])
def test_a_column_may_be_called_anything(name: str, cells: list[str]) -> None:
    found = guesses(pl.DataFrame({name: cells}), ".", Watch())[0]
    assert found.name == name
    assert found.counts == {cell: cells.count(cell) for cell in cells}


def test_columns_that_are_all_numbers_are_guessed_together_as_they_are_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dice = random.Random(0)
    made = {
        "whole": [str(dice.randrange(50)) for _ in range(40)],
        "yes": [str(dice.randrange(2)) for _ in range(40)],
        "steps": [str(at) for at in range(7, 47)],
        "number": [f"{dice.gauss(0, 1):.3f}" for _ in range(40)],
        "comma": [f"{dice.gauss(0, 1):.3f}".replace(".", ",") for _ in range(40)],
        "code": [f"{dice.randrange(9):05d}" for _ in range(40)],
        "far": ["1e300" if at % 2 else "−3" for at in range(40)],
        "endless": ["inf" if at else "1" for at in range(40)],
        "gaps": ["" if at == 3 else str(at) for at in range(40)],
        "padded": [f" {at} " for at in range(40)],
        "words": [dice.choice(("red", "blue")) for _ in range(40)],
    }
    frame = pl.DataFrame(made)
    together = {decimal: [asdict(one) for one in guesses(frame, decimal, Watch())] for decimal in ".,"}
    monkeypatch.setattr(column_kinds, "_plain_numbers", lambda *_: {})
    alone = {decimal: [asdict(one) for one in guesses(frame, decimal, Watch())] for decimal in ".,"}
    assert together == alone
    kinds = {one["name"]: one["kind"] for one in together["."]}
    assert kinds == {
        **{"whole": "whole", "yes": "yes-no", "steps": "whole", "number": "number", "comma": "text"},
        **{"code": "category", "far": "number", "endless": "whole", "gaps": "whole", "padded": "whole"},
        "words": "category",
    }


def test_infinite_numbers_count_as_missing_and_are_told() -> None:
    cells = ["Inf", "2.5", "-inf", "3", "Infinity"]
    found = guesses(pl.DataFrame({"until": cells}), ".", Watch())[0]
    assert (found.kind, found.missing, found.odds, found.distinct) == ("number", 3, 3, 2)
    assert found.odd == ((0, "Inf"),) and set(found.blanks) == {"Inf", "-inf", "Infinity"}
    assert found.middle == pytest.approx(2.75)
