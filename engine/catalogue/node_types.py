"""What a node type is.

A node type is a class: its annotated `param()`s are the fields of the inspector, its docstring the help,
`emit` the line of Python it becomes. Palette, search, shapes, code and tests follow from that declaration.
Third parties add types by an entry point of the group `neuroloom.nodes` that names a module to import.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from engine.catalogue.axes import QUANTITIES, Axes, Ragged
from engine.catalogue.params import Parametrised, collect
from engine.catalogue.symbols import Expr, name
from engine.catalogue.traits import FileForm, LayerTraits, LossTraits, Preparation, Squash
from engine.catalogue.wires import Column, Port, Wire
from engine.document.blocks import ports_of
from engine.document.graph import Project
from engine.errors import EmitError

_COUNT = re.compile(r"([\d,]+) [a-z]")
_NUMBER = re.compile("[1-9][0-9]{0,5}")  # one spelling each, so that no two links mean one place


class Emitter(Protocol):
    """What a node type's `emit` may ask for."""

    def module(self, constructor: Expr, suffix: str = "") -> Expr:
        """Keep a layer with weights in the model; returns the expression that calls it."""

    def begin(self, statements: Sequence[Expr]) -> None:
        """Run statements once when the model is made, such as those that draw a layer's first weights."""

    def unpack(self, call: Expr, *pattern: Any) -> Any:
        """Run a call that returns a tuple; `pattern` names its parts, nested as the tuple is."""

    def class_of(self, composite: Composite) -> Expr:
        """The expression that constructs the class a block became."""

    def load(self, loader: Any, **values: Any) -> dict[str, Expr]:
        """Read a data set with a portable function; returns the columns."""


Emitted = Expr | dict[str, Expr]


class NodeType(Parametrised):
    """Base of all node types; subclass one of the kinds below, not this."""

    kind: ClassVar[str] = "layer"
    family: ClassVar[str] = "other"
    aliases: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[str] = ""  # who said it first, or the function it is
    formula: ClassVar[str] = ""  # what is computed, as plain text: y = max(0, x)
    ports_in: ClassVar[tuple[Port, ...]] = (Port("x"),)
    ports_out: ClassVar[tuple[Port, ...]] = (Port("output"),)
    type_id: ClassVar[str] = ""
    shows: ClassVar[tuple[str, ...]] = ()  # pictures of its layer's own, such as "gates" or "attention"
    editor: ClassVar[str] = ""  # what its own editor does, as on a button: "Draw points"
    preparation: ClassVar[Preparation | None] = None  # of data, behind which it stands
    palette: ClassVar[bool] = True  # whether people pick it from the palette
    common: ClassVar[bool] = False  # whether it is offered before others
    abstract: ClassVar[bool] = True

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.type_id = cls.__name__
        cls.abstract = abstract
        cls.params = collect(cls)
        if not cls.__dict__.get("title"):
            cls.title = cls.__name__

    def inputs(self) -> tuple[Port, ...]:
        return self.ports_in

    def outputs(self) -> tuple[Port, ...]:
        return self.ports_out

    def input_port(self, name: str) -> Port | None:
        """The port a wire end belongs to: "x3" belongs to the port "x" that takes many."""
        for port in self.inputs():
            if port.name == name:
                return None if port.many else port
            if port.many and name.startswith(port.name) and _NUMBER.fullmatch(name[len(port.name) :]):
                return port
        return None

    def output_port(self, name: str) -> Port | None:
        return next((port for port in self.outputs() if port.name == name), None)

    def takes_whole_at(self, port: str) -> bool:
        """Whether whole numbers (int64), such as classes and tokens, mean anything at an input."""
        return True

    def prepares(self) -> Preparation | None:
        """What it does to data, with these parameters."""
        return self.preparation

    def summary(self) -> str:
        """The node's second line on the canvas, such as `32 filters 3×3 · ReLU`."""
        return ""

    def emit(self, *args: Any, **wires: Any) -> Emitted:
        """The node as code: `emit(self, e, x)` gets an `Emitter` and a `Wire` for each input port.

        Returns the value of the only output port, or a dict of one value for each port.
        """
        raise EmitError(f"{self.title} cannot be turned into Python.")


