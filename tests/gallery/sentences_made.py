"""Makes `sentences.csv` of the example `end-marks`: python -m tests.gallery.sentences_made

The sentences of Romeo and Juliet without the mark that ends them, and which mark it was. Stage directions,
names of who speaks, headings, sentences of fewer than 3 or more than 24 words and those said before are left
out.
"""

from __future__ import annotations

import csv
import io
import re

from engine.document.shipped import datasets_folder

FOLDER = datasets_folder() / "files"
NAME = "sentences.csv"
MARKS = {".": "statement", "!": "exclamation", "?": "question"}
ASIDE = (r"\[[^\]]*\]", r"(?m)^[ \t]*[A-Z][A-Za-z]+(?: [A-Z][a-z]+)?\.\s*$", r"(?m)^(ACT|SCENE|Scene|Act).*$")


def made() -> str:
    """The file's text."""
    play = (FOLDER / "romeo_and_juliet.txt").read_text(encoding="utf-8")
    for pattern in ASIDE:
        play = re.sub(pattern, " ", play)
    rows: dict[str, str] = {}
    for said, mark in re.findall(r"([^.!?]+)([.!?])", re.sub(r"\s+", " ", play).replace("--", ", ")):
        words = re.sub(r"[^A-Za-z' ]", " ", said).lower().split()
        if 3 <= len(words) <= 24:
            rows.setdefault(" ".join(words), MARKS[mark])
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(("sentence", "mark"))
    table.writerows(rows.items())
    return out.getvalue()


if __name__ == "__main__":
    (FOLDER / NAME).write_text(made(), encoding="utf-8")
