"""Whether a file that the user wants read as something else holds what that needs.

Openers take what they can, as a file that is opened by its name should open. Here the user has chosen, and a
file that can be read so only by accident is refused with what it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from engine.catalogue.traits import FileForm
from engine.data.open.opening import CLOUD_TEXTS, OPENERS
from engine.data.tables.sniff import RECORDS, SHEETS, TYPED, encoding_of, form_of, rows_of
from engine.values import Value

HEAD = 1 << 18
LINES = 200
WORDY = 3.5  # words a cell, on average, above which cells hold sentences
MEASURED = ("number", "whole", "date", "yes-no")
BINARY = (".ply", ".npy", ".npz", *TYPED, *SHEETS)
MARKUP = (".graphml", ".xml")
SENTENCES = {
    FileForm.TABLE: "is no table: it holds sentences, and nothing parts its lines into columns.",
    FileForm.SERIES: "is no series: it holds sentences, not columns of numbers.",
    FileForm.LABELLED: "has no classes: it holds sentences, and nothing parts them from a column of classes.",
    FileForm.PAIRS: "has no two columns of texts: it holds sentences. Part the two texts of each line by a "
    "tab, or put them in quotes.",
    FileForm.ANNOTATED: 'has no column "first": it holds sentences.',
    FileForm.GRAPH: "is no list of edges: it holds sentences.",
    FileForm.POINTS: "is no point cloud: it holds sentences, not numbers x, y and z.",
}
Params = Mapping[str, Value]


def refused(path: Path, form: FileForm) -> str:
    """What the file is instead, where a look at its beginning is enough, as a sentence; else ""."""
    name = path.name.casefold()
    if name.endswith(RECORDS):
        fits = form in (FileForm.TABLE, FileForm.LABELLED, FileForm.TEXT)
        said = f'"{path.name}" holds JSON, which is read as a table, as labelled texts or as a text.'
        return "" if fits else said
    if name.endswith(MARKUP) and form not in (FileForm.GRAPH, FileForm.TEXT):
        return f'"{path.name}" holds markup, which is read as a graph or as a text.'
    known = {FileForm.GRAPH: MARKUP, FileForm.POINTS: (".ply", ".npy")}.get(form, (*BINARY, *MARKUP))
    clouds = (*OPENERS["engine.data.open.points"], ".npy", *CLOUD_TEXTS)
    if form == FileForm.POINTS and not name.endswith(clouds):
        return f'"{path.name}" is no point cloud by its name; these are: {", ".join(clouds)}.'
    if form not in SENTENCES or name.endswith(known):
        return ""
    with open(path, "rb") as file:
        head = file.read(HEAD)
    try:
        encoding = encoding_of(head, whole=len(head) < HEAD)
    except ValueError as error:
        return f'"{path.name}" is no text: {error}.'
    text = head.decode(encoding, "ignore").removeprefix("\ufeff")
    if text.startswith("__label__"):
        return "" if form == FileForm.LABELLED else f'"{path.name}" holds texts with labels.'
    cells = form_of(text, encoding)
    lines = [line for line in text.splitlines()[:LINES] if line.strip()]
    return f'"{path.name}" {SENTENCES[form]}' if _sentences(lines, cells.delimiter, cells.quote) else ""


def lacking(path: Path, form: FileForm, params: Params) -> str:
    """What the file lacks to be read so, as a sentence; "" where it lacks nothing."""
    checks: dict[FileForm, Callable[[Path, Params], str]] = {
        FileForm.TABLE: _table,
        FileForm.LABELLED: _labelled,
        FileForm.PAIRS: _pairs,
        FileForm.GRAPH: _graph,
    }
    check = checks.get(form)
    return check(path, params) if check is not None else ""


def _table(path: Path, params: Params) -> str:
    if any(row[2] != "ignore" for row in _rows(params.get("table"))):
        return ""
    return f'"{path.name}" is no table to learn from: no column holds numbers, dates or classes.'


def _labelled(path: Path, params: Params) -> str:
    if params.get("kind_of_file") == "table" and _single_words(path, params):
        return f'"{path.name}" has no column of texts: its cells are single words and numbers.'
    classes, count = len(_rows(params.get("classes"))), int(str(params.get("count", 0)))
    if classes > max(2, count / 2):
        return (
            f'"{path.name}" has no classes: "{params.get("label", "label")}" is different in nearly every '
            f"one of its {count:,} texts."
        )
    return ""


def _pairs(path: Path, params: Params) -> str:
    if not params.get("other") and _single_words(path, params):
        return f'"{path.name}" has no two columns of texts: its cells are single words and numbers.'
    return ""


def _graph(path: Path, params: Params) -> str:
    from engine.data.graphs.files import edge_columns, read_edge_list

    if path.name.casefold().endswith(MARKUP):
        return ""
    cells = _cells(path, params)
    first = [cell.strip().casefold() for cell in cells[0]] if cells else []
    ends = edge_columns(first) if params.get("header") and len(first) > 1 else []
    named = bool(ends) and ends != edge_columns([f"{at}" for at in range(len(first))])
    named = named or bool({"source", "from", "src"} & set(first))
    if params.get("header") and not named and len(first) > 3:
        return (
            f'"{path.name}" has {len(first)} columns, and none is called source or target: nothing says '
            "which two name the nodes that an edge joins."
        )
    delimiter = {"spaces": "", "tab": "\t"}.get(str(params["delimiter"]), str(params["delimiter"]))
    edges, _ = read_edge_list(path, delimiter, bool(params.get("header")))
    begins, stops = [edge[0] for edge in edges], [edge[1] for edge in edges]
    apart = not set(begins) & set(stops)
    once = len(set(begins)) == len(begins) or len(set(stops)) == len(stops)
    if len(edges) > 3 and apart and once and (not named or _words(begins + stops) > 1.5):
        return (
            f'"{path.name}" is no list of edges: each name stands once in one of its columns, and none '
            "stands in both. Two columns have to name the nodes that an edge joins."
        )
    return ""


def _rows(value: Value) -> tuple[tuple[Value, ...], ...]:
    return (
        tuple(row if isinstance(row, tuple) else (row,) for row in value) if isinstance(value, tuple) else ()
    )


def _cells(path: Path, params: Params) -> list[list[str]]:
    """The cells of the first lines, as the parameters of its node say that they are parted."""
    with open(path, "rb") as file:
        raw = file.read(HEAD)
    text = raw.decode(str(params.get("encoding", "utf-8")), "ignore").removeprefix("\ufeff")
    delimiter = {"tab": "\t"}.get(str(params.get("delimiter", ",")), str(params.get("delimiter", ",")))
    quote = str(params.get("quote", '"'))
    lines = [line for line in text.splitlines()[:LINES] if line.strip()]
    return rows_of(lines, delimiter, '"' if quote == "none" else quote)


def _single_words(path: Path, params: Params) -> bool:
    """Whether this is a table of three columns or more in which no cell holds more than a word."""
    if path.name.casefold().endswith(BINARY):
        return False
    rows = [row for row in _cells(path, params) if len(row) > 1]
    if not rows or max(len(row) for row in rows) < 3:
        return False
    return max(_words(column) for column in zip(*rows, strict=False)) < 1.2


def _words(cells: Sequence[str]) -> float:
    return sum(len(cell.split()) for cell in cells) / max(1, len(cells))


def _sentences(lines: Sequence[str], delimiter: str, quote: str) -> bool:
    """Whether cells are parts of sentences: long, and parted where a text has commas, or not at all."""
    rows = rows_of(lines, delimiter, quote)
    cells = [cell for row in rows for cell in row if cell.strip()]
    if not cells or _words(cells) < WORDY:
        return False
    sizes = [len(row) for row in rows]
    usual = max(set(sizes), key=sizes.count)
    behind = [cell for row in rows for cell in row[1:]]
    spaced = sum(cell.startswith(" ") for cell in behind) > 0.8 * len(behind)
    return usual == 1 or sizes.count(usual) < 0.8 * len(sizes) or spaced
