"""Your own arrays as a data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.catalogue import Column, Emitted, Emitter, param
from engine.catalogue.params import FilePath, Rows
from engine.catalogue.traits import FileForm
from engine.errors import DataError, ParamError
from nodes.data.own_file import OwnFile, memory_param
from nodes.data.splitting import BLOCKS, BY_CLASS, BY_GROUP, FOLDS, GIVEN, IN_TIME, SplitData

AS_THEY_ARE, ADD, FIRST = "as they are", "add a channel", "channels first"
SCALED, STANDARDISED = "0 to 1", "standardise"
MEASURED, IDS = "measurements", "ids"
CLASSES, NUMBERS = "classes", "numbers"
YES_NO = "yes-no"  # of a column whose numbers are 0 or 1, each a label
ONE_HOT = "one-hot"  # of a column whose rows are a 1 among zeros
SPLIT_BY = {BY_GROUP: "group", GIVEN: "split", IN_TIME: "time", BLOCKS: "time"}
PORT_ROLES = ("input", "target", "weight")  # roles of columns that have a port


class ArrayFile(SplitData, OwnFile):
    """Arrays of one length from a NumPy file (.npy, .npz) or an IDX file (as MNIST has), a row an example.

    A file that is larger than what may be held in memory stays on disk, and batches read their rows there.
    """

    reads = FileForm.ARRAYS
    title = "Array file"
    aliases = ("numpy", "npy", "npz", "idx", "memory map", "own data", "matrix")
    source = "a file of your own"
    path: FilePath = param(
        "", label="File", doc="a .npy, .npz or IDX file; others that belong to it lie beside"
    )
    table: Rows = param(
        (),
        hidden=True,
        label="Columns",
        doc="name, kind, role, size of a row, classes, files, names of classes and type of each array",
    )
    rows: int = param(0, minimum=0, hidden=True, doc="how many rows were found")
    stamp: str = param("", hidden=True, doc="marks what the file held when it was opened")
    values: str = param(
        AS_THEY_ARE,
        choices=(AS_THEY_ARE, SCALED, STANDARDISED),
        doc="of inputs. 0 to 1: divided by the most that whole numbers of their type can be, else by the "
        "range of the training rows; standardise: by their mean and deviation, each feature of a "
        "table and each channel of images on its own",
    )
    axes: str = param(
        AS_THEY_ARE,
        choices=(AS_THEY_ARE, ADD, FIRST),
        label="Image axes",
        doc="layers want channels × height × width. add a channel: to rows of height × width; "
        "channels first: rows of height × width × channels are turned",
    )
    last: int = param(
        0,
        minimum=0,
        maximum=100_000,
        label="Targets at the end",
        doc="so many of the last numbers of a table's rows are what is to be predicted",
    )
    labels: str = param(
        CLASSES,
        choices=(CLASSES, NUMBERS),
        label="Labels are",
        doc="what columns with few different values, or with a single 1 a row, stand for; numbers: "
        "quantities, such as 3 rooms",
    )
    whole: str = param(
        MEASURED,
        choices=(MEASURED, IDS),
        label="Whole numbers are",
        doc="what inputs of whole numbers stand for; ids: words and the like, for an embedding",
    )
    memory: int = memory_param("larger data stay in their file; batches then read their rows from disk")

    def found(self) -> tuple[dict[str, Any], ...]:
        """What is known of each column that is not ignored, as `load_arrays` takes it.

        Errors: `ParamError` where what is kept of the file is not what an opener writes.
        """
        try:
            found = [self._column(*entry[:6]) for entry in self.table]
        except (TypeError, ValueError):
            raise ParamError("What this node knows of its file is incomplete: open the file again.") from None
        return tuple(part for column in found if column["role"] != "ignore" for part in self._parted(column))

    def _column(self, name: Any, kind: Any, role: Any, size: Any, classes: Any, files: Any) -> dict[str, Any]:
        column: dict[str, Any] = {"name": str(name), "files": tuple(tuple(file) for file in files)}
        if any(len(file) != 3 for file in files) or not files:
            raise ValueError(files)
        column["size"], column["role"] = tuple(int(one) for one in size), role
        if kind == "category" and (self.labels == CLASSES or role == "group"):
            column["classes"] = tuple(classes)
        elif kind == ONE_HOT and self.labels == CLASSES and role in PORT_ROLES:
            column |= {"classes": tuple(classes), "hot": True}
        elif kind == "whole" and (role != "input" or self.whole == IDS) and role not in ("target", "weight"):
            column["whole"] = True
        return column

    def _parted(self, column: dict[str, Any]) -> list[dict[str, Any]]:
        """The column, or its first and last features where the last ones are the target."""
        if not self.last or column["role"] != "input" or len(column["size"]) != 1:
            return [column]
        features = column["size"][0]
        if self.last >= features:
            raise ParamError(
                f"Targets at the end leave no input: the rows of {column['name']} have {features}."
            )
        kept = features - self.last
        target = {"name": f"{column['name']} target", "role": "target", "span": (kept, features)}
        return [{**column, "span": (0, kept)}, {**column, **target}]

    def columns(self) -> tuple[Column, ...]:
        return tuple(self._port(column) for column in self.found() if column["role"] in PORT_ROLES)

    def _port(self, column: dict[str, Any]) -> Column:
        name, size, role = column["name"], column["size"], column["role"]
        if "classes" in column:
            names = next((entry[6] for entry in self.table if entry[0] == name and len(entry) > 6), ())
            names = names if isinstance(names, tuple) and names else column["classes"]
            return Column(name, (), "int64", tuple(str(one) for one in names), doc=f"classes, {role}")
        first, last = column.get("span", (0, 0))
        size = (*size[:-1], last - first) if last else size or (1,)
        if role == "input" and self.axes == ADD and len(size) == 2:
            size = (1, *size)
        elif role == "input" and self.axes == FIRST and len(size) == 3:
            size = (size[2], *size[:2])
        labels = any(entry[:2] == (name, YES_NO) for entry in self.table)
        return Column(name, size, "int64" if column.get("whole") else "float32", doc=role, yes_no=labels)

    def dtypes(self) -> dict[str, str]:
        found = {str(entry[0]): str(entry[7]) for entry in self.table if len(entry) > 7 and entry[7]}
        return {one["name"]: found[kept] for one in self.found() if (kept := _entry(one["name"], found))}

    def holds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(file for column in self.found() for _, file, _ in column["files"]))

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.array_files import load_arrays

        found = self.found()
        if not found:
            raise DataError("No array file is chosen.", fix="Choose a .npy, .npz or IDX file.")
        of = {column["role"]: column["name"] for column in reversed(found)}
        classes = [one["name"] for one in found if "classes" in one and one["role"] in PORT_ROLES]
        how = self.splitting(classes=bool(classes))
        options: dict[str, Any] = {}
        if self.split == GIVEN and "split" not in of:
            if not all(split for column in found for split, _, _ in column["files"]):
                raise DataError(
                    "The files don't say which rows are for test.", fix="Split the rows in another way."
                )
            options["given"] = True
        elif self.split in SPLIT_BY:
            role = SPLIT_BY[self.split]
            if role in of:
                options["by"] = of[role]
            elif role != "time":  # without times, rows are in the order of time
                raise DataError(
                    f"No column is the {role}.", fix="Give a column that role, or split in another way."
                )
        elif self.split in (BY_CLASS, FOLDS) and classes:
            options["by"] = classes[0]
        return e.load(
            load_arrays,
            columns=tuple(_needed(column) for column in found),
            values=self.values,
            axes=self.axes,
            memory=self.memory,
            **options,
            **how,
        )

    def summary(self) -> str:
        if not self.path:
            return "no file"
        classes = next((len(one.classes) for one in self.columns() if one.classes), 0)
        inputs = [one for one in self.columns() if not one.classes]
        sizes = "×".join(map(str, inputs[0].shape)) if inputs else ""
        parts = [f"{self.rows:,} rows", sizes, f"{classes:,} classes" if classes else ""]
        return " · ".join(part for part in parts if part)


def _entry(name: str, entries: Mapping[str, str]) -> str:
    """The array that a column is, or whose last features it is; "" for none of these."""
    return next((one for one in (name, name.removesuffix(" target")) if one in entries), "")


def _needed(column: dict[str, Any]) -> dict[str, Any]:
    """A column without what is as usual, so that a script holds no more than it needs."""
    return {key: value for key, value in column.items() if (key, value) != ("role", "input")}
