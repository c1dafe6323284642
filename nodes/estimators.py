"""Estimators: layers that are fitted to the whole training split at once."""

from __future__ import annotations

from engine.catalogue import Emitted, Emitter, Port, Wire, param
from engine.catalogue.symbols import carried, without_defaults
from engine.catalogue.traits import LayerTraits
from nodes.rules import ROW, TaughtByRule
from nodes.wires import need_axes


class Estimator(TaughtByRule, abstract=True):
    """A layer with a `fit`; a plan fits it by the step `Fit`, which takes all training rows as one batch."""

    family = "estimators"
    fits_all = True


class LeastSquares(Estimator):
    """Linear regression in closed form: the weights with the least squared error over all rows."""

    title = "Least squares"
    aliases = ("linear regression", "ridge", "normal equations", "closed form")
    formula = "w minimises |A w - t|² + λ |w|² on centred data; b = mean of t - w·x"
    source = "Legendre, 1805; Gauss, 1809; ridge: Hoerl and Kennard, 1970"
    ridge: float = param(0.0, minimum=0, label="Ridge", doc="λ: how strongly large weights are held back")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.estimators.least_squares import LeastSquares as Made

        need_axes(x, self, ROW)
        made = carried(Made)(x.features, self.units, ridge=self.ridge)
        return e.module(without_defaults(made))(x)

    def summary(self) -> str:
        return f"ridge {self.ridge:g}" if self.ridge else "closed form"


class GaussianProcess(Estimator):
    """Regression that knows how sure it is: between rows its bands widen, at rows they are narrow.

    What leaves it is the mean, and the logarithm of the variance, of a new observation. Length, signal and
    noise are found by what makes the training rows most likely, unless they are held.
    """

    title = "Gaussian process"
    aliases = ("gp", "kriging", "kernel regression", "uncertainty", "bands")
    formula = (
        "k = s² exp(-|x - x'|² / 2 l²) + n² where x = x'; mean = k K⁻¹ t; deviation² = k(x, x) - k K⁻¹ kᵀ"
    )
    source = "Rasmussen and Williams, 2006"
    ports_out = (
        Port("output", doc="the mean"),
        Port("log_variance", label="log variance", doc="logarithm of the variance of a new observation"),
    )
    traits = LayerTraits()
    tune: bool = param(
        True, label="Find scales", doc="length, signal and noise that make the rows most likely"
    )
    length: float = param(1.0, above=0, label="Length", doc="over how far values are alike, in units of x")
    signal: float = param(1.0, above=0, label="Signal", doc="deviation of the function")
    noise: float = param(0.1, above=0, label="Noise", doc="deviation of an observation around it")
    most: int = param(
        2000, minimum=1, maximum=10_000, label="Most rows", doc="of more rows as many are taken, evenly"
    )

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.estimators.gaussian_process import GaussianProcess as Made

        need_axes(x, self, ROW)
        made = carried(Made)(
            x.features,
            self.units,
            length=self.length,
            signal=self.signal,
            noise=self.noise,
            tune=self.tune,
            most=self.most,
        )
        mean, spread = e.unpack(e.module(without_defaults(made))(x), "mean", "log variance")
        return {"output": mean, "log_variance": spread}

    def summary(self) -> str:
        return "scales found" if self.tune else f"length {self.length:g}"


class SupportVectors(Estimator):
    """Separates classes by the boundary with the widest margin, held by the few rows that touch it.

    Its output is above 0 on the side of class 1; of more than two classes it gives a score for each.
    """

    title = "Support vector machine"
    aliases = ("svm", "svc", "kernel", "maximum margin", "dual", "rbf")
    formula = "max Σ a - ½ Σ a a' y y' k(x, x') with 0 ≤ a ≤ C, Σ a y = 0; f = Σ a y k(x, ·) + b"
    source = "Cortes and Vapnik, 1995"
    rule_ports = (Port("target", doc="the class of each row, a whole number; only the fit reads it"),)
    classes_at = ("target",)
    traits = LayerTraits(holds_rows=True)
    units: int = param(2, minimum=2, maximum=1000, label="Classes", doc="how many; two have one score")
    kernel: str = param("Gaussian", choices=("Gaussian", "linear"), doc="how rows are compared")
    c: float = param(1.0, above=0, label="C", doc="what a row inside the margin costs; large: few may be")
    gamma: float = param(
        1.0, above=0, label="γ", when=("kernel", ("Gaussian",)), doc="1 / 2l²: large makes the boundary wavy"
    )

    def need_target(self, made: int, target: Wire) -> None:
        super().need_target(1, target)

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.estimators.support_vectors import SupportVectors as Made

        need_axes(x, self, ROW)
        made = carried(Made)(x.features, self.units, kernel=self.kernel, c=self.c, gamma=self.gamma)
        return e.module(without_defaults(made))(x)

    def summary(self) -> str:
        classes = f" · {self.units} classes" if self.units > 2 else ""
        return f"{self.kernel} · C {self.c:g}{classes}"


class GaussianClasses(Estimator):
    """Classifies by Bayes' rule: a Gaussian for each class, and how often each class occurs.

    With one covariance for all classes the boundaries are straight (linear discriminant analysis), with one
    for each they are conics (quadratic); with variances alone it is naive Bayes, which takes features for
    independent within a class. Scores are log p(x, class); no gradient is needed.
    """

    title = "Gaussian classifier"
    aliases = ("lda", "qda", "naive bayes", "linear discriminant analysis", "bayes classifier", "generative")
    formula = "p(c | x) ∝ p(c) N(x; μ_c, Σ_c); shared Σ: log p(c | x) is linear in x"
    source = "Fisher, 1936; Hastie, Tibshirani and Friedman, 2009"
    rule_ports = (Port("target", doc="the class of each row, a whole number; only the fit reads it"),)
    classes_at = ("target",)
    traits = LayerTraits()
    units: int = param(2, minimum=2, maximum=1000, label="Classes", doc="how many")
    covariance: str = param(
        "shared",
        choices=("shared", "own", "diagonal"),
        doc="shared: straight boundaries (LDA); own: curved ones (QDA); diagonal: naive Bayes",
    )
    shrinkage: float = param(
        0.0, minimum=0, maximum=1, doc="r: covariances become (1 - r) Σ + r I, for few rows or equal features"
    )

    def need_target(self, made: int, target: Wire) -> None:
        super().need_target(1, target)

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.estimators.gaussian_classes import GaussianClasses as Made

        need_axes(x, self, ROW)
        made = carried(Made)(x.features, self.units, covariance=self.covariance, shrinkage=self.shrinkage)
        return e.module(without_defaults(made))(x)

    def summary(self) -> str:
        return f"{self.units} classes · {self.covariance} covariance"
