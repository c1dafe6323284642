"""A mixture of Gaussians in parts: each is a node, and one rule over all of them is a step of EM."""

from __future__ import annotations

from engine.catalogue import Emitted, Emitter, Port, Wire, param
from engine.catalogue.axes import Axes
from engine.catalogue.symbols import carried, without_defaults
from nodes.rules import ROW, RuleBearer
from nodes.wires import need_axes, plural

EM = "Dempster, Laird and Rubin, 1977"
COMPONENTS = "one number for each component"


class Means(RuleBearer):
    """Where the components of a mixture lie: what leaves it is how far each point is from each mean.

    A rule over it, the covariances, the mixing weights and the responsibilities is a step of EM: each becomes
    what the responsibilities make of the points.
    """

    aliases = ("gaussian mixture", "em", "expectation maximisation", "clusters", "centres")
    formula = "d = x - μ; EM: μ = Σ r x / Σ r"
    source = EM
    learns_from = "responsibilities"
    learns_from_all = True
    components: int = param(3, minimum=1, doc="how many components the mixture has")
    spread: float = param(1.0, above=0, doc="deviation of the normal distribution of the first means")

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.mixture import Means as Made

        need_axes(x, self, ROW)
        made = carried(Made)(x.features, self.components, spread=self.spread)
        return e.module(without_defaults(made))(x)

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        return ("components", "features")

    def summary(self) -> str:
        return plural(self.components, "component")


class Covariances(RuleBearer):
    """How the components of a mixture spread: the log-density of each at every point, by its deviation."""

    aliases = ("gaussian mixture", "em", "multivariate normal", "mahalanobis")
    formula = "log N = -½ (dᵀ Σ⁻¹ d + log det Σ + D log 2π); EM: Σ = Σ r d dᵀ / Σ r about the new means"
    source = EM
    takes_axes = ("components", "features")
    learns_from = "responsibilities"
    learns_from_all = True
    ridge: float = param(
        1e-6, minimum=0, doc="added to each variance, so that no component shrinks to a point"
    )

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.mixture import Covariances as Made

        need_axes(x, self)
        made = carried(Made)(x.channels, x.features, ridge=self.ridge)
        return e.module(without_defaults(made))(x)

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        return ("features",)


class MixingWeights(RuleBearer):
    """How common the components of a mixture are: it adds the logarithm of its weight to each log-density."""

    title = "Mixing weights"
    aliases = ("gaussian mixture", "em", "prior", "proportions")
    formula = "log p(x, k) = log N + log π; EM: π = mean of r"
    source = EM
    learns_from = "responsibilities"
    learns_from_all = True

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.mixture import MixingWeights as Made

        need_axes(x, self, COMPONENTS)
        return e.module(carried(Made)(x.features))(x)


class Responsibilities(RuleBearer):
    """How probable it is that a point comes from each component, and how likely the point is altogether.

    In a rule of EM it is the step E: the others learn from its responsibilities. Its loss is minus the mean
    log-likelihood, which EM never raises.
    """

    aliases = ("gaussian mixture", "em", "posterior", "log-likelihood", "soft assignment")
    formula = "r = p(x, k) / Σ p(x, k); log p(x) = log Σ p(x, k)"
    source = EM
    teaches = "responsibilities"
    scores = ("log_likelihood",)
    ports_out = (
        Port("responsibilities", doc="probability of each component, given the point"),
        Port("log_likelihood", label="log-likelihood", doc="logarithm of the density at the point"),
    )

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        from engine.layers.mixture import Responsibilities as Made

        need_axes(x, self, COMPONENTS)
        layer = e.module(carried(Made)())
        found, likelihood = e.unpack(layer(x), "responsibilities", "log likelihood")
        return {"responsibilities": found, "log_likelihood": likelihood}
