"""Programs and data for runs; data that is already in memory is not read again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from engine.catalogue import Catalogue
from engine.data.batch import Splits
from engine.data.telling import listening, sentence
from engine.emit.fast import Fast
from engine.train.autotune import made_with
from engine.train.loop import Interrupted

if TYPE_CHECKING:
    from engine.document.graph import Project
    from engine.emit.program import Program

BETWEEN = 0.05  # seconds between two looks at whether the data are still wanted

Compile = Callable[["Project", Catalogue, int], "Program"]


class Sources:
    """Turns projects into programs and reads their data, keeping the last data set read.

    `unwanted` is asked while data are read whether nobody wants those of these `data_nodes` any more.
    """

    def __init__(self, catalogue: Catalogue, datasets: Path, compile: Compile | None = None) -> None:
        self._catalogue = catalogue
        self._datasets = datasets
        self._compile = compile or _compile
        self._key: object = None
        self._data: Splits | None = None
        self.reading = ""  # how far the reading of data has come, while they are read
        self.unwanted: Callable[[tuple[Any, ...]], bool] = lambda nodes: False
        self._told_at = 0.0
        self.fast: Fast | None = None  # what the run under way trains with, for edits of its project

    def program(self, project: Project, revision: int) -> Program:
        """The program of a project. Errors: `EmitError` or `ParamError` naming the node."""
        program = self._compile(project, self._catalogue, revision)
        return (
            program
            if self.fast is None or not project.plan.fast
            else made_with(program, self._catalogue, self.fast)
        )

    def loader(self, program: Program, device: str) -> Callable[[], Splits]:
        """A function that gives the program's data on `device`."""
        key = (device, program.loading, self.data_nodes(program.project))

        def load() -> Splits:
            if self._data is None or self._key != key:
                self._data = None  # two data sets at once may be more than fits
                try:
                    with listening(partial(self._heard, self.data_nodes(program.project))):
                        self._data = program.load(self._datasets, device)
                finally:
                    self.reading = ""
                self._key = key
            return self._data

        return load

    def _heard(self, nodes: tuple[Any, ...], done: int, count: int, what: str) -> None:
        """Note how far reading has come. Errors: `Interrupted` where nobody wants the data any more."""
        now = monotonic()
        if now - self._told_at >= BETWEEN:
            self._told_at = now
            self.reading = sentence(done, count, what)
            if self.unwanted(nodes):
                raise Interrupted

    def forget(self) -> None:
        """Let go of the data in memory."""
        self._data = None

    def data_nodes(self, project: Project) -> tuple[Any, ...]:
        """What the data depends on beside the text of `load`: marks of files, which are no options."""
        found = []
        for node_id, node in project.graph.nodes.items():
            kind = self._catalogue.get(node.type)
            if kind is not None and kind.kind == "data":
                params = tuple(sorted((name, repr(value)) for name, value in node.params.items()))
                ports = tuple(sorted({link.source_port for link in project.graph.outgoing(node_id)}))
                found.append((node_id, node.type, node.name, params, ports))
        return tuple(found)


def _compile(project: Project, catalogue: Catalogue, revision: int) -> Program:
    from engine.emit.program import compile_program

    return compile_program(project, catalogue, revision=revision)
