"""Nodes between data and network that decide which rows there are, or what their labels say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.catalogue import Column, Transform, param
from engine.catalogue.params import Ints
from engine.catalogue.traits import Preparation
from engine.errors import EmitError, ParamError
from nodes.data.splitting import REPEAT, THIN

REPEATING, INCOMPLETE = "repeat another", "lack a number"


def _classes(title: str, x: Column) -> Column:
    """The column as labels. Errors: `EmitError` for what has no class number a row."""
    if x.dtype != "int64" or x.shape:
        raise EmitError(
            f"{title} goes by class numbers, one a row, but {x.name} has none.", fix="Connect the labels."
        )
    return replace(x, name="output")


class LeaveOutRows(Transform):
    """Leaves out rows by what comes in here; all other columns of the data lose the same rows.

    Of rows that repeat each other the first stays, training rows before validation and test: so no row is
    tested that was trained on.
    """

    title = "Leave out rows"
    picks = True
    aliases = ("duplicates", "copies", "leak", "drop", "distinct", "missing", "nan")
    that: str = param(
        REPEATING,
        choices=(REPEATING, INCOMPLETE),
        label="That",
        doc="repeat another: those whose values here are all the same; lack a number: those with a gap",
    )

    def gives(self, x: Column) -> Column:
        if self.that == INCOMPLETE and x.dtype != "float32":
            raise EmitError(f"In {x.name} no number can be missing: it holds whole numbers.")
        return replace(x, name="output")

    def prepares(self) -> Preparation:
        return Preparation.DISTINCT if self.that == REPEATING else Preparation.WHOLE

    def fit(self) -> tuple[Any, dict[str, Any]]:
        from engine.data.picked_rows import keep_one_of_equals, keep_whole_rows

        return (keep_one_of_equals if self.that == REPEATING else keep_whole_rows), {}

    def summary(self) -> str:
        return f"that {self.that}"


class LeaveOutNumbers(Transform):
    """Leaves out some of the numbers of every row, such as those that never change."""

    preparation = Preparation.VARYING
    title = "Leave out numbers"
    aliases = ("drop columns", "feature selection", "constant", "remove")
    which: Ints = param((1,), minimum=1, doc="the places of those that are left out, from 1")

    def gives(self, x: Column) -> Column:
        if len(x.shape) != 1:
            raise EmitError(f"{self.title} needs rows of numbers, but {x.name} has others.")
        size = x.shape[0]
        if max(self.which) > size:
            raise ParamError(f"{x.name} has {size} numbers, so there is no number {max(self.which)}.")
        if len(set(self.which)) == size:
            raise ParamError(f"Nothing would be left of {x.name}: keep a number.")
        return replace(x, name="output", shape=(size - len(set(self.which)),), doc="")

    def fit(self) -> tuple[Any, dict[str, Any]]:
        from engine.data.picked_rows import leave_out_numbers

        return leave_out_numbers, {"which": self.which}

    def summary(self) -> str:
        shown = ", ".join(map(str, self.which[:6]))
        return f"number {shown}" if len(self.which) == 1 else f"{len(set(self.which))} of them"


class BalanceClasses(Transform):
    """Picks training rows so that every class comes equally often; all columns follow the same rows.

    Rows of validation and test stay as they are: results are those on data as they come.
    """

    preparation = Preparation.BALANCED
    title = "Balance classes"
    picks = True
    aliases = ("oversampling", "undersampling", "resample", "imbalance", "rare")
    source = "Japkowicz and Stephen, 2002"
    way: str = param(
        REPEAT,
        choices=(REPEAT, THIN),
        doc="repeat the rare: their rows come again until each class has as many as the commonest; "
        "thin the common: each has as many as the rarest, picked at random",
    )
    seed: int = param(0, minimum=0, maximum=2**31 - 1, doc="another number picks other rows")

    def gives(self, x: Column) -> Column:
        return _classes(self.title, x)

    def fit(self) -> tuple[Any, dict[str, Any]]:
        from engine.data.picked_rows import pick_by_class
        from engine.data.repeats import common_thinned, rare_repeated

        return pick_by_class, {
            "pick": rare_repeated if self.way == REPEAT else common_thinned,
            "seed": self.seed,
        }

    def summary(self) -> str:
        return self.way


class WrongLabels(Transform):
    """Changes a fraction of the training labels, the same ones in every epoch: a network can learn them.

    It shows how a network memorises: its training loss falls, its validation loss does not.
    """

    title = "Wrong labels"
    aliases = ("label noise", "random labels", "corrupt", "memorise", "corruption")
    source = "Zhang, Bengio, Hardt, Recht and Vinyals, 2017"
    share: float = param(
        0.2, minimum=0, maximum=1, label="Fraction wrong", doc="probability of each label to be changed"
    )
    classes: int | None = param(None, minimum=2, doc="how many there are; empty: as the data say")
    everywhere: bool = param(
        False, label="In all splits", doc="in validation and test, too; else they keep the right labels"
    )
    seed: int = param(0, minimum=0, maximum=2**31 - 1, doc="another number changes other labels")
    _count = 0

    def gives(self, x: Column) -> Column:
        found = _classes(self.title, x)
        self._count = self.classes or len(x.classes)
        if self._count < 2:
            raise ParamError(f"{x.name} does not say how many classes there are: set Classes.")
        return found

    def fit(self) -> tuple[Any, dict[str, Any]]:
        from engine.data.picked_rows import wrong_labels

        options = {"rate": self.share, "classes": self._count, "everywhere": self.everywhere}
        return wrong_labels, {**options, "seed": self.seed}

    def summary(self) -> str:
        return f"{100 * self.share:g} %" + (" in all splits" if self.everywhere else "")
