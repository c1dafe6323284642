"""Whether two players are in balance: a discriminator that is sure leaves the generator no slope.

Source: Goodfellow et al. 2014 (where D(G(z)) is near 0, use the non-saturating loss).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.catalogue import Loss, Metric
from engine.catalogue.traits import Player

if TYPE_CHECKING:
    from engine.train.loop import Run

SURE = 0.02  # a mean D(G(z)) below this


def too_sure(run: Run) -> tuple[str, str] | None:
    """The metric node that shows a discriminator being too strong, and the sentence; None while it is not.

    Looks at the last epoch, at mean probabilities of the scores for generated examples.
    """
    graph, values = run.program.project.graph, run.history[-1] if run.history else {}
    types = run.program.book.types
    for one, loss in types.items():
        if not isinstance(loss, Loss) or loss.traits.trains is not Player.DISCRIMINATOR:
            continue
        made = graph.feeding(one, "made")
        beside = graph.outgoing(made.source) if made is not None else ()
        for link in beside:
            watched, metric = graph.nodes[link.target], types.get(link.target)
            probability = isinstance(metric, Metric) and metric.traits.mean_probability
            value = values.get(f"val_{run.program.metrics.get(link.target, '')}")
            if probability and isinstance(value, float) and value < SURE:
                return link.target, _sentence(watched.name, value, _minimax(run))
    return None


def _minimax(run: Run) -> bool:
    losses = [made for made in run.program.book.types.values() if isinstance(made, Loss)]
    saturating = [(made, *made.traits.saturates) for made in losses if made.traits.saturates is not None]
    return any(getattr(made, parameter) == value for made, parameter, value in saturating)


def _sentence(name: str, value: float, minimax: bool) -> str:
    help_ = (
        "Its loss is minimax: the non-saturating form keeps a slope there."
        if minimax
        else "Let the discriminator train in every second batch only, or lower its learning rate."
    )
    return (
        f"The discriminator is too strong: {name or 'what is made'} is taken for real with a probability of "
        f"{value:.3f}, so the generator has hardly a slope to follow. {help_}"
    )
