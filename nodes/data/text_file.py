"""Your own text as data sets: a corpus, texts with a class each, pairs of texts."""

from __future__ import annotations

import os
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from engine.catalogue import Column, Emitted, Emitter, param
from engine.catalogue.params import FilePath, Names
from engine.catalogue.traits import FileForm
from engine.errors import ParamError
from nodes.data.delimited import Delimited, Encoded
from nodes.data.own_file import OwnFile
from nodes.data.splitting import AS_THEY_COME, BLOCKS, BOOTSTRAP, FOLDS, GIVEN, IN_TIME, RANDOM, SplitData

CHARACTERS, WORDS = "characters", "words"
ONE, BLANK, LINES = "one text", "blank lines", "lines"
SPECIAL = "tokens 0 to 4 are filling, unknown, begin, end and mask"


@cache
def numbered(size: int) -> tuple[str, ...]:
    """Tokens by their numbers, so that layers of another size are found; () where there are too many."""
    return tuple(map(str, range(size))) if size <= 20_000 else ()


NO_MATTER = {"length", "target_length", "stride", "run_on", "ends", "tokens", "count"}  # to what is learned


class Tokenised(Encoded, OwnFile, abstract=True):
    """Base of data sets of tokens, whose tokeniser is learned from the training text alone."""

    token_columns: ClassVar[tuple[str, ...]] = ("tokens",)
    path: FilePath = param("", label="File", doc="a file of text")
    stamp: str = param("", hidden=True, doc="marks what the file held when it was opened")
    tokeniser: str = param(
        CHARACTERS,
        choices=(CHARACTERS, WORDS, "BPE", "WordPiece"),
        doc="what a token is; BPE and WordPiece are pieces of words, learned by joining frequent pairs",
    )
    size: int = param(
        256,
        minimum=6,
        maximum=1_000_000,
        label="Vocabulary",
        doc=f"how many different tokens at most; rarer ones are unknown. {SPECIAL}",
    )
    lower: bool = param(False, label="Small letters", doc="read capital letters as small ones")
    length: int = param(64, minimum=1, maximum=100_000, label="Tokens", doc="how many tokens an example has")

    def learned_key(self) -> Hashable:
        values = ((spec.name, getattr(self, spec.name)) for spec in self.params if spec.name not in NO_MATTER)
        return self.type_id, *values

    def _named(self, size: int, which: int = 0) -> tuple[str, ...]:
        """What the tokens of a vocabulary are called, by their numbers until the data have been read."""
        from engine.data.text.token_names import vocabularies

        found = vocabularies(self.learned_key())
        return (found[which].names(size) if which < len(found) else ()) or numbered(size)

    def _numbers(self, text: str, which: int = 0) -> Any:
        """The numbers of a text's tokens; None until the data have been read."""
        from engine.data.text.token_names import vocabularies

        found = vocabularies(self.learned_key())
        return found[which].numbers(text, self.tokeniser, self.lower) if which < len(found) else None

    def _filled(self, column: str, text: str, beside: str, ends: bool) -> dict[str, Any] | None:
        """A row of a text that is filled up: its tokens, their mask and how many they are."""
        from engine.data.text.texts import filled_up

        ids = self._numbers(text)
        if ids is None or column != self.token_columns[0]:
            return None
        tokens, mask, lengths = filled_up([ids], self.length, ends)
        return {
            column: tokens[0].numpy(),
            f"{beside}mask": mask[0].numpy(),
            f"{beside}length": lengths[0].numpy(),
        }

    def _how(self) -> dict[str, Any]:
        """The options that all loaders of tokens take. Errors: `ParamError` without a file."""
        if not self.path:
            raise ParamError("No file is chosen yet.")
        from engine.data.text.tokenisers import tokeniser_called

        return {
            "file": Path(self.path).name,
            "encoding": self.encoding,
            "learn": tokeniser_called(self.tokeniser),
            "size": self.size,
            "lower": self.lower,
            "length": self.length,
        }


