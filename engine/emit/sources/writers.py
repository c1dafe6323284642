"""Who writes how each source is read: a loader that is not named here is carried as it is."""

from __future__ import annotations

from collections.abc import Mapping

from engine.data.array_files import load_arrays
from engine.data.clouds.files import load_cloud, load_clouds
from engine.data.graphs.batches import load_graph_batches
from engine.data.graphs.files import load_graph
from engine.data.graphs.folder import load_graph_folder
from engine.data.images.files import load_image_files, load_masked_images
from engine.data.series.files import load_series
from engine.data.sets.drawn import load_drawn
from engine.data.sets.mnist import load_mnist
from engine.data.sets.public import load_cifar, load_idx_images
from engine.data.splits import stratified_holdout
from engine.data.tables.files import load_sheet, load_text_table, load_typed_table
from engine.data.text.annotated import load_annotated
from engine.data.text.texts import load_corpus, load_labelled_text, load_text_pairs
from engine.emit.sources import annotated, arrays, clouds, drawn, graphs, images, public, series, tables, text
from engine.emit.sources.straight import Function, Reading, Straight, Writer
from engine.emit.sources.unrolled import is_unrolled, unrolled_carry, write_unrolled

WRITERS: Mapping[Function, Writer] = {
    load_image_files: Writer(images.write_images, images.MAY_CARRY),
    load_masked_images: Writer(images.write_images, images.MAY_CARRY),
    load_arrays: Writer(arrays.write_arrays),
    load_series: Writer(series.write_series, series.MAY_CARRY),
    load_text_table: Writer(tables.text_table),
    load_typed_table: Writer(tables.typed_table, tables.MAY_CARRY),
    load_sheet: Writer(tables.sheet_table, tables.MAY_CARRY),
    load_cloud: Writer(clouds.write_cloud, clouds.MAY_CARRY),
    load_clouds: Writer(clouds.write_clouds, clouds.MAY_CARRY),
    load_drawn: Writer(drawn.write_drawn),
    load_mnist: Writer(public.write_mnist, (stratified_holdout,)),
    load_idx_images: Writer(public.write_idx, public.MAY_CARRY),
    load_cifar: Writer(public.write_cifar, public.MAY_CARRY),
    load_graph: Writer(graphs.write_graph, graphs.MAY_CARRY),
    load_graph_batches: Writer(graphs.write_batches, graphs.MAY_CARRY),
    load_graph_folder: Writer(graphs.write_folder, graphs.MAY_CARRY),
    load_annotated: Writer(annotated.write_annotated, annotated.MAY_CARRY),
    load_corpus: Writer(text.write_corpus, text.MAY_CARRY),
    load_labelled_text: Writer(text.write_labelled, text.MAY_CARRY),
    load_text_pairs: Writer(text.write_pairs, text.MAY_CARRY),
}


def may_carry(loader: Function) -> tuple[Function, ...]:
    """All functions that a script may carry in the place of a loader."""
    if loader in WRITERS:
        return WRITERS[loader].may_carry
    return unrolled_carry(loader) if is_unrolled(loader) else ()


def is_written(loader: Function) -> bool:
    """Whether a loader may be read in lines."""
    return loader in WRITERS or is_unrolled(loader)


def straight(loader: Function, reading: Reading) -> Straight | None:
    """The straight lines for a loader; None where it is to be carried."""
    if loader in WRITERS:
        return WRITERS[loader].write(reading)
    return write_unrolled(loader, reading) if is_unrolled(loader) else None
