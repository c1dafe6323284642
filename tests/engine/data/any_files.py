"""A sound file of every kind that can be opened, and every way in which a file may be spoiled."""

from __future__ import annotations

import gzip
import io
import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import networkx
import numpy as np
import polars as pl
from PIL import Image

from engine.data.open.opening import Opened, open_data, open_for
from tests.engine.data.clouds.test_files import LINES, POINTS, ply
from tests.engine.data.open.test_tables import workbook

ROWS = [(at / 4, at % 5 - 1.5, "abc"[at % 3]) for at in range(60)]


@dataclass(frozen=True)
class Kind:
    """A kind of data: writes a sound one into a folder, and returns what is opened and the file to spoil."""

    write: Callable[[Path], tuple[Path, Path]]
    type_id: str = ""  # as what it is opened, where that has to be said

    def opened(self, path: Path) -> Opened:
        return open_for(path, self.type_id) if self.type_id else open_data(path)


def alone(name: str, content: bytes) -> Callable[[Path], tuple[Path, Path]]:
    """Writes one file."""

    def write(folder: Path) -> tuple[Path, Path]:
        (folder / name).write_bytes(content)
        return folder / name, folder / name

    return write


def streamed(name: str, write: Callable[[io.BytesIO], object]) -> Callable[[Path], tuple[Path, Path]]:
    """A file as `write` writes it, whatever its folder is called."""
    out = io.BytesIO()
    write(out)
    return alone(name, out.getvalue())


def written(name: str, write: Callable[[Path], object]) -> Callable[[Path], tuple[Path, Path]]:
    """Lets `write` make the file."""

    def make(folder: Path) -> tuple[Path, Path]:
        write(folder / name)
        return folder / name, folder / name

    return make


def beside(main: str, files: Mapping[str, bytes], spoil: str) -> Callable[[Path], tuple[Path, Path]]:
    """Writes files below the folder; `main` ("" the folder itself) is opened."""

    def write(folder: Path) -> tuple[Path, Path]:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder / main, folder / spoil

    return write


def text_table(mark: str, decimal: str = ".") -> str:
    rows = [["length", "width", "kind"], *[[str(a).replace(".", decimal), str(b).replace(".", decimal), c]
            for a, b, c in ROWS]]  # fmt: skip
    return "\n".join(mark.join(row) for row in rows) + "\n"


LOST = "\\N"
LOGGED = '"TOA5","St1","CR1000"\n"day","width","kind"\n"TS","mm",""\n' + "".join(
    f'"{1 + at % 28:02d}.03.{20 + at // 28}",{LOST if at == 9 else b},"{c}"\n'
    for at, (_, b, c) in enumerate(ROWS)
)
ESCAPED = "length,note,kind\n" + "".join(f'{a},"say \\"{b}, or so\\"",{c}\n' for a, b, c in ROWS)
WEKA = "@relation plants\n@attribute length numeric\n@attribute 'the kind' {a,b,c}\n@data\n" + "".join(
    f"{a},{c}\n" for a, _, c in ROWS
)


def nested() -> pl.DataFrame:
    return pl.DataFrame({"parts": [[a, b] for a, b, _ in ROWS], "kind": [c for _, _, c in ROWS]})


def frame() -> pl.DataFrame:
    return pl.DataFrame(ROWS, schema=["length", "width", "kind"], orient="row")


def pictured() -> pl.DataFrame:
    rows = [{"bytes": picture("PNG", 5 * at), "path": f"{at}.png"} for at in range(30)]
    return pl.DataFrame({"image": rows, "label": [at % 2 for at in range(30)]})


