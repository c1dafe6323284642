"""Public data sets as their owners publish them: from where, how large, which bytes, under what terms.

Sizes and SHA-256 are those of TensorFlow Datasets (url_checksums) for the owners' own files; the owners
themselves publish MD5 sums of them, if any. A set whose checksum nobody publishes has no place here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = "datasets"  # below the user's folder of this program


@dataclass(frozen=True)
class PublicFile:
    """A file on the internet: `size` in bytes, `checksum` as "sha256:..." or "md5:...", mirrors in order.

    Of an archive the `members` are kept in its place: {path in the archive: bytes}.
    """

    name: str
    size: int
    checksum: str
    urls: tuple[str, ...]
    members: Mapping[str, int] = field(default_factory=dict)

    def kept(self) -> dict[str, int]:
        """What lies in the set's folder when all is done: {name: bytes}."""
        return {path.rsplit("/", 1)[-1]: size for path, size in self.members.items()} or {
            self.name: self.size
        }


@dataclass(frozen=True)
class PublicSet:
    """A data set that can be downloaded; `page` is where its owner tells of it."""

    id: str
    title: str
    about: str
    licence: str
    page: str
    files: tuple[PublicFile, ...]

    @property
    def size(self) -> int:
        """Bytes to download."""
        return sum(file.size for file in self.files)

    def missing(self, folder: Path) -> tuple[PublicFile, ...]:
        """The files that are not in the set's folder, or not whole."""
        return tuple(file for file in self.files if not all(_is_there(folder, file)))

    def part(self, folder: Path) -> int:
        """How many bytes of what is missing have been downloaded already."""
        missing = self.missing(folder)
        whole = sum(file.size for file in self.files if file not in missing)
        return whole + sum(min(file.size, _size(part_of(folder, file))) for file in missing)


def datasets_home(home: Path | None = None) -> Path:
    """Where this user's downloads are kept, a folder a set; `home` in place of the user's own place.

    It is the place where the window keeps its runs, found without Qt: NEUROLOOM_HOME, or the system's.
    """
    asked = os.environ.get("NEUROLOOM_HOME")
    if home is not None or asked:
        return (home or Path(asked or "")) / FOLDER
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "neuroloom" / FOLDER


def folder_of(set_id: str) -> Path:
    """Where the files of a set are kept."""
    return datasets_home() / set_id


def part_of(folder: Path, file: PublicFile) -> Path:
    """Where a file grows while it is downloaded."""
    return folder / f"{file.name}.part"


def public_set(name: str) -> PublicSet | None:
    """The set of that id or title, whatever its capitals; None where there is none."""
    wanted = name.strip().casefold()
    return next((one for one in PUBLIC if wanted in (one.id, one.title.casefold())), None)


def megabytes(count: int) -> str:
    """Bytes as people say them: `30.9 MB`, `5 kB`."""
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{max(1, round(count / 1e3))} kB"


def _is_there(folder: Path, file: PublicFile) -> list[bool]:
    return [_size(folder / name) == size for name, size in file.kept().items()]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


# -- the sets

_ZALANDO = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
_KERAS = "https://storage.googleapis.com/tensorflow/tf-keras-datasets"
_CODH = "codh.rois.ac.jp/kmnist/dataset/kmnist"
_TORONTO = "https://www.cs.toronto.edu/~kriz"


def _fashion(name: str, size: int, sha256: str) -> PublicFile:
    return PublicFile(name, size, f"sha256:{sha256}", (f"{_ZALANDO}/{name}", f"{_KERAS}/{name}"))


def _kuzushiji(name: str, size: int, sha256: str) -> PublicFile:
    return PublicFile(name, size, f"sha256:{sha256}", (f"https://{_CODH}/{name}", f"http://{_CODH}/{name}"))


FASHION_MNIST = PublicSet(
    "fashion-mnist",
    "Fashion-MNIST",
    "70,000 grey images of clothes, 28 × 28, ten kinds.",
    "MIT, Zalando SE",
    "https://github.com/zalandoresearch/fashion-mnist",
    (
        _fashion(
            "train-images-idx3-ubyte.gz",
            26_421_880,
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        ),
        _fashion(
            "train-labels-idx1-ubyte.gz",
            29_515,
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        ),
        _fashion(
            "t10k-images-idx3-ubyte.gz",
            4_422_102,
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        ),
        _fashion(
            "t10k-labels-idx1-ubyte.gz",
            5_148,
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    ),
)
KMNIST = PublicSet(
    "kmnist",
    "KMNIST",
    "70,000 grey images of cursive Japanese characters, 28 × 28, ten kinds.",
    "CC BY-SA 4.0, CODH: adapted from “Kuzushiji Dataset” (NIJL and others), doi:10.20676/00000341",
    "https://github.com/rois-codh/kmnist",
    (
        _kuzushiji(
            "train-images-idx3-ubyte.gz",
            18_165_135,
            "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
        ),
        _kuzushiji(
            "train-labels-idx1-ubyte.gz",
            29_497,
            "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
        ),
        _kuzushiji(
            "t10k-images-idx3-ubyte.gz",
            3_041_136,
            "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5",
        ),
        _kuzushiji(
            "t10k-labels-idx1-ubyte.gz",
            5_120,
            "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c",
        ),
    ),
)
_BATCHES = (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin")
CIFAR10 = PublicSet(
    "cifar-10",
    "CIFAR-10",
    "60,000 colour photographs of 32 × 32, ten kinds of things.",
    "No licence is stated; the owner asks to cite Krizhevsky, 2009",
    "https://www.cs.toronto.edu/~kriz/cifar.html",
    (
        PublicFile(
            "cifar-10-binary.tar.gz",
            170_052_171,
            "sha256:c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            (f"{_TORONTO}/cifar-10-binary.tar.gz",),
            {f"cifar-10-batches-bin/{name}": 30_730_000 for name in _BATCHES},
        ),
    ),
)
CIFAR100 = PublicSet(
    "cifar-100",
    "CIFAR-100",
    "60,000 colour photographs of 32 × 32, a hundred kinds of things in twenty groups.",
    "No licence is stated; the owner asks to cite Krizhevsky, 2009",
    "https://www.cs.toronto.edu/~kriz/cifar.html",
    (
        PublicFile(
            "cifar-100-binary.tar.gz",
            168_513_733,
            "sha256:58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
            (f"{_TORONTO}/cifar-100-binary.tar.gz",),
            {"cifar-100-binary/train.bin": 153_700_000, "cifar-100-binary/test.bin": 30_740_000},
        ),
    ),
)
SHAKESPEARE = PublicSet(
    "tiny-shakespeare",
    "Tiny Shakespeare",
    "40,000 lines from plays by Shakespeare, a text for character models.",
    "The plays are in the public domain; no licence is stated for the selection (Karpathy, char-rnn)",
    "https://github.com/karpathy/char-rnn",
    (
        PublicFile(
            "tiny-shakespeare.txt",
            1_115_394,
            "sha256:86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
            ("https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",),
        ),
    ),
)
PUBLIC = (FASHION_MNIST, KMNIST, CIFAR10, CIFAR100, SHAKESPEARE)
