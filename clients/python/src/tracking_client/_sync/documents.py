# Made from _async by `npm run client-types`: not to be edited.
"""Uploads and downloads of documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote

import httpx
from typing_extensions import Unpack

from .. import types as t
from .._errors import ApiConnectionError, ApiError
from .._options import PostOptions, ReadOptions, RequestOptions
from .._uploads import MAX_MULTIPART_BYTES, Upload, describe_upload, new_idempotency_key
from .requester import ApiRequest, fill_path
from .resource import Resource

#: Transfers have no time limit. A limit of the call replaces these.
_NO_TIME_LIMITS: Mapping[str, Any] = {"timeout": None, "deadline": None}

OnProgress = Callable[[int, "int | None"], None]


class Download:
    """A download in progress. Iterate over its bytes, or call `read` or `save`; then it is closed.

    To stop early, leave a ``with`` statement or call `close`.
    """

    def __init__(self, response: httpx.Response, on_progress: OnProgress | None) -> None:
        self._response = response
        self._on_progress = on_progress
        length = response.headers.get("content-length")
        #: Number of bytes in the response; ``None`` if unknown.
        self.size = None if length is None else int(length)
        self.content_type: str = response.headers.get("content-type", "application/octet-stream")
        #: File name given at the upload. It comes from the sender: never use it as a path.
        self.file_name = _parse_file_name(response.headers.get("content-disposition", ""))
        self.etag: str | None = response.headers.get("etag")
        found = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", response.headers.get("content-range", ""))
        #: First byte, last byte and size of the whole file; ``None`` if the response contains the whole file.
        self.range = (int(found[1]), int(found[2]), int(found[3])) if found else None

    def __iter__(self) -> Iterator[bytes]:
        loaded = 0
        try:
            for chunk in self._response.iter_bytes():
                loaded += len(chunk)
                if self._on_progress is not None:
                    self._on_progress(loaded, self.size)
                yield chunk
        except httpx.RequestError as error:
            raise ApiConnectionError(f"The download broke after {loaded} bytes: {error}") from error
        finally:
            self.close()

    def read(self) -> bytes:
        """Reads all bytes into memory."""
        return b"".join([chunk for chunk in self])

    def save(self, path: str | Path) -> None:
        """Writes all bytes to a file, in pieces."""
        with open(path, "wb") as file:
            for chunk in self:
                file.write(chunk)

    def close(self) -> None:
        """Ends the download."""
        self._response.close()

    def __enter__(self) -> Download:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class DocumentTransfers(Resource):
    """Uploads and downloads, beside the methods that are generated from the description."""

    def upload(
        self,
        shipment_id: str,
        *,
        type: t.DocumentType,
        file: str | Path | bytes | BinaryIO,
        file_name: str | None = None,
        content_type: str | None = None,
        replaces_document_id: str | None = None,
        presigned_above: int = MAX_MULTIPART_BYTES,
        on_progress: OnProgress | None = None,
        **options: Unpack[PostOptions],
    ) -> t.DocumentWritten:
        """Uploads a file in one request, or in three requests with a presigned URL if it is larger than 25 MiB.

        A broken upload restarts from the beginning. Uploads have no timeout unless you set one.

        :param file: A path, bytes, or an open binary file that can seek.
        :param file_name: Name of the file. Default: the name of the path or open file.
        :param content_type: Content type. Default: the type that belongs to the extension of the name.
        :param replaces_document_id: ID of the document that the new one replaces.
        :param presigned_above: Size in bytes above which a presigned URL is used. At most 25 MiB.
        :param on_progress: Called with the number of bytes sent and the size of the file.
        :raises InvalidRequestError: `unsupported_document_type` if the content has another type.
        """
        path = fill_path("/v1/shipments/{id}/documents", id=shipment_id)
        described = describe_upload(file, file_name, content_type)
        fields: dict[str, str] = {"type": type}
        if replaces_document_id is not None:
            fields["replaces_document_id"] = replaces_document_id
        if described.size > min(presigned_above, MAX_MULTIPART_BYTES):
            return self._upload_by_url(f"{path}/uploads", described, fields, on_progress, options)

        def form() -> Mapping[str, Any]:
            # Fields precede the file, because the service checks them before the file arrives.
            file_part = (described.file_name, described.open(on_progress), described.content_type)
            return {"data": fields, "files": {"file": file_part}}

        with described:
            request = ApiRequest("POST", path, {**_NO_TIME_LIMITS, **options}, upload=form)
            written: t.DocumentWritten = self._requester.request(request)
        return written

    def put(
        self,
        upload: t.Upload,
        file: str | Path | bytes | BinaryIO,
        *,
        on_progress: OnProgress | None = None,
        **options: Unpack[RequestOptions],
    ) -> None:
        """Sends the bytes to a presigned URL. Any client can send them, because the URL needs no credentials."""
        with describe_upload(file, "file", None) as described:
            self._put(upload, described, on_progress, options)

    def download(
        self,
        id: str,
        *,
        range: tuple[int, int | None] | None = None,
        if_range: str | None = None,
        on_progress: OnProgress | None = None,
        **options: Unpack[ReadOptions],
    ) -> Download:
        """Downloads a file, or a range of it. Returns when the first bytes arrive.

        :param range: First and last byte. If the last byte is ``None``, the range ends with the file.
        :param if_range: ETag that the file must still have for the range. Otherwise the response is the whole file.
        :param on_progress: Called with the number of bytes received and the size of the response.
        """
        headers = {"Accept": "*/*", **options.get("headers", {})}
        if range is not None:
            first, last = range
            headers["Range"] = f"bytes={first}-{'' if last is None else last}"
        if if_range is not None:
            headers["If-Range"] = if_range
        path = fill_path("/v1/documents/{id}/download", id=id)
        response = self._requester.open(ApiRequest("GET", path, {**options, "headers": headers}))
        return Download(response, on_progress)

    def _put(
        self, upload: t.Upload, described: Upload, on_progress: OnProgress | None, options: Mapping[str, Any]
    ) -> None:
        def content() -> Mapping[str, Any]:
            return {"content": _chunks(described.open(on_progress))}

        length = {"Content-Length": str(described.size)}
        headers = {**options.get("headers", {}), **length, **upload["headers"]}
        merged = {**_NO_TIME_LIMITS, **options, "headers": headers}
        self._requester.request(ApiRequest("PUT", upload["url"], merged, upload=content))

    def _upload_by_url(
        self,
        path: str,
        described: Upload,
        fields: Mapping[str, str],
        on_progress: OnProgress | None,
        options: Mapping[str, Any],
    ) -> t.DocumentWritten:
        """Uploads a file by a presigned URL.

        A repeat with the same idempotency key continues with the document of the first call.
        """
        given = options.get("idempotency_key")
        transfer = {name: value for name, value in options.items() if name in RequestOptions.__annotations__}
        with described:
            body = {
                **fields,
                "file_name": described.file_name,
                "content_type": described.content_type,
                "size_bytes": described.size,
                "checksum_sha256": described.compute_sha256(),
            }
            announced = {**options, "idempotency_key": given or new_idempotency_key()}
            document = self._call("POST", path, announced, json=body)
            document_path = fill_path("/v1/documents/{id}", id=document["id"])
            # An earlier call with the same idempotency key may have sent the bytes.
            is_pending = (
                given is None or (self._call("GET", document_path, transfer))["status"] == "pending_upload"
            )
            if is_pending:
                try:
                    self._put(document["upload"], described, on_progress, transfer)
                except ApiError as error:
                    if error.code == "invalid_upload_url":
                        # The URL expired during failed attempts. A call with the same key returns another URL.
                        document = self._call("POST", path, announced, json=body)
                        self._put(document["upload"], described, on_progress, transfer)
                    # Completed by a concurrent call.
                    elif error.code != "document_not_pending":
                        raise
            completed: t.DocumentWritten = self._call("POST", f"{document_path}/complete", transfer)
        return completed


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(65_536):
        yield chunk


def _parse_file_name(disposition: str) -> str | None:
    """Returns the file name of a Content-Disposition header. The extended name takes precedence (RFC 6266)."""
    encoded = re.search(r"filename\*=UTF-8''([^;\s]+)", disposition, re.IGNORECASE)
    if encoded:
        return unquote(encoded[1])
    quoted = re.search(r'filename="((?:[^"\\]|\\.)*)"', disposition, re.IGNORECASE)
    return re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else None
