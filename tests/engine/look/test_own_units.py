"""What a run's columns were in the file: grams, days, classes; and what of that the network is fed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.catalogue import CATALOGUE, load_catalogue
from engine.data.loading.node import read_node
from engine.data.open.opening import open_data
from engine.data.tables.row_cells import Cell, cells_of, date_days, date_text
from engine.document.graph import Graph, Link, Node, Project
from engine.emit.program import Program, compile_program
from engine.look import own_units as module
from engine.look.own_units import OwnUnits, own_column, own_units, plain, scales

HUES = ("red", "green", "blue")
ROWS = [f"{20 + n},{1000 * n},{HUES[n % 3]},2021-01-{n + 1:02},{30 * n + 5}" for n in range(30)]


@pytest.fixture
def table(tmp_path: Path) -> Node:
    """Age, mass and hue and day, and a target in grams."""
    path = tmp_path / "fruit.csv"
    path.write_text("age,mass,hue,day,grams\n" + "\n".join(ROWS) + "\n")
    load_catalogue()
    opened = open_data(path)
    rows = [
        [name, kind, "target" if name == "grams" else "input", *rest]
        for name, kind, _, *rest in opened.params["table"]
    ]
    params = {**opened.params, "table": tuple(map(tuple, rows)), "target_scaling": "standardise"}
    return Node("n1", "TableFile", "", params)


def program(node: Node, *transforms: Node, port: str = "features") -> Program:
    """The data through transforms and one layer to a loss of "grams", or of the series' next value."""
    nodes = [node, *transforms, Node("n8", "Linear", "", {"units": 1}), Node("n9", "MSE", "")]
    links, before = [], (node.id, port)
    for one in (*transforms, nodes[-2]):
        links.append(Link(*before, one.id, "x"))
        before = one.id, "output"
    links += [Link(*before, "n9", "prediction"), Link(node.id, "grams", "n9", "target")]
    return compile_program(Project(graph=Graph(nodes, links)), CATALOGUE)


def known(made: Program, node: Node) -> tuple[dict[str, OwnUnits], dict[str, Any]]:
    splits = made.load(Path())
    return own_units(node, made.book.types[node.id], CATALOGUE, splits), splits["train"]


def test_a_tables_features_and_target_go_back_to_what_stands_in_the_file(table: Node) -> None:
    units, train = known(program(table), table)
    raw = read_node(plain(table, CATALOGUE), CATALOGUE)["train"]
    assert set(units) == {"features", "grams"} and all(one.each for one in units.values())
    for name in units:
        assert torch.allclose(units[name].undo(train[name]), raw[name], rtol=1e-5, atol=1e-3)
        assert torch.allclose(units[name].change(raw[name]), train[name], atol=1e-5)
    grams = units["grams"].undo(train["grams"])
    assert sorted({round(one) for one in grams.flatten().tolist()} - set(range(5, 905, 30))) == []
    assert units["features"].own.name == "features"


@pytest.mark.parametrize("kind", ["Standardise", "Rescale", "Ranks"])
def test_behind_a_transform_they_go_back_through_both(table: Node, kind: str) -> None:
    step = Node("n2", kind, "scaled")
    made = program(table, step)
    units, train = known(made, table)
    assert set(train) == {"scaled", "grams"}
    raw = read_node(plain(table, CATALOGUE), CATALOGUE)["train"]["features"]
    back = units["scaled"].undo(train["scaled"])
    assert (back - raw).abs().median() < 0.6 and units["scaled"].each
    rank = 0.05 if kind == "Ranks" else 1e-3  # of 24 rows, where float32 may tell two apart or not
    assert torch.allclose(units["scaled"].change(raw), train["scaled"], atol=rank)
    data = made.book.types["n1"]
    assert own_column(data, "scaled").name == "features"  # type: ignore[union-attr]
    assert scales(table, data, CATALOGUE)


def test_principal_axes_are_no_numbers_of_the_file_but_lead_back_to_them(table: Node) -> None:
    made = program(table, Node("n2", "Standardise", "scaled"), Node("n3", "Whiten", "axes"))
    units, train = known(made, table)
    raw = read_node(plain(table, CATALOGUE), CATALOGUE)["train"]["features"]
    assert not units["axes"].each
    assert torch.allclose(units["axes"].undo(train["axes"]), raw, rtol=1e-3, atol=2.0)


