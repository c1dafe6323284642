"""Texts or pairs of texts of your own with classes, tags for words and answers, as tokens."""

from __future__ import annotations

from typing import Any

from engine.catalogue import Column, Emitted, Emitter, param
from engine.catalogue.params import Names
from engine.catalogue.traits import FileForm
from nodes.data.own_file import OwnFile
from nodes.data.splitting import AS_THEY_COME, BLOCKS, BOOTSTRAP, FOLDS, IN_TIME, RANDOM, SplitData
from nodes.data.text_file import SPECIAL, WORDS, Tokenised


class AnnotatedText(SplitData, Tokenised):
    """Texts or pairs of texts with all that is told about them: classes, a tag for each word, an answer.

    A row reads [begin] first [end] second [end]. The file is a table with tabs: `first` and `second` are
    texts, `tags` has a tag for each of their words, parted by spaces, `answer` is some words of the second
    text; every other column holds classes.
    """

    reads = FileForm.ANNOTATED
    title = "Annotated text"
    aliases = ("bert", "tagging", "part of speech", "span", "squad", "next sentence", "sentence pairs", "ner")
    source = "a file of your own"
    tokeniser: str = param(
        "WordPiece",
        choices=("WordPiece", WORDS),
        doc="what a token is; learned from training. Of a word in pieces the first one has its tag",
    )
    kinds: Names = param((), hidden=True, doc="the columns of classes with their classes: feeling: bad, good")
    tags: Names = param((), hidden=True, doc="the tags of words, from 1 on; 0 is no tag")
    count: int = param(0, minimum=0, hidden=True, doc="how many rows were found")
    split: str = param(
        RANDOM,
        choices=(RANDOM, IN_TIME, FOLDS, BLOCKS, BOOTSTRAP),
        doc="random; in time: the last rows for test; folds or blocks: one of several parts for validation",
    )
    balance: str = param(
        AS_THEY_COME, choices=(AS_THEY_COME,), hidden=True, doc="several columns have classes"
    )

    def classes(self) -> dict[str, tuple[str, ...]]:
        """The classes of each column that has some."""
        parted = (kind.partition(": ") for kind in self.kinds)
        return {name: tuple(listed.split(", ")) for name, _, listed in parted}

    def columns(self) -> tuple[Column, ...]:
        size, kinds = (self.length,), ("no tag", *self.tags)
        along: dict[str, Any] = {"dtype": "int64", "ragged": "tokens"}
        return (
            Column(
                "tokens", size, classes=self._named(self.size), doc=f"numbers of tokens; {SPECIAL}", **along
            ),
            Column("length", (), "int64", doc="how many tokens the row has", lengths_of="tokens"),
            Column("tags", size, classes=kinds, doc="the tag of each word; 0 where there is none", **along),
            Column("start", (), "int64", doc="place of the answer's first token; 0: there is no answer"),
            Column("end", (), "int64", doc="place of the answer's last token; 0: there is no answer"),
            *(Column(name, (), "int64", known, doc="a class") for name, known in self.classes().items()),
        )

    def typed(self, column: str, text: str) -> dict[str, Any] | None:
        import numpy as np

        parts = [self._numbers(part) for part in text.split("|")]
        if column != "tokens" or any(part is None for part in parts):
            return None
        found = [2]
        for part in parts:
            found += [*part.tolist(), 3]
        tokens = np.zeros(self.length, np.int64)
        tokens[: len(found)] = found[: self.length]
        return {"tokens": tokens, "length": np.int64(min(len(found), self.length))}

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.text.annotated import load_annotated

        return e.load(
            load_annotated,
            **self._how(),
            classes=self.classes(),
            tags=self.tags,
            **self.splitting(classes=False),
        )

    def holds(self) -> tuple[str, ...]:
        return OwnFile.holds(self)

    def summary(self) -> str:
        return f"{self.count:,} rows · {self.tokeniser}" if self.path else "no file yet"
