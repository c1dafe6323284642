"""Public data sets that are downloaded when the user asks for them: files, licences in `engine.data`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.catalogue import Column, Data, Emitted, Emitter, param
from engine.catalogue.axes import IMAGE
from engine.catalogue.params import FilePath
from engine.data.sets.public_files import folder_of, public_set

CLOTHES = (
    *("T-shirt/top", "trouser", "pullover", "dress", "coat"),
    *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
)
KANA = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")
THINGS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
# In the order of the numbers in the files: by the alphabet.
HUNDRED = (
    *("apple", "aquarium fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle", "bottle"),
    *("bowl", "boy", "bridge", "bus", "butterfly", "camel", "can", "castle", "caterpillar", "cattle"),
    *("chair", "chimpanzee", "clock", "cloud", "cockroach", "couch", "crab", "crocodile", "cup", "dinosaur"),
    *("dolphin", "elephant", "flatfish", "forest", "fox", "girl", "hamster", "house", "kangaroo", "keyboard"),
    *("lamp", "lawn mower", "leopard", "lion", "lizard", "lobster", "man", "maple tree", "motorcycle"),
    *("mountain", "mouse", "mushroom", "oak tree", "orange", "orchid", "otter", "palm tree", "pear"),
    *("pickup truck", "pine tree", "plain", "plate", "poppy", "porcupine", "possum", "rabbit", "raccoon"),
    *("ray", "road", "rocket", "rose", "sea", "seal", "shark", "shrew", "skunk", "skyscraper", "snail"),
    *("snake", "spider", "squirrel", "streetcar", "sunflower", "sweet pepper", "table", "tank", "telephone"),
    *("television", "tiger", "tractor", "train", "trout", "tulip", "turtle", "wardrobe", "whale"),
    *("willow tree", "wolf", "woman", "worm"),
)
GROUPS = (
    *("aquatic mammals", "fish", "flowers", "food containers", "fruit and vegetables"),
    *("household electrical devices", "household furniture", "insects", "large carnivores"),
    *("large man-made outdoor things", "large natural outdoor scenes", "large omnivores and herbivores"),
    *("medium-sized mammals", "non-insect invertebrates", "people", "reptiles", "small mammals", "trees"),
    *("vehicles 1", "vehicles 2"),
)


class Public(Data, abstract=True):
    """Base of the sets that are downloaded; `public` is the id of one."""

    path: FilePath = param(
        "",
        label="Folder",
        folder=True,
        doc="the folder that holds the files; left empty, that of the downloads",
    )
    validation: float = param(
        0.1,
        minimum=0,
        maximum=0.5,
        label="Validation fraction",
        doc="fraction of the training images that is never trained on; it decides when to stop",
    )
    seed: int = param(
        0, minimum=0, maximum=2**31 - 1, label="Split seed", doc="another number splits the rows differently"
    )

    def folder(self) -> Path:
        return Path(self.path) if self.path else folder_of(self.public)

    def holds(self) -> tuple[str, ...]:
        found = public_set(self.public)
        return (f"the files of {found.title if found else self.public}",)

    def _splits(self) -> dict[str, Any]:
        return {"validation": self.validation, "seed": self.seed}


class FashionMnist(Public):
    """70,000 grey images of clothes, 28 × 28: as MNIST, but harder. Zalando SE; MIT licence.

    They are downloaded once, when you ask for it.
    """

    title = "Fashion-MNIST"
    aliases = ("clothes", "zalando", "images", "download")
    source = "Xiao, Rasul and Vollgraf, 2017"
    public = "fashion-mnist"
    fixed_columns = (
        Column("image", (1, 28, 28), axes=IMAGE, doc="grey levels in 0..1, the background is 0"),
        Column("article", (), "int64", CLOTHES, doc="the kind of clothing"),
    )
    fixed_summary = "70,000 images · 10 classes"

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.sets.public import load_idx_images

        return e.load(load_idx_images, target="article", classes=len(CLOTHES), **self._splits())


class Kmnist(Public):
    """70,000 handwritten characters of old Japanese, grey images of 28 × 28, ten classes. CODH; CC BY-SA 4.0.

    They are downloaded once, when you ask for it.
    """

    title = "KMNIST"
    aliases = ("kuzushiji", "japanese", "hiragana", "characters", "download")
    source = "Clanuwat, Bober-Irizar, Kitamoto, Lamb, Yamamoto and Ha, 2018"
    public = "kmnist"
    fixed_columns = (
        Column("image", (1, 28, 28), axes=IMAGE, doc="grey levels in 0..1, ink is 1"),
        Column("character", (), "int64", KANA, doc="the character, in Latin letters"),
    )
    fixed_summary = "70,000 images · 10 classes"

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.sets.public import load_idx_images

        return e.load(load_idx_images, target="character", classes=len(KANA), **self._splits())


class Cifar10(Public):
    """60,000 colour photographs of 32 × 32: ten kinds of animals and vehicles.

    They are downloaded once, when you ask for it.
    """

    title = "CIFAR-10"
    aliases = ("photographs", "colour images", "rgb", "krizhevsky", "download")
    source = "Krizhevsky, 2009"
    public = "cifar-10"
    fixed_columns = (
        Column("image", (3, 32, 32), axes=IMAGE, doc="red, green and blue in 0..1"),
        Column("object", (), "int64", THINGS, doc="what is in the image"),
    )
    fixed_summary = "60,000 images · 10 classes"

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.sets.public import load_cifar

        batches = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
        return e.load(
            load_cifar,
            train=batches,
            test=("test_batch.bin",),
            classes={"object": len(THINGS)},
            **self._splits(),
        )


class Cifar100(Public):
    """60,000 colour photographs of 32 × 32: a hundred kinds of things in twenty groups.

    They are downloaded once, when you ask for it.
    """

    title = "CIFAR-100"
    aliases = ("photographs", "colour images", "rgb", "krizhevsky", "download")
    source = "Krizhevsky, 2009"
    public = "cifar-100"
    fixed_columns = (
        Column("image", (3, 32, 32), axes=IMAGE, doc="red, green and blue in 0..1"),
        Column("object", (), "int64", HUNDRED, doc="what is in the image"),
        Column("group", (), "int64", GROUPS, doc="the group that it belongs to"),
    )
    fixed_summary = "60,000 images · 100 classes · 20 groups"

    def emit(self, e: Emitter) -> Emitted:
        from engine.data.sets.public import load_cifar

        return e.load(
            load_cifar,
            train=("train.bin",),
            test=("test.bin",),
            classes={"group": len(GROUPS), "object": len(HUNDRED)},
            **self._splits(),
        )
