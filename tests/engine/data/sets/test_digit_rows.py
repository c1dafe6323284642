"""Rows of digits hold the digits that their labels name, in order, and none is in two splits."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_digits

from engine.data.sets.digit_rows import load_digit_rows


def test_rows_are_digits_side_by_side() -> None:
    images, target = load_digits(return_X_y=True)
    known = {tuple(image.astype(int)): digit for image, digit in zip(images, target, strict=True)}
    seen: dict[str, set[tuple[int, ...]]] = {}
    for split, part in load_digit_rows(Path(), "cpu", fewest=2, most=3, gap=2, rows=100).items():
        assert part["count"].min() >= 2 and (part["labels"] > 0).sum(1).tolist() == part["count"].tolist()
        seen[split] = set()
        for row in range(0, len(part["count"]), 9):
            count, width = int(part["count"][row]), int(part["width"][row])
            columns = part["columns"][row]
            assert not columns[width:].any() and 8 * count <= width <= 10 * count
            end = width  # the last digit ends there, its ink may not fill the eight columns
            last = (16 * columns[end - 8 : end].T).flatten().int().tolist()
            assert known[tuple(last)] + 1 == part["labels"][row, count - 1]
            seen[split].add(tuple(last))
    assert not seen["train"] & (seen["validation"] | seen["test"])
