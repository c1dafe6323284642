"""Text tables in straight lines of polars: the same numbers as in the application, to the last bit."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.data.open.opening import open_data
from engine.document.shipped import datasets_folder
from engine.values import Value
from tests.engine.emit.sources.agreeing import load_of, strictly, text_of
from tests.engine.emit.sources.reading import (
    assert_alike,
    assert_clean,
    assert_same,
    data_of,
    is_carried,
    refuses,
)
from tests.engine.sketches import gallery
from tests.sampling import sampled

KINDS = {
    "number": lambda draw: f"{draw.gauss(3, 2):.4f}",
    "whole": lambda draw: str(draw.randint(-40, 4000)),
    "category": lambda draw: draw.choice(["red", "green", "blue, deep", 'so "called"']),
    "yes-no": lambda draw: draw.choice(["no", "yes"]),
    "date": lambda draw: f"{draw.randint(1950, 2030)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}",
}
DETAILS = {
    "category": ("blue, deep", "green", "red", 'so "called"'),
    "yes-no": ("no", "yes"),
    "date": ("%Y-%m-%d",),
}
MISSING = ("drop rows", "fill with mean", "fill with median")
SCALING = ("standardise", "0 to 1", "none")
ENCODINGS = ("utf-8", "latin-1", "cp1252", "utf-16")
SPLITS = ("by class", "random", "by group", "in time", "as given", "folds", "blocks of time", "bootstrap")


def written(
    path: Path,
    columns: list[tuple[str, str, str]],
    *,
    rows: int = 90,
    lost: float = 0.0,
    delimiter: str = ",",
    decimal: str = ".",
    encoding: str = "utf-8",
    header: bool = True,
    blank: str = "",
    seed: int = 0,
    above: int = 0,
) -> dict[str, Value]:
    """A file with columns (name, kind, role), and the parameters that say so, but for whether it is plain."""
    draw = random.Random(seed)
    table = []
    lines = [f"about {at}" for at in range(above)]
    cells = [[name for name, _, _ in columns]] if header else []
    for _ in range(rows):
        row = []
        for _, kind, role in columns:
            if role == "group":
                cell = f"p{draw.randint(0, 20)}"
            elif role == "split":
                cell = draw.choice(["train", "train", "val", "test"])
            else:
                cell = KINDS[kind](draw)
            if kind == "number":
                cell = cell.replace(".", decimal)
            row.append(blank if draw.random() < lost and role != "split" else cell)
        cells.append(row)
    for row in cells:
        quoted = [
            '"' + cell.replace('"', '""') + '"' if {delimiter, '"'} & set(cell) else cell for cell in row
        ]
        lines.append(delimiter.join(quoted))
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    for at, (name, kind, role) in enumerate(columns, 1):
        details = ("test", "train", "val") if role == "split" else DETAILS.get(kind, ())
        table.append((name if header else f"column {at}", kind, role, *details))
    return {
        "path": str(path),
        "rows": rows,
        "plain": True,
        "table": tuple(table),
        "delimiter": "tab" if delimiter == "\t" else delimiter,
        "decimal": decimal,
        "encoding": encoding,
        "header": header,
        "skip": above,
        "missing_as": (blank,) if blank else (),
    }


MIXED = [
    ("length", "number", "input"),
    ("colour", "category", "input"),
    ("old", "yes-no", "input"),
    ("born", "date", "input"),
    ("patient", "category", "group"),
    ("part", "category", "split"),
    ("count", "whole", "input"),
    ("when", "date", "time"),
    ("kind", "category", "target"),
    ("alive", "yes-no", "target"),
    ("size", "number", "target"),
    ("mass", "number", "weight"),
]


@pytest.mark.parametrize(("missing", "scaling"), list(product(MISSING, SCALING)))
@pytest.mark.parametrize("dates", ["days", "days and cycles"])
def test_every_kind_of_column(tmp_path: Path, missing: str, scaling: str, dates: str) -> None:
    params = written(tmp_path / "t.csv", MIXED, lost=0.03)
    how = {"missing": missing, "scaling": scaling, "target_scaling": scaling, "dates": dates}
    assert_alike(data_of("TableFile", {**params, **how}))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", MISSING)
def test_inputs_of_one_kind(tmp_path: Path, kind: str, missing: str) -> None:
    columns = [("a", kind, "input"), ("b", kind, "input"), ("y", kind, "target")]
    for scaling in SCALING:
        params = written(tmp_path / "t.csv", columns, lost=0.1)
        assert_alike(data_of("TableFile", {**params, "missing": missing, "scaling": scaling}))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("repeats", ["as they are", "in one split", "left out"])
@pytest.mark.parametrize("balance", ["as they come", "repeat the rare", "thin the common"])
def test_every_way_to_split(tmp_path: Path, split: str, repeats: str, balance: str) -> None:
    columns = [one for one in MIXED if one[0] not in ("length", "born", "count")]
    params = written(tmp_path / "t.csv", columns, rows=120, lost=0.02)
    how = {"split": split, "repeats": repeats, "balance": balance, "seed": 3, "fold": 2, "gap": 1}
    assert_alike(data_of("TableFile", {**params, **how}))


@pytest.mark.parametrize(
    ("form", "way"),
    sampled(
        5,
        [f"{marks} {encoding}" for marks in (",.", ";,", "\t,", "|.", ";.") for encoding in ENCODINGS],
        [f"{head} {blank}" for head in ("names", "none", "below") for blank in ("", "NA", "é?")],
    ),
)
def test_every_form(tmp_path: Path, form: str, way: str) -> None:
    (marks, encoding), (head, _, blank) = form.rsplit(" ", 1), way.partition(" ")
    params = written(
        tmp_path / "t.csv",
        MIXED[:4] + MIXED[8:],
        lost=0.05,
        blank=blank,
        delimiter=marks[0],
        decimal=marks[1],
        encoding=encoding,
        header=head != "none",
        above=3 * (head == "below"),
    )
    assert_alike(data_of("TableFile", {**params, "missing": "fill with mean"}))


@pytest.mark.parametrize("missing", MISSING)
def test_no_target_and_blank_lines(tmp_path: Path, missing: str) -> None:
    columns = [("a", "number", "input"), ("g", "category", "group"), ("b", "whole", "input")]
    params = written(tmp_path / "t.csv", columns, lost=0.4)
    (tmp_path / "t.csv").write_text((tmp_path / "t.csv").read_text().replace("\n", "\n\n", 9))
    for split in ("random", "by group"):
        assert_alike(data_of("TableFile", {**params, "missing": missing, "split": split}))


def test_many_columns_take_few_lines(tmp_path: Path) -> None:
    columns = [("label", "category", "target"), *((f"pixel{at}", "whole", "input") for at in range(300))]
    data = data_of("TableFile", written(tmp_path / "t.csv", columns, rows=60))
    assert_alike(data)
    assert text_of(data).count("\n") < 80


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=5),
    st.sampled_from(sorted(KINDS)),
    st.sampled_from(MISSING),
    st.sampled_from(SCALING),
    st.sampled_from(SCALING),
    st.sampled_from(["by class", "random", "folds", "bootstrap", "blocks of time"]),
    st.integers(0, 99),
)
def test_products_of_kinds_and_ways(
    tmp_path: Path,
    inputs: list[str],
    target: str,
    missing: str,
    scaling: str,
    aim: str,
    split: str,
    seed: int,
) -> None:
    columns = [(f"in {at}", kind, "input") for at, kind in enumerate(inputs)]
    params = written(tmp_path / "t.csv", [*columns, ("y", target, "target")], rows=40, lost=0.1, seed=seed)
    how = {"missing": missing, "scaling": scaling, "target_scaling": aim, "split": split, "seed": seed}
    assert_alike(data_of("TableFile", {**params, **how}))


# -- what the opener finds


def test_the_penguins() -> None:
    data = data_of("TableFile", gallery("penguins").graph.nodes["n1"].params)
    folder = data.folder()
    assert folder == datasets_folder() / "files"
    assert_alike(data)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a,b\n1,x\n2,y\n3,x\n4,y\n", True),
        ('a,b\n"1",x\n"2","y, z"\n3,x\n4,"y, z"\n', True),
        ("a,b\r\n1,x\r\n2,y\r\n3,x\r\n", True),
        ("a,b\n1,x\n,y\nNA,x\n4,y\n", True),
        ("a,a\n1,x\n2,y\n3,x\n4,y\n", False),
        (",len,kind\n1,2.5,x\n2,3.5,y\n3,1.5,x\n4,9.5,y\n9,8,x\n", True),
        ("b,c\nr1,1,x\nr2,2,y\nr3,3,x\nr4,3,y\n", False),
        ("a,b\r1,x\r2,y\r3,x\r4,y\r", False),
        ("# a,b\n1,x\n2,y\n3,x\n4,y\n", False),
    ],
)
def test_the_opener_says_whether_a_file_is_plain(tmp_path: Path, text: str, plain: bool) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    params = open_data(path).params
    assert params["plain"] is plain
    data = data_of("TableFile", {**params, "split": "random"})
    assert is_carried(data) is not plain
    if plain:
        assert_alike(data)
        table = tuple((name, kind, "input" if role == "ignore" else role, *details)
                      for name, kind, role, *details in params["table"])  # type: ignore[union-attr,misc]  # fmt: skip
        assert_alike(data_of("TableFile", {**params, "split": "random", "table": table}))


LOOSE = (
    "a, b\n1, x\n2, y\n3, x\n4, y\n",
    "a,b \n1,x\n2 ,y\n\t3,x\n4, y \n",
    "a,b\n1,x\n−2,y\n3,x\n4,y\n",
    "a,b\n1,x\ninf,y\n3,x\nNaN,y\n5,y\n",
    'a,b\n1,x\n"",y\n3,x\n4,y\n6,"x "\n',
    "a,b,c\n1, ,x\n2,3,y\n NA ,5,x\n4,6,y\n7,8,x\n",
)


@pytest.mark.parametrize("text", LOOSE)
@pytest.mark.parametrize("missing", MISSING)
def test_cells_that_need_care(tmp_path: Path, text: str, missing: str) -> None:
    path = tmp_path / "t.csv"
    head, body = text.split("\n", 1)
    path.write_text(head + "\n" + 4 * body, encoding="utf-8")
    opened = open_data(path)
    assert opened.params["loose"] is True and opened.params["plain"] is False
    for scaling in SCALING:
        data = data_of("TableFile", {**opened.params, "missing": missing, "scaling": scaling})
        assert not is_carried(data)
        assert_alike(data)


FORMED = (
    ["1,234.50 $", "12 $", "-3.5 $", "(7.25 $)", "999,999 $", "1 $"],
    ["1.234,5 €", "12 €", "-3,5 €", "€ 8", "999.999 €", "1 €"],
    ["12%", "13.5%", "-1%", "100%", "0%", "7%"],
    ["1 234", "1\u00a0500,5", "12", "-7", "99 000", "3,25"],
    ["1'234.5", "2'000", "12", "7’500", "(3)", "1"],
)


@pytest.mark.parametrize("cells", FORMED, ids=lambda cells: str(cells[0]))
@pytest.mark.parametrize("padded", [False, True])
def test_numbers_in_a_form_of_their_own(tmp_path: Path, cells: list[str], padded: bool) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{cell}{' ' * padded};{at / 4};{'xy'[at % 2]}" for at, cell in enumerate(cells * 5)]
    path.write_text("\n".join(["price;level;kind", *rows, ""]), encoding="utf-8")
    params = open_data(path).params
    table = params["table"]
    assert isinstance(table, tuple) and len(table[0]) == 4, table  # type: ignore[arg-type]
    data = data_of("TableFile", params)
    assert not is_carried(data)
    assert_alike(data)
    load = load_of(data)
    path.write_text("\n".join(["price;level;kind", *rows, "1.2.3;1;x", ""]), encoding="utf-8")
    assert "1.2.3?" in refuses(load, tmp_path)


ROWS = [(at / 4, at % 7 - 2.5, "xy"[at % 2]) for at in range(40)]
WEKA = """% about
@relation r

