"""Your own point clouds as a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.catalogue import Column, Emitted, Emitter, param
from engine.catalogue.axes import POINTS
from engine.catalogue.params import FilePath, Names
from engine.catalogue.traits import FileForm
from engine.data.open.opening import CLOUD_TEXTS, OPENERS
from engine.errors import DataError
from nodes.data.own_file import memory_param
from nodes.data.splitting import BY_CLASS, BY_GROUP, FOLDS, GIVEN, SplitData

CORNERS, SURFACE = "corners", "surface"
CLOUD_ENDS = (*OPENERS["engine.data.open.points"], ".npy", *CLOUD_TEXTS)


class CloudFile(SplitData):
    """Point clouds (.ply, .off, .xyz, .pts, .npy): a folder of them, with one for each class, or one file.

    Clouds of a folder are the examples, padded with a mask; of a single file, the points are.
    """

    reads = FileForm.POINTS
    title = "Point clouds"
    aliases = ("ply", "off", "xyz", "pts", "lidar", "scan", "3d", "sets", "mesh")
    source = "files of your own"
    path: FilePath = param("", label="File or folder", folder=True, doc="one cloud, or a folder of clouds")
    count: int = param(0, minimum=0, hidden=True, doc="how many examples were found")
    classes: Names = param((), hidden=True, doc="the folders that are classes")
    stamp: str = param("", hidden=True, doc="marks what was found when it was opened")
    ends: Names = param((), hidden=True, doc="the ends of the files' names when they were opened")
    points: int = param(
        1024,
        minimum=1,
        maximum=1_000_000,
        label="Points of each",
        doc="of a cloud with more, so many are picked; one with fewer is filled up, as the mask says",
    )
    numbers: int = param(
        3,
        minimum=1,
        maximum=4096,
        label="Numbers of each",
        doc="of each point: x, y and z; of arrays and lines of text that hold more or less, so many",
    )
    mesh: str = param(
        CORNERS,
        choices=(CORNERS, SURFACE),
        label="Points of meshes",
        doc="of a file with faces. corners: those of the faces; surface: so many drawn anywhere on the "
        "faces, as dense on each",
    )
    normalise: str = param(
        "unit ball",
        choices=("as they are", "centre", "unit ball"),
        doc="centre: the mean of each cloud becomes 0; unit ball: and its farthest point is at distance 1",
    )
    pick: int = param(
        0, minimum=0, maximum=2**31 - 1, label="Pick seed", doc="another number picks other points"
    )
    memory: int = memory_param("larger data stay in their files; each batch then reads its own")

    @property
    def _single(self) -> bool:
        return self.path.casefold().endswith(CLOUD_ENDS)

    @property
    def _meaning(self) -> str:
        return "x, y and z" if self.numbers == 3 else f"{self.numbers:,} number{'s'[: self.numbers != 1]}"

    def forms(self) -> tuple[str, ...]:
        return self.ends

    def columns(self) -> tuple[Column, ...]:
        if self._single:
            return (Column("point", (self.numbers,), doc=self._meaning),)
        axis = "points" if self.mesh == CORNERS else ""  # of a surface all clouds have as many
        found = [
            Column(
                "points",
                (self.points, self.numbers),
                axes=POINTS,
                doc=f"{self._meaning} of each point",
                ragged=axis,
            ),
            Column(
                "mask",
                (self.points,),
                doc="1 where there is a point, 0 where the cloud is filled up",
                ragged=axis,
                lengths_of=axis,
            ),
        ]
        if self.classes:
            found.append(Column("label", (), "int64", self.classes, doc="the folder that holds the cloud"))
        return tuple(found)

    def folder(self) -> Path | None:
        if not self.path:
            return None
        return Path(self.path).parent if self._single else Path(self.path)

    def holds(self) -> tuple[str, ...]:
        if not self.path:
            return ()
        return (Path(self.path).name,) if self._single else ("the point clouds",)

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.clouds.files import load_cloud, load_clouds
        from engine.data.clouds.meshes import surface_points

        if not self.path:
            raise DataError("No point cloud is chosen.", fix="Choose a file, or a folder of them.")
        options: dict[str, Any] = {}
        if self.mesh == SURFACE:
            if self.numbers != 3:
                raise DataError(
                    "Points of a surface are x, y and z.",
                    fix="Set Numbers of each to 3, or take the corners.",
                )
            options["draw"] = surface_points
        elif self.numbers != 3:
            options["numbers"] = self.numbers
        how = self.splitting(classes=bool(self.classes) and not self._single)
        if self._single:
            if self.split in (GIVEN, BY_GROUP):
                raise DataError(
                    "The points of one cloud have no groups or splits.", fix="Split them at random."
                )
            if self.mesh == SURFACE:
                options |= {"points": self.points, "pick": self.pick}
            file = Path(self.path).name
            return e.load(load_cloud, file=file, normalise=self.normalise, **options, **how)
        if self.split == BY_GROUP:
            raise DataError("Clouds have no groups.", fix="Split them in another way.")
        if self.split == GIVEN:
            options["by"] = "split"
        elif self.split in (BY_CLASS, FOLDS) and self.classes:
            options["by"] = "class"
        return e.load(
            load_clouds,
            classes=self.classes,
            points=self.points,
            normalise=self.normalise,
            pick=self.pick,
            memory=self.memory,
            **options,
            **how,
        )

    def summary(self) -> str:
        if not self.path:
            return "no file"
        if self._single:
            return f"{self.points if self.mesh == SURFACE else self.count:,} points"
        classes = f" · {len(self.classes):,} classes" if self.classes else ""
        return f"{self.count:,} clouds · {self.points:,} points{classes}"
