"""Further data that come inside scikit-learn: three quantities at once, and two photographs."""

from __future__ import annotations

from engine.catalogue import Column
from nodes.data.loaded import argument
from nodes.data.sets import Shuffled, Table

HEIGHT, WIDTH = 427, 640  # pixels of the photographs


class Linnerud(Table):
    """20 men of middle age: how often they did three exercises, and weight, waist and pulse."""

    aliases = ("exercise", "regression", "several outputs", "scikit-learn")
    source = "Linnerud, in Tenenhaus, La régression PLS, 1998"
    loader = "engine.data.sets.scikit_learn_more:load_linnerud"
    fixed_columns = (
        Column("exercises", (3,), doc="chin-ups, sit-ups, jumps"),
        Column("body", (3,), doc="weight in pounds, waist in inches, pulse, where not standardised"),
    )
    fixed_summary = "20 men · 3 targets"
    standardise_target: bool = argument(
        label="Standardise body",
        doc="give the three measures, too, in standard deviations of the training rows",
    )


class Photograph(Shuffled):
    """A photograph as a function: the colour at each place. A network that learns it can draw it again.

    The photographs are by danielbuechele (china) and vultilion (flower) on Flickr, CC BY 2.0.
    """

    aliases = ("picture", "colour", "coordinates", "china", "flower", "scikit-learn")
    source = "scikit-learn, load_sample_image"
    loader = "engine.data.sets.scikit_learn_more:load_photograph"
    fixed_columns = (
        Column("place", (2,), doc="x from the left and y from the top, both in -1..1"),
        Column("colour", (3,), doc="red, green and blue in 0..1"),
    )
    picture: str = argument(choices=("flower", "china"), doc="a dahlia, or a palace in Beijing")
    width: int = argument(minimum=8, maximum=WIDTH, unit="px", doc="pixels in a row; fewer are means of more")

    def summary(self) -> str:
        return f"{self.picture} · {self.width} × {max(1, round(self.width * HEIGHT / WIDTH))} pixels"
