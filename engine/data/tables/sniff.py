"""What a file of text is made of: its encoding, delimiter, decimal mark, header and the kinds of its columns.

Guesses from its beginning; each is a parameter that the user may correct. Needs no torch.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields

from engine.data.tables.number_forms import is_amount, thousands
from engine.data.tables.reading import plain_lines, separator
from engine.values import Value

MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
DELIMITERS = ("\t", ";", "|", ",", ":")  # in this order where several would do
ESCAPED = '\\"'  # quotes, and in them a backslash before each that is a letter
LOGGERS = ("TOA5", "TOACI1", "TOB1")  # what the first line of a logger's file begins with
FEW_ROWS = 4  # fewer say little of how a table is written
LINES = 200  # of the beginning, for the delimiter and the header
BLANKS = (
    *("NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan"),
    *(
        "\\N",
        "null",
        "NULL",
        "Null",
        "None",
        "none",
        "nil",
        "?",
        "-",
        "--",
        ".",
        "..",
        "*",
        "missing",
        "#NULL!",
    ),
)
NUMBER = re.compile(r"[-+−]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
COMMA_NUMBER = re.compile(r"[-+−]?(\d+,?\d*|,\d+)([eE][-+]?\d+)?")
YES_NO = (
    *(
        ("no", "yes"),
        ("n", "y"),
        ("false", "true"),
        ("f", "t"),
        ("off", "on"),
        ("nein", "ja"),
        ("non", "oui"),
    ),
    *(("nej", "ja"), ("nee", "ja"), ("no", "si"), ("no", "sí"), ("não", "sim"), ("нет", "да"), ("0", "1")),
)
DATES = (
    *("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y%m%d", "%d %b %Y"),
    *(
        "%d-%b-%Y",
        "%b-%d-%Y",
        "%b %d, %Y",
        "%d %B %Y",
        "%B %d, %Y",
        "%m-%d-%Y",
        "%d-%b-%y",
        "%d.%m.%y",
        "%d/%m/%y",
        "%m/%d/%y",
    ),
)
TIMES = ("", " %H:%M:%S%.f", " %H:%M", "T%H:%M:%S%.f", "T%H:%M:%S%.fZ", "T%H:%M", " %I:%M:%S %p", " %I:%M %p")
ZONES = (  # after each of these an offset from UTC, or Z
    *("T%H:%M:%S%.f%#z", " %H:%M:%S%.f%#z", "T%H:%M%#z", " %H:%M%#z"),
    *(" %H:%M:%S%.f UTC", " %H:%M:%S%.f GMT", " %H:%M UTC"),
)
SHEETS = (".xlsx", ".xls", ".xlsb", ".xlsm", ".ods")
TYPED = (".parquet", ".pq", ".arrow", ".feather", ".ipc")  # files that know the kinds of their columns
RECORDS = (".json", ".jsonl", ".ndjson")
IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")


@dataclass(frozen=True, slots=True)
class Form:
    """How a table is written down in text."""

    encoding: str = "utf-8"
    delimiter: str = ","
    quote: str = '"'
    decimal: str = "."
    header: bool = True
    skip: int = 0
    aside: tuple[int, ...] = ()  # lines, from 1, that are read as blank ones


def form_in(params: Mapping[str, Value]) -> Form:
    """The form that a node's parameters say; what they leave out is as usual."""
    found = {one.name: params.get(one.name, one.default) for one in fields(Form)}
    aside, delimiter = found["aside"], str(found["delimiter"])
    return Form(
        delimiter="\t" if delimiter == "tab" else delimiter,
        quote="" if found["quote"] == "none" else str(found["quote"]),
        decimal=str(found["decimal"]),
        encoding=str(found["encoding"]),
        header=bool(found["header"]),
        skip=int(str(found["skip"])),
        aside=tuple(int(str(line)) for line in aside) if isinstance(aside, tuple) else (),
    )


def params_of(form: Form) -> dict[str, Value]:
    """The form as parameters of a node."""
    found: dict[str, Value] = {one.name: getattr(form, one.name) for one in fields(Form)}
    delimiter = "tab" if form.delimiter == "\t" else form.delimiter
    return {**found, "delimiter": delimiter, "quote": form.quote or "none", "aside": form.aside or None}


def written(form: Form) -> dict[str, Value]:
    """Those of the parameters that differ from the usual."""
    usual = params_of(Form())
    return {name: value for name, value in params_of(form).items() if value != usual[name]}


