"""Data sets. Each is loaded by one portable function of `engine.data`, with splits that a seed fixes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from engine.catalogue import Column
from engine.catalogue.axes import IMAGE, SEQUENCE
from nodes.data.loaded import Loaded, argument

DIGITS = tuple("0123456789")


class Shuffled(Loaded, abstract=True):
    """Base of the sets without an order in time."""

    validation: float = argument(
        minimum=0,
        maximum=0.4,
        label="Validation fraction",
        doc="fraction of all rows that is never trained on; it decides when to stop",
    )
    test: float = argument(
        minimum=0,
        maximum=0.4,
        label="Test fraction",
        doc="fraction of all rows that is only evaluated in the end",
    )
    seed: int = argument(
        minimum=0, maximum=2**31 - 1, label="Split seed", doc="another number splits the rows differently"
    )


class Table(Shuffled, abstract=True):
    """Base of the tables of numbers."""

    standardise: bool = argument(
        doc="subtract each feature's mean and divide by its standard deviation, both of the training rows",
    )

    def columns(self) -> tuple[Column, ...]:
        first, *others = super().columns()
        return (replace(first, scaled="standardised" if self.standardise else ""), *others)


class Mnist(Loaded):
    """70,000 handwritten digits as grey images of 28 × 28; the test digits are by other writers.

    Collected by LeCun, Cortes and Burges; CC BY-SA 3.0.
    """

    title = "MNIST"
    aliases = ("handwritten digits", "images", "lecun")
    source = "LeCun, Cortes and Burges, 1998"
    loader = "engine.data.sets.mnist:load_mnist"
    files: ClassVar[tuple[str, ...]] = (
        "mnist/train-images-idx3-ubyte.gz",
        "mnist/train-labels-idx1-ubyte.gz",
        "mnist/t10k-images-idx3-ubyte.gz",
        "mnist/t10k-labels-idx1-ubyte.gz",
    )
    fixed_columns = (
        Column("image", (1, 28, 28), axes=IMAGE, doc="grey levels in 0..1, ink is 1"),
        Column("digit", (), "int64", DIGITS, doc="the digit that was meant"),
    )
    fixed_summary = "70,000 images · 10 classes"
    validation: float = argument(
        minimum=0,
        maximum=0.5,
        label="Validation fraction",
        doc="fraction of the 60,000 training images that is never trained on; it decides when to stop",
    )
    seed: int = argument(
        minimum=0, maximum=2**31 - 1, label="Split seed", doc="another number splits the rows differently"
    )


class Digits(Shuffled):
    """1,797 handwritten digits as small images of 8 × 8, with the ink of each row and column beside them."""

    aliases = ("small digits", "8x8", "optical", "scikit-learn")
    source = "Alpaydin and Kaynak, UCI Machine Learning Repository, 1998"
    loader = "engine.data.sets.scikit_learn:load_digits"
    fixed_columns = (
        Column("image", (1, 8, 8), axes=IMAGE, doc="grey levels in 0..1"),
        Column("profile", (16,), doc="mean ink of the 8 rows, then of the 8 columns, in 0..1"),
        Column("digit", (), "int64", DIGITS, doc="the digit that was meant"),
        Column("odd", (1,), doc="1 for an odd digit, else 0", ends=(0.0, 1.0)),
    )
    fixed_summary = "1,797 images · 10 classes"


class Iris(Table):
    """150 iris flowers, four lengths in centimetres each, of three species."""

    aliases = ("flowers", "fisher", "scikit-learn")
    source = "Fisher, 1936"
    loader = "engine.data.sets.scikit_learn:load_iris"
    fixed_columns = (
        Column("features", (4,), doc="sepal length, sepal width, petal length, petal width"),
        Column("species", (), "int64", ("setosa", "versicolor", "virginica"), doc="the species"),
    )
    fixed_summary = "150 flowers · 3 classes"


WINE = (
    *("alcohol", "malic acid", "ash", "alcalinity of ash", "magnesium", "total phenols", "flavanoids"),
    *("nonflavanoid phenols", "proanthocyanins", "colour intensity", "hue", "OD280/OD315", "proline"),
)
MEASURED = (
    *("radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave points"),
    *("symmetry", "fractal dimension"),
)
NUCLEI = (
    *(f"mean {one}" for one in MEASURED),
    *(f"{one} error" for one in MEASURED),
    *(f"worst {one}" for one in MEASURED),
)


class Wine(Table):
    """178 wines from one region of Italy, thirteen chemical measures each, of three cultivars."""

    aliases = ("cultivar", "chemistry", "scikit-learn")
    source = "Aeberhard and Forina, UCI Machine Learning Repository, 1991"
    loader = "engine.data.sets.scikit_learn:load_wine"
    fixed_columns = (
        Column("features", (13,), doc="alcohol, acids, minerals, phenols, colour, ...", names=WINE),
        Column("cultivar", (), "int64", ("cultivar 1", "cultivar 2", "cultivar 3"), doc="the grape"),
    )
    fixed_summary = "178 wines · 3 classes"


class BreastCancer(Table):
    """569 tumours, thirty measures of their cell nuclei each, malignant or benign (Wisconsin)."""

    title = "Breast cancer"
    aliases = ("wisconsin", "tumour", "binary", "scikit-learn")
    source = "Wolberg, Mangasarian, Street and Street, UCI Machine Learning Repository, 1993"
    loader = "engine.data.sets.scikit_learn:load_breast_cancer"
    fixed_columns = (
        Column(
            "features", (30,), doc="radius, texture, area, ...: mean, error and worst of each", names=NUCLEI
        ),
        Column("diagnosis", (), "int64", ("malignant", "benign"), doc="as a class, for cross-entropy"),
        Column("benign", (1,), doc="the same as a number: 1 for benign, else 0", ends=(0.0, 1.0)),
    )
    fixed_summary = "569 tumours · 2 classes"


class Diabetes(Table):
    """442 diabetes patients, ten measures each, and how far the disease had gone a year later."""

    aliases = ("regression", "scikit-learn")
    source = "Efron, Hastie, Johnstone and Tibshirani, 2004"
    loader = "engine.data.sets.scikit_learn:load_diabetes"
    fixed_columns = (
        Column(
            "features",
            (10,),
            doc="age, sex, body mass index, blood pressure, six of blood serum",
            names=("age", "sex", "body mass index", "blood pressure", *(f"serum {at}" for at in range(1, 7))),
        ),
        Column("progression", (1,), doc="the disease a year later, 25..346 where not standardised"),
    )
    fixed_summary = "442 patients"
    standardise_target: bool = argument(
        label="Standardise progression",
        doc="give the progression, too, in standard deviations of the training rows",
    )


class SantaFe(Loaded):
    """The intensity of a chaotic laser: windows of past readings and the reading that follows.

    The first 1,000 readings are for training and validation, the next 100 for test, in the order of time;
    values are in standard deviations from the mean of the training readings.
    """

    title = "Santa Fe laser"
    aliases = ("time series", "chaos", "forecast", "sequence")
    source = "Weigend and Gershenfeld, 1993"
    loader = "engine.data.sets.laser:load_santa_fe"
    files: ClassVar[tuple[str, ...]] = ("santafe/santafe_laser.npy",)
    lag: int = argument(minimum=1, maximum=400, doc="how many past readings the network sees")
    validation: float = argument(
        minimum=0,
        maximum=0.5,
        label="Validation fraction",
        doc="the last fraction of the 1,000 readings, never trained on; it decides when to stop",
    )

    def columns(self) -> tuple[Column, ...]:
        return (
            Column("window", (self.lag, 1), axes=SEQUENCE, doc="the last readings, oldest first"),
            Column("next", (1,), doc="the reading that follows"),
        )

    def scale(self, folder: Path) -> dict[str, tuple[float, float]]:
        from engine.data.sets.laser import santa_fe_scale

        found = santa_fe_scale(folder, validation=self.validation)
        return {"window": found, "next": found}

    def called(self, column: str) -> str:
        return "intensity" if column == "next" else column

    def summary(self) -> str:
        return f"1,100 readings · lag {self.lag}"
