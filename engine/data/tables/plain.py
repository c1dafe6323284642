"""Whether a table is written so plainly that polars alone reads it: as an exported script then does."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from engine.data.tables.reading import nameable
from engine.data.tables.sniff import Form

# blanks around a cell or for one, a long minus, and what a reader of numbers takes for one that is not finite
UNUSUAL = r"(?i)^$|^\s|\s$|−|^[-+]?(?:nan|inf|infinity)$"


def plain_text(path: Path, form: Form, frame: Any) -> bool:
    """Whether polars finds the names and the cells of a `frame`, all of text, without further ado."""
    import polars as pl

    if form.delimiter in ("spaces", "arff") or len(form.quote) > 1 or form.aside or not nameable(path):
        return False
    try:
        text = None if form.encoding == "utf-8" else io.StringIO(path.read_text(encoding=form.encoding))
        found = pl.read_csv(
            path if text is None else text,
            infer_schema=False,
            has_header=form.header,
            skip_lines=form.skip,
            separator=form.delimiter,
            quote_char=form.quote or None,
        )
    except (OSError, UnicodeError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False
    names = [name if name and form.header else f"column {at}" for at, name in enumerate(found.columns, 1)]
    return (
        names == frame.columns
        and found.rename(dict(zip(found.columns, names, strict=True))).equals(frame)
        and plain_cells(frame)
    )


def plain_cells(frame: Any) -> bool:
    """Whether no text of a frame is one that readers of numbers and classes may take for something else."""
    import polars as pl

    texts = frame.select(pl.col(pl.String))
    return not texts.width or not texts.select(pl.any_horizontal(pl.all().str.contains(UNUSUAL).any())).item()
