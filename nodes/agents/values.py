"""Layers of agents that learn the values of their actions."""

from __future__ import annotations

from engine.catalogue import Emitted, Emitter, Layer, Port, Wire, param
from engine.catalogue.axes import Axes
from engine.catalogue.symbols import carried, without_defaults
from engine.errors import EmitError
from nodes.wires import sizes


class ActionValue(Layer):
    """Picks the value of the action that was taken out of the values of all actions."""

    family = "reinforcement learning"
    title = "Value of the action"
    aliases = ("gather", "q learning", "dqn", "chosen action", "index")
    formula = "q = Q(s)[a]"
    source = "Watkins, 1989"
    ports_in = (Port("x", label="values", doc="one of each action"), Port("action", doc="its number"))
    classes_at = ("action",)

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        return ()

    def emit(self, e: Emitter, x: Wire, action: Wire) -> Emitted:
        from engine.layers.agents.values import value_of

        need_values(x, self)
        if action.dtype != "int64" or action.shape:
            raise EmitError(f"{self.title} takes the number of an action, but {sizes(action)} comes in.")
        return carried(value_of)(x, action)


class TDTarget(Layer):
    """What the value of an action ought to be: its reward, and what the next state is worth from there.

    The next state's values come from a network that changes slowly, such as a copy that follows the one that
    learns. With *choose* connected, that network says which action is best and the other what it is worth:
    double Q-learning, which overestimates less. No gradient flows through a target.
    """

    family = "reinforcement learning"
    title = "TD target"
    aliases = ("bellman", "q learning", "dqn", "double dqn", "temporal difference", "bootstrap")
    formula = "y = r + γ (1 - end) max Q'(s'); double: Q'(s')[argmax Q(s')]"
    source = "Watkins, 1989; Mnih et al., 2015; double: van Hasselt, Guez and Silver, 2016"
    ports_in = (
        Port("x", label="next values", doc="what each action is worth in the next state"),
        Port("reward", doc="what the action earned"),
        Port("end", doc="1 where nothing follows"),
        Port(
            "choose", optional=True, doc="values of the next state that choose the action; usually the same"
        ),
    )
    discount: float = param(
        0.99, minimum=0, maximum=1, label="Discount γ", doc="what a reward one step later is worth"
    )

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        return ()

    def emit(self, e: Emitter, x: Wire, reward: Wire, end: Wire, choose: Wire | None = None) -> Emitted:
        from engine.layers.agents.values import temporal_difference_target

        need_values(x, self)
        for title, wire in (("reward", reward), ("end", end)):
            if wire.shape != (1,):
                raise EmitError(f"{self.title} takes one number as {title}, but {sizes(wire)} come in.")
        if choose is not None and choose.shape != x.shape:
            raise EmitError(
                f"{self.title} compares {sizes(x)} values with {sizes(choose)}; they must be alike."
            )
        made = carried(temporal_difference_target)(reward, end, x, chooser=choose, discount=self.discount)
        return without_defaults(made)

    def summary(self) -> str:
        return f"γ {self.discount:g}"


def need_values(x: Wire, layer: Layer) -> None:
    """Errors: `EmitError` where the wire does not carry one number for each action."""
    if len(x.shape) != 1:
        raise EmitError(f"{layer.title} takes one value for each action, but {sizes(x)} comes in.")
