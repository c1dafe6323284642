"""Where the data of a script lie: one folder, and each data node's own below it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.catalogue import Data, NodeType
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.emit.beside import Copies, files_beside, name_beside
from engine.errors import DataError, EmitError
from engine.shapes.streams import feeding


@dataclass(frozen=True, slots=True)
class Places:
    """The data nodes that a graph learns from, and where their files are.

    `folder` holds the user's own files, None where all are installed or made; `below` is where in it those of
    a node are, "" for the folder itself.
    """

    nodes: tuple[tuple[str, Data], ...] = ()
    folder: Path | None = None
    below: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.nodes)

    @property
    def apart(self) -> str | None:
        """A node whose files are not in the folder of the first one's."""
        return next((one for one, where in self.below.items() if where), None)

    def holds(self) -> tuple[str, ...]:
        """What has to be in the folder."""
        every = [
            f"{where}/{name}" if (where := self.below.get(one, "")) else name
            for one, data in self.nodes
            for name in data.holds()
        ]
        return tuple(dict.fromkeys(every))

    def name_beside(self) -> str | None:
        """What the folder is called beside a script that takes its data along; None without data."""
        self._check_together()
        return name_beside(self.nodes[0][1]) if self.nodes else None

    def home(self, beside: Path | None, with_data: bool) -> str:
        """Where a script in the folder `beside` finds the data: as seen from there, or wherever that is.

        "." stands for `beside` itself; `with_data` where the files are copied there.
        """
        if self.folder is None:
            return "."
        if self.folder.is_relative_to(
            datasets_folder()
        ):  # copied beside the script as other installed data are
            return self.folder.relative_to(datasets_folder()).as_posix()
        if beside is not None and self.folder.is_relative_to(beside):
            return self.folder.relative_to(beside).as_posix()
        copied = self.name_beside() if with_data else None
        return self.folder.as_posix() if copied is None else copied or "."

    def files_beside(self, script: Path) -> Copies:
        """The files that a script in the folder `script` takes along. Errors: as `beside.files_beside`."""
        self._check_together()
        return tuple(dict.fromkeys(pair for _, data in self.nodes for pair in files_beside(data, script)))

    def _check_together(self) -> None:
        """Errors: `DataError` for data in several folders, or in ones that are called differently."""
        names = {name_beside(data) for _, data in self.nodes if data.holds()}
        if self.apart is not None or len(names) > 1:
            raise DataError(
                "The data of this graph lie in several folders.",
                node_id=self.apart,
                fix="Move the files into one folder before you take them along.",
            )


def places_of(project: Project, types: Mapping[str, NodeType]) -> Places:
    """Where the data of a graph lie. Errors: `EmitError` for data that no folder holds together."""
    made = [(one, types[one]) for one in feeding(project.graph, types)]
    nodes = tuple((one, data) for one, data in made if isinstance(data, Data))
    found = {one: data.folder() for one, data in nodes if data.folder() is not None or data.holds()}
    folders = {one: folder or datasets_folder() for one, folder in found.items()}
    if not any(found.values()):
        return Places(nodes)
    try:
        folder = Path(os.path.commonpath(set(folders.values())))
    except ValueError as error:
        raise EmitError(
            "The files of this node lie on another drive than those of the other data.",
            node_id=next(reversed(folders)),
            fix="Move them to one drive.",
        ) from error
    below = {one: where.relative_to(folder).as_posix() for one, where in folders.items()}
    return Places(nodes, folder, {one: "" if where == "." else where for one, where in below.items()})