@attribute length numeric
@attribute 'the width' numeric
@attribute kind {x,y}
@data
"""
BY_LINES = {
    "spaces": "length  width kind\n" + "".join(f"{a}   {b} {c}\n" for a, b, c in ROWS),
    "marked": "# length  width kind\n" + "".join(f"  {a}   {b} {c}\n" for a, b, c in ROWS),
    "in quotes": "length width kind\n" + "".join(f'{a} {b} "{c} z"\n' for a, b, c in ROWS),
    "units": "length,width,kind\ncm,mm,\n" + "".join(f"{a},{b},{c}\n" for a, b, c in ROWS),
    "weka": WEKA + "".join(f"{a},{b},{c}\n" for a, b, c in ROWS) + "% the end\n",
    "escaped": "length,width,kind\n" + "".join(f'{a},{b},"{c} \\"z\\", so"\n' for a, b, c in ROWS),
}


@pytest.mark.parametrize("name", BY_LINES)
@pytest.mark.parametrize("missing", MISSING)
def test_texts_that_are_no_plain_cells(tmp_path: Path, name: str, missing: str) -> None:
    (tmp_path / "t.txt").write_text(BY_LINES[name], encoding="utf-8")
    params = open_data(tmp_path / "t.txt").params
    assert params["plain"] or params["loose"], params
    data = data_of("TableFile", {**params, "missing": missing})
    assert not is_carried(data)
    assert_alike(data)


# -- a file that changed since


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,y\n1,x,no\n2,y,yes\n", 'unable to find column "c"'),
        ("a,c,y\n1,5,no\n2,6,maybe\n", "'y' for 1 out of 2 values: [\"maybe\"]"),
        ("a,c,y\n1,5,no\nmuch,6,yes\n", "'a' for 1 out of 2 values: [\"much\"]"),
        ("a,c,y\n1,5,no\n2,6,yes,7\n", "found more fields than defined"),
        ("", "empty CSV"),
        ("a,c,y\n", "too few rows for three splits"),
        ("a,c,y\n1,5,no\n2,6,yes\n", "too few rows for three splits"),
        (None, "No such file"),
    ],
)
def test_a_file_that_changed_gets_one_sentence(tmp_path: Path, text: str | None, said: str) -> None:
    columns = [("a", "number", "input"), ("c", "number", "input"), ("y", "yes-no", "target")]
    data = data_of("TableFile", written(tmp_path / "t.csv", columns))
    load = load_of(data)
    assert_same(load(tmp_path, "cpu"), strictly(data))
    (tmp_path / "t.csv").unlink() if text is None else (tmp_path / "t.csv").write_text(text)
    assert said in refuses(load, tmp_path)


# -- the look


def test_lines_are_clean_for_ruff_and_mypy(tmp_path: Path) -> None:
    cases: list[dict[str, Value]] = [
        {"missing": missing, "scaling": scaling, "target_scaling": scaling, "dates": dates, "split": split}
        for missing, scaling in product(MISSING, SCALING)
        for dates, split in (("days", "by group"), ("days and cycles", "as given"))
    ]
    cases += [
        {"split": "in time", "repeats": "left out", "balance": "thin the common"},
        {"encoding": "utf-16"},
    ]
    texts = []
    for how in cases:
        for columns in (MIXED, MIXED[:1] + MIXED[-2:], MIXED[2:4] + MIXED[-2:], MIXED[1:2] + MIXED[8:]):
            params = written(tmp_path / "t.csv", columns, lost=0.03)
            if columns is not MIXED:
                how = {**how, "split": "random", "balance": "as they come"}
            texts.append(text_of(data_of("TableFile", {**params, **how})))
    for name, text in BY_LINES.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.txt").write_text(text, encoding="utf-8")
        texts.append(text_of(data_of("TableFile", open_data(tmp_path / name / "t.txt").params)))
    assert_clean(tmp_path, texts)
