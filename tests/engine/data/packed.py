"""Archives made in memory, honest and hostile."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping


def tar_of(members: Mapping[str, bytes], *more: tarfile.TarInfo) -> bytes:
    """A .tar.gz of these members, then of `more`, which hold nothing."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, body in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
        for info in more:
            archive.addfile(info)
    return out.getvalue()


def zip_of(members: Mapping[str, bytes], modes: Mapping[str, int] | None = None) -> bytes:
    """A .zip of these members; `modes` are the Unix modes of some."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (modes or {}).get(name, 0o100644) << 16
            archive.writestr(info, body)
    return out.getvalue()
