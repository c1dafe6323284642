"""Images in a column of a table, as data sets on the web have them. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.data.images.listing import quoted_name
from engine.data.tables.reading import read_typed_table


def images_in_table(
    folder: Path, *, file: str, path_column: str, label_column: str, classes: tuple[str, ...]
) -> dict[str, list[Any]]:
    """The images in a column of a Parquet or Arrow file, one a row, with the bytes and the class of each."""
    import polars as pl

    frame = read_typed_table(folder / file, [path_column, label_column])
    held, numbers = frame[path_column], {name: number for number, name in enumerate(classes)}
    held = held.struct.field("bytes") if isinstance(held.dtype, pl.Struct) else held
    texts = frame[label_column].cast(pl.String).fill_null("").to_list()
    odd = next((at for at, text in enumerate(texts) if text not in numbers), None)
    if odd is not None:
        raise ValueError(
            f"Row {odd + 1:,} of {quoted_name(file)} has {quoted_name(texts[odd])} in "
            f"{quoted_name(label_column)}, which is no class that was there when it was opened."
        )
    names = [f"row {at + 1} of {file}" for at in range(len(frame))]
    return {"path": names, "held": [one or b"" for one in held], "label": [numbers[text] for text in texts]}
