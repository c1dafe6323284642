"""A script, package or notebook of ours as the project it came from."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.catalogue import Catalogue, Measure
from engine.catalogue.identifiers import slug
from engine.document.edits import AddNodes, SetParam
from engine.document.graph import Link, Node, Project
from engine.errors import ProjectFileError
from engine.importers.arranging import arrange
from engine.importers.classes import constructed, method, read_forward
from engine.importers.comparing.differences import Reading, compare
from engine.importers.comparing.form import form_of, plain
from engine.importers.constants import plainly, put_in
from engine.importers.findings import Finding, Findings, quoted_code
from engine.importers.loading.data import default_folders, read_data
from engine.importers.loading.steps import Sources
from engine.importers.measures import Batch, Measured, read_measures
from engine.importers.objectives import Training
from engine.importers.plans import read_plan
from engine.importers.reader import Reader, Shared
from engine.importers.roles import Roles, constants_of, roles_of
from engine.importers.spelling import aliases_of
from engine.importers.texts import Read, read_python

OURS = "Exported from Neuroloom"


@dataclass(frozen=True, slots=True)
class Opened:
    """A project that was read from Python, and what of the file it does not hold, in order of its lines."""

    project: Project
    findings: Sequence[Finding] = ()


def open_python(path: Path, catalogue: Catalogue) -> Opened:
    """Read a script, a package or a notebook. Errors: `ProjectFileError` for one that is none of ours."""
    return read_project(read_python(path), path, catalogue)


def read_project(read: Read, path: Path, catalogue: Catalogue) -> Opened:
    """The project that a text came from; nothing of it is executed."""
    try:
        tree = ast.parse(read.text)
    except SyntaxError as error:
        place = read.places.get(error.lineno or 0, f"line {error.lineno}")
        raise ProjectFileError(f"{path.name}: {place} is no Python: {error.msg}.") from error
    form = form_of(tree, path.suffix == ".ipynb")
    tree = plain(plainly(tree))
    tree = put_in(tree, constants_of(tree))
    findings = Findings(dict(read.places))
    project = Project(read.title or path.stem)
    shared = Shared.of(project, catalogue, findings, aliases_of(tree), tree)
    roles = roles_of(tree, shared.likely.ours)
    if roles.model is None:
        raise ProjectFileError(
            f"{path.name} has no class of a network, so nothing in it can be opened. "
            "Scripts, packages and notebooks that Neuroloom exported open as projects."
        )
    if roles.train is None and OURS not in read.text:
        raise ProjectFileError(
            f"{path.name} was not exported from Neuroloom: only such Python opens as a project."
        )
    opening = _Opening(shared, roles, tree, path)
    opening.read()
    if form.weights is not None:
        findings.add(
            form.names_weights,
            f"The weights in {form.weights} are no part of a project; a run begins with them by --weights.",
        )
    project.plan = replace(project.plan, fast=form.fast is not None)
    compare(project, catalogue, read.text, form, opening.reading(), findings)
    arrange(project)
    return Opened(project, findings.in_order())


class _Opening:
    """Reads the parts of a script in the order in which they need each other."""

    def __init__(self, shared: Shared, roles: Roles, tree: ast.Module, path: Path) -> None:
        self.shared, self.roles, self.tree, self.path = shared, roles, tree, path
        assert roles.model is not None
        self.model = roles.model
        self.reader = Reader(shared, constructed(shared, roles.model))
        self.sources = Sources()
        self.results: list[ast.expr] = []
        self.titles: list[str] = []
        self.called = False
        self.batch = Batch(self.reader, {}, self._model, Measured())
        shared.book.update(shared.project)

    def read(self) -> None:
        roles, shared = self.roles, self.shared
        if roles.load is not None:
            folders = default_folders(roles.home, self.path)
            self.sources = read_data(self.reader, roles.load, self._columns(), folders)
        batch = self.batch
        batch.columns = self.sources.columns
        measured = roles.measure or roles.functions.get("measure")
        objective = None if measured is not None else roles.functions.get("objective")
        function = measured or objective
        if function is not None:
            self._weigh(read_measures(batch, function))
        training = Training(roles, self.reader, batch)
        plan = read_plan(training)
        shared.project.plan = plan
        if not self.called:
            self._forward_alone()
        self._unused()
        shared.book.update(shared.project)

    def reading(self) -> Reading:
        """What was read line by line, not by what is written for the project, and what it is called there."""
        blocks = {name for name, found in self.shared.block_ids.items() if found}
        parts = {key: getattr(self.roles, key) for key in ("load", "train", "batches", "evaluate", "main")}
        names = {one.name: key for key, one in parts.items() if one is not None}
        return Reading(self.batch.read, {self.model.name, *blocks}, {**names, self.model.name: "Model"})

    def _columns(self) -> list[str]:
        """The columns of a batch that the file reads anywhere."""
        found = {
            node.slice.value
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        }
        if self.roles.load is not None:
            found |= {
                node.value
                for node in ast.walk(self.roles.load)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
        return sorted(found)

    def _model(self, call: ast.Call) -> list[ast.expr] | None:
        """What a call of the whole network gives."""
        if not self.called:
            self.called = True
            forward = method(self.model, "forward")
            names = [] if forward is None else [one.arg for one in forward.args.args][1:]
            named = [*names, *[""] * len(call.args)]
            given = [self.reader.value(one, name) for one, name in zip(call.args, named, strict=False)]
            self.results, self.titles = read_forward(self.reader, self.model, given)
        return self.results

    def _weigh(self, weights: dict[str, float]) -> None:
        """Losses that count other than once say so themselves."""
        book = self.shared.book
        for one, weight in weights.items():
            kind = book.types.get(one)
            if weight != 1 and kind is not None and kind.param_spec("weight") is not None:
                SetParam(one, "weight", weight).apply(self.shared.project)
                book.update(self.shared.project, {one})

    def _forward_alone(self) -> None:
        """A network that nothing calls: what enters it are columns, or Input nodes of their sizes."""
        forward = method(self.model, "forward")
        names = [] if forward is None else [one.arg for one in forward.args.args][1:]
        given: list[ast.expr] = []
        by_name = {key.lower(): out for key, out in self.sources.columns.items()}
        for node in self.shared.project.graph.nodes.values():
            if node.name and node.id not in self.sources.nodes:
                by_name.setdefault(node.name, (node.id, "output"))
        for at, one in enumerate(names):
            out = by_name.get(one) or by_name.get(one.rstrip("_"))
            given.append(self.reader.place(out or (self._input(forward, at, one), "output")))
        self.results, self.titles = read_forward(self.reader, self.model, given)
        general = any(isinstance(one, Measure) for one in self.shared.book.types.values())
        if general or self.roles.train is not None:
            self._outputs()

    def _input(self, forward: ast.FunctionDef | None, at: int, name: str) -> str:
        """A node that stands for what enters, of the sizes that the file's examples have."""
        from engine.importers.inputs import input_of  # only a network without data needs it

        kind, values = input_of(self.shared.catalogue, self.tree, at)
        return self.reader.add(kind, name, values, {})

    def _outputs(self) -> None:
        """Results of a network whose objectives compute their own layers are named by Output nodes."""
        from engine.catalogue import Output
        from engine.document.graph import BLOCK_OUTPUT

        shared, graph = self.shared, self.shared.project.graph
        kind = next(
            (one for one in shared.catalogue if issubclass(one, Output) and one.type_id != BLOCK_OUTPUT), None
        )
        ends = [self.reader.places[one.id] for one in self.results if isinstance(one, ast.Name)]
        natural = [one for one in graph.order() if one in self.reader.owners.values() or graph.incoming(one)]
        leaving = [
            one
            for one in natural
            if not isinstance(shared.book.types.get(one), Measure)
            and (
                not graph.outgoing(one)
                or any(
                    isinstance(shared.book.types.get(link.target), Measure) for link in graph.outgoing(one)
                )
            )
        ]
        named = {one: slug(graph.node(one).name or shared.book.types[one].title) for one, _ in ends}
        alike = all(
            title in ("", "x") or title.startswith(named[one])
            for (one, _), title in zip(ends, self.titles, strict=False)
        )
        if kind is None or ({one for one, _ in ends} >= set(leaving) and alike):
            return
        for (source, port), title in zip(ends, self.titles, strict=False):
            node = Node(shared.project.new_id(), kind.type_id, title.replace("_", " "))
            AddNodes((node,), (Link(source, port, node.id, "x"),)).apply(shared.project)

    def _unused(self) -> None:
        """Layers that are made and never called."""
        made = self.reader.made
        for attribute, line in made.lines.items():
            known = attribute in {*self.reader.owners, *made.values, *made.chains, *made.functions}
            if not known and attribute in made.layers and not self._plays(attribute):
                self.shared.findings.add(
                    line, f"{quoted_code(line)} is a layer that nothing here calls as a node."
                )

    def _plays(self, attribute: str) -> bool:
        constructor = self.reader.made.layers.get(attribute)
        return isinstance(constructor, ast.Call) and ast.unparse(constructor.func) == "Replay"
