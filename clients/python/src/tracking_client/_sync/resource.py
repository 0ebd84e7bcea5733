# Made from _async by `npm run client-types`: not to be edited.
"""Base of all resources, and lists."""

from __future__ import annotations

from collections.abc import Iterator, Callable, Mapping
from typing import Any, Generic

from .._options import OPTION_NAMES, Item, Page
from .requester import ApiRequest, Requester


class Paginator(Generic[Item]):
    """A list. Iteration yields all items, starting with the first page, and requests each page when it is needed."""

    def __init__(self, request_page: Callable[[str | None], Page[Item]]) -> None:
        self._request_page = request_page

    def page(self, cursor: str | None = None) -> Page[Item]:
        """Reads one page: the first page, or the page at the cursor."""
        return self._request_page(cursor)

    def pages(self) -> Iterator[Page[Item]]:
        """Iterates over the pages."""
        page = self._request_page(None)
        yield page
        while page.next_cursor is not None:
            page = self._request_page(page.next_cursor)
            yield page

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            for item in page.data:
                yield item

    def to_list(self) -> list[Item]:
        """Reads all items into memory."""
        return [item for item in self]


class Resource:
    """Methods that share a requester."""

    def __init__(self, requester: Requester) -> None:
        self._requester = requester

    def _call(self, method: str, path: str, arguments: Mapping[str, Any], **request: Any) -> Any:
        """Sends a request. The arguments are options of the call and query parameters."""
        options, query = split_arguments(arguments)
        return self._requester.request(ApiRequest(method, path, options, query, **request))

    def _list(self, path: str, arguments: Mapping[str, Any]) -> Paginator[Any]:
        options, query = split_arguments(arguments)

        def request_page(cursor: str | None) -> Page[Any]:
            at = {} if cursor is None else {"cursor": cursor}
            body = self._requester.request(ApiRequest("GET", path, options, {**query, **at}))
            return Page(body["data"], body["next_cursor"], body["has_more"])

        return Paginator(request_page)


def split_arguments(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    options = {name: value for name, value in arguments.items() if name in OPTION_NAMES}
    return options, {name: value for name, value in arguments.items() if name not in OPTION_NAMES}
