"""Where values enter and leave a model that has no data source, and names for its results."""

from __future__ import annotations

from engine.catalogue import Column, Emitted, Emitter, Wire, param
from engine.catalogue import Input as InputType
from engine.catalogue import Output as OutputType
from engine.catalogue.params import Ints


class Input(InputType):
    """Stands for examples of a given shape, to sketch a model before there is data."""

    aliases = ("placeholder", "entry")
    shape: Ints = param((1, 28, 28), minimum=1, doc="sizes of one example, without the batch")
    whole: bool = param(False, label="Whole numbers", doc="class numbers or words instead of measurements")

    def column(self) -> Column:
        return Column("output", self.shape, "int64" if self.whole else "float32")

    def summary(self) -> str:
        return "×".join(str(size) for size in self.shape)


class Output(OutputType):
    """Names a result of the model; an export returns it."""

    aliases = ("result", "prediction", "exit")
    formula = "y = x"

    def emit(self, e: Emitter, x: Wire) -> Emitted:
        return x
