"""Token numbers of texts against numbers made by hand; tokenisers are the same in every process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.data.open.opening import open_data
from engine.data.open.text import open_it, open_labelled, open_pairs
from engine.data.splits import split_as_given, split_at_random, split_in_time
from engine.data.text.texts import load_corpus, load_labelled_text, load_text_pairs
from engine.data.text.tokenisers import (
    learned_characters,
    learned_tokeniser,
    learned_words,
    portions,
    shown,
)
from engine.data.watch import Watch
from engine.errors import DataError

TABLE = {"delimiter": ",", "quote": '"', "decimal": ".", "header": True, "skip": 0}
IN_TIME: dict[str, Any] = {"splitter": split_in_time, "validation": 0.25, "test": 0.25}
RHYME = "she sells sea shells by the sea shore, the shells she sells are sea shells for sure\n" * 20


def corpus(folder: Path, text: str, **options: Any) -> dict[str, dict[str, Any]]:
    (folder / "a.txt").write_bytes(text.encode())
    return load_corpus(
        folder, "cpu", file="a.txt", **{"learn": learned_characters, "size": 256, **IN_TIME, **options}
    )


def test_characters_are_numbered_in_order_after_the_special_tokens() -> None:
    made = learned_tokeniser(["cab a"], way="characters", size=100)
    assert made.tokens == ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]", " ", "a", "b", "c"]
    assert made.ids("abc z").tolist() == [6, 7, 8, 5, 1]
    assert made.text([8, 6, 7]) == "cab"
    assert learned_tokeniser(["aab"], way="characters", size=6).ids("ab").tolist() == [5, 1]


def test_words_are_numbered_by_how_often_they_occur() -> None:
    made = learned_tokeniser(["the cat, the dog", "the dog"], way="words", size=9)
    assert made.tokens[5:] == ["the", "dog", ",", "cat"]
    assert made.ids("a cat, the end").tolist() == [1, 8, 7, 5, 1]
    assert learned_tokeniser(["The the THE"], way="words", size=9, lower=True).tokens[5:] == ["the"]


def test_pairs_are_joined_the_commonest_first() -> None:
    made = learned_tokeniser(["abab abab ab c"], way="BPE", size=12)
    assert made.tokens[5:] == [" ", "a", "b", "ab"] or made.merges[0] == ("a", "b")
    assert made.text(made.ids("abab abab").tolist()) == "abab abab"


@pytest.mark.parametrize("way", ["BPE", "WordPiece"])
def test_a_vocabulary_is_never_larger_than_said_and_nothing_reads_as_special(way: str) -> None:
    made = learned_tokeniser([RHYME + "[mask]"], way=way, size=40)
    ids = made.ids(RHYME + "[mask] unseen ☃")
    assert len(made.tokens) <= 40 and ids.max() < 40
    assert not set(ids.tolist()) & {0, 2, 3, 4}


def test_every_process_learns_the_same() -> None:
    code = (
        "from engine.data.text.tokenisers import learned_tokeniser as l; "
        "t = ('she sells sea shells by the shore ' * 9)\n"
        "print([l([t], way=w, size=60).tokens for w in ('BPE', 'WordPiece')])"
    )
    found = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout for _ in range(3)
    }
    assert len(found) == 1 and len(found.pop()) > 100


def test_a_vocabulary_that_is_too_small_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="A vocabulary of 5 holds no more than the 5 special tokens"):
        learned_tokeniser(["a"], way="characters", size=5)


def test_portions_join_to_the_text() -> None:
    text = "one two  three\nfour" * 50
    assert "".join(portions(text, 20)) == text
    assert max(map(len, portions("x" * 100, 30))) == 30


def test_a_corpus_by_hand(tmp_path: Path) -> None:
    found = corpus(tmp_path, "abcabcabcabcabcabcab", length=3)
    assert found["train"]["tokens"].tolist() == [[5, 6, 7], [5, 6, 7], [5, 6, 7]]
    assert found["train"]["next"].tolist() == [[6, 7, 5]] * 3
    assert found["test"]["tokens"].tolist() == [[5, 6, 7]]
    assert found["test"]["next"].tolist() == [[6, 7, 5]] or found["test"]["next"].shape == (1, 3)


def test_documents_begin_anew(tmp_path: Path) -> None:
    text = "ab\n\nabab\n\nab\n\nab"
    found = corpus(tmp_path, text, documents="blank lines", run_on=False, length=3)
    assert found["train"]["tokens"].tolist() == [[2, 5, 6], [2, 5, 6], [5, 6, 3]]
    assert found["train"]["next"].tolist() == [[5, 6, 3], [5, 6, 5], [6, 3, 0]]
    run = corpus(tmp_path, text, documents="blank lines", length=2)
    assert run["train"]["tokens"].tolist() == [[5, 6], [3, 5], [6, 5]]


def test_only_training_text_is_learned(tmp_path: Path) -> None:
    found = corpus(tmp_path, "ab" * 20 + "yz" * 20, length=2)
    assert set(found["test"]["tokens"].flatten().tolist()) == {1}


LABELLED = "text,label\n" + "".join(
    f'"{words}",{name}\n' for words, name in (("good film", "pos"), ("bad film, bad", "neg")) * 8
)


def labelled(folder: Path, file: str, form: str, **options: Any) -> dict[str, dict[str, Any]]:
    how: dict[str, Any] = {
        "splitter": split_at_random,
        "validation": 0.25,
        "test": 0.25,
        "seed": 0,
        **options,
    }
    return load_labelled_text(
        folder,
        "cpu",
        file=file,
        form=form,
        classes=("neg", "pos"),
        table=TABLE,
        learn=learned_words,
        length=4,
        **how,
    )


def test_labelled_texts_by_hand(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(LABELLED, encoding="utf-8")
    found = labelled(tmp_path, "a.csv", "table")["train"]
    rows = {
        tuple(row) for row in zip(map(tuple, found["tokens"].tolist()), found["label"].tolist(), strict=True)
    }
    made = {label: tokens for tokens, label in rows}
    assert len(rows) == 2
    assert made[0][0] == made[0][3] and made[0][1] == made[1][1]  # bad film , bad; good film
    assert made[1][2:] == (0, 0)
    assert set(found["length"].tolist()) == {2, 4}
    assert found["mask"].sum(1).long().tolist() == found["length"].tolist()


@pytest.mark.parametrize(
    ("file", "form", "content"),
    [
        (
            "a.jsonl",
            "JSON lines",
            '{"text": "good 🙂", "label": "pos"}\n\n{"text": "שלום", "label": "neg"}\n' * 6,
        ),
        ("a.txt", "label first", "__label__pos good film\n\n__label__neg bad\n" * 6),
    ],
)
def test_other_forms(tmp_path: Path, file: str, form: str, content: str) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")
    found = labelled(tmp_path, file, form)
    assert sum(len(part["label"]) for part in found.values()) == 12
    opened = open_it(tmp_path / file, Watch())
    assert (opened.type, opened.params["classes"]) == ("LabelledText", ("neg", "pos"))


def test_folders_give_classes_and_splits(tmp_path: Path) -> None:
    for split in ("train", "val", "test"):
        for name in ("neg", "pos"):
            (tmp_path / split / name).mkdir(parents=True)
            (tmp_path / split / name / "1.txt").write_text(f"{name} words", encoding="utf-8")
    found = load_labelled_text(
        tmp_path,
        "cpu",
        file=".",
        form="folders",
        classes=("neg", "pos"),
        table=TABLE,
        learn=learned_words,
        length=4,
        by_folder=True,
        splitter=split_as_given,
        validation=0.2,
        test=0.2,
        seed=0,
    )
    assert {split: len(part["label"]) for split, part in found.items()} == dict.fromkeys(found, 2)
    assert open_labelled(tmp_path, Watch()).params["split"] == "as given"
    assert open_data(tmp_path).type == "LabelledText"


def test_a_text_without_a_class_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(LABELLED + "what,\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r'"a\.csv", row 18: the text has no class; the classes are neg, pos'
    ):
        labelled(tmp_path, "a.csv", "table")
    assert (
        sum(len(p["label"]) for p in labelled(tmp_path, "a.csv", "table", unlabelled="leave out").values())
        == 16
    )


def test_pairs_by_hand(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("one two\n" * 8, encoding="utf-8")
    (tmp_path / "a.de").write_text("eins zwei drei\n" * 8, encoding="utf-8")
    how: dict[str, Any] = {"table": TABLE, "learn": learned_words, "length": 3, "target_length": 4, **IN_TIME}
    found = load_text_pairs(tmp_path, "cpu", file="a.en", other="a.de", **how)["train"]
    assert found["source"][0].tolist() == [5, 6, 0]
    assert found["source_mask"][0].tolist() == [1, 1, 0]
    drei, eins, zwei = 5, 6, 7
    assert found["target"][0].tolist() == [2, eins, zwei, drei]
    assert found["next"][0].tolist() == [eins, zwei, drei, 3]
    (tmp_path / "a.de").write_text("eins\n" * 7, encoding="utf-8")
    with pytest.raises(ValueError, match=r'"a\.en" has 8 lines but "a.de" has 7'):
        load_text_pairs(tmp_path, "cpu", file="a.en", other="a.de", **how)
    with pytest.raises(ValueError, match="8 lines"):
        open_pairs(tmp_path / "a.en", Watch(), tmp_path / "a.de")


ODD = {
    "zeros": b"hello \0 world, this is a text\n",
    "mixed": "grüße\n".encode() * 5 + b"caf\xe9 au lait, encore une fois\n",
    "one letter": b"a",
    "only blanks": b"\n\n \n",
    "half a pair": b'{"text": "\\ud83d", "label": "a"}\n{"text": "b", "label": "b"}\n',
    "no json": b'{"text": \n',
    "deep json": b"[" * 100_000,
    "old mac": b"one line\rand another one\r" * 9,
    "rtl and emoji": ("שלום עולם 👩‍👩‍👧 \u202e\n" * 9).encode(),
    "utf-16": ("hello world, this is it\n" * 9).encode("utf-16"),
    "nothing but marks": b"\xef\xbb\xbf",
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("end", [".txt", ".jsonl"])
def test_odd_files_open_or_are_a_sentence(tmp_path: Path, name: str, end: str) -> None:
    path = tmp_path / f"odd{end}"
    path.write_bytes(ODD[name])
    try:
        opened = open_it(path, Watch())
    except DataError as error:
        assert str(error).startswith(('"', "The ", "Line ")) and "odd" in str(error)
    else:
        assert opened.type in ("TextCorpus", "LabelledText")
    assert path.read_bytes() == ODD[name]


def test_what_cannot_be_seen_has_a_sign() -> None:
    assert shown(" a\n\u202e") == "␣a⏎\\u202e"
