"""Parameters that say how a file of rows and columns is written, for the nodes that read one."""

from __future__ import annotations

from typing import Any

from engine.catalogue import Data, param
from engine.catalogue.params import Ints, Names

ENCODINGS = (
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1"),
    *("cp1250", "cp1251", "shift_jis", "gb18030", "big5"),
)


DELIMITERS = (",", ";", "tab", "|", ":", "spaces", "arff")  # the last: rows of Weka, below names of columns
QUOTE: Any = param(
    '"',
    choices=('"', "'", "none", '\\"'),
    doc='what stands around cells that hold a delimiter; in \\" a backslash stands before a quote in a cell',
)
ASIDE: Any = param(
    None,
    minimum=1,
    label="Skipped lines",
    doc="numbers of lines of the file that are no examples, such as one of units below the header",
)


def lines_aside(aside: Ints | None) -> dict[str, Any]:
    """Those lines as a loader takes them; nothing where there are none."""
    return {"aside": aside} if aside else {}


class Encoded(Data, abstract=True):
    """A file of text."""

    encoding: str = param("utf-8", choices=ENCODINGS, doc="how the bytes of a text file stand for letters")


class Delimited(Encoded, abstract=True):
    """A file of text with cells in lines."""

    delimiter: str = param(",", choices=DELIMITERS, doc="what stands between the cells of a text file")
    quote: str = QUOTE
    header: bool = param(True, doc="the first row names the columns")
    lines_before: int = param(
        0, minimum=0, maximum=100_000, label="Lines before", doc="lines above the table"
    )
    aside: Ints | None = ASIDE

    def form(self) -> dict[str, Any]:
        """How the cells are parted, as `read_text_table` takes it."""
        return {
            "delimiter": {"tab": "\t"}.get(self.delimiter, self.delimiter),
            "quote": "" if self.quote == "none" else self.quote,
            "decimal": ".",
            "header": self.header,
            "skip": self.lines_before,
            **lines_aside(self.aside),
        }


class Numbered(Delimited, abstract=True):
    """A file of text whose cells are numbers, or a spreadsheet."""

    decimal: str = param(".", choices=(".", ","), label="Decimal mark", doc="as in 28.7 or in 28,7")
    missing_as: Names = param((), label="Missing is", doc="texts that mean a blank cell, such as NA or ?")

    def form(self) -> dict[str, Any]:
        return {**super().form(), "decimal": self.decimal, "blanks": self.missing_as}
