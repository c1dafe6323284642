"""Your own images: a folder of them is a data set."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

from engine.catalogue import Column, Emitted, Emitter, param
from engine.catalogue.axes import IMAGE
from engine.catalogue.params import FilePath, Ints, Names, Pair
from engine.catalogue.traits import FileForm
from engine.data.tables.sniff import TYPED
from engine.errors import EmitError, ParamError
from nodes.data.splitting import BY_CLASS, BY_GROUP, FOLDS, GIVEN, SplitData

CLASS_FOLDERS, LIST_FILE, MASKS, NO_LABELS = "class folders", "list file", "masks", "no labels"
STRETCH, CROP, PAD = "stretch", "crop to fill", "pad to fit"
GREY, RGB, RGBA = "grey", "RGB", "RGBA"
STOP, LEAVE_OUT = "stop", "leave out"
CLASS, QUANTITY = "class", "quantity"
DEPTHS = {GREY: 1, RGB: 3, RGBA: 4}
LARGEST = 4096


class ImageFolder(SplitData):
    """Images of your own in a folder: one folder a class, a list of labels, masks, or the images alone.

    Read are PNG, JPEG, BMP, GIF, WebP, TIFF and PPM; the files are never written to.
    """

    reads = FileForm.IMAGES
    title = "Image folder"
    aliases = ("pictures", "photos", "png", "jpeg", "segmentation", "own images")
    source = "files of your own"
    path: FilePath = param("", label="Folder", folder=True, doc="the folder that holds the images")
    stamp: str = param("", hidden=True, doc="what the folder held when it was opened")
    layout: str = param(
        CLASS_FOLDERS,
        choices=(CLASS_FOLDERS, LIST_FILE, MASKS, NO_LABELS),
        label="Labels",
        doc="class folders: the first folder on the way to an image names its class; list file: a table says "
        "it; masks: an image beside each says the class of every pixel",
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
    list_file: str = param("", doc="the list of images and labels, a text file in the folder")
    list_header: bool = param(True, label="List has a header", doc="whether its first row names the columns")
    path_column: str = param("1", doc="the list's column of image names, by its header or its number from 1")
    label_column: str = param("2", doc="its column of labels")
    split_column: str = param("", doc="its column that says train, validation or test; empty: none")
    target: str = param(
        CLASS,
        choices=(CLASS, QUANTITY),
        label="Labels in the list",
        doc="class: one of several; quantity: a number to be predicted",
    )
    images_in: str = param(
        "images", label="Folder of images", doc="with masks: which folder holds the images"
    )
    masks_in: str = param("masks", label="Folder of masks", doc="with masks: which folder holds them")
    void: str = param(
        "",
        label="Pixels of no class",
        doc="with masks: the value of pixels that don't count, such as 255, or their colour, such as #e0e0c0",
    )
    mask_classes: str = param(
        "",
        label="Names of the classes",
        doc="with masks: in the order of their values, commas between them; empty: the values themselves",
    )
    classes: Names = param((), hidden=True, doc="the class folders, in the order of their numbers")
    listed: Names = param((), hidden=True, doc="the classes in the list, in the order of their numbers")
    levels: Ints = param((0, 255), hidden=True, doc="the values in the masks, in the order of their classes")
    colours: bool = param(False, hidden=True, doc="whether the masks' values are colours")
    count: int = param(0, minimum=0, hidden=True, doc="how many images the folder held when it was opened")
    broken: int = param(0, minimum=0, hidden=True, doc="how many of those looked at could not be read")

    def folder(self) -> Path | None:
        return Path(self.path) if self.path else None

    def read_by_batch(self) -> bool:
        channels = DEPTHS[self.channels] + (self.layout == MASKS)
        return 4 * self.count * channels * prod(self._sizes()) > self.memory * 1_000_000

    def holds(self) -> tuple[str, ...]:
        return ("the images",)

    def columns(self) -> tuple[Column, ...]:
        image = Column("image", (DEPTHS[self.channels], *self._sizes()), axes=IMAGE, doc="levels in 0..1")
        if self.layout == NO_LABELS:
            return (image,)
        if self.layout == MASKS:
            doc = "the class of each pixel"
            return (image, Column("mask", self._sizes(), "int64", self._classes(), doc=doc))
        if self._quantity():
            return (image, Column("value", (1,), doc="the number in the list"))
        said = "folder" if self.layout == CLASS_FOLDERS else "list"
        return (image, Column("label", (), "int64", self._classes(), doc=f"the class, as its {said} says"))

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.images.files import load_image_files, load_masked_images

        if not self.path:
            raise EmitError("No folder of images is chosen yet.", fix="Choose one, or drop it on the canvas.")
        rows, where = self._rows()
        image = {
            "size": self._sizes(),
            "fit": self.fit,
            "channels": self.channels,
            "behind": self.behind,
            "bits": int(self.bits),
        }
        self._classes()
        masks: dict[str, Any] = {"values": self._values()} if self.layout == MASKS else {}
        if masks and self.void:
            masks["void"] = self._void()
        return e.load(
            load_masked_images if masks else load_image_files,
            rows=rows,
            where=where,
            image=image,
            **masks,
            unreadable=self.unreadable,
            memory=self.memory,
            threads=self.threads,
            key=self._key(),
            **self.splitting(classes=self._has_labels()),
        )

    def summary(self) -> str:
        if not self.path:
            return "no folder yet"
        found = [f"{self.count:,} image{'' if self.count == 1 else 's'}"]
        if classes := len(self._classes()):
            found.append(f"{classes:,} class{'' if classes == 1 else 'es'}")
        if self.broken:
            found.append(f"{self.broken:,} {'left out' if self.unreadable == LEAVE_OUT else 'unreadable'}")
        height, width = self._sizes()
        return " · ".join([*found, f"{height}×{width} {self.channels}"])

    def _sizes(self) -> tuple[int, int]:
        if isinstance(self.size, tuple):
            return self.size
        return (int(self.size), int(self.size))

    def _quantity(self) -> bool:
        return self.layout == LIST_FILE and self.target == QUANTITY

    def _has_labels(self) -> bool:
        """Whether each image has a class of its own."""
        return self.layout == CLASS_FOLDERS or (self.layout == LIST_FILE and not self._quantity())

    def _classes(self) -> tuple[str, ...]:
        if self.layout == MASKS:
            return self._mask_classes()
        if not self._has_labels():
            return ()
        return self.classes if self.layout == CLASS_FOLDERS else self.listed

    def _void(self) -> int | None:
        """What the masks say of pixels that have no class."""
        text = self.void.strip()
        if not text:
            return None
        try:
            return int(text[1:], 16) if text.startswith("#") else int(text)
        except ValueError:
            raise ParamError(
                f'Pixels of no class have a value, such as 255, or a colour, such as #e0e0c0, not "{text}".'
            ) from None

    def _mask_classes(self) -> tuple[str, ...]:
        values = self._values()
        names = (
            tuple(one.strip() for one in self.mask_classes.split(",")) if self.mask_classes.strip() else ()
        )
        if names and (len(names) != len(values) or not all(names)):
            raise ParamError(
                f"{len(names)} names of classes are given, but the masks have {len(values)} classes."
            )
        return names or tuple(f"#{one:06x}" if self.colours else str(one) for one in values)

    def _values(self) -> tuple[int, ...]:
        """What the masks say of pixels, in the order of the classes."""
        void = self._void()
        found = tuple(one for one in self.levels if one != void)
        if not found:
            raise ParamError("No value of the masks is left for a class.")
        return found

    def _rows(self) -> tuple[Any, dict[str, Any]]:
        """The function that lists the images, and its options."""
        from engine.data.images import listing as listing

        split_folders = {"split_folders": self.split_folders}
        if self.layout == NO_LABELS:
            return listing.images_alone, split_folders
        if self.layout == MASKS:
            return listing.images_with_masks, {
                "images": self.images_in,
                "masks": self.masks_in,
                **split_folders,
            }
        if self.layout == CLASS_FOLDERS:
            return listing.images_by_class, {"classes": self.classes, **split_folders}
        if not self.list_file:
            raise ParamError(
                "List file is empty: it names the text file that says which image has which label."
            )
        if self.list_file.casefold().endswith(TYPED):
            columns = {"path_column": self.path_column, "label_column": self.label_column}
            from engine.data.image_tables import images_in_table

            return images_in_table, {"file": self.list_file, **columns, "classes": self.listed}
        return listing.images_listed, {
            "file": self.list_file,
            "header": self.list_header,
            "path_column": self.path_column,
            "label_column": self.label_column,
            "split_column": self.split_column,
            "classes": () if self._quantity() else self.listed,
        }

    def _key(self) -> str:
        """Which list the splitter goes by."""
        if self.split == GIVEN:
            if not (self.split_column if self.layout == LIST_FILE else self.split_folders):
                raise ParamError(
                    "Nothing says which images are for train, validation and test, as the split wants: "
                    "pick another split, or name the folders or the column that say it."
                )
            return "split"
        if self.split == BY_GROUP:
            return "group"
        return "label" if self._has_labels() and self.split in (BY_CLASS, FOLDS) else ""
