"""Text: a corpus, texts with a class each, and pairs of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.data.series.windows import cut_windows
from engine.data.splits import split_in_time
from engine.data.text.lines import field_text
from engine.data.text.plain import simple_column, simple_form
from engine.data.text.texts import filled_up
from engine.data.text.token_names import TOKENISERS
from engine.data.text.tokenisers import portions
from engine.emit.sources.parts import Beside, class_lines, divided
from engine.emit.sources.splitting import split_lines
from engine.emit.sources.straight import Function, Reading, Straight
from engine.emit.sources.tokens import add_tokeniser
from engine.emit.statements import Statement, quoted, tree

MAY_CARRY: tuple[Function, ...] = (portions, filled_up, field_text, cut_windows)
OWN = (
    *("file", "other", "source", "target", "table", "form", "text", "label", "encoding", "documents"),
    *("learn", "size", "target_size", "lower", "length", "target_length", "stride", "run_on", "ends"),
    *("classes", "unlabelled", "by_folder"),
)
MARKED = ("utf-16-le", "utf-16-be", "gb18030")  # whose byte order mark is read as a letter

TEXT = """
try:
    $target = $read
except (OSError, UnicodeError) as error:
    raise SystemExit(f"The text cannot be read: {error}") from error
"""
CORPUS = r"""
units = portions(text, len(text) // 1000 + 1)  #? one
units = [one for one in text.split("\n") if one.strip()]  #? lines
units = [one for one in re.split(r"\n[^\S\n]*\n\s*", text) if one.strip()]  #? blanks
<parts>
made = $learn($train, $size)
$kept[:] = [made]  #? keeps
"""
IN_TIME = """
first = len(units) - round($validation * len(units)) - round($test * len(units))
last = len(units) - round($test * len(units))
texts = {"train": units[:first], "validation": units[first:last], "test": units[last:]}
"""
RUN_ON = """
windows: dict[str, dict[str, Tensor]] = {}
for split, part in texts.items():
    ids = torch.from_numpy($ids).long().to(device)
    if len(ids) <= $length:
        raise SystemExit(f"The part for {split} has {len(ids)} tokens, too few for a window of $length.")
    windows[split] = {$items}
"""
FILLED = """
windows: dict[str, dict[str, Any]] = {}
for split, part in texts.items():
    read, starts, begin = [], [], 0
    for one in part:
        ids = np.concatenate([[2], made.ids(one), [3]])
        firsts = np.arange(0, len(ids) - 1, $stride)
        ids = np.pad(ids, (0, max(0, int(firsts[-1]) + $more - len(ids))))  # up to the last window's end
        read.append(ids)
        starts.append(begin + firsts)
        begin += len(ids)
    tokens, at = torch.from_numpy(np.concatenate(read)), torch.from_numpy(np.concatenate(starts))
    windows[split] = {$items}
"""
FROM_TABLE = """
try:
    table = $read
    cells = [column.fill_null("").to_list() for column in ($first, $second)]
except (OSError, UnicodeError, pl.exceptions.PolarsError) as error:
    raise SystemExit(f"The table cannot be read: {error}") from error
found = [$row for one, other in zip(*cells, strict=True) if one or other]
"""
FROM_JSON = r"""
try:
    read = [json.loads(line) for line in text.split("\n") if line.strip()]
    found = [(field_text(one[$text]), field_text(one.get($label)).strip()) for one in read]
except (ValueError, KeyError, AttributeError) as error:
    raise SystemExit(f"A line of the file is not as it was: {error}") from error
"""
LABEL_FIRST = r"""
found = []
for line in text.split("\n"):
    first, _, words = line.strip().partition(" ")
    if first.startswith("__label__") and first != "__label__":
        found.append((words.strip(), first.removeprefix("__label__")))
    elif first:
        found.append((line, ""))
"""
FOLDERS = """
parts = {"train": 0, "training": 0, "val": 1, "valid": 1, "validation": 1, "dev": 1, "test": 2}
tops = sorted(one for one in folder.glob("*") if one.is_dir() and one.name[0] != ".")
parted = len(tops) > 1 and all(one.name.casefold() in parts for one in tops)
found = []
for top in tops:
    for place in sorted(one for one in top.iterdir() if one.is_dir()) if parted else [top]:
        part = parts[top.name.casefold()] if parted else 0
        for path in sorted(place.iterdir()):
            if path.name.endswith(".txt") and path.is_file():
                <text>
                found.append((text, place.name, part))
"""
LABELLED = """
<classes>
numbers = {name: number for number, name in enumerate(classes)}
found = [one for one in found if one[1]]  #? leave_out
if {one[1] for one in found} - numbers.keys() or not found:
    raise SystemExit(f"The texts in {folder} are not of the $count classes that they had.")
texts = [one[0] for one in found]
labels = torch.tensor([numbers[one[1]] for one in found])
<split>
made = $learn([texts[row] for row in rows["train"].tolist()], $size)
$kept[:] = [made]  #? keeps
tokens, mask, lengths = filled_up([made.ids(one) for one in texts], $length, $ends)
"""
TWO_FILES = r"""
left, right = (one.removesuffix("\n").split("\n") for one in (text, other))
if len(left) != len(right):
    raise SystemExit(f"The two files have {len(left)} and {len(right)} lines: each needs its partner.")
found = [pair for pair in zip(left, right, strict=True) if any(pair)]
"""
PAIRS = """
if not found or not all(one.strip() and other.strip() for one, other in found):
    raise SystemExit("One text of a pair is empty, or there are none.")
left, right = [one for one, _ in found], [other for _, other in found]
<split>
training = rows["train"].tolist()
made = $learn([left[row] for row in training], $size)
target = $learn([right[row] for row in training], $target_size)
$kept[:] = [made, target]  #? keeps
tokens, mask, lengths = filled_up([made.ids(one) for one in left], $length, False)
whole, $there, _ = filled_up([target.ids(one) for one in right], $target_length, True)
"""


def write_corpus(reading: Reading) -> Straight | None:
    """Windows of tokens, and what follows each."""
    how = reading.options
    length, stride = how["length"], how["stride"] or how["length"]
    one = how["documents"] == "one text"
    beside = Beside(reading.outside)
    carries = [*add_tokeniser(beside, how["learn"], how["lower"])]
    splitting = _splitting(how)
    called: list[Function] = []
    if splitting.pop("splitter") is split_in_time and "repeats" not in splitting:
        parts = tree(IN_TIME, **splitting)
    else:
        parts, called = split_lines(_splitting(how), "len(units)", inputs=["units"])
        texts = "{split: [units[row] for row in at.tolist()] for split, at in rows.items()}"
        parts.append(Statement(texts, target="texts"))
    lines = text_lines(how["file"], how["encoding"])
    lines += tree(
        CORPUS,
        one=one,
        lines=how["documents"] == "lines",
        blanks=how["documents"] == "blank lines",
        parts=parts,
        learn=how["learn"].__name__,
        kept=TOKENISERS,
        keeps=reading.keeps,
        train='["".join(texts["train"])]' if one else 'texts["train"]',
        size=how["size"],
    )
    carries += [portions] if one else []
    if one or how["run_on"]:
        ids = "np.concatenate([np.append(made.ids(one), 3) for one in part])"
        ids = 'made.ids("".join(part))' if one else ids
        begins = {"tokens": "ids[:-1]", "next": "ids[1:]"}
        items = {name: f"{begins[name]}.unfold(0, {length}, {stride})" for name in reading.wanted}
        lines += tree(RUN_ON, ids=ids, length=length, items=_items(items))
    else:
        starts = {"tokens": "at", "next": "at + 1"}
        items = {name: f"cut_windows(tokens, {starts[name]}, {length}, device)" for name in reading.wanted}
        lines += tree(FILLED, stride=stride, more=length + 1, items=_items(items))
        carries.append(cut_windows)
    return Straight(lines, "windows", [*carries, *called], beside.parts)


def write_labelled(reading: Reading) -> Straight | None:
    """Texts with a class each, filled up to one length."""
    how = reading.options
    form = how["form"]
    carries: list[Function] = [filled_up]
    if form == "folders":
        text = text_lines("", how["encoding"], "path")
        lines = tree(FOLDERS, text=text)
    elif form == "table":
        read = _table(how)
        if read is None or not reading.data.plainly():
            return None
        columns = {"first": _name(how, "text"), "second": _name(how, "label")}
        lines = tree(FROM_TABLE, read=read, row="(one, other.strip())", **columns)
    else:
        lines = text_lines(how["file"], how["encoding"])
        if form == "JSON lines":
            lines += tree(FROM_JSON, text=quoted(how["text"]), label=quoted(how["label"]))
            carries.append(field_text)
        else:
            lines += tree(LABEL_FIRST)
    beside = Beside(reading.outside)
    carries += add_tokeniser(beside, how["learn"], how["lower"])
    keys = "torch.tensor([one[2] for one in found])" if how["by_folder"] and form == "folders" else "labels"
    split, called = split_lines(_splitting(how), "len(texts)", keys, ["texts"], "labels")
    lines += tree(
        LABELLED,
        classes=class_lines(how["classes"]),
        leave_out=how["unlabelled"] == "leave out",
        count=len(how["classes"]),
        split=split,
        learn=how["learn"].__name__,
        kept=TOKENISERS,
        keeps=reading.keeps,
        size=how["size"],
        length=how["length"],
        ends=how["ends"],
    )
    values = {"tokens": "tokens", "mask": "mask", "length": "lengths", "label": "labels"}
    gathered, value = divided({name: values[name] for name in reading.wanted})
    return Straight([*lines, gathered], value, [*carries, *called], beside.parts)


def write_pairs(reading: Reading) -> Straight | None:
    """Pairs of texts, the second given as it is read and as it is predicted."""
    how = reading.options
    if how["other"]:
        lines = text_lines(how["file"], how["encoding"]) + text_lines(
            how["other"], how["encoding"], target="other"
        )
        lines += tree(TWO_FILES)
    else:
        read = _table(how)
        if read is None or not reading.data.plainly():
            return None
        columns = {"first": _name(how, "source"), "second": _name(how, "target")}
        lines = tree(FROM_TABLE, read=read, row="(one, other)", **columns)
    beside = Beside(reading.outside)
    carries = [filled_up, *add_tokeniser(beside, how["learn"], how["lower"])]
    split, called = split_lines(_splitting(how), "len(left)", inputs=["left"])
    lines += tree(
        PAIRS,
        split=split,
        there="there" if "target_mask" in reading.wanted else "_",
        learn=how["learn"].__name__,
        kept=TOKENISERS,
        keeps=reading.keeps,
        size=how["size"],
        target_size=how["target_size"],
        length=how["length"],
        target_length=how["target_length"] + 1,
    )
    values = {
        "source": "tokens",
        "source_mask": "mask",
        "source_length": "lengths",
        "target": "torch.where(whole[:, :-1] == 3, 0, whole[:, :-1])",
        "next": "whole[:, 1:]",
        "target_mask": "there[:, 1:]",
    }
    gathered, value = divided({name: values[name] for name in reading.wanted})
    return Straight([*lines, gathered], value, [*carries, *called], beside.parts)


def _splitting(how: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in how.items() if name not in OWN}


def text_lines(file: str, encoding: str, place: str = "", target: str = "text") -> list[Statement]:
    """Lines that read a text, with line feeds at the ends of lines."""
    place = place or f"(folder / {quoted(file)})"
    mark = '.removeprefix("\\ufeff")' if encoding in MARKED else ""
    read = f"{place}.read_text(encoding={quoted('utf-8-sig' if encoding == 'utf-8' else encoding)}){mark}"
    return tree(TEXT, read=read, target=target)


def _table(how: Mapping[str, Any]) -> str | None:
    """How polars reads the table, if it is of a form that it can read."""
    form = simple_form(how["table"])
    if form is None:
        return None
    file = f"(folder / {quoted(how['file'])}).read_bytes()"
    if how["encoding"] != "utf-8":
        file = f"io.StringIO((folder / {quoted(how['file'])}).read_text(encoding={quoted(how['encoding'])}))"
    given = (f"{name}={quoted(one) if isinstance(one, str) else one}" for name, one in form.items())
    return f"pl.read_csv({', '.join([file, *given])})"


def _name(how: Mapping[str, Any], column: str) -> str:
    """A column of the table."""
    place = simple_column(how[column], how["table"])
    return f"table[{quoted(place)}]" if isinstance(place, str) else f"table.to_series({place})"


def _items(values: Mapping[str, str]) -> str:
    return ", ".join(f"{quoted(name)}: {value}" for name, value in values.items())
