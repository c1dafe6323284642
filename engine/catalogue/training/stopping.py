"""The rules that end a phase before its epochs are over, declared as optimisers are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.catalogue.params import param
from engine.catalogue.training.choosable import Choosable, chosen
from engine.document.plan import Choice

Test = tuple[str, str, float]  # what is seen, how it is compared ("<", "<=", ">=" or "=="), and with what


class StopRule(Choosable):
    """Looked at after each epoch; the phase ends when its test holds."""

    def test(self, higher: Callable[[str], bool]) -> Test:
        """What has to hold; "" stands for every training loss. `higher` says whether a value is to grow."""
        raise NotImplementedError


class Reaches(StopRule):
    """Ends when a recorded value is as good as wanted."""

    title = "Value reached"
    monitor: str = param("val_accuracy", label="Watch", doc="the value that is looked at")
    value: float = param(0.9, doc="as good as this is enough")

    def test(self, higher: Callable[[str], bool]) -> Test:
        return self.monitor, ">=" if higher(self.monitor) else "<=", float(self.value)


class GradientNorm(StopRule):
    """Ends where the gradient of all trained weights together is short."""

    title = "Small gradient"
    below: float = param(1e-5, above=0, doc="length of the gradient that counts as flat")

    def test(self, higher: Callable[[str], bool]) -> Test:
        return "gradient_norm", "<", float(self.below)


class FixedPoint(StopRule):
    """Ends when the weights stand still: none moved further than this over an epoch."""

    title = "Weights at rest"
    tolerance: float = param(1e-6, above=0, doc="largest move of a weight that still counts as rest")

    def test(self, higher: Callable[[str], bool]) -> Test:
        return "moved", "<", float(self.tolerance)


class CleanPass(StopRule):
    """Ends after an epoch without any mistake: its training loss is 0."""

    title = "Pass without a mistake"

    def test(self, higher: Callable[[str], bool]) -> Test:
        return "", "==", 0.0


class Seconds(StopRule):
    """Ends when the phase has trained for so long."""

    title = "Time"
    seconds: float = param(60.0, above=0, unit="s", label="Train for", doc="time that the phase may take")

    def test(self, higher: Callable[[str], bool]) -> Test:
        return "seconds", ">=", float(self.seconds)


STOP_RULES: dict[str, type[StopRule]] = {
    found.__name__: found for found in (Reaches, GradientNorm, FixedPoint, CleanPass, Seconds)
}


def make_stop_rule(choice: Choice) -> StopRule:
    """Return the stop rule a plan names, its values checked. Raises ParamError."""
    return chosen(choice, STOP_RULES, "stop rule")


def stop_tests(also: Sequence[Choice], higher: Callable[[str], bool]) -> list[Test]:
    """The tests of a phase's stop rules. Errors: `ParamError`."""
    return [make_stop_rule(choice).test(higher) for choice in also]