class Layer(NodeType, abstract=True):
    """Lives in the model.

    `takes_whole` says that whole numbers (int64) may come in; most layers compute with measurements only,
    and the meta device, which finds the shapes, does not mind. A layer that `learns_by_rule` keeps a module
    with an `update`, or with a `fit` of all training rows where it `fits_all`; `rule_ports` are inputs that
    only that reads, such as a target. It `learns_from` what another node of its rule `teaches`, an output of
    that name and the first that the module gives. `scores` names outputs whose mean, or methods of the module
    that give a mean over the rows that come in; it is taken over whole splits, once an epoch, where the rule
    is at work. One that `learns_from_all` takes all training rows in one batch. `hands_on` names for an
    output the input whose meaning it keeps: it is changed while training only, or in form only.
    `classes_of` names for an output the input whose classes it has, where only some places keep their value.
    `takes_axes` says what it takes the axes of its first input for, where it cannot be anything.
    Of rows that differ in length, one whose examples have `places_from` axes or more treats each place by
    itself; one that `reads_lengths` passes over the filling, and `keeps_places` at these outputs.
    """

    kind = "layer"
    takes_whole: ClassVar[bool] = False
    learns_by_rule: ClassVar[bool] = False
    fits_all: ClassVar[bool] = False
    learns_from_all: ClassVar[bool] = False
    learns_from: ClassVar[str] = ""
    teaches: ClassVar[str] = ""
    classes_at: ClassVar[tuple[str, ...]] = ()  # inputs that are the numbers of classes
    rule_ports: ClassVar[tuple[Port, ...]] = ()
    scores: ClassVar[tuple[str, ...]] = ()
    hands_on: ClassVar[Mapping[str, str]] = {}
    classes_of: ClassVar[Mapping[str, str]] = {}
    takes_axes: ClassVar[Axes] = ()
    places_from: ClassVar[int | None] = None
    reads_lengths: ClassVar[bool] = False
    keeps_places: ClassVar[tuple[str, ...]] = ()
    traits: ClassVar[LayerTraits] = LayerTraits()

    def treats_each_place(self, shape: tuple[int, ...]) -> bool:
        """Whether no place along the first axis of an example of this shape sees another."""
        return self.places_from is not None and len(shape) >= self.places_from

    def reads_on(self) -> bool:
        """Whether no step sees a later one, and its module has `read_on(x, kept)` for steps that are new.

        That gives what `forward` would at these steps, and what to keep for those that follow.
        """
        return False

    def parts(self, shape: tuple[int, ...], parameters: int) -> dict[str, int]:
        """What its parameters belong to, where examples of this shape arrive at its first input."""
        return {self.traits.part or self.family: parameters}

    def asks_for_lengths(self, ports: Collection[str]) -> bool:
        """Whether it reads the lengths of rows where these inputs are connected."""
        return self.reads_lengths

    def axes_after(self, axes: Axes, rank: int) -> Axes:
        """What the axes of an output stand for where those of its inputs are `axes`; () if unknown."""
        known = self.takes_axes or axes
        if self.traits.units and known and known[-1] not in QUANTITIES:  # new numbers in the place of places
            known = (*known[:-1], "")
        return known if len(known) == rank else ()

    def inputs(self) -> tuple[Port, ...]:
        return (*self.ports_in, *self.rule_ports)

    def takes_whole_at(self, port: str) -> bool:
        if self.takes_whole or port in self.classes_at:
            return True
        return port not in {one.name for one in Layer.inputs(self)}

    def squash(self) -> Squash | None:
        """The function between two ends that its numbers have passed last."""
        chosen = getattr(self, "activation", None)
        return next((one for one in Squash if one.word == chosen), self.traits.squashes)

    def least_rows(self, shape: tuple[int, ...]) -> int:
        """How many examples of this shape it needs to train: one, or more where it compares them."""
        return 1

    def emit_rule(self, e: Any, layer: Expr, **wires: Wire) -> Expr:
        """The call that applies the layer's own update; it returns a dict of what is watched.

        `wires` are what arrives at its inputs, and what it `learns_from` by that name.
        """
        learn: Expr = layer.fit if self.fits_all else layer.update
        read = (*(port.name for port in Layer.inputs(self)), self.learns_from)
        found: Expr = learn(*(wires[one] for one in read if one in wires))
        return found


@dataclass(frozen=True, slots=True)
class State:
    """A value that a scanned block hands from step to step: its sizes, and the output that becomes it."""

    size: tuple[int, ...]
    fed_by: str