class TextCorpus(SplitData, Tokenised):
    """A text of your own, read window by window: the network predicts the next token at each place.

    The tokeniser is learned from the training part alone. Token 0 fills up, 1 is unknown, 2 begins and 3 ends
    a document, 4 is a mask.
    """

    reads = FileForm.TEXT
    title = "Text corpus"
    aliases = ("language model", "characters", "next token", "bpe", "txt", "gpt")
    source = "a file of your own"
    tokens: Names = param((), hidden=True, doc="what the tokens are called, as they were when it was opened")
    documents: str = param(
        ONE,
        choices=(ONE, BLANK, LINES),
        doc="whether the file is one text, or several parted by blank lines, or one a line",
    )
    stride: int | None = param(
        None,
        minimum=1,
        doc="tokens from one window's beginning to the next one's; empty: as long as a window",
    )
    run_on: bool = param(
        True,
        label="Run on",
        doc="windows run on into the next document; else each document is filled up at its end",
    )
    split: str = param(
        IN_TIME,
        choices=(IN_TIME, RANDOM, FOLDS, BLOCKS),
        doc="in time: the end of the text is for test, what is before for validation; random and folds split "
        "by whole documents; blocks: one of several parts of it for validation",
    )
    validation: float = param(0.1, minimum=0, below=1, label="Validation fraction", doc="never trained on")
    test: float = param(0.1, minimum=0, below=1, label="Test fraction", doc="only evaluated in the end")
    balance: str = param(AS_THEY_COME, choices=(AS_THEY_COME,), hidden=True, doc="there are no classes")

    def columns(self) -> tuple[Column, ...]:
        names = self._named(self.size)
        as_opened = (self.tokeniser, self.lower, self.documents) == (CHARACTERS, False, ONE)
        if as_opened and names == numbered(self.size) and len(self.tokens) == self.size:
            names = self.tokens
        return (
            Column("tokens", (self.length,), "int64", names, doc=f"numbers of the tokens; {SPECIAL}"),
            Column("next", (self.length,), "int64", names, doc="the token after each"),
        )

    def typed(self, column: str, text: str) -> dict[str, Any] | None:
        ids = self._numbers(text)
        return None if ids is None or column != "tokens" else {column: ids}

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.text.texts import load_corpus

        how = self._how()
        if self.documents == ONE and self.split in (RANDOM, FOLDS):
            raise ParamError("One text has one order: split it in time or in blocks, or by documents.")
        return e.load(
            load_corpus,
            **how,
            documents=self.documents,
            stride=self.stride,
            run_on=self.run_on,
            **self.splitting(classes=False),
        )

    def row_count(self) -> int:
        return 0  # how long the text is, and so how many windows it has, is known once it is read

    def summary(self) -> str:
        if not self.path:
            return "no file yet"
        return f"{self.size:,} {self.tokeniser} · windows of {self.length:,}"


PLAIN: Any = param(False, hidden=True, doc="whether a table is as simple readers expect it")
OF_SENTENCES = param(
    WORDS,
    choices=(WORDS, CHARACTERS, "BPE", "WordPiece"),
    doc="what a token is; learned from training",
)


class LabelledText(SplitData, Tokenised, Delimited):
    """Texts of your own with a class each, as tokens that are filled up to one length, with a mask."""

    reads = FileForm.LABELLED
    title = "Labelled text"
    aliases = ("sentiment", "text classification", "jsonl", "fasttext", "csv")
    source = "files of yours"
    path: FilePath = param(
        "", label="File", doc="a CSV, TSV, JSONL or text file, or a folder of class folders"
    )
    kind_of_file: str = param(
        "table",
        choices=("table", "JSON lines", "label first", "folders"),
        label="Form",
        doc="table: a column of texts and one of classes; label first: lines of __label__class text; "
        "folders: a folder of .txt files for each class",
    )
    text: str = param("text", label="Text column", doc="column or field that holds the text")
    label: str = param("label", label="Class column", doc="column or field that holds its class")
    classes: Names = param((), hidden=True, doc="the names of the classes, in the order of their numbers")
    count: int = param(0, minimum=0, hidden=True, doc="how many texts were found")
    plain: bool = PLAIN
    unlabelled: str = param(
        "stop", choices=("stop", "leave out"), label="Without a class", doc="what happens to such texts"
    )
    tokeniser: str = OF_SENTENCES
    ends: bool = param(False, label="Begin and end", doc="put a begin and an end token around every text")

    def folder(self) -> Path | None:
        if not self.path:
            return None
        return Path(self.path) if self.kind_of_file == "folders" else Path(self.path).parent

    def holds(self) -> tuple[str, ...]:
        return ("a folder for each class",) if self.kind_of_file == "folders" else super().holds()

    def columns(self) -> tuple[Column, ...]:
        return (
            Column(
                "tokens",
                (self.length,),
                "int64",
                self._named(self.size),
                doc=f"numbers of the tokens, filled up; {SPECIAL}",
                ragged="tokens",
            ),
            Column(
                "mask",
                (self.length,),
                doc="1 where there is a token, 0 where it is filled up",
                ragged="tokens",
                lengths_of="tokens",
            ),
            Column("length", (), "int64", doc="how many tokens the text has", lengths_of="tokens"),
            Column("label", (), "int64", self.classes, doc="the class of the text"),
        )

    def plainly(self) -> bool:
        return self.plain

    def typed(self, column: str, text: str) -> dict[str, Any] | None:
        return self._filled(column, text, "", self.ends)

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.text.texts import load_labelled_text

        how = self._how()
        folders = self.kind_of_file == "folders"
        if self.split == GIVEN and not folders:
            raise ParamError("Only folders called train, validation or test give the splits.")
        return e.load(
            load_labelled_text,
            **{**how, "file": "." if folders else how["file"]},
            form=self.kind_of_file,
            classes=self.classes,
            text=self.text,
            label=self.label,
            table=self.form(),
            unlabelled=self.unlabelled,
            ends=self.ends,
            by_folder=self.split == GIVEN,
            **self.splitting(),
        )

    def summary(self) -> str:
        if not self.path:
            return "no file yet"
        return f"{self.count:,} texts · {len(self.classes):,} classes"


