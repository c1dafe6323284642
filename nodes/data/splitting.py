"""Parameters that say how the rows of your data are split into train, validation and test."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

from engine.catalogue import Data, param
from engine.errors import ParamError

RANDOM, BY_CLASS, BY_GROUP, IN_TIME, GIVEN = "random", "by class", "by group", "in time", "as given"
FOLDS, BLOCKS, BOOTSTRAP = "folds", "blocks of time", "bootstrap"
KEEP, TOGETHER, ONCE = "as they are", "in one split", "left out"
AS_THEY_COME, REPEAT, THIN = "as they come", "repeat the rare", "thin the common"
WAYS = (BY_CLASS, RANDOM, BY_GROUP, IN_TIME, GIVEN, FOLDS, BLOCKS, BOOTSTRAP)


class SplitData(Data, abstract=True):
    """A data set whose rows are split in a way that the user picks."""

    family = "files"
    split_params = ("split", "validation", "test", "folds", "fold", "gap", "seed", "repeats", "balance")
    by_number: ClassVar[Mapping[str, Any]] = {"split": RANDOM, "repeats": KEEP, "balance": AS_THEY_COME}
    split: str = param(
        BY_CLASS,
        choices=WAYS,
        doc="by class: every class alike in each split (at random where there are no classes); "
        "by group: all rows of a group in one split; in time: the last rows for test; "
        "as given: by a column or folder, and a split it lacks is taken from train; "
        "folds: one of several equal parts for validation; "
        "bootstrap: drawn with replacement",
    )
    validation: float = param(
        0.2,
        when=("split", (BY_CLASS, RANDOM, BY_GROUP, IN_TIME, GIVEN)),
        minimum=0,
        below=1,
        label="Validation fraction",
        doc="fraction of all rows that is never trained on; it decides when to stop",
    )
    test: float = param(
        0.2,
        minimum=0,
        below=1,
        label="Test fraction",
        doc="fraction of all rows that is only evaluated in the end",
    )
    folds: int = param(
        5,
        minimum=2,
        maximum=1000,
        when=("split", (FOLDS, BLOCKS)),
        doc="into how many parts, with folds and blocks of time",
    )
    fold: int = param(
        1,
        minimum=1,
        maximum=1000,
        when=("split", (FOLDS, BLOCKS)),
        doc="which of them is for validation, from 1",
    )
    gap: int = param(
        0,
        minimum=0,
        maximum=1_000_000,
        when=("split", (BLOCKS,)),
        doc="rows left out at borders between blocks of time",
    )
    seed: int = param(
        0,
        when=("split", tuple(way for way in WAYS if way not in (IN_TIME, BLOCKS))),
        minimum=0,
        maximum=2**31 - 1,
        label="Split seed",
        doc="another number splits the rows differently",
    )

    repeats: str = param(
        KEEP,
        choices=(KEEP, TOGETHER, ONCE),
        label="Equal rows",
        doc="rows whose inputs are all the same. in one split: kept together, so that no row is "
        "tested that was trained on; left out: only the first of them stays",
    )
    balance: str = param(
        AS_THEY_COME,
        choices=(AS_THEY_COME, REPEAT, THIN),
        label="Training classes",
        doc="as they come; repeat the rare: their training rows come again until each class has as many as "
        "the commonest; thin the common: each has as many as the rarest. Other splits stay as they are",
    )

    def split_by(self) -> Hashable:
        classes = tuple(column.classes for column in self.columns() if column.classes)
        way = RANDOM if self.split == BY_CLASS and not classes else self.split
        values = {name: getattr(self, name) for name in self.split_params} | {"split": way}
        other = {spec.name for spec in self.params if spec.when is not None and way not in spec.when[1]}
        counting = tuple((name, value) for name, value in values.items() if name not in other)
        keyed = self.repeats != KEEP or self.balance != AS_THEY_COME
        return counting, classes if way in (BY_CLASS, FOLDS) else (), super().split_by() if keyed else ()

    def lacks(self) -> frozenset[str]:
        if self.split == GIVEN:  # what the files give, they alone know
            return frozenset()
        return super().lacks() - ({"validation"} if self.split in (FOLDS, BLOCKS, BOOTSTRAP) else set())

    def splitting(self, classes: bool = True) -> dict[str, Any]:
        """The splitter and its options, as a loader takes them; `classes` says whether rows have classes.

        Errors: `ParamError` where nothing would be left to train.
        """
        from engine.data import splits as ways

        way = RANDOM if self.split == BY_CLASS and not classes else self.split
        fractions = {"validation": self.validation, "test": self.test}
        seed = {"seed": self.seed}
        if way in (RANDOM, BY_CLASS, BY_GROUP, IN_TIME) and self.validation + self.test >= 1:
            raise ParamError(
                "Validation and test fractions must leave rows to train on: less than 1 together."
            )
        if way in (FOLDS, BLOCKS) and self.fold > self.folds:
            raise ParamError(f"Fold is at most {self.folds}, the number of folds; not {self.fold}.")
        part = {"folds": self.folds, "fold": self.fold - 1, "test": self.test}
        found: dict[str, tuple[Any, dict[str, Any]]] = {
            RANDOM: (ways.split_at_random, {**fractions, **seed}),
            BY_CLASS: (ways.split_by_class, {**fractions, **seed}),
            BY_GROUP: (ways.split_by_group, {**fractions, **seed}),
            IN_TIME: (ways.split_in_time, fractions),
            GIVEN: (ways.split_as_given, {**fractions, **seed}),
            FOLDS: (ways.split_in_folds, {**part, **seed}),
            BLOCKS: (ways.split_in_blocks, {**part, "gap": self.gap}),
            BOOTSTRAP: (ways.split_by_bootstrap, {"test": self.test, **seed}),
        }
        splitter, options = found[way]
        return {"splitter": splitter, **options, **self._picking(way)}

    def _picking(self, way: str) -> dict[str, Any]:
        """What is done about equal rows and about rare classes, as the options that `split_rows` takes."""
        from engine.data import repeats

        found: dict[str, Any] = {}
        if self.repeats == ONCE:
            found["repeats"] = repeats.equals_once
        elif self.repeats == TOGETHER:
            found["repeats"] = repeats.groups_together if way == BY_GROUP else repeats.equals_together
        if self.balance != AS_THEY_COME:
            picks = {REPEAT: repeats.rare_repeated, THIN: repeats.common_thinned}
            found["balance"] = picks[self.balance]
        return found
