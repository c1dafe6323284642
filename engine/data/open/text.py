"""Opens text: a corpus, texts with a class each, or pairs of texts; learns the tokens that there are.

Which of them a file is is guessed from its beginning, and can be set by the user.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

from engine.catalogue.traits import FileForm
from engine.data import splits
from engine.data.open.opening import Opened, reader, stamp
from engine.data.tables.sniff import encoding_of, form_of, number_in, rows_of
from engine.data.text.lines import json_place, labelled_rows, read_text, rows_of_folders, text_pairs
from engine.data.text.plain import reads_plainly
from engine.data.text.texts import corpus_parts
from engine.data.text.token_names import named_tokens
from engine.data.text.tokenisers import learned_tokeniser, words_of
from engine.data.watch import Watch
from engine.errors import DataError, reason_of
from engine.values import Value

HEAD = 1 << 20
NAMED_TOKENS = 2000  # of larger vocabularies, a project does not keep the names
MOST_CLASSES = 1000
WORDS = 2000
LONGEST = 128
TEXT_FIELDS = ("text", "sentence", "review", "content", "body", "message", "comment")
SPARSE = re.compile(r"[-+\d.,eE]+(\s+\d+:[-+\d.eE]+)+\s*(#.*)?$")
LABEL_FIELDS = ("label", "class", "category", "sentiment", "target", "intent")


def open_it(path: Path, watch: Watch) -> Opened:
    """A node for a file of text, or a folder of texts. Errors: `DataError` with what and where; `Stopped`."""
    if path.is_dir():
        return _asked(open_labelled, path, watch)
    head = _head(path)
    text = head.decode(_encoding(path, head), "ignore").removeprefix("\ufeff")
    lines = [line for line in text.splitlines()[:200] if line.strip()]
    if lines and all(number_in(cell) is not None for line in lines for cell in line.split()):
        from engine.data.open.series import open_it as open_series

        return open_series(path, watch)
    if path.suffix.casefold() in (".jsonl", ".ndjson"):
        return _asked(open_labelled, path, watch)
    if lines and all(SPARSE.match(line) for line in lines):
        raise DataError(
            f'"{path.name}" holds sparse rows (libsvm), which are not read.',
            fix="Write them as a table: sklearn.datasets.load_svmlight_file reads them.",
        )
    if _numbers_in_columns(text):
        from engine.data.open import tables as open_table

        return open_table.open_it(path, watch)
    if lines and sum(line.startswith("__label__") for line in lines) >= 0.9 * len(lines):
        return _asked(open_labelled, path, watch)
    return _asked(open_corpus, path, watch)


def _numbers_in_columns(text: str) -> bool:
    """Whether a text is a table, most cells of which are numbers."""
    form = form_of(text, "utf-8")
    rows = [row for row in rows_of(text.splitlines()[:200], form.delimiter, form.quote) if row][form.skip :]
    cells = [cell for row in rows[form.header :] for cell in row]
    known = sum(number_in(cell, form.decimal) is not None for cell in cells)
    return len(rows) > 4 and len({len(row) for row in rows}) == 1 < len(rows[0]) and known > 0.5 * len(cells)


def _asked(opener: Any, path: Path, watch: Watch) -> Opened:
    try:
        found: Opened = opener(path, watch)
    except (ValueError, ImportError) as error:
        raise DataError(reason_of(error)) from error
    return found


def _head(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(HEAD)


def _encoding(path: Path, head: bytes) -> str:
    try:
        return encoding_of(head, whole=len(head) < HEAD)
    except ValueError as error:
        raise DataError(f'"{path.name}" is no text: {error}.') from error


def open_corpus(path: Path, watch: Watch) -> Opened:
    """A text whose next tokens are predicted. Errors: `ValueError`, `DataError`, `Stopped`."""
    watch.look(0.1, "reading")
    encoding = _encoding(path, _head(path))
    text = read_text(path, encoding)
    if len(text) < 20:
        raise DataError(f'"{path.name}" has only {len(text)} characters: too few to learn from.')
    remarks = [f"{len(text):,} characters in {text.count(chr(10)) + 1:,} lines."]
    watch.look(0.5, "learning the characters")
    parts = corpus_parts(text, "one text", splits.split_in_time, {"validation": 0.1, "test": 0.1})
    made = learned_tokeniser(parts["train"], way="characters", size=100_000)
    params: dict[str, Value] = {
        "path": str(path),
        "stamp": stamp(path),
        "encoding": encoding,
        "size": len(made.tokens),
        "length": max(4, min(64, len(text) // 100)),
    }
    strange = len(set(parts["validation"][0] + parts["test"][0]) - set(made.tokens))
    if strange:
        remarks.append(f"{strange:,} characters are not in the training part: they are unknown.")
    if len(made.tokens) > WORDS:
        remarks.append(f"{len(made.tokens):,} different characters: BPE may suit this text better.")
    if b"\r" in _head(path):
        remarks.append("Every line end, carriage returns too, is read as one line feed.")
    params["tokens"] = named_tokens(made.tokens, len(made.tokens), NAMED_TOKENS)
    return Opened(reader(FileForm.TEXT), params, path.stem, tuple(remarks))


def open_labelled(path: Path, watch: Watch) -> Opened:
    """Texts with a class each: a folder, a table, JSON lines or `__label__` lines."""
    watch.look(0.1, "reading")
    params: dict[str, Value] = {"path": str(path)}
    remarks: list[str] = []
    table: dict[str, Any] = {}
    if path.is_dir():
        params |= {"kind_of_file": "folders"}
        rows, splits = rows_of_folders(path, "utf-8")
        if len(set(splits)) > 1:
            params |= {"split": "as given"}
            remarks.append("Splits are as the folders give them.")
    else:
        head = _head(path)
        encoding = _encoding(path, head)
        params |= {"encoding": encoding, "stamp": stamp(path)}
        if path.suffix.casefold() in (".jsonl", ".ndjson"):
            params |= {"kind_of_file": "JSON lines", **_fields(path, encoding)}
        elif head.lstrip().startswith(b"__label__"):
            params |= {"kind_of_file": "label first"}
        else:
            table = _columns(path, watch, params, remarks)
            names = (str(params["text"]), str(params["label"]))
            params["plain"] = reads_plainly(path, names, encoding, table)
        rows, splits = labelled_rows(
            path,
            str(params["kind_of_file"]),
            str(params.get("text", "text")),
            str(params.get("label", "label")),
            encoding,
            table,
        )
    counts = Counter(name for _, _, name in rows)
    if blank := counts.pop("", 0):
        params["unlabelled"] = "leave out"
        remarks.append(f"{blank:,} texts have no class: they are left out.")
    if not 1 < len(counts) <= MOST_CLASSES:
        raise DataError(f'"{path.name}" has {len(counts):,} classes; 2 to {MOST_CLASSES:,} can be learned.')
    few = [name for name, count in counts.items() if count < 3]
    if few:
        remarks.append(f'"{few[0]}" has {counts[few[0]]} text{"" if counts[few[0]] == 1 else "s"} only.')
    watch.look(0.5, "counting the words")
    lengths = sorted(len(words_of(words)) for _, words, _ in rows)
    length = max(2, min(LONGEST, lengths[-1]))
    longer = sum(one > length for one in lengths)
    if longer:
        remarks.append(f"{longer:,} texts are longer than {length} tokens: the rest of each is cut off.")
    classes = tuple(sorted(counts))
    params |= {"classes": classes, "count": sum(counts.values()), "length": length, "size": WORDS}
    some = ", ".join(f"{name} {counts[name]:,}" for name in classes[:8])
    remarks.insert(0, f"{sum(counts.values()):,} texts of {len(classes):,} classes: {some}.")
    return Opened(reader(FileForm.LABELLED), params, path.stem, tuple(remarks))


def open_pairs(path: Path, watch: Watch, other: Path | None = None) -> Opened:
    """Pairs of texts: two columns of a table, or the lines of two files."""
    watch.look(0.1, "reading")
    encoding = _encoding(path, _head(path))
    params: dict[str, Value] = {"path": str(path), "stamp": stamp(path), "encoding": encoding}
    table: dict[str, Any] = {}
    remarks: list[str] = []
    if other is not None:
        params["other"] = str(other)
    else:
        table = _columns(path, watch, params, remarks, pairs=True)
        names = (str(params["source_column"]), str(params["target_column"]))
        params["plain"] = reads_plainly(path, names, encoding, table)
    left, right = text_pairs(
        path.parent,
        path.name,
        os.path.relpath(other, path.parent) if other is not None else "",
        str(params.get("source_column", "")),
        str(params.get("target_column", "")),
        encoding,
        table,
    )
    for name, texts in (("length", left), ("target_length", right)):
        params[name] = max(2, min(LONGEST, max(len(words_of(one)) for one in texts) + 1))
    params["count"] = len(left)
    return Opened(reader(FileForm.PAIRS), params, path.stem, (f"{len(left):,} pairs of texts.", *remarks))


def _columns(
    path: Path, watch: Watch, params: dict[str, Value], remarks: list[str], pairs: bool = False
) -> dict[str, Any]:
    """Finds the columns of a table of texts, and how its cells are parted."""
    from engine.data.open import tables as open_table

    opened = open_table.open_it(path, watch)
    remarks += opened.reading
    found = opened.params["table"]
    assert isinstance(found, tuple)
    rows = [row for row in found if isinstance(row, tuple)]
    texts = [str(row[0]) for row in rows if row[1] in ("text", "category", "path")]
    for name in ("delimiter", "quote", "header", "aside"):
        if name in opened.params:
            params[name] = opened.params[name]
    if opened.params.get("skip"):
        params["lines_before"] = opened.params["skip"]
    if pairs:
        if len(texts) < 2:
            raise DataError(f'"{path.name}" has no two columns of text, so it holds no pairs.')
        params |= {"source_column": texts[0], "target_column": texts[1]}
    else:
        long = [str(row[0]) for row in rows if row[1] == "text"] or texts
        text = next((name for name in long if name.casefold() in TEXT_FIELDS), long[0] if long else "")
        rest = [row for row in rows if row[0] != text and row[1] in ("category", "yes-no", "whole")]
        label = next(
            (row for row in rest if str(row[0]).casefold() in LABEL_FIELDS), rest[-1] if rest else None
        )
        if not text or label is None:
            raise DataError(f'"{path.name}" has no column of text with one of classes beside it.')
        params |= {"kind_of_file": "table", "text": text, "label": str(label[0])}
    return {
        "delimiter": {"tab": "\t"}.get(str(params.get("delimiter", ",")), params.get("delimiter", ",")),
        "quote": "" if params.get("quote") == "none" else params.get("quote", '"'),
        "decimal": ".",
        "header": params.get("header", True),
        "skip": params.get("lines_before", 0),
        **({"aside": params["aside"]} if "aside" in params else {}),
    }


def _fields(path: Path, encoding: str) -> dict[str, Value]:
    """The fields of JSON lines that hold the text and its class."""
    import json

    first = next((line for line in read_text(path, encoding).split("\n") if line.strip()), "")
    try:
        found = json.loads(first)
    except (ValueError, RecursionError) as error:
        raise DataError(f'The first line of "{path.name}" is no JSON{json_place(error)}.') from error
    names = list(found) if isinstance(found, dict) else []
    text = next((one for one in names if one.casefold() in TEXT_FIELDS), "")
    text = text or next((one for one in names if isinstance(found[one], str)), "")
    label = next((one for one in names if one.casefold() in LABEL_FIELDS and one != text), "")
    label = label or next((one for one in reversed(names) if one != text), "")
    if not text or not label:
        raise DataError(f'The lines of "{path.name}" have no field of text with a class beside it.')
    return {"text": text, "label": label}
