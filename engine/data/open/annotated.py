"""Opens texts with classes, tags and answers: a table with tabs, whose first line names the columns."""

from __future__ import annotations

from pathlib import Path

from engine.catalogue.traits import FileForm
from engine.data.open.opening import Opened, reader, stamp
from engine.data.tables.sniff import encoding_of
from engine.data.text.annotated import annotated_rows
from engine.data.text.lines import read_text
from engine.data.text.tokenisers import words_of
from engine.data.watch import Watch
from engine.errors import DataError
from engine.values import Value

TOLD = ("first", "second", "tags", "answer")
MOST_CLASSES = 50
WORDS, LONGEST = 2000, 128


def open_it(path: Path, watch: Watch) -> Opened:
    """A node of annotated texts. Errors: `DataError` with what the file lacks; `ValueError` with the line."""
    watch.look(0.1, "reading")
    try:
        encoding = encoding_of(path.read_bytes(), whole=True)
    except ValueError as error:
        raise DataError(f'"{path.name}" is no text: {error}.') from error
    rows = annotated_rows(read_text(path, encoding), path.name)
    if not rows or "first" not in rows[0]:
        raise DataError(
            f'"{path.name}" has no column "first".',
            fix='Part its columns by tabs, and name them in the first line: "first" and "second" are texts.',
        )
    kinds, remarks = [], []
    for name in [one for one in rows[0] if one not in TOLD]:
        known = sorted({row[name] for row in rows})
        if 1 < len(known) <= MOST_CLASSES and not any(", " in one or not one for one in known):
            kinds.append(f"{name}: {', '.join(known)}")
        else:
            remarks.append(f'"{name}" has {len(known):,} different cells: it is not read.')
    texts = [[words_of(row.get(one, "")) for one in ("first", "second")] for row in rows]
    wrong = next(
        (
            at
            for at, (row, pair) in enumerate(zip(rows, texts, strict=True), 2)
            if row.get("tags") and len(row["tags"].split()) != sum(map(len, pair))
        ),
        None,
    )
    if wrong is not None:
        raise DataError(f'"{path.name}", line {wrong:,}: there is not one tag for each word.')
    tags = sorted({tag for row in rows for tag in row.get("tags", "").split()})
    params: dict[str, Value] = {
        "path": str(path),
        "stamp": stamp(path),
        "encoding": encoding,
        "kinds": tuple(kinds),
        "tags": tuple(tags),
        "count": len(rows),
        "size": WORDS,
        "length": max(4, min(LONGEST, max(sum(map(len, pair)) + 3 for pair in texts))),
    }
    classes = f", classes {'; '.join(kinds)}" if kinds else ""
    remarks.insert(0, f"{len(rows):,} rows, {len(tags)} tags{classes}.")
    return Opened(reader(FileForm.ANNOTATED), params, path.stem, tuple(remarks))