def saved(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def packed(save: Callable[..., None], **arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


def idx(array: np.ndarray) -> bytes:
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(np.uint8).tobytes()


def picture(form: str, shade: int = 90, side: int = 6) -> bytes:
    out = io.BytesIO()
    pixels = (np.arange(side * side * 3).reshape(side, side, 3) * 2 + shade).clip(0, 255).astype(np.uint8)
    Image.fromarray(pixels).save(out, form)
    return out.getvalue()


def mask(at: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(((np.arange(36).reshape(6, 6) + at) % 2).astype(np.uint8)).save(out, "PNG")
    return out.getvalue()


def folder_of(form: str, end: str) -> Callable[[Path], tuple[Path, Path]]:
    files = {f"{'ab'[at % 2]}/{at}.{end}": picture(form, 10 * at) for at in range(10)}
    return beside("", files, f"a/4.{end}")


def reviews(form: str) -> str:
    words = ("a fine day", "rain again", "a bright morning", "grey and cold")
    lines = ("{}", '{{"text": "{}", "label": "{}"}}\n', "__label__{1} {0}\n", '"{}",{}\n')
    pattern = {"lines": lines[1], "first": lines[2], "table": lines[3]}[form]
    body = "".join(
        pattern.format(words[at % 4] + f" {at}", "good" if at % 2 == 0 else "bad") for at in range(30)
    )
    return ("text,label\n" if form == "table" else "") + body


def series(folder: Path) -> tuple[Path, Path]:
    lines = [f"2024-01-{1 + at // 24:02d} {at % 24:02d}:00,{np.sin(at / 4):.4f}" for at in range(300)]
    (folder / "tides.csv").write_text("time,level\n" + "\n".join(lines) + "\n")
    return folder / "tides.csv", folder / "tides.csv"


def graphml(path: Path) -> None:
    graph = networkx.karate_club_graph()
    for at, more in graph.nodes(data=True):
        more["side"] = "ab"[at % 2]
    networkx.write_graphml(graph, path)


EDGES = "".join(f"n{at} n{(at * 7 + 3) % 30}\n" for at in range(60))
NODES = "id,side\n" + "".join(f"n{at},{'ab'[at % 2]}\n" for at in range(30))
STORY = "".join(f"It was the {at}th day, and the wind was in the north. " for at in range(60)) + "\n"
PICTURES = {f"images/{at}.png": picture("PNG", 10 * at) for at in range(8)}
IMAGE_LIST = "file,label\n" + "".join(f"{at}.png,{'ab'[at % 2]}\n" for at in range(8))
SOLIDS = {
    f"{'ab'[at % 2]}/{at}.xyz": "".join(f"{x} {x * at} {x + at}\n" for x in range(9)).encode()
    for at in range(8)
}
FACE = b"3 0 1 1\n"
COLOURED = "".join(f"{x} 200 {y} {z}\n" for x, y, z in POINTS).encode() * 10
BINARY = b"".join(struct.pack("<fBdf", x, 200, y, z) for x, y, z in POINTS) * 10 + b"\x03" + bytes(12)
CLOUDS = {
    "a.ply": ply("ascii", COLOURED + FACE, 20),
    "b.ply": ply("binary_little_endian", BINARY, 20),
    "a.off": b"OFF\n20 1 0\n" + LINES.encode() * 10 + FACE,
    "a.xyz": LINES.encode() * 10,
    "a.pts": b"20\n" + LINES.encode() * 10,
}
RINGS = {
    f"{'ab'[at % 2]}/{at}.edges": "".join(f"{one} {(one + 1) % (at + 3)}\n" for one in range(at + 3)).encode()
    for at in range(10)
}
FLOWERS = {"x": np.arange(160.0).reshape(40, 4), "y": np.arange(40) % 3}
IMAGES = idx(np.arange(640).reshape(40, 4, 4) % 251)
LABELS = idx(np.arange(40) % 3)

KINDS: Mapping[str, Kind] = {
    "csv": Kind(alone("plants.csv", text_table(",").encode())),
    "tsv, comma decimals": Kind(alone("plants.tsv", text_table("\t", ",").encode())),
    "semicolons, latin": Kind(
        alone("plants.csv", text_table(";", ",").replace("a\n", "é\n").encode("cp1252"))
    ),
    "spaces": Kind(alone("plants.dat", text_table(" ").encode())),
    "a logger's": Kind(alone("plants.dat", LOGGED.encode())),
    "escaped quotes": Kind(alone("plants.csv", ESCAPED.encode())),
    "weka": Kind(alone("plants.arff", WEKA.encode())),
    "parquet, lists": Kind(streamed("plants.parquet", nested().write_parquet)),
    "parquet, images": Kind(streamed("pictures.parquet", pictured().write_parquet)),
    "utf-16": Kind(alone("plants.csv", text_table(",").encode("utf-16"))),
    "parquet": Kind(streamed("plants.parquet", frame().write_parquet)),
    "arrow": Kind(streamed("plants.arrow", frame().write_ipc)),
    "json": Kind(streamed("plants.json", frame().write_json)),
    "ndjson": Kind(streamed("plants.ndjson", frame().write_ndjson)),
    "xlsx": Kind(
        written("plants.xlsx", lambda path: workbook(path, {"one": [["a", "b", "c"], *map(list, ROWS)]}))
    ),
    "npy": Kind(alone("x.npy", saved(FLOWERS["x"]))),
    "npz": Kind(alone("flowers.npz", packed(np.savez_compressed, **FLOWERS))),
    "npz, stored": Kind(alone("flowers.npz", packed(np.savez, **FLOWERS))),
    "idx": Kind(
        beside(
            "train-images-idx3-ubyte",
            {"train-images-idx3-ubyte": IMAGES,
             "train-labels-idx1-ubyte": LABELS},
            "train-images-idx3-ubyte",
        )
    ),
    "idx.gz": Kind(
        beside(
            "train-images-idx3-ubyte.gz",
            {"train-images-idx3-ubyte.gz": gzip.compress(IMAGES, mtime=0),
             "train-labels-idx1-ubyte.gz": gzip.compress(LABELS, mtime=0)},
            "train-images-idx3-ubyte.gz",
        )
    ),
    **{
        f"folder of {end}": Kind(folder_of(form, end))
        for form, end in (
            *(("PNG", "png"), ("JPEG", "jpg"), ("BMP", "bmp"), ("GIF", "gif"), ("WEBP", "webp")),
            *(("TIFF", "tif"), ("PPM", "ppm")),
        )
    },
    "image list": Kind(beside("labels.csv", {**PICTURES, "labels.csv": IMAGE_LIST.encode()}, "labels.csv")),
    "masks": Kind(
        beside("", {**PICTURES, **{f"masks/{at}.png": mask(at) for at in range(8)}}, "masks/3.png")
    ),
    "corpus": Kind(alone("story.txt", STORY.encode())),
    "labelled jsonl": Kind(alone("reviews.jsonl", reviews("lines").encode()), "LabelledText"),
    "label first": Kind(alone("reviews.txt", reviews("first").encode()), "LabelledText"),
    "labelled csv": Kind(alone("reviews.csv", reviews("table").encode()), "LabelledText"),
    "folders of text": Kind(
        beside("", {f"{'ab'[at % 2]}/{at}.txt": f"words {at} of it".encode() for at in range(20)}, "a/4.txt")
    ),
    "pairs": Kind(
        alone("pairs.tsv", "".join(f"one {at}\teins {at}\n" for at in range(30)).encode()), "TextPairs"
    ),
    "annotated": Kind(
        alone(
            "notes.tsv",
            b"first\tkind\ttags\n"
            + "".join(f"it is {at} now\t{'ab'[at % 2]}\tO O N O\n" for at in range(30)).encode(),
        ),
        "AnnotatedText",
    ),
    "series": Kind(series, "SeriesFile"),
    "series npy": Kind(alone("level.npy", saved(np.sin(np.arange(200) / 5))), "SeriesFile"),
    **{f"cloud {name}": Kind(alone(name, content)) for name, content in CLOUDS.items()},
    "folder of clouds": Kind(beside("", SOLIDS, "a/4.xyz")),
    "edges": Kind(alone("friends.edges", EDGES.encode())),
    "nodes beside edges": Kind(
        beside("friends.edges", {"friends.edges": EDGES.encode(), "friends.nodes.csv": NODES.encode()},
               "friends.nodes.csv")
    ),
    "folder of graphs": Kind(beside("", RINGS, "a/4.edges")),
    "graphml": Kind(written("club.graphml", graphml)),
}  # fmt: skip


def cut(content: bytes, choose: random.Random, *, share: float) -> bytes:
    return content[: int(share * len(content))]


def flipped(content: bytes, choose: random.Random, *, among: int) -> bytes:
    """Eight bits turned over among the first bytes, where headers are, or anywhere for 0."""
    changed = bytearray(content)
    for _ in range(8):
        changed[choose.randrange(min(among, len(changed)) if among else len(changed))] ^= (
            1 << choose.randrange(8)
        )
    return bytes(changed)


def put_in(content: bytes, choose: random.Random, *, what: bytes) -> bytes:
    at = choose.randrange(max(1, len(content)))
    return content[:at] + what + content[at:]


def ragged(content: bytes, choose: random.Random) -> bytes:
    lines = content.split(b"\n")
    return b"\n".join([*lines[: len(lines) // 2], b"1,2;3\t4 5,6;7\t8 9,\"'", *lines[len(lines) // 2 :]])


SPOILED: Mapping[str, Callable[[bytes, random.Random], bytes]] = {
    "empty": lambda content, choose: b"",
    "one byte": lambda content, choose: content[:1],
    **{f"cut at {share}": partial(cut, share=share) for share in (0.01, 0.1, 0.3, 0.5, 0.8, 0.99)},
    "last byte lost": lambda content, choose: content[:-1],
    "first byte lost": lambda content, choose: content[1:],
    "bits of the head": partial(flipped, among=64),
    "bits": partial(flipped, among=0),
    "bits again": lambda content, choose: flipped(flipped(content, choose, among=0), choose, among=0),
    "zeros within": partial(put_in, what=bytes(16)),
    "another encoding": partial(put_in, what="größe ünd 猫".encode("utf-16-le") + b"\xe9\xff\xc3"),
    "a mark within": partial(put_in, what=b"\xef\xbb\xbf"),
    "a mark before": lambda content, choose: b"\xef\xbb\xbf" + content,
    "another mark before": lambda content, choose: b"\xff\xfe" + content,
    "ragged": ragged,
    "a very long line": partial(put_in, what=b"x" * 300_000),
    "a quote": partial(put_in, what=b'"'),
    "twice": lambda content, choose: content + content,
    "reversed": lambda content, choose: content[::-1],
    "noise": lambda content, choose: choose.randbytes(len(content)),
    "only zeros": lambda content, choose: bytes(len(content)),
    "only line ends": lambda content, choose: b"\n" * len(content),
    "a program": lambda content, choose: b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 4,
    "another kind": lambda content, choose: (
        picture("PNG") if content[:4] != b"\x89PNG" else b"a,b\n1,2\n" * 9
    ),
    "json": lambda content, choose: b'{"a": [' * 300,
}