def test_nothing_is_said_where_nothing_is_scaled_or_rows_are_others(
    table: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = plain(table, CATALOGUE)
    made = program(bare)
    assert not scales(bare, made.book.types["n1"], CATALOGUE)
    assert known(made, bare)[0] == {}
    scaled = program(table)
    splits = scaled.load(Path())
    data = scaled.book.types["n1"]
    other = replace(table, params={**table.params, "seed": 5})
    assert own_units(other, data, CATALOGUE, splits) == {}  # dealt anew meanwhile
    monkeypatch.setattr(module, "too_large", lambda node: 10**12)
    assert own_units(table, data, CATALOGUE, splits) == {}  # not read twice


def test_shipped_sets_have_units_too() -> None:
    load_catalogue()
    node = Node("n1", "Diabetes")
    links = [Link("n1", "features", "n2", "x"), Link("n2", "output", "n3", "prediction")]
    links.append(Link("n1", "progression", "n3", "target"))
    graph = Graph([node, Node("n2", "Linear", "", {"units": 1}), Node("n3", "MSE")], links)
    made = compile_program(Project(graph=graph), CATALOGUE)
    units, train = known(made, node)
    years = units["progression"].undo(train["progression"])
    assert 25 <= years.min() < 60 and 300 < years.max() <= 346.01
    assert torch.allclose(years, years.round(), atol=1e-3)
    ages = units["features"].rows[:, 0]
    assert ages.min() >= 18.99 and ages.max() <= 79.01


def test_cells_of_a_table_are_numbers_classes_and_days(table: Node) -> None:
    data = CATALOGUE.make(table)
    cells = cells_of(data, data.columns()[0])  # type: ignore[arg-type, attr-defined]
    assert [(one.name, one.kind, one.first, one.count) for one in cells] == [
        ("age", "whole", 0, 1),
        ("mass", "whole", 1, 1),
        ("hue", "category", 2, 3),
        ("day", "date", 5, 1),
    ]
    raw = read_node(plain(table, CATALOGUE), CATALOGUE)["train"]["features"][0].numpy()
    day = round(float(raw[0])) - 20
    values = [one.read(raw[one.first : one.first + one.count]) for one in cells]
    assert values[1] == 1000 * day and cells[2].details[int(values[2])] == HUES[day % 3]
    assert date_text(values[3], cells[3].details[0]) == f"2021-01-{day + 1:02}"
    again = np.zeros_like(raw)
    for one, value in zip(cells, values, strict=True):
        one.write(value, again[one.first : one.first + one.count])
    np.testing.assert_array_equal(again, raw)


def test_cycles_of_a_date_are_written_as_the_table_writes_them(table: Node) -> None:
    cycled = replace(
        plain(table, CATALOGUE), params={**plain(table, CATALOGUE).params, "dates": "days and cycles"}
    )
    data = CATALOGUE.make(cycled)
    cell = cells_of(data, data.columns()[0])[-1]  # type: ignore[arg-type, attr-defined]
    raw = read_node(cycled, CATALOGUE)["train"]["features"].numpy()
    assert cell.count == 7
    for row in raw[:5]:
        made = np.zeros(7, np.float32)
        cell.write(cell.read(row[cell.first :]), made)
        np.testing.assert_allclose(made, row[cell.first :], atol=1e-6)


def test_dates_as_they_are_written() -> None:
    assert date_text(18628.0) == "2021-01-01" and date_text(18628.25) == "2021-01-01 06:00:00"
    assert date_text(18628.0, "%d.%m.%Y") == "01.01.2021"
    assert date_days("01.01.2021", "%d.%m.%Y") == 18628 == date_days("2021-01-01", "%d.%m.%Y")
    assert date_days("soon", "%d.%m.%Y") is None


def test_a_category_that_is_none_of_its_classes() -> None:
    cell = Cell("hue", "category", 0, 2, ("red", "green"))
    assert np.isnan(cell.read(np.zeros(2, np.float32))) and cell.read(np.array([0, 1.0])) == 1
