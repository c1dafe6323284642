"""A file that a person wants read as something else is that, or a sentence says what it lacks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.data.open.opening import open_data, open_for, readers
from engine.document.shipped import datasets_folder
from engine.errors import DataError

OWN = Path(__file__).parents[3] / "data_files"
SHIPPED = datasets_folder() / "files"
YES = {  # what each of these files can be; the first is what it is opened as
    OWN / "story.txt": "TextCorpus",
    OWN / "plants.csv": "TableFile SeriesFile TextCorpus",
    OWN / "tides.csv": "TableFile SeriesFile TextCorpus",
    OWN / "pairs.tsv": "TextPairs TextCorpus",
    OWN / "friends.edges": "GraphFile TextCorpus",
    OWN / "shapes.edges": "GraphFile TableFile SeriesFile TextCorpus",
    OWN / "reviews.jsonl": "LabelledText TableFile TextCorpus",
    OWN / "flowers.npz": "ArrayFile",
    SHIPPED / "romeo_and_juliet.txt": "TextCorpus",
    SHIPPED / "penguins.csv": "TableFile SeriesFile TextCorpus",
    SHIPPED / "co2.csv": "SeriesFile TableFile TextCorpus",
    SHIPPED / "stories.tsv": "TableFile AnnotatedText TextPairs LabelledText TextCorpus",
    SHIPPED / "karate.edges": "GraphFile TableFile SeriesFile TextCorpus",
}


@pytest.mark.parametrize("path", YES, ids=lambda path: path.name)
def test_each_file_is_read_as_what_it_may_be_and_as_nothing_else(path):
    types = YES[path].split()
    assert open_data(path).type == types[0]
    for type_id in readers():
        if type_id in types:
            assert open_for(path, type_id).type == type_id
            continue
        with pytest.raises(DataError) as caught:
            open_for(path, type_id)
        words = str(caught.value)
        assert path.name in words and words.endswith(".") and words.count("\n") == 0


REFUSED = [
    ("story.txt", "TableFile", "is no table: it holds sentences, and nothing parts its lines into columns"),
    ("story.txt", "TextPairs", "has no two columns of texts: it holds sentences"),
    ("story.txt", "LabelledText", "has no classes: it holds sentences"),
    ("story.txt", "GraphFile", "is no list of edges: it holds sentences"),
    ("story.txt", "CloudFile", "is no point cloud: it holds sentences, not numbers x, y and z"),
    ("plants.csv", "TextPairs", "has no two columns of texts: its cells are single words and numbers"),
    ("plants.csv", "LabelledText", "has no column of texts: its cells are single words and numbers"),
    ("plants.csv", "GraphFile", "has 7 columns, and none is called source or target"),
    ("plants.csv", "CloudFile", "its first line names no columns x, y and z"),
    ("pairs.tsv", "GraphFile", "is no list of edges: each name stands once in one of its columns"),
    ("reviews.jsonl", "SeriesFile", "holds JSON, which is read as a table"),
    ("flowers.npz", "GraphFile", "is no text: byte 6 is zero"),
]


@pytest.mark.parametrize(("name", "type_id", "words"), REFUSED)
def test_what_is_lacking_is_said(name, type_id, words):
    with pytest.raises(DataError, match=words):
        open_for(OWN / name, type_id)


def made(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


GRAPHS: Mapping[str, tuple[str, int, int]] = {
    "named.csv": ("source,target,weight\na,b,1\nb,c,2\nc,a,1\na,d,1\n", 4, 4),
    "plain.csv": ("a,b\nb,c\nc,a\na,d\n", 4, 4),
    "numbers.txt": ("1 2\n2 3\n3 1\n", 3, 3),
    "semicolons.txt": ("from;to\n1;2\n2;3\n3;1\n", 3, 3),
    "tabs.tsv": ("person\tfriend\n1\t2\n2\t3\n3\t1\n", 3, 3),
    "both sides.csv": ("a,x\na,y\nb,x\nb,z\n", 5, 4),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_lists_of_edges_in_files_of_text(tmp_path, name):
    text, nodes, edges = GRAPHS[name]
    params = open_for(made(tmp_path / name, text), "GraphFile").params
    assert (params["size"], params["edges"]) == (nodes, edges)


CLOUDS = {
    "named.csv": "x,y,z\n" + "0.5,1,2\n" * 5,
    "quoted.csv": '"colour","z","x","y"\n' + "red,2,0.5,1\n" * 5,
    "plain.csv": "0.5,1,2\n" * 5,
    "spaces.txt": "0.5 1 2\n" * 5,
    "capitals.txt": "X;Y;Z\n" + "0.5;1;2\n" * 5,
}


@pytest.mark.parametrize("name", CLOUDS)
def test_point_clouds_in_files_of_text(tmp_path, name):
    from engine.data.clouds.files import read_cloud

    path = made(tmp_path / name, CLOUDS[name])
    assert open_for(path, "CloudFile").params["count"] == 5
    assert read_cloud(path).tolist() == [[0.5, 1, 2]] * 5


def test_texts_that_only_look_like_sentences_are_pairs_and_classes(tmp_path):
    pairs = made(
        tmp_path / "pairs.csv", "a,b\n" + '"the old, grey dog number %d","der alte Hund"\n' * 4 % (1, 2, 3, 4)
    )
    assert open_for(pairs, "TextPairs").params["count"] == 4
    rows = "".join(
        f'"a film that was {at} times good, and bad",{"no" if at % 2 else "yes"}\n' for at in range(20)
    )
    labelled = made(tmp_path / "labelled.csv", "review,liked\n" + rows)
    assert open_for(labelled, "LabelledText").params["classes"] == ("no", "yes")
    texts = "".join(f"what a film number {at}\tlabel{at}\n" for at in range(20))
    with pytest.raises(DataError, match=r"has no classes|no column of text with one of classes"):
        open_for(made(tmp_path / "different.tsv", "review\tliked\n" + texts), "LabelledText")


def test_folders_and_empty_files(tmp_path):
    with pytest.raises(DataError, match="is a folder, where one file is needed"):
        open_for(tmp_path, "TableFile")
    with pytest.raises(DataError, match=r'"a.csv" is empty'):
        open_for(made(tmp_path / "a.csv", ""), "GraphFile")
    with pytest.raises(DataError, match=r'There is no "b.csv"'):
        open_for(tmp_path / "b.csv", "CloudFile")
