"""Corpora, labelled texts and pairs: a script's lines give what the application reads, tokens and all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.catalogue import Data
from engine.data.lazy import Lazy
from engine.data.open.annotated import open_it as open_annotated
from engine.data.open.opening import Opened, open_data
from engine.data.open.text import open_corpus, open_labelled, open_pairs
from engine.data.watch import Watch
from tests.engine.emit.sources.agreeing import data_of, load_of, same, straightly, strictly, text_of

WAYS = ["characters", "words", "BPE", "WordPiece"]
TEXT = "the wind Ärger in Łódź was 12°, and Σίσυφος saw 猫 [mask] … he said: go!  not yet\tno"
WORDS = re.split(" ", TEXT)


def sentences(count: int) -> list[str]:
    return [" ".join(WORDS[(at * step) % len(WORDS)] for step in range(1, 5 + at % 7)) for at in range(count)]


TWICE = [(one.replace("\t", " "), one.replace("\t", " ")[4:]) for one in sentences(40)]


def corpus(folder: Path) -> Opened:
    path = folder / "story.txt"
    parts = "\r\n \n\n".join("\n".join(sentences(40)[at : at + 4]) for at in range(0, 40, 2))
    path.write_bytes(b"\xef\xbb\xbf" + parts.encode())
    return open_corpus(path, Watch())


def checked(opened: Opened, changes: dict[str, Any]) -> Data:
    data = data_of(opened, changes)
    same(straightly(data), strictly(data))
    return data


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("documents", ["one text", "lines", "blank lines"])
def test_a_corpus_is_read_alike(way: str, lower: bool, documents: str, tmp_path: Path) -> None:
    changes = {"tokeniser": way, "lower": lower, "documents": documents, "size": 60, "length": 7}
    checked(corpus(tmp_path), changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"stride": 3},
        {"split": "blocks of time", "folds": 3, "fold": 2},
        {"documents": "lines", "split": "random", "seed": 5},
        {"documents": "lines", "split": "folds", "stride": 2},
        {"documents": "lines", "run_on": False},
        {"documents": "blank lines", "run_on": False, "stride": 4, "tokeniser": "words"},
        {"documents": "lines", "repeats": "left out", "split": "random"},
        {"documents": "lines", "repeats": "in one split", "split": "random"},
        {"size": 6},
    ],
    ids=str,
)
def test_every_option_of_a_corpus_is_read_alike(changes: dict[str, Any], tmp_path: Path) -> None:
    checked(corpus(tmp_path), {"length": 9, **changes})


def test_windows_of_a_large_corpus_take_no_memory_of_their_own(tmp_path: Path) -> None:
    data = data_of(corpus(tmp_path), {"length": 40, "stride": 1})
    found = straightly(data)["train"]["tokens"]
    assert found.numel() > 20 * found.untyped_storage().size() / found.element_size()


def test_documents_that_do_not_run_on_stay_lazy_where_they_are_many(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{at} and more\n" for at in range(4000)))
    changes = {"documents": "lines", "run_on": False, "length": 500, "stride": 1}
    data = data_of(open_corpus(path, Watch()), changes)
    found, expected = straightly(data)["train"], strictly(data)["train"]
    assert isinstance(expected["tokens"], Lazy) and type(found["tokens"]).__name__ == "Windows"
    assert all((found[name][:99] == expected[name][:99]).all() for name in expected)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "cp1252", "gb18030"])
def test_a_corpus_of_any_encoding(encoding: str, tmp_path: Path) -> None:
    text = "\n".join(f"{at} été, déjà: naïf" for at in range(60)) + "\n"
    mark = "\ufeff" if encoding in ("utf-8", "utf-16-le", "gb18030") else ""
    (tmp_path / "a.txt").write_bytes((mark + text.replace("\n", "\r\n")).encode(encoding))
    opened = Opened("TextCorpus", {"path": str(tmp_path / "a.txt"), "encoding": encoding}, "a")
    checked(opened, {"length": 5})


HOSTILE = '{it}\'s "$name" \\\\n #? not a <line> \u202e%s'


def test_names_mean_nothing_in_a_script(tmp_path: Path) -> None:
    opened = corpus(tmp_path)
    path = tmp_path / f"{HOSTILE}.txt"
    Path(str(opened.params["path"])).rename(path)
    checked(open_corpus(path, Watch()), {"length": 5})
    rows = [
        f"{words}\t{'ab'[at % 2]}" for at, words in enumerate(one.replace("\t", " ") for one in sentences(30))
    ]
    path = tmp_path / f"{HOSTILE}.tsv"
    path.write_text("\n".join(["text\t<of> $what {it} is", *rows]), encoding="utf-8")
    checked(open_labelled(path, Watch()), {"length": 5})


def labelled(form: str, folder: Path) -> Opened:
    said = [(words, "né" if at % 3 else "ça") for at, words in enumerate(sentences(48))]
    if form == "folders":
        for at, (words, name) in enumerate(said):
            path = folder / "texts" / name / f"{at}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(words, encoding="utf-8")
        (folder / "texts" / "né" / "empty.txt").write_text("")
        return open_labelled(folder / "texts", Watch())
    if form == "split folders":
        for at, (words, name) in enumerate(said):
            path = folder / "texts" / ("train", "train", "test", "dev")[at % 4] / name / f"{at}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(words, encoding="utf-8")
        return open_labelled(folder / "texts", Watch())
    if form == "JSON lines":
        lines = [json.dumps({"text": words, "label": name}, ensure_ascii=False) for words, name in said]
        lines += ["", '{"text": 3.50, "label": "né"}', '{"text": "no class"}', '{"text": [1], "label": null}']
        (folder / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
        return open_labelled(folder / "a.jsonl", Watch())
    if form == "label first":
        lines = [f"__label__{name} {words}" for words, name in said]
        (folder / "a.txt").write_text("\n".join(lines), encoding="utf-8")
        return open_data(folder / "a.txt")
    mark = "\t" if form == "tabs" else ","
    quoted = '"{}"' if form != "tabs" else "{}"
    rows = [f"{at}{mark}{quoted.format(words)}{mark}{name}" for at, (words, name) in enumerate(said)]
    rows = [row.replace("\t", " ", row.count("\t") - 2) for row in rows] if form == "tabs" else rows
    rows.insert(5, "")
    path = folder / ("a.tsv" if form == "tabs" else "a.csv")
    path.write_bytes("\n".join([mark.join(("n", "review " * 12 + "text", "label")), *rows]).encode(
        "cp1250" if form == "cp1250" else "utf-8", "ignore"))  # fmt: skip
    return open_labelled(path, Watch())


FORMS = ["table", "tabs", "JSON lines", "label first", "folders", "split folders"]


@pytest.mark.parametrize("form", FORMS)
def test_labelled_texts_of_every_form_are_read_alike(form: str, tmp_path: Path) -> None:
    opened = labelled(form, tmp_path)
    checked(opened, {"size": 40, "length": 5})


@pytest.mark.parametrize(
    "changes",
    [
        *({"tokeniser": way, "lower": True, "size": 50} for way in WAYS),
        {"ends": True, "length": 6},
        {"split": "random", "seed": 2},
        {"split": "folds", "folds": 4, "fold": 3},
        {"split": "bootstrap"},
        {"balance": "repeat the rare"},
        {"balance": "thin the common", "split": "random"},
        {"repeats": "left out", "split": "random"},
        {"repeats": "in one split"},
    ],
    ids=str,
)
def test_every_option_of_labelled_texts_is_read_alike(changes: dict[str, Any], tmp_path: Path) -> None:
    checked(labelled("table", tmp_path), {"size": 40, "length": 8, **changes})


def pairs(form: str, folder: Path) -> Opened:
    left, right = sentences(40), [" ".join(reversed(one.split())) for one in sentences(40)]
    if form == "two files":
        (folder / "a.txt").write_text("\n".join(["", *left]) + "\n", encoding="utf-8")
        (folder / "b.txt").write_text("\r\n".join(["", *right]) + "\n", encoding="utf-8")
        return open_pairs(folder / "a.txt", Watch(), folder / "b.txt")
    rows = [f"{one}\t{other}".replace("\t", " ", 0) for one, other in zip(left, right, strict=True)]
    rows = [f"{one.replace(chr(9), ' ')}\t{other}" for one, other in zip(left, right, strict=True)]
    rows = rows if form == "without a header" else ["words\tbackwards", *rows]
    (folder / "a.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return open_pairs(folder / "a.tsv", Watch())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", ["two files", "table", "without a header"])
def test_pairs_are_read_alike(form: str, way: str, tmp_path: Path) -> None:
    changes = {"tokeniser": way, "size": 40, "target_size": 33, "length": 6, "target_length": 4}
    checked(pairs(form, tmp_path), changes)


@pytest.mark.parametrize("split", ["in time", "folds", "blocks of time", "bootstrap"])
def test_pairs_are_split_alike(split: str, tmp_path: Path) -> None:
    checked(pairs("table", tmp_path), {"split": split, "lower": True})


@pytest.mark.parametrize(
    "changes", [{}, {"tokeniser": "words", "lower": True, "length": 9}, {"split": "folds"}]
)
def test_annotated_texts_are_read_alike(changes: dict[str, Any], tmp_path: Path) -> None:
    rows = [f"{one}\t{other}\t{'ab'[at % 2]}\t{other[:9]}" for at, (one, other) in enumerate(TWICE)]
    (tmp_path / "a.tsv").write_text("\n".join(["first\tsecond\tkind\tanswer", *rows]), encoding="utf-8")
    checked(open_annotated(tmp_path / "a.tsv", Watch()), {"size": 60, **changes})


def test_a_table_that_is_not_plain_is_read_by_the_reader_of_the_application(tmp_path: Path) -> None:
    plain = data_of(labelled("table", tmp_path))
    assert plain.plainly() and text_of(plain)
    path = tmp_path / "names.csv"
    rows = [f'"{words}",{"ab"[at % 2]},' for at, words in enumerate(sentences(30))]  # ends in a delimiter
    path.write_text("\n".join(["review,label", *rows]), encoding="utf-8")
    opened = open_labelled(path, Watch())
    assert not data_of(opened).plainly()
    with pytest.raises(AssertionError, match="the loader is carried"):
        text_of(data_of(opened))


def gone(path: Path) -> None:
    path.unlink()


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def no_text(path: Path) -> None:
    path.write_bytes(b"\xff\x00\xfe" * 30)


@pytest.mark.parametrize("change", [gone, emptied, no_text])
@pytest.mark.parametrize("make", [corpus, lambda folder: labelled("table", folder),
                                  lambda folder: labelled("JSON lines", folder),
                                  lambda folder: pairs("two files", folder)])  # fmt: skip
def test_a_text_that_has_changed_gets_a_sentence(
    make: Callable[[Path], Opened], change: Callable[[Path], None], tmp_path: Path
) -> None:
    opened = make(tmp_path)
    load = load_of(data_of(opened))
    change(Path(str(opened.params["path"])))
    with pytest.raises(
        SystemExit, match=r"cannot be read|too few|not as it was|not of the|of a pair|lines: each"
    ):
        load(tmp_path, "cpu")


def test_a_new_class_and_a_short_text_get_a_sentence(tmp_path: Path) -> None:
    opened = labelled("JSON lines", tmp_path)
    load = load_of(data_of(opened))
    with open(tmp_path / "a.jsonl", "a", encoding="utf-8") as file:
        file.write('\n{"text": "a", "label": "another"}')
    with pytest.raises(SystemExit, match="are not of the 2 classes that they had"):
        load(tmp_path, "cpu")
    load = load_of(data_of(corpus(tmp_path), {"length": 64}))
    (tmp_path / "story.txt").write_text("too short by far " * 8)
    with pytest.raises(SystemExit, match=r"The part for validation has .* tokens, too few for a window"):
        load(tmp_path, "cpu")
