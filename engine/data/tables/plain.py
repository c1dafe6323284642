"""Whether a table is written so plainly that polars alone reads it: as an exported script then does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.data.tables.reading import decoded, nameable, separator
from engine.data.tables.sniff import Form
from engine.values import Value

# blanks around a cell or for one, a long minus, and what a reader of numbers takes for one that is not finite
UNUSUAL = r"(?i)^$|^\s|\s$|−|^[-+]?(?:nan|inf|infinity)$"


READERS = {  # of files that know the kinds of their columns, and what is said to them
    "pl.read_parquet": "",
    "pl.read_json": ", infer_schema_length=None",
    "pl.read_ndjson": ", infer_schema_length=None",
    "pl.read_ipc": "",
}


def reader_for(name: str) -> str:
    """The one of polars' readers that a file of such a name is for."""
    end = name.casefold().rpartition(".")[2]
    readers = {"parquet": "parquet", "pq": "parquet", "json": "json", "jsonl": "ndjson", "ndjson": "ndjson"}
    return f"pl.read_{readers.get(end, 'ipc')}"


def found_plain(found: str, frame: Any) -> dict[str, Value]:
    """As parameters of a node: whether what simple readers `found` is plain or loose; "" for neither."""
    plain = found == "plain" and plain_cells(frame)
    return {"plain": plain, "loose": bool(found) and not plain}


def reads_text(path: Path, form: Form, frame: Any) -> str:
    """ "plain" where polars finds the names and cells of a `frame`, all of text, without further ado.

    "loose" where it does once blanks in names are left out, and texts without a letter are no cells.
    """
    import polars as pl

    if not nameable(path):
        return ""
    try:
        found = pl.read_csv(
            decoded(path, form.encoding, form.delimiter, form.quote, form.aside),
            infer_schema=False,
            has_header=form.header,
            skip_lines=form.skip,
            separator=separator(form.delimiter),
            quote_char=form.quote[-1:] or None,
        )
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return ""
    names = [name if name and form.header else f"column {at}" for at, name in enumerate(found.columns, 1)]
    tidy = [" ".join(name.split()) for name in names]
    if tidy != frame.columns:
        return ""
    found.columns = tidy
    if names == tidy and found.equals(frame):
        return "plain"
    return "loose" if found.with_columns(pl.all().replace("", None)).equals(frame) else ""


def reads_typed(path: Path, frame: Any) -> str:
    """ "plain" where polars' own reader finds a `frame` whose numbers are all finite, "loose" for Parquet and
    Arrow, whose columns may be parted; "" for others."""
    import polars as pl

    reader = reader_for(path.name)
    if not nameable(path):
        return ""
    how: dict[str, Any] = {"infer_schema_length": None} if "json" in reader else {}
    try:
        found = getattr(pl, reader.removeprefix("pl."))(path, **how)
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return ""
    floats = found.select(pl.col(pl.Float64, pl.Float32))
    finite = not floats.width or floats.select(pl.all_horizontal(pl.all().is_finite().all())).item()
    if finite and found.schema == frame.schema and found.equals(frame):
        return "plain"
    return "" if "json" in reader else "loose"


def plain_cells(frame: Any) -> bool:
    """Whether no text of a frame is one that readers of numbers and classes may take for something else."""
    import polars as pl

    texts = frame.select(pl.col(pl.String))
    return not texts.width or not texts.select(pl.any_horizontal(pl.all().str.contains(UNUSUAL).any())).item()
