"""Images of a person's own: a folder of them is a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from engine.catalogue import Column, Emitted, Emitter, param
from engine.errors import EmitError, ParamError
from engine.params import FilePath, Names, Pair
from nodes.dealing import BY_CLASS, BY_GROUP, FOLDS, GIVEN, Dealt

CLASS_FOLDERS, LIST_FILE, MASKS, NO_LABELS = "class folders", "list file", "masks", "no labels"
STRETCH, CROP, PAD = "stretch", "crop to fill", "pad to fit"
GREY, RGB, RGBA = "grey", "RGB", "RGBA"
STOP, LEAVE_OUT = "stop", "leave out"
DEPTHS = {GREY: 1, RGB: 3, RGBA: 4}
LARGEST = 4096


class ImageFolder(Dealt):
    """Images of your own in a folder: one folder a class, a list of labels, masks, or the images alone.

    Read are PNG, JPEG, BMP, GIF, WebP, TIFF and PPM; the files are never written to.
    """

    title = "Image folder"
    aliases: ClassVar[tuple[str, ...]] = ("pictures", "photos", "png", "jpeg", "segmentation", "own images")
    source = "files of your own"
    path: FilePath = param("", label="Folder", doc="the folder that holds the images")
    stamp: str = param("", hidden=True, doc="what the folder held when it was opened")
    layout: str = param(
        CLASS_FOLDERS,
        choices=(CLASS_FOLDERS, NO_LABELS),
        label="Labels",
        doc="class folders: the first folder on the way to an image names its class",
    )
    split_folders: bool = param(
        False, doc="whether folders called train, validation or test stand for splits, not for classes"
    )
    size: Pair = param(
        32, minimum=1, maximum=LARGEST, doc="height and width that every image is brought to, in pixels"
    )
    fit: str = param(
        STRETCH,
        choices=(STRETCH, CROP, PAD),
        label="Resizing",
        doc="of images with another shape: stretch them, crop what is too long, or pad with black",
    )
    channels: str = param(
        RGB, choices=(GREY, RGB, RGBA), doc="grey is one channel, RGB three, RGBA has transparency as fourth"
    )
    behind: str = param(
        "white",
        choices=("white", "black", "nothing"),
        label="Transparent parts",
        doc="what shows behind them, unless transparency is a channel; nothing: the colours they hide",
    )
    bits: str = param(
        "8", choices=("8", "16"), label="Bits a channel", doc="16 keeps all levels of deep grey images"
    )
    unreadable: str = param(
        STOP,
        choices=(STOP, LEAVE_OUT),
        label="Unreadable files",
        doc="stop with the file's name, or leave them out: every file is tried before training begins",
    )
    memory: int = param(
        1000,
        minimum=0,
        maximum=1_000_000,
        unit="MB",
        label="Hold in memory up to",
        doc="images that take more are read from their files, batch by batch",
    )
    threads: int = param(
        2,
        minimum=0,
        maximum=32,
        label="Reading threads",
        doc="how many files are read at once; 0: no threads",
    )
    classes: Names = param((), hidden=True, doc="the names of the classes, in the order of their numbers")
    count: int = param(0, minimum=0, hidden=True, doc="how many images the folder held when it was opened")

    def folder(self) -> Path | None:
        return Path(self.path) if self.path else None

    def holds(self) -> tuple[str, ...]:
        return ("the images",)

    def columns(self) -> tuple[Column, ...]:
        image = Column("image", (DEPTHS[self.channels], *self._sizes()), doc="levels in 0..1")
        if self.layout == NO_LABELS:
            return (image,)
        return (image, Column("label", (), "int64", self.classes, doc="the class, by its folder"))

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.image_files import load_image_files

        if not self.path:
            raise EmitError("No folder of images is chosen yet.", fix="Choose one, or drop it on the canvas.")
        rows, where = self._rows()
        return e.load(
            load_image_files,
            rows=rows,
            where=where,
            size=self._sizes(),
            fit=self.fit,
            channels=self.channels,
            behind=self.behind,
            bits=int(self.bits),
            unreadable=self.unreadable,
            memory=self.memory,
            threads=self.threads,
            key=self._key(),
            **self.dealing(classes=self.layout == CLASS_FOLDERS),
        )

    def summary(self) -> str:
        if not self.path:
            return "no folder yet"
        found = [f"{self.count:,} image{'' if self.count == 1 else 's'}"]
        if self.layout == CLASS_FOLDERS:
            found.append(f"{len(self.classes):,} class{'' if len(self.classes) == 1 else 'es'}")
        height, width = self._sizes()
        return " · ".join([*found, f"{height}×{width} {self.channels}"])

    def _sizes(self) -> tuple[int, int]:
        if isinstance(self.size, tuple):
            return self.size
        return (int(self.size), int(self.size))

    def _rows(self) -> tuple[Any, dict[str, Any]]:
        """The function that lists the images, and its options."""
        from engine.data import image_listing as listing

        if self.layout == NO_LABELS:
            return listing.images_alone, {"split_folders": self.split_folders}
        return listing.images_by_class, {"classes": self.classes, "split_folders": self.split_folders}

    def _key(self) -> str:
        """Which list the dealer looks at."""
        if self.split == GIVEN:
            if not self.split_folders:
                raise ParamError(
                    "No folders called train, validation or test are used, so no split is given: "
                    "pick another split, or use those folders."
                )
            return "split"
        if self.split == BY_GROUP:
            return "group"
        return "label" if self.layout == CLASS_FOLDERS and self.split in (BY_CLASS, FOLDS) else ""