class TextPairs(SplitData, Tokenised, Delimited):
    """Pairs of texts of your own, such as sentences and their translations, as tokens with masks.

    The second text is given twice: as it is read, beginning with the begin token, and one token on, up to the
    end token, as it is to be predicted.
    """

    reads = FileForm.PAIRS
    title = "Text pairs"
    aliases = ("translation", "seq2seq", "parallel corpus", "question and answer")
    source = "files of yours"
    token_columns: ClassVar[tuple[str, ...]] = ("source", "next")
    other: FilePath = param(
        "",
        label="Second file",
        doc="whose lines go with the first's, one by one; without it the first file is a table",
    )
    source_column: str = param("source", doc="of a table: the texts that are read")
    target_column: str = param("target", doc="of a table: the texts that are predicted")
    count: int = param(0, minimum=0, hidden=True, doc="how many pairs were found")
    plain: bool = PLAIN
    tokeniser: str = OF_SENTENCES
    target_size: int = param(
        2000,
        minimum=6,
        maximum=1_000_000,
        label="Second vocabulary",
        doc="tokens of the texts that are predicted",
    )
    target_length: int = param(
        32, minimum=1, maximum=100_000, label="Second tokens", doc="how many tokens are predicted at most"
    )
    split: str = param(
        RANDOM,
        choices=(RANDOM, IN_TIME, FOLDS, BLOCKS, BOOTSTRAP),
        doc="random; in time: the last pairs for test; folds or blocks: one of several parts for validation",
    )
    balance: str = param(AS_THEY_COME, choices=(AS_THEY_COME,), hidden=True, doc="there are no classes")

    def columns(self) -> tuple[Column, ...]:
        size, known, words = (self.target_length,), self._named(self.size), self._named(self.target_size, 1)
        return (
            Column(
                "source",
                (self.length,),
                "int64",
                known,
                doc=f"tokens that are read; {SPECIAL}",
                ragged="source",
            ),
            Column(
                "source_mask",
                (self.length,),
                doc="1 where there is a token",
                ragged="source",
                lengths_of="source",
            ),
            Column("source_length", (), "int64", doc="how many tokens are read", lengths_of="source"),
            Column(
                "target",
                size,
                "int64",
                words,
                doc="begin, then the tokens that are predicted",
                ragged="target",
            ),
            Column(
                "next",
                size,
                "int64",
                words,
                doc="the tokens that are predicted, then end",
                ragged="target",
            ),
            Column(
                "target_mask",
                size,
                doc="1 where a token is to be predicted",
                ragged="target",
                lengths_of="target",
            ),
        )

    def plainly(self) -> bool:
        return self.plain

    def typed(self, column: str, text: str) -> dict[str, Any] | None:
        return self._filled(column, text, "source_", False)

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.text.texts import load_text_pairs

        how = self._how()
        return e.load(
            load_text_pairs,
            **how,
            other=self._from_first(),
            source=self.source_column,
            target=self.target_column,
            table=self.form(),
            target_size=self.target_size,
            target_length=self.target_length,
            **self.splitting(classes=False),
        )

    def holds(self) -> tuple[str, ...]:
        return (*super().holds(), *((self._from_first(),) if self.other else ()))

    def _from_first(self) -> str:
        """The second file as it is named from the first one's folder; projects of old hold that name."""
        if not os.path.isabs(self.other):
            return self.other
        try:
            return Path(os.path.relpath(self.other, Path(self.path).parent)).as_posix()
        except ValueError:  # on another drive
            return self.other

    def summary(self) -> str:
        return f"{self.count:,} pairs · {self.tokeniser}" if self.path else "no file yet"
