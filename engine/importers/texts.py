"""The Python of a script, a package or a notebook as one text, whose lines know where they stand."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import ProjectFileError
from engine.importers.findings import Place

LARGEST = 4 * 1024 * 1024  # bytes; exports have some thousand lines at most
PARTS = (
    "config.py",
    "model.py",
    "data.py",
    "train.py",
    "__main__.py",
)  # of a package, in order
FUTURE = re.compile(r"from __future__ import .*")


@dataclass(frozen=True)
class Read:
    """A text, the place of each of its lines, and the title that it gives itself."""

    text: str
    places: dict[int, Place] = field(default_factory=dict)
    title: str = ""


def is_python(path: Path) -> bool:
    """Whether a path may be Python of ours: a script, a notebook, or a package or its project."""
    if path.suffix.lower() in (".py", ".ipynb"):
        return True
    if not path.is_dir():
        return False
    return (path / "model.py").is_file() or (
        (path / "pyproject.toml").is_file() and _package(path) is not None
    )


def read_python(path: Path) -> Read:
    """Read a script, notebook or package. Errors: `ProjectFileError` for what is none, or cannot be read."""
    try:
        if path.is_dir():
            return _joined(list(_modules(path)))
        text = _text(path)
        if path.suffix == ".ipynb":
            return _joined(list(_cells(text, path)))
        return Read(text, title=_title(text))
    except OSError as error:
        raise ProjectFileError(f"{path.name} cannot be read: {error.strerror or error}.") from error


def _text(path: Path) -> str:
    if path.stat().st_size > LARGEST:
        raise ProjectFileError(f"{path.name} is larger than any script that was exported.")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProjectFileError(f"{path.name} is no text in UTF-8.") from error


def _package(folder: Path) -> Path | None:
    """The folder of a package's modules: the folder itself or the only one in it that has a network."""
    places = [folder, *sorted(one for one in folder.iterdir() if one.is_dir())]
    return next((one for one in places if (one / "model.py").is_file()), None)


def _modules(folder: Path) -> Iterator[tuple[str, str]]:
    found = _package(folder)
    if found is None:
        raise ProjectFileError(
            f"{folder.name} holds no package that was exported: there is no model.py in it."
        )
    if (found / "__init__.py").is_file():
        yield "", _title(_text(found / "__init__.py"))
    for name in PARTS:
        if (found / name).is_file():
            yield name, _text(found / name)


def _cells(text: str, path: Path) -> Iterator[tuple[str, str]]:
    try:
        cells = json.loads(text)["cells"]
        for number, cell in enumerate(cells, 1):
            source = cell["source"]
            joined = source if isinstance(source, str) else "".join(source)
            if cell["cell_type"] == "code":
                yield (
                    f"cell {number}",
                    "\n".join("" if line.startswith(("%", "!")) else line for line in joined.splitlines()),
                )
            elif cell["cell_type"] == "markdown" and joined.startswith("# "):
                yield "", joined
    except (ValueError, KeyError, TypeError) as error:
        raise ProjectFileError(f"{path.name} is no notebook.") from error


def _joined(parts: list[tuple[str, str]]) -> Read:
    """Several texts as one; imports of each other are left out, and those from the future."""
    lines = ["from __future__ import annotations"]
    places: dict[int, Place] = {}
    title = ""
    for name, text in parts:
        if not name:
            title = title or text.partition("\n")[0].lstrip("# ").strip()
            continue
        title = title or _title(text)
        dropped = _own_imports(text)
        for number, line in enumerate(text.splitlines(), 1):
            lines.append("" if number in dropped or FUTURE.fullmatch(line) else line)
            places[len(lines)] = Place(name, number)
    return Read("\n".join(lines) + "\n", places, title)


def _own_imports(text: str) -> set[int]:
    """The lines of imports of the package's other modules."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return set()
    found: set[int] = set()
    for one in tree.body:
        own = isinstance(one, ast.ImportFrom) and (
            one.level or (one.module or "").endswith((".model", ".data"))
        )
        if own:
            found |= set(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    return found


def _title(text: str) -> str:
    """The first line of a module's docstring."""
    try:
        doc = ast.get_docstring(ast.parse(text))
    except SyntaxError:
        return ""
    return doc.splitlines()[0].strip() if doc and doc.strip() else ""