class Composite(Layer, abstract=True):
    """A node that is a graph itself: `block` names its definition, whose ports are its ports."""

    family = "blocks"
    ports_in = ()
    ports_out = ()
    block: str
    scan: bool
    times: int
    own_weights: bool

    def bind(self, project: Project) -> None:
        """Look the definition up. Errors: `EmitError` where the project has none of that name."""
        self._inputs, self._outputs = (), ()
        self._states: dict[str, State] = {}
        if self.block not in project.blocks:
            raise EmitError("This block has no definition in the project.")
        inputs, outputs = ports_of(project, self.block)
        given = {node.id for node in outputs}
        for node in inputs:
            fed_by, size = node.params.get("state"), node.params.get("size")
            if self.scan and isinstance(fed_by, str) and fed_by in given and isinstance(size, tuple):
                self._states[node.id] = State(tuple(one for one in size if isinstance(one, int)), fed_by)
        self._inputs = tuple(
            Port(node.id, node.name or "in", optional=node.id in self._states) for node in inputs
        )
        self._outputs = tuple(Port(node.id, node.name or "out") for node in outputs)

    def inputs(self) -> tuple[Port, ...]:
        return self._inputs

    def outputs(self) -> tuple[Port, ...]:
        return self._outputs

    def axes_read(self) -> tuple[Ragged, ...]:
        """The axes of rows that differ in length whose lengths something inside reads."""
        return self._axes_read

    def states(self) -> dict[str, State]:
        """The inputs that are states, where the block is scanned."""
        return self._states

    def label_of(self, port: str) -> str:
        return next((one.title for one in (*self._inputs, *self._outputs) if one.name == port), port)

    _inputs: tuple[Port, ...] = ()
    _outputs: tuple[Port, ...] = ()
    _states: dict[str, State] = {}  # noqa: RUF012
    _axes_read: tuple[Ragged, ...] = ()


class Data(NodeType, abstract=True):
    """Gives batches; `files` are looked for in the data folder, the one that is installed or `folder`."""

    kind = "data"
    family = "data sets"
    ports_in: ClassVar[tuple[Port, ...]] = ()
    ports_out: ClassVar[tuple[Port, ...]] = ()
    files: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[FileForm | None] = None  # where it reads a file or folder of the user's
    public: ClassVar[str] = ""  # the id of a set that can be downloaded for it
    fixed_columns: ClassVar[tuple[Column, ...]] = ()  # where no parameter changes them
    fixed_summary: ClassVar[str] = ""  # where no parameter changes it: "150 flowers · 3 classes"
    token_columns: ClassVar[tuple[str, ...]] = ()  # one for each vocabulary that reading it learns, in order
    split_params: ClassVar[tuple[str, ...]] = ()  # the parameters that say how rows are split
    by_number: ClassVar[Mapping[str, Any]] = {}  # values of them that split rows by their number alone

    def columns(self) -> tuple[Column, ...]:
        """The columns the source gives, in order; tokens are called by numbers until they are learned."""
        return self.fixed_columns

    def summary(self) -> str:
        return self.fixed_summary

    def row_count(self) -> int:
        """How many examples it gives in all splits together; 0 where that isn't known before it is read."""
        rows = getattr(self, "rows", 0)
        return examples_of(self.summary()) or (rows if isinstance(rows, int) else 0)

    def split_by(self) -> Hashable:
        """How rows are split: data nodes that say the same split rows of the same number alike."""
        return type(self), tuple(repr(getattr(self, spec.name, None)) for spec in self.params)

    def lacks(self) -> frozenset[str]:
        """Which of validation and test its parameters leave without a row, as their fraction is 0."""
        return frozenset(split for split in ("validation", "test") if getattr(self, split, None) == 0)

    def folder(self) -> Path | None:
        """Where the user's own files are; None where they are installed or made."""
        return None

    def read_by_batch(self) -> bool:
        """Whether columns stay in many files, of which each batch reads some."""
        return False

    def held(self, size: int) -> int:
        """How many bytes stay in memory of columns of `size` bytes: all, or none that are too large."""
        return size

    def scale(self, folder: Path) -> Mapping[str, tuple[float, float]]:
        """Mean and deviation of columns that are always scaled; what they were is mean + deviation × number.

        `folder` is where the files are.
        """
        return {}

    def called(self, column: str) -> str:
        """What the user calls the numbers of a column, where its name says less."""
        return column

    def holds(self) -> tuple[str, ...]:
        """What has to be in the folder, as the user reads it: `mnist/`, `flowers.csv`."""
        return tuple(sorted({file.split("/")[0] + "/" for file in self.files}))

    def typed(self, column: str, text: str) -> dict[str, Any] | None:
        """What a row holds in `column`, and in those beside it, for a text; None where that is not known."""
        return None

    def plainly(self) -> bool:
        """Whether its file, when it was opened, was found to be as simple readers expect it."""
        return False

    def forms(self) -> tuple[str, ...]:
        """The ends of its files' names, such as ".off", when they were opened; () where that is not known."""
        return ()

    def loosely(self) -> bool:
        """Whether simple readers find its columns, and cells need care, as some have blanks around them."""
        return False

    def dtypes(self) -> Mapping[str, str]:
        """NumPy's type of each column of an array file, where it was found when the file was opened."""
        return {}

    def learned_key(self) -> Hashable | None:
        """Under what the tokens are kept that reading the data learns; None where it learns none."""
        return None

    def outputs(self) -> tuple[Port, ...]:
        return tuple(Port(column.name, doc=column.doc) for column in self.columns())

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns() if column.name == name), None)


