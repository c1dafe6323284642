"""Optimisers that search along lines or use curvature: few, costly steps on all the data."""

from __future__ import annotations

from engine.catalogue.params import param
from engine.catalogue.training.optimiser_base import Curved

_MATRIX = 4_000  # a matrix of weights by weights of this size takes 64 MB and a second to solve
_MATRICES = 5  # of them at once: the old and the new one, and what one is computed by
_FIRST_TRY = "first step that the line search tries"


class LineSearch(Curved):
    """Gradient descent that finds each step's length by trying: no learning rate to tune.

    Armijo halves the step until the loss falls enough; strong Wolfe also wants most of the slope gone;
    bracketing doubles or halves the step while that helps. Source: Armijo 1966; Wolfe 1969.
    """

    title = "Line search"
    makes = "engine.optim.line_search.LineSearch"
    formula = "w ← w − t ∇L(w), t by trying"
    closure = "loss"
    copies = 2  # where a line begins, and its direction
    lr: float = param(1.0, above=0, label="Learning rate", doc=_FIRST_TRY)
    search: str = param(
        "Armijo", choices=("Armijo", "strong Wolfe", "bracketing"), doc="when a step's length is good enough"
    )
    decrease: float = param(
        1e-4, above=0, below=0.5, doc="part of the fall that the slope promises which a step must bring"
    )
    curvature: float = param(
        0.9, above=0, below=1, doc="part of the slope that may be left along the line (strong Wolfe)"
    )


class LBFGS(Curved):
    """Estimates the curvature from its last steps and searches along the line: strong on small networks.

    Liu & Nocedal 1989. The line search is strong Wolfe. One iteration a step, so that an
    epoch on all the data is one.
    """

    title = "L-BFGS"
    formula = "w ← w − t H g, H from the last steps, t by strong Wolfe"
    closure = "gradient"
    lr: float = param(1.0, above=0, label="Learning rate", doc=_FIRST_TRY)
    iterations: int = param(1, minimum=1, doc="iterations for each step of the training loop")
    memory: int = param(10, minimum=1, doc="how many steps the curvature is learned from")

    def remembered(self, weights: int) -> int:
        return (2 * self.memory + 4) * weights


class BFGS(Curved):
    """Estimates the whole inverse curvature matrix from its steps; for up to a few thousand weights.

    Broyden, Fletcher, Goldfarb and Shanno 1970.
    """

    title = "BFGS"
    makes = "engine.optim.bfgs.BFGS"
    formula = "w ← w − t H g;  H ← (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ, ρ = 1 / yᵀs"
    closure = "gradient"
    most_weights = _MATRIX
    lr: float = param(1.0, above=0, label="Learning rate", doc=_FIRST_TRY)
    curvature: float = param(0.9, above=0, below=1, doc="part of the slope that may be left along the line")

    def remembered(self, weights: int) -> int:
        return _MATRICES * weights**2


class ConjugateGradient(Curved):
    """Searches along directions that don't undo each other; needs no matrix, so it suits larger networks.

    Fletcher & Reeves 1964; Polak & Ribière 1969, with negative values set to 0.
    """

    title = "Conjugate gradient"
    makes = "engine.optim.conjugate_gradient.ConjugateGradient"
    formula = "d ← −g + β d;  w ← w + t d, t by strong Wolfe"
    closure = "gradient"
    copies = 4  # gradient and direction of the last step and of this one
    lr: float = param(1.0, above=0, label="Learning rate", doc=_FIRST_TRY)
    rule: str = param(
        "Polak-Ribiere+",
        choices=("Polak-Ribiere+", "Fletcher-Reeves"),
        doc="how much of the last direction is kept",
    )
    curvature: float = param(0.1, above=0, below=0.5, doc="part of the slope that may be left along the line")


class Newton(Curved):
    """Jumps to the bottom of the parabola that fits the loss here; needs the matrix of second derivatives.

    Nocedal & Wright 2006. Where that matrix isn't positive, enough is added to its diagonal; the step
    is halved until the loss falls.
    """

    makes = "engine.optim.newton.Newton"
    formula = "w ← w − t (H + λ I)⁻¹ g"
    closure = "loss"
    most_weights = _MATRIX
    damping: float = param(0.0, minimum=0, doc="added to the curvature of every direction: shorter, safer")

    def remembered(self, weights: int) -> int:
        return _MATRICES * weights**2


class LevenbergMarquardt(Curved):
    """Newton's method for squared errors: curvature from first slopes, and damping that adapts itself.

    Levenberg 1944, Marquardt 1963. It needs the single errors whose squares the loss adds up,
    so it trains mean squared errors only.
    """

    title = "Levenberg-Marquardt"
    makes = "engine.optim.levenberg_marquardt.LevenbergMarquardt"
    formula = "w ← w − (JᵀJ + λ I)⁻¹ Jᵀ r;  λ falls after a good step and grows after a bad one"
    closure = "residuals"
    most_weights = _MATRIX
    damping: float = param(1e-3, above=0, doc="at the start; large values step straight down the slope")
    factor: float = param(10.0, above=1, doc="by how much the damping falls or grows")

    def remembered(self, weights: int) -> int:
        return _MATRICES * weights**2
