"""Files of a folder whose folders are classes, or splits. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path


def class_files(folder: Path, ends: tuple[str, ...]) -> list[tuple[Path, str, str]]:
    """Files below a folder whose names end so, as (file, class, split), in order; links are not followed.

    The class is the first folder's name that is not a split's; a folder `train` or `test` is a split.
    """
    splits = {"train": "train", "test": "test", "val": "validation", "valid": "validation"}
    splits["validation"] = "validation"
    found, left = [], [folder]
    while left:
        for path in sorted(left.pop().iterdir()):
            if path.is_dir() and not path.is_symlink():
                left.append(path)
            elif path.name.casefold().endswith(ends) and path.is_file():
                names = path.relative_to(folder).parts[:-1]
                split = next((splits[name.casefold()] for name in names if name.casefold() in splits), "")
                named = [name for name in names if name.casefold() not in splits]
                found.append((path, named[0] if named else "", split))
    return sorted(found)
