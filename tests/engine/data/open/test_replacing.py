"""Another file in a node's place keeps what a person has set."""

from __future__ import annotations

from engine.data.open.replacing import replaced


def test_roles_of_columns_that_both_files_have_stay_and_so_does_the_dealing() -> None:
    old = {
        "path": "/a.csv",
        "split": "in time",
        "repeats": "left out",
        "table": (("age", "number", "input"), ("name", "text", "ignore"), ("gone", "number", "target")),
    }
    found = {
        "path": "/b.csv",
        "split": "by class",
        "table": (
            ("age", "number", "input"),
            ("name", "class", "target", ("x", "y")),
            ("new", "date", "input"),
        ),
    }
    assert replaced(old, found) == {
        "path": "/b.csv",
        "split": "in time",
        "repeats": "left out",
        "table": (
            ("age", "number", "input"),
            ("name", "class", "ignore", ("x", "y")),
            ("new", "date", "input"),
        ),
    }


def test_without_a_table_of_columns_the_new_file_says_everything() -> None:
    assert replaced({"path": "/a", "stamp": "1"}, {"path": "/b", "stamp": "2"}) == {
        "path": "/b",
        "stamp": "2",
    }