class Transform(Data, abstract=True):
    """Stands between data and network: fitted on training rows as they are read, applied to every row.

    `columns` is what leaves it, known once it is bound to the column that comes in. One that `picks` decides
    which rows all columns have.
    """

    kind = "transform"
    family = "transforms"
    ports_in = (Port("x"),)
    ports_out = (Port("output"),)
    picks: ClassVar[bool] = False
    _arriving: Column | None = None

    def bind(self, arriving: Column) -> None:
        """Say what comes in. Errors: `EmitError` or `ParamError` where it does not fit; then nothing does."""
        self._arriving = arriving
        try:
            self.column("output")
        except Exception:  # as one of a third party may raise
            self._arriving = None
            raise

    def gives(self, x: Column) -> Column:
        """The column that leaves, called "output". Errors: `EmitError` where `x` does not fit."""
        raise NotImplementedError

    def columns(self) -> tuple[Column, ...]:
        if self._arriving is None:
            return ()
        return (replace(self.gives(self._arriving), rows=self._arriving.rows),)

    def outputs(self) -> tuple[Port, ...]:
        return self.ports_out

    def fit(self) -> tuple[Any, dict[str, Any]]:
        """A portable function `f(splits, column, into, **options)` that adds a column, and its options.

        Where it returns an `engine.data.fitted.Fitted`, values are shown in the units they came in.
        """
        raise NotImplementedError


class Source(NodeType, abstract=True):
    """Draws values inside an objective: noise, priors, time steps.

    `emit(self, e, size, device)` gets expressions for the number of examples and their device.
    """

    kind = "source"
    family = "noise"
    ports_in = ()

    def column(self) -> Column:
        """What it draws: name, sizes without the batch, dtype."""
        raise NotImplementedError

    def outputs(self) -> tuple[Port, ...]:
        column = self.column()
        return (Port(column.name, doc=column.doc),)


class Measure(NodeType, abstract=True):
    """A mean over what counts in a batch, of what the model computes at the first port beside the others.

    Where nothing counts, `emit` gives 0. Of rows that differ in length it gets their places one after the
    other, as if each were an example; where it `reads_lengths`, the rows as they are.
    """

    ports_in: ClassVar[tuple[Port, ...]] = (Port("prediction"), Port("target"))
    ports_out = ()
    reads_lengths: ClassVar[bool] = False
    traits: ClassVar[LossTraits] = LossTraits()

    def takes_whole_at(self, port: str) -> bool:
        return port != self.ports_in[0].name

    def counts(self, **wires: Wire) -> Expr | None:
        """How much a batch counts in the mean over several, as an expression; None: its number of examples.

        A loss or metric that leaves places out counts those that remain, one that weighs them their weights.
        """
        lengths = [wire.lengths for wire in wires.values() if wire.lengths is not None]
        if lengths and not self.reads_lengths:
            return lengths[0].sum()
        parts = next((wire for wire in wires.values() if wire.rows), None)
        return None if parts is None else name("len")(parts)

    def means(self, **wires: Wire) -> Expr | None:
        """Means that a value of a batch or split is computed from, as a tensor; None: it is a mean itself."""
        return None

    def of_means(self, means: Expr) -> Expr:
        """The value, from the `means` of a batch or of a split."""
        raise NotImplementedError


class Loss(Measure, abstract=True):
    """A function of predictions and targets that training makes small."""

    kind = "loss"
    family = "loss"


class Metric(Measure, abstract=True):
    """A number that is measured, not minimised; better when higher unless `lower_is_better`."""

    kind = "metric"
    family = "metric"
    lower_is_better: ClassVar[bool] = False

    def kept(self, **wires: Wire) -> tuple[Expr, ...]:
        """Tensors (N, ...) of a batch that a value of all rows together needs; none: it is one of means."""
        return ()

    def of_kept(self, *kept: Expr) -> Expr:
        """The value, from what was `kept` of a batch or of a whole split."""
        raise NotImplementedError


class Input(NodeType, abstract=True):
    """Stands for what is fed to the model when there is no data source."""

    kind = "input"
    family = "input and output"
    ports_in = ()

    def column(self) -> Column:
        raise NotImplementedError


class Output(NodeType, abstract=True):
    """Names a result of the model."""

    kind = "output"
    family = "input and output"
    ports_out = ()


def examples_of(summary: str) -> int:
    """How many examples a summary such as `150 flowers · 3 classes` speaks of; 0 where it doesn't."""
    found = (_COUNT.match(part) for part in summary.split(" · "))
    return max((int(one[1].replace(",", "") or 0) for one in found if one is not None), default=0)