def encoding_of(head: bytes, whole: bool = True) -> str:
    """The encoding of text that begins with `head`; not `whole`, its last letter may be cut.

    Errors: `ValueError` where it is no text: where it holds zero bytes and is no UTF-16.
    """
    for mark, name in MARKS.items():
        if head.startswith(mark):
            return name
    if b"\0" in head:
        pairs = head[: len(head) // 2 * 2]
        for name, zeros in (("utf-16-le", pairs[1::2]), ("utf-16-be", pairs[::2])):
            if zeros.count(0) > 0.4 * len(zeros) and pairs.count(0) <= 1.05 * zeros.count(0):
                return name
        raise ValueError(f"byte {head.index(0) + 1:,} is zero, which no text holds")
    try:
        head.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError as error:
        if not whole and error.start > len(head) - 4:
            return "utf-8"
    return "latin-1" if set(head) & set(b"\x81\x8d\x8f\x90\x9d") else "cp1252"


def form_of(text: str, encoding: str) -> Form:
    """How the table at the beginning of a file's `text` is written down."""
    lines = [line for line in text.splitlines()[:LINES]]
    told = next((line for line in lines if line.strip() and not line.startswith("%")), "")
    weka = re.search(r"(?im)^\s*@data\b", text) if told[:9].casefold() == "@relation" else None
    if weka:
        return Form(encoding, "arff", "'" if "'" in text else '"', skip=text.count("\n", 0, weka.end()))
    quote = '"' if '"' in text or not re.search(r"(?m)(^|[;,\t|])'[^'\n]*'([;,\t|]|$)", text) else "'"
    body = lines[len(lines) // 2 :]  # what stands above a table is not written as the table is
    found = _delimiter(lines, quote) or (_delimiter(body, quote) if len(body) >= FEW_ROWS else None)
    if found is None or found == "\t":
        wide = _aligned(lines) or (_aligned(body) if len(body) >= FEW_ROWS else 0)
        if found is None or not _even(lines, found, quote, wide):
            found = "spaces" if wide else found or ","
    if '\\"' in text and not _one_size(lines, found, quote) and _one_size(lines, found, ESCAPED):
        quote = ESCAPED
    numbered = numbered_rows(lines, found, quote)
    rows = [row for _, row in numbered]
    decimal = _decimal(rows, found)
    skip, header, below = header_in(rows, decimal)
    aside = tuple(numbered[skip + at][0] + 1 for at in range(1, below + 1))
    return Form(encoding, found, quote, decimal, header, numbered[skip][0] if skip else 0, aside)


def header_in(rows: list[list[str]], decimal: str) -> tuple[int, bool, int]:
    """How many rows stand before the table that `rows` begin with, whether its first row is a header.

    The last number counts rows below the header that are no examples: units of the columns.
    """
    full = [len([cell for cell in row if cell.strip()]) for row in rows]
    usual = Counter(one for one in full if one).most_common(1)
    # a header may leave the numbers of the rows unnamed
    begins = (at for at, row in enumerate(rows) if full[at] > 1 or (full[at] and not row[0].strip()))
    skip = next(begins, 0) if usual and usual[0][0] > 1 else 0
    skip = _above(rows, skip)
    if rows and len(rows) > 1 and rows[0][:1] and rows[0][0] in LOGGERS:
        skip = 1
    body = [row for row in rows[skip:] if row and len(row) == len(rows[skip])] if rows else []
    below = next((count for count in (2, 1) if _are_units(body[1:], count, decimal)), 0)
    header = _has_header(body[:1] + body[1 + below :], decimal)
    return skip, header, below if header else 0


def _are_units(rows: list[list[str]], count: int, decimal: str) -> bool:
    """Whether the first `count` rows hold no number in any column that is one of numbers below them."""
    top, rest = rows[:count], rows[count:]
    if len(rest) < FEW_ROWS:
        return False
    columns = [[cell for cell in column if not is_blank(cell)] for column in zip(*rest, strict=True)]
    numbers = [
        at for at, column in enumerate(columns) if column and all(_numeric(cell, decimal) for cell in column)
    ]
    named = all(any(not is_blank(row[at]) for at in numbers) for row in top)
    return named and not any(_numeric(row[at], decimal) for row in top for at in numbers)


def _above(rows: list[list[str]], first: int) -> int:
    """Where the table begins whose rows are the commonest: narrow rows above them are said about it."""
    sizes = [len(row) for row in rows]
    usual = max(Counter(sizes[first:]).items(), key=lambda one: (one[1], one[0]), default=(0, 0))[0]
    start = next((at for at in range(first, len(sizes)) if sizes[at] == usual), first)
    enough = len(sizes) - start >= FEW_ROWS and all(size in (usual, 0) for size in sizes[start:])
    narrow = all(len(row) <= usual // 2 for row in rows[first:start])
    return start if enough and narrow else first


def rows_of(lines: Iterable[str], delimiter: str, quote: str) -> list[list[str]]:
    """The cells of some lines. What `csv` cannot read is left out."""
    return [row for _, row in numbered_rows(lines, delimiter, quote)]


def numbered_rows(lines: Iterable[str], delimiter: str, quote: str) -> list[tuple[int, list[str]]]:
    """The same with the line, from 0, that each row begins in."""
    rows: list[tuple[int, list[str]]] = []
    plain = (line + "\n" for line in plain_lines(lines, delimiter, quote))
    reader = csv.reader(plain, delimiter=separator(delimiter), quotechar=quote[-1], skipinitialspace=False)
    at = 0
    with suppress(csv.Error):
        for row in reader:
            rows.append((at, row))
            at = reader.line_num
    return rows


def number_in(cell: str, decimal: str = ".") -> float | None:
    """The number that a cell says, or None."""
    pattern = COMMA_NUMBER if decimal == "," else NUMBER
    plain = cell.strip()
    if not pattern.fullmatch(plain):
        return None
    return float(plain.replace("−", "-").replace(",", "."))


def is_blank(cell: str) -> bool:
    return not cell.strip() or cell.strip() in BLANKS


def _delimiter(lines: Sequence[str], quote: str) -> str | None:
    best: tuple[float, str] | None = None
    for mark in DELIMITERS:
        if mark == ":" and best:
            continue
        counts = Counter(len(row) for row in rows_of(lines, mark, quote) if row)
        if not counts:
            continue
        width, often = max(counts.items(), key=lambda one: (one[1] * (one[0] > 1), one[0]))
        fraction = often / counts.total()
        if width > 1 and fraction >= 0.6 and (best is None or fraction > best[0] + 0.05):
            best = fraction, mark
    return best[1] if best else None


def _aligned(lines: Sequence[str]) -> int:
    """How many words each line has, where all have equally many and most are numbers; 0 elsewhere.

    The first may have one less, where names of rows are not named.
    """
    rows = [row for row in rows_of(lines, "spaces", '"') if row]
    if len(rows) < 2 or len(rows[-1]) < 2 or len({len(row) for row in rows[1:]}) > 1:
        return 0
    if len(rows[0]) not in (len(rows[1]), len(rows[1]) - 1) or (
        len(rows[0]) < len(rows[1]) and len(rows) < 4
    ):
        return 0
    cells = [cell for row in rows[1:] for cell in row]
    known = sum(number_in(cell) is not None or is_blank(cell) for cell in cells)
    return len(rows[1]) if known >= 0.5 * len(cells) else 0


def _one_size(lines: Sequence[str], delimiter: str, quote: str) -> bool:
    """Whether all rows have as many cells, and none was lost."""
    rows = numbered_rows(lines, delimiter, quote)
    return len({len(row) for _, row in rows if row}) == 1 and rows[-1][0] == len(lines) - 1


def _even(lines: Sequence[str], delimiter: str, quote: str, wide: int) -> bool:
    """Whether rows parted by a delimiter are all of one size, and no narrower than `wide` words."""
    sizes = {len(row) for row in rows_of(lines, delimiter, quote) if row}
    return not wide or len(sizes) == 1 or max(sizes) >= wide


def _decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    """The decimal mark. A comma that may stand between thousands, as in 1,234, says little by itself."""
    cells = [cell for row in rows for cell in row if not is_blank(cell)]
    commas = [cell for cell in cells if "," in cell and number_in(cell, ",") is not None]
    point = sum("." in cell and number_in(cell) is not None for cell in cells)
    if not all(thousands(cell, ",") for cell in commas):
        return "," if len(commas) > point else "."
    parted = delimiter == "," or any(_parts_thousands(column) for column in zip(*rows[1:], strict=False))
    return "," if len(commas) > point and not parted else "."


def _parts_thousands(cells: Sequence[str]) -> bool:
    """Whether a column has whole numbers below 1000 without commas, and larger ones with them only."""
    known = [cell.strip() for cell in cells if not is_blank(cell)]
    commas = [cell for cell in known if "," in cell]
    rest = [cell for cell in known if "," not in cell]
    if not commas or not all(thousands(cell, ",") for cell in commas):
        return False
    below = all(re.fullmatch(r"[-+−]?\d{1,3}", cell) for cell in rest)
    return any(cell.count(",") > 1 for cell in commas) or (bool(rest) and below)


def _numeric(cell: str, decimal: str) -> bool:
    """Whether a cell is a number, plainly or as people write amounts."""
    return number_in(cell, decimal) is not None or is_amount(cell)


def _has_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether the first row names columns: it has no numbers, and something below it does or never recurs."""
    if not rows:
        return False
    first, below = rows[0], rows[1:]
    if any(_numeric(cell, decimal) for cell in first if cell.strip()):
        named = [cell for cell in first if not _numeric(cell, decimal) and not is_blank(cell)]
        if len(named) < 0.5 * len(first):
            return False
    if not below:
        return len(set(first)) == len(first)
    for at, name in enumerate(first):
        values = [row[at] for row in below if not is_blank(row[at])]
        if values and all(_numeric(value, decimal) for value in values):
            return (not _numeric(name, decimal) and not is_blank(name)) or _header_elsewhere(
                rows, decimal, at
            )
    again = sum(name in {row[at] for row in below} for at, name in enumerate(first))
    return again == 0 and len(set(first)) == len(first)


def _header_elsewhere(rows: Sequence[Sequence[str]], decimal: str, but: int) -> bool:
    """Whether another column of numbers has a name above it."""
    for at, name in enumerate(rows[0]):
        values = [row[at] for row in rows[1:] if not is_blank(row[at])]
        numbers = values and all(_numeric(value, decimal) for value in values)
        if at != but and numbers and not _numeric(name, decimal) and not is_blank(name):
            return True
    return False
