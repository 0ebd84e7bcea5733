"""Files of uploads, which every attempt reads from the beginning."""

from __future__ import annotations

import hashlib
import io
import mimetypes
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

#: Maximum size of a document in a single request.
MAX_MULTIPART_BYTES = 25 * 1_024 * 1_024


class Upload:
    """A file with its name, content type and size. As a context manager, it closes a file that it opened itself."""

    def __init__(self, file: BinaryIO, file_name: str, content_type: str, is_own: bool) -> None:
        self.file_name = file_name
        self.content_type = content_type
        self._file = file
        self._is_own = is_own
        self._start = file.tell()
        self.size = file.seek(0, os.SEEK_END) - self._start
        file.seek(self._start)

    def open(self, on_progress: Callable[[int, int | None], None] | None = None) -> BinaryIO:
        """Returns the file at its beginning. `on_progress` is called with the bytes read and the size."""
        self._file.seek(self._start)
        if on_progress is None and self._start == 0:
            return self._file
        return cast(BinaryIO, _Part(self._file, self._start, self.size, on_progress))

    def compute_sha256(self) -> str:
        """Returns the SHA-256 of the file in hex."""
        digest = hashlib.sha256()
        file = self.open()
        while chunk := file.read(65_536):
            digest.update(chunk)
        return digest.hexdigest()

    def __enter__(self) -> Upload:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_own:
            self._file.close()


class _Part(io.RawIOBase):
    """The rest of a file after a position, which reports how far it was read."""

    def __init__(
        self, file: BinaryIO, start: int, size: int, on_progress: Callable[[int, int | None], None] | None
    ) -> None:
        self._file = file
        self._start = start
        self._size = size
        self._on_progress = on_progress

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        if chunk and self._on_progress is not None:
            self._on_progress(self.tell(), self._size)
        return chunk

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset + self._start if whence == os.SEEK_SET else offset, whence) - self._start

    def tell(self) -> int:
        return self._file.tell() - self._start


def describe_upload(file: str | Path | bytes | BinaryIO, file_name: str | None, content_type: str | None) -> Upload:
    """Opens the file of an upload. Raises ``TypeError`` if its name or content type is missing."""
    opened: BinaryIO
    if isinstance(file, str | Path):
        opened, name = open(file, "rb"), os.path.basename(file)
    elif isinstance(file, bytes | bytearray | memoryview):
        opened, name = io.BytesIO(file), ""
    else:
        opened, name = file, os.path.basename(str(getattr(file, "name", "")))
    is_own = opened is not file
    name = file_name or name
    if not name:
        raise TypeError("file_name is required, because the file has no name.")
    kind = content_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Upload(opened, name, kind, is_own)


def new_idempotency_key() -> str:
    """Returns a random ``Idempotency-Key``."""
    return uuid.uuid4().hex
