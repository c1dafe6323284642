"""Whether a table of texts is as simple readers expect it, asked when it is opened."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.data.tables.reading import read_text_table


def simple_form(table: Mapping[str, Any]) -> dict[str, Any] | None:
    """What `polars.read_csv` takes beside the file for a table of texts; None where it cannot read it."""
    if table["delimiter"] in ("spaces", "arff") or len(table["quote"]) > 1 or table.get("aside"):
        return None
    given = {
        "separator": (table["delimiter"], ","),
        "quote_char": (table["quote"] or None, '"'),
        "has_header": (table["header"], True),
        "skip_lines": (table["skip"], 0),
    }
    return {"infer_schema": False, **{name: one for name, (one, usual) in given.items() if one != usual}}


def simple_column(name: str, table: Mapping[str, Any]) -> str | int:
    """Where the simple reader has a column: by its name, or without a header by its place from 0."""
    return name if table["header"] else int(name.removeprefix("column ")) - 1


def reads_plainly(path: Path, names: Sequence[str], encoding: str, table: Mapping[str, Any]) -> bool:
    """Whether a simple reader finds the same texts in these columns."""
    import polars as pl

    form = simple_form(table)
    if form is None:
        return False
    strict = read_text_table(path, list(dict.fromkeys(names)), encoding=encoding, blanks=(), **table)
    try:
        whole = path.read_bytes() if encoding == "utf-8" else io.StringIO(path.read_text(encoding=encoding))
        simple = pl.read_csv(whole, **form)
        places = [simple_column(name, table) for name in names]
        columns = [simple[one] if isinstance(one, str) else simple.to_series(one) for one in places]
        cells = [column.fill_null("").to_list() for column in columns]
    except (OSError, UnicodeError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False
    return cells == [strict[name].cast(str).fill_null("").to_list() for name in names]
