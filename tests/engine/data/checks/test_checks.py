"""Findings on made data, with right values in their sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.catalogue import load_catalogue
from engine.catalogue.traits import Answer
from engine.data.checks.checks import findings, row_marks
from engine.data.checks.findings import Asked, Change, Compared, Insert
from engine.data.tables.looks import details_for, look_at_table
from engine.errors import DataError

torch = pytest.importorskip("torch")
load_catalogue()  # its packages say which nodes prepare data


def codes(found: object) -> list[str]:
    return [one.code for one in found]  # type: ignore[attr-defined]


def parts(rows: int = 300, seed: int = 0):  # type: ignore[no-untyped-def]
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 4, generator=generator)
    y = torch.arange(rows) % 3
    cut = rows // 3
    return {
        name: {"features": x[at * cut : (at + 1) * cut], "kind": y[at * cut : (at + 1) * cut]}
        for at, name in enumerate(("train", "validation", "test"))
    }


ASKED = Asked(classes={"kind": ("a", "b", "c")}, targets=("kind",))


def test_clean_data_have_no_findings() -> None:
    assert findings(parts(), ASKED) == ()


def test_rows_with_the_same_inputs_have_the_same_marks_and_no_others_do() -> None:
    x = torch.randn(1000, 7)
    x[17], x[400] = x[3], x[3]
    marks = row_marks([x, torch.zeros(1000)])
    assert marks[17] == marks[3] == marks[400]
    assert len(set(marks.tolist())) == 998
    assert row_marks([torch.zeros(2, 1)])[0] == row_marks([-torch.zeros(2, 1)])[0]


def test_copies_across_splits_are_a_leak_and_copies_within_are_told() -> None:
    made = parts()
    made["test"]["features"][:5] = made["train"]["features"][:5]
    made["train"]["features"][10] = made["train"]["features"][11]
    leak, again = findings(made, ASKED)
    assert leak.serious
    assert leak.message.startswith("5 of 100 rows in test have the same inputs as a training row")
    assert again.message == "1 of 100 training rows repeat the inputs of another row."


def test_labels_outside_the_scores_are_named_with_least_and_largest() -> None:
    made = parts()
    for part in made.values():
        part["kind"] = part["kind"] + 8
    (found, *_) = findings(
        made, Asked(targets=("kind",), compared={"kind": Compared("n4", Answer.CLASSES, 10)})
    )
    assert found.serious
    assert found.message == (
        "“kind” goes from 8 to 10, but the 10 scores it is compared with stand for 0 to 9."
    )


def test_a_sorted_file_dealt_in_time_leaves_classes_unseen() -> None:
    made = parts()
    for number, part in enumerate(made.values()):
        part["kind"] = torch.full((100,), number)
    asked = Asked({"split": "in time"}, ASKED.classes, ASKED.targets)
    (found,) = findings(made, asked)
    assert found.code == "unseen-class"
    assert "“b”, “c”" in found.message
    assert found.change == Change("Split the rows by class", {"split": "by class"})


def test_classes_of_unlike_size_and_small_ones_are_told() -> None:
    made = parts()
    made["train"]["kind"] = torch.tensor([0] * 90 + [1] * 8 + [2] * 2)
    sizes, few = findings(made, ASKED)
    assert "90 training rows are “a”, 2 “c”" in sizes.message
    assert "right in 90 % of them" in sizes.message
    assert few.message == "2 classes have fewer than 10 training rows: “b”, “c”."


def test_unscaled_and_constant_inputs_are_told() -> None:
    made = parts()
    made["train"]["features"][:, 1] = 5.0
    made["train"]["features"][:, 2] *= 100
    asked = Asked({"scaling": "none"}, ASKED.classes, ASKED.targets)
    constant, unscaled = findings(made, asked)
    assert constant.message == "1 of 4 numbers of “features” never change (2)."
    assert unscaled.change == Change("Standardise the inputs", {"scaling": "standardise"})


# -- tables ---------------------------------------------------------------------------------------

FORM = {"delimiter": ",", "quote": '"', "encoding": "utf-8", "decimal": ".", "missing": "drop rows"}


def table(tmp_path: Path, text: str, columns: tuple[tuple[str, ...], ...]) -> dict[str, object]:
    path = tmp_path / "t.csv"
    path.write_text(text)
    return {**FORM, "path": str(path), "table": columns}


def test_a_look_has_the_rows_as_the_file_has_them_and_counts_what_is_missing(tmp_path: Path) -> None:
    params = table(
        tmp_path,
        "age,kind,note\n007,cat,x\n,dog,\n12.50,cat,y\n",
        (
            ("age", "number", "input"),
            ("kind", "category", "target", "cat", "dog"),
            ("note", "text", "ignore"),
        ),
    )
    look = look_at_table(params)  # type: ignore[arg-type]
    assert look.first == (("007", "cat", "x"), (None, "dog", None), ("12.50", "cat", "y"))
    age, kind, note = look.columns
    assert (age.missing, age.distinct, age.known.tolist()) == (1, 2, [7.0, 12.5])
    assert kind.values.tolist() == [0.0, 1.0, 0.0]
    assert (note.missing, note.distinct) == (1, 2)
    assert look.whole
    assert not look_at_table(params, most=2).whole  # type: ignore[arg-type]


def test_a_cell_that_is_no_number_is_the_columns_trouble(tmp_path: Path) -> None:
    params = table(tmp_path, "a,b\n1,2\nx,3\n", (("a", "number", "input"), ("b", "number", "target")))
    first, second = look_at_table(params).columns  # type: ignore[arg-type]
    assert "x" in first.trouble
    assert not second.trouble


def test_what_gives_the_target_away_numbers_rows_or_is_blank_is_told(tmp_path: Path) -> None:
    rows = [
        f"{at},{at * 37 % 101},{at * 37 % 101 * 2 + 1},{'' if at % 10 == 0 else at % 7},c"
        for at in range(100)
    ]
    columns = (
        ("id", "whole", "input"),
        ("y", "whole", "target"),
        ("twice", "whole", "input"),
        ("gaps", "whole", "input"),
        ("same", "category", "input", "c"),
    )
    params = table(tmp_path, "id,y,twice,gaps,same\n" + "\n".join(rows) + "\n", columns)
    look = look_at_table(params)  # type: ignore[arg-type]
    found = findings({}, Asked(params), look)  # type: ignore[arg-type]
    assert codes(found) == ["target-in-inputs", "id", "missing", "constant"]
    given, number, blank, same = found
    assert given.serious
    assert given.message == "“twice” determines “y”, the target: the answer is among the inputs."
    assert given.change == Change("Leave out twice", roles={"twice": "ignore"})
    assert number.change == Change("Leave out id", roles={"id": "ignore"})
    assert blank.message == "10 of 100 cells of “gaps” are blank; such rows are left out."
    assert blank.change == Change("Fill with the median", {"missing": "fill with median"})
    filled = findings({}, Asked({**params, "missing": "fill with mean"}), look)  # type: ignore[arg-type]
    assert "; they are filled with the mean of the training rows." in filled[2].message
    assert filled[2].change == Change("Leave such rows out", {"missing": "drop rows"})
    assert same.message.startswith("“same” is the same in every row")


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("interpolate", "they are put on the line between the readings around them"),
        ("carry forward", "the reading before stands in for them"),
    ],
)
def test_no_reading_of_a_series_is_left_out(tmp_path: Path, way: str, words: str) -> None:
    rows = [f"{10 + index},{index % 5 if index % 7 else ''}" for index in range(40)]
    columns = (("t", "whole", "time"), ("y", "whole", "input"))
    params = table(tmp_path, "t,y\n" + "\n".join(rows) + "\n", columns)
    look = look_at_table(params)  # type: ignore[arg-type]
    found = findings({}, Asked({**params, "missing": way}), look)  # type: ignore[arg-type]
    blank = next(one for one in found if one.code == "missing")
    assert blank.message == f"6 of 40 cells of “y” are blank; {words}."
    assert blank.change is None


def test_a_column_of_another_kind_gets_what_that_kind_needs(tmp_path: Path) -> None:
    params = table(tmp_path, "a,b\n10,no\n9,yes\n10,no\n", ())
    assert details_for(params, "a", "category") == ("9", "10")  # type: ignore[arg-type]
    assert details_for(params, "b", "yes-no") == ("no", "yes")  # type: ignore[arg-type]
    assert details_for(params, "b", "number") == ()  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no dates"):
        details_for(params, "b", "date")  # type: ignore[arg-type]


def test_rare_classes_can_be_repeated_or_weighed() -> None:
    made = parts()
    made["train"]["kind"] = torch.tensor([0] * 90 + [1] * 8 + [2] * 2)
    loss = Compared("n4", Answer.CLASSES, 3, weights="class_weights")
    asked = Asked({"balance": "as they come"}, ASKED.classes, ASKED.targets, {"kind": loss})
    sizes, few = findings(made, asked)
    repeat = Change("Repeat the rare classes", {"balance": "repeat the rare"})
    weights = {"class_weights": (0.3704, 4.167, 16.67)}  # 100 / (3 · 90), 100 / (3 · 8), 100 / (3 · 2)
    assert sizes.changes == (repeat, Change("Weigh the classes in the loss", others={"n4": weights}))
    assert few.changes == (repeat,)
    wired = Asked(classes=ASKED.classes, targets=("kind",), wires={"kind": ("n1", "kind")})
    insert = Insert("n1", "kind", "BalanceClasses", "balanced", {"way": "repeat the rare"})
    assert findings(made, wired)[0].change == Change("Repeat the rare classes", inserts=(insert,))
    weighed = Asked(classes=ASKED.classes, compared={"kind": replace(loss, weighed=True)})
    assert codes(findings(made, weighed)) == ["few-rows"]


def test_a_rare_yes_can_be_weighed() -> None:
    made = {
        split: {"x": torch.randn(100, 2), "yes": (torch.arange(100) % 20 == 0).float()[:, None]}
        for split in ("train", "validation", "test")
    }
    asked = Asked(targets=("yes",), compared={"yes": Compared("n4", Answer.YES_NO, weights="yes_weight")})
    sizes, few = findings(made, asked)
    assert sizes.message.startswith("Classes of “yes” differ in size: 95 training rows are “0”, 5 “1”.")
    assert sizes.changes == (Change("Weigh the classes in the loss", others={"n4": {"yes_weight": 19.0}}),)
    assert few.changes == ()


def test_a_class_beyond_the_scores_gets_a_score() -> None:
    made = parts()
    for part in made.values():
        part["kind"] = part["kind"] + 8
    one = Compared("n4", Answer.CLASSES, 10, "n3", "scores", units="units")
    (found, *_) = findings(made, Asked(targets=("kind",), compared={"kind": one}))
    assert found.change == Change("Give scores 11 units", others={"n3": {"units": 11}})


def test_places_of_tokens_are_inputs_and_masks_are_looked_at_for_nothing() -> None:
    tokens = torch.arange(300 * 4).reshape(300, 4) % 50
    made = {
        split: {"tokens": tokens[at : at + 100], "mask": torch.ones(100, 4), "label": torch.arange(100) % 2}
        for split, at in (("train", 0), ("validation", 100), ("test", 200))
    }
    names = tuple(map(str, range(50)))
    asked = Asked(classes={"tokens": names, "label": ("a", "b")}, targets=("label",))
    assert findings(made, asked) == ()
