"""Transforms that are fitted on training rows: they stand between a data node and the network."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.catalogue import Column, Transform, param
from engine.catalogue.traits import Preparation
from engine.errors import EmitError, ParamError

OVER = ("each number", "each channel", "all numbers")


def _measured(title: str, x: Column, flat: bool = False) -> Column:
    """The column as measurements. Errors: `EmitError` for classes, or where a flat row is needed."""
    if x.dtype != "float32":
        raise EmitError(f"{title} needs measurements, but {x.name} holds whole numbers.")
    if flat and len(x.shape) != 1:
        sizes = "×".join(map(str, x.shape)) or "scalar"
        raise EmitError(f"{title} needs rows of numbers, but {x.name} is {sizes}.")
    return replace(x, name="output", classes=())


class Standardise(Transform):
    """Gives numbers in standard deviations from the mean, both of the training rows.

    Rows of validation and test are changed by the same mean and deviation; what never varies becomes 0.
    """

    preparation = Preparation.SCALED
    aliases = ("z-score", "normalise", "standard scaler", "zero mean")
    formula = "y = (x − mean) / deviation"
    over: str = param(
        "each number", choices=OVER, label="Statistics", doc="over what one mean and deviation are taken"
    )

    def gives(self, x: Column) -> Column:
        return _measured(self.title, x)

    def fit(self) -> tuple[Any, dict[str, Any]]:
        from engine.data.fitted import standardise

        return standardise, {"over": self.over}

    def summary(self) -> str:
        return f"of training rows · {self.over}"


class Rescale(Transform):
    """Moves and stretches numbers so that those of the training rows fill a range, 0 to 1 by default."""

    preparation = Preparation.SCALED
    title = "Rescale"
    aliases = ("min-max", "scale", "normalise", "range")
    formula = "y = low + (high − low) (x − min) / (max − min)"
    low: float = param(0.0, doc="what the least training value becomes")
    high: float = param(1.0, doc="what the greatest training value becomes")
    over: str = param(
        "each number", choices=OVER, label="Statistics", doc="over what one least and greatest are taken"
    )

    def gives(self, x: Column) -> Column:
        if self.low >= self.high:
            raise ParamError(f"Low has to lie below high, but {self.low:g} is not below {self.high:g}.")
        return _measured(self.title, x)

    def fit(self) -> tuple[Any, dict[str, Any]]:
        from engine.data.fitted import rescale

        return rescale, {"low": self.low, "high": self.high, "over": self.over}

    def summary(self) -> str:
        return f"{self.low:g} to {self.high:g}"


class Whiten(Transform):
    """Turns rows so that their numbers are uncorrelated, with variance 1 in the training rows.

    PCA orders them along the principal axes and can keep the first few; ZCA turns back, so that a pixel stays
    near its pixel; projection keeps the variances of the axes.
    """

    preparation = Preparation.SCALED
    aliases = ("pca", "zca", "principal components", "decorrelate", "projection")
    formula = "y = (x − mean) E D^(−1/2)"
    source = "Bell and Sejnowski, 1997"
    kind_of: str = param("PCA", choices=("PCA", "ZCA", "projection"), label="Kind", doc="see above")
    components: int | None = param(None, minimum=1, doc="how many principal axes are kept; all if empty")
    epsilon: float = param(1e-5, minimum=0, doc="added to each variance, so that noise is not blown up")

    def gives(self, x: Column) -> Column:
        found = _measured(self.title, x, flat=True)
        if self.kind_of == "ZCA" or self.components is None:
            return found
        if self.components > found.shape[0]:
            raise ParamError(f"{x.name} has {found.shape[0]} numbers, so no more components can be kept.")
        return replace(found, shape=(self.components,))

    def fit(self) -> tuple[Any, dict[str, Any]]:
        from engine.data.fitted import whiten

        components = None if self.kind_of == "ZCA" else self.components
        return whiten, {"kind": self.kind_of, "components": components, "epsilon": self.epsilon}

    def summary(self) -> str:
        kept = f" · {self.components} axes" if self.components and self.kind_of != "ZCA" else ""
        return self.kind_of + kept


class Impute(Transform):
    """Fills in what is missing, by the mean or the median of the training rows or by a value.

    Missing numbers arrive as NaN from a data node that keeps them.
    """

    preparation = Preparation.FILLED
    aliases = ("missing", "nan", "fill", "imputer")
    by: str = param(
        "mean", choices=("mean", "median", "value"), doc="what takes the place of what is missing"
    )
    value: float = param(0.0, doc="what is filled in by value, or where nothing is known")
    marks: bool = param(False, label="Mark them", doc="append as many numbers, 1 where one was missing")

    def gives(self, x: Column) -> Column:
        found = _measured(self.title, x, flat=self.marks)
        return replace(found, shape=(2 * found.shape[0],)) if self.marks else found

    def fit(self) -> tuple[Any, dict[str, Any]]:
        from engine.data.fitted import impute

        return impute, {"by": self.by, "value": self.value, "marks": self.marks}

    def summary(self) -> str:
        return f"by {self.by}" if self.by != "value" else f"by {self.value:g}"


class Ranks(Transform):
    """Gives each number's place among those of the training rows, from 0 to 1; outliers lose their reach."""

    preparation = Preparation.SCALED
    aliases = ("quantile", "uniform", "ordinal", "percentile")
    steps: int = param(1000, minimum=2, maximum=100_000, doc="into how many quantiles the training rows part")

    def gives(self, x: Column) -> Column:
        return _measured(self.title, x, flat=True)

    def fit(self) -> tuple[Any, dict[str, Any]]:
        from engine.data.fitted import ranks

        return ranks, {"steps": self.steps}

    def summary(self) -> str:
        return f"{self.steps:,} quantiles"
