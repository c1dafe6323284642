"""Tables that are damaged, hostile or odd: what is refused, and what is read, with how many rows."""

from __future__ import annotations

ROWS = b"".join(b"%d,%d,%s\n" % (at, at * 2, b"xy"[at % 2 : at % 2 + 1]) for at in range(20))

MALFORMED: dict[str, bytes] = {
    "truncated.parquet": b"PAR1" + b"\x15\x04" * 40,
    "magic.arrow": b"ARROW1\0\0" + b"\xff" * 30,
    "zip.xlsx": b"PK\x03\x04" + b"\0" * 64,
    "text.xlsx": b"a,b\n1,2\n",
    "old.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 64,
    "zero bytes.csv": b"a,b\n1,2\n\0\0\0\0\n3,4\n",
    "program.csv": b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 4,
    "white.csv": b"\n\n   \n\n",
    "only names.csv": b"a,b,c\n",
    "long row.csv": b"a,b,y\n" + ROWS + b"1,2,x,9,9\n" + ROWS,
    "open quote.csv": b'a,b,y\n1,"2,x\n4,5\n' + ROWS,
}

MENDED: dict[str, tuple[bytes, int]] = {
    "blank lines.csv": (b"a,b,y\n\n" + ROWS + b"\n\n\n", 20),
    "open quote whole rows.csv": (b'a,b,y\n1,"2,x\n' + ROWS, 21),
    "short row.csv": (b"a,b,y\n" + ROWS + b"1\n", 21),
    "mac.csv": (b"a,b,y\r" + ROWS.replace(b"\n", b"\r"), 20),
    "dos.csv": (b"a,b,y\r\n" + ROWS.replace(b"\n", b"\r\n"), 20),
    "no end.csv": (b"a,b,y\n" + ROWS[:-1], 20),
    "title.csv": (b"An export of today\n\na,b,y\n" + ROWS, 20),
    "mixed letters.csv": ("a,b,y\n1,2,é\n".encode() + ROWS + b"3,4,\xe9\n", 22),
    "two marks.csv": (b"\xef\xbb\xbf\xef\xbb\xbfa,b,y\n" + ROWS, 20),
    "hostile.csv": (b'=cmd|\' /C calc\'!A0,"<b>x</b>","../../y"\n' + ROWS, 20),
    "long name.csv": (b"a" * 100_000 + b",b,y\n" + ROWS, 20),
    "long cell.csv": (b"a,b,y\n" + ROWS + b"1,2," + b"x" * 300_000 + b"\n", 21),
    "one cell.csv": (b"5", 1),
    "huge numbers.csv": (b"a,b,y\n" + ROWS + b"1e400,99999999999999999999999999,x\n", 21),
}
