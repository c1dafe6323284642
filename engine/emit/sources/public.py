"""Public sets of images in files of bytes: those of MNIST's form, and CIFAR's."""

from __future__ import annotations

from collections.abc import Sequence

from engine.catalogue.identifiers import class_name
from engine.data.lazy import Lazy
from engine.data.splits import stratified_holdout
from engine.emit.sources.parts import Beside, tuple_text
from engine.emit.sources.straight import Function, Reading, Straight
from engine.emit.statements import Statement, quoted, tree

MAY_CARRY: tuple[Function, ...] = (Lazy, stratified_holdout)

IDX = '''
def $name(path: Path, *size: int) -> np.ndarray[Any, Any]:
    """The bytes of a gzip-compressed IDX file, (N, *size)."""
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=8 + 4 * len(size)).reshape(-1, *size)
'''
LEVELS = '''
class $name(Lazy):
    """Images as bytes in memory, which batches make into floats in 0..1."""

    def __init__(self, levels: np.ndarray[Any, Any], device: str) -> None:
        super().__init__(len(levels), tuple(levels.shape[1:]), torch.float32, device)
        self.levels = levels

    def read(self, rows: Tensor) -> Tensor:
        return torch.from_numpy(self.levels[rows.numpy()].astype(np.float32)) * (1 / 255)
'''
READ_IDX = """
levels[split] = $idx(folder / f"{start}-images-idx3-ubyte.gz", 28, 28)[:, None]
labels[split] = $idx(folder / f"{start}-labels-idx1-ubyte.gz")[:, None]
"""
READ_CIFAR = """
found = np.concatenate([np.fromfile(folder / name, np.uint8).reshape(-1, $width) for name in names])
levels[split], labels[split] = found[:, $labels:].reshape(-1, 3, 32, 32), found[:, :$labels]
"""
LOAD = """
levels, labels = dict[str, np.ndarray[Any, Any]](), dict[str, np.ndarray[Any, Any]]()
try:
    for split, $what in $files.items():
        <read>
        if len(labels[split]) != len(levels[split]) or (labels[split] >= $classes).any():
            raise ValueError(f"the labels of {split} do not fit")
except (OSError, EOFError, ValueError, zlib.error) as error:
    raise SystemExit(f"The files in {folder} are not those that are expected: {error}") from error
last = torch.from_numpy(labels["train"][:, -1].copy()).long()
kept, held = stratified_holdout(last, $validation, torch.Generator().manual_seed($seed))
rows = {"train": kept, "validation": held, "test": torch.arange(len(levels["test"]))}
parts: dict[str, dict[str, Any]] = {}
for split, at in rows.items():
    source = "test" if split == "test" else "train"
    classes = torch.from_numpy(labels[source][at.numpy()]).to(device).long()
    parts[split] = {$items}
"""
MNIST = """
files = folder / "mnist"
try:
    images = [$idx(files / f"{one}-images-idx3-ubyte.gz", 28, 28) for one in ("train", "t10k")]
    digits = [$idx(files / f"{one}-labels-idx1-ubyte.gz") for one in ("train", "t10k")]
except (OSError, EOFError, ValueError, zlib.error) as error:
    raise SystemExit(f"--data names no folder with the four files of MNIST in mnist/: {error}") from error
draw = torch.Generator().manual_seed($seed)
kept, held = (rows.numpy() for rows in stratified_holdout(torch.tensor(digits[0]), $validation, draw))
splits = {
    "train": (images[0][kept], digits[0][kept]),
    "validation": (images[0][held], digits[0][held]),
    "test": (images[1].copy(), digits[1].copy()),
}
"""


def write_mnist(reading: Reading) -> Straight:
    """MNIST, whose images are floats in memory."""
    how, beside = reading.options, Beside(reading.outside)
    lines = tree(MNIST, idx=beside.add(IDX, "idx bytes"), validation=how["validation"], seed=how["seed"])
    values = {
        "image": "torch.from_numpy(image).to(device).float().unsqueeze(1) / 255",
        "digit": "torch.from_numpy(digit).to(device).long()",
    }
    items = ", ".join(f"{quoted(name)}: {values[name]}" for name in reading.wanted)
    pair = ", ".join(name if name in reading.wanted else "_" for name in values)
    value = f"{{split: {{{items}}} for split, ({pair}) in splits.items()}}"
    return Straight(lines, value, [stratified_holdout], beside.parts)


def write_idx(reading: Reading) -> Straight:
    """The four files of MNIST's form."""
    how, beside = reading.options, Beside(reading.outside)
    read = tree(READ_IDX, idx=beside.add(IDX, "idx bytes"))
    files = '{"train": "train", "test": "t10k"}'
    return _written(reading, beside, read, "start", files, {how["target"]: how["classes"]})


def write_cifar(reading: Reading) -> Straight:
    """Binary records of labels and an image."""
    how, beside = reading.options, Beside(reading.outside)
    count = len(how["classes"])
    read = tree(READ_CIFAR, width=count + 3072, labels=count)
    files = f'{{"train": {_names(how["train"])}, "test": {_names(how["test"])}}}'
    return _written(reading, beside, read, "names", files, how["classes"])


def _names(files: Sequence[str]) -> str:
    return tuple_text([quoted(one) for one in files])


def _written(
    reading: Reading, beside: Beside, read: list[Statement], what: str, files: str, classes: dict[str, int]
) -> Straight:
    lazy = beside.add(LEVELS, "lazy levels", class_name)
    values = {"image": f"{lazy}(levels[source], device).at(at)"}
    values |= {column: f"classes[:, {place}]" for place, column in enumerate(classes)}
    lines = tree(
        LOAD,
        what=what,
        files="files" if len(files) > 60 else files,
        read=read,
        classes=f"[{', '.join(map(str, classes.values()))}]",
        validation=reading.options["validation"],
        seed=reading.options["seed"],
        items=", ".join(f"{quoted(name)}: {values[name]}" for name in reading.wanted),
    )
    if len(files) > 60:
        lines.insert(0, Statement(files, target="files"))
    return Straight(lines, "parts", [Lazy, stratified_holdout], beside.parts)
