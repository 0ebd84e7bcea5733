"""Base of all resources, and lists."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Generic

from .._options import OPTION_NAMES, Item, Page
from .requester import ApiRequest, AsyncRequester


class AsyncPaginator(Generic[Item]):
    """A list. Iteration yields all items, starting with the first page, and requests each page when it is needed."""

    def __init__(self, request_page: Callable[[str | None], Awaitable[Page[Item]]]) -> None:
        self._request_page = request_page

    async def page(self, cursor: str | None = None) -> Page[Item]:
        """Reads one page: the first page, or the page at the cursor."""
        return await self._request_page(cursor)

    async def pages(self) -> AsyncIterator[Page[Item]]:
        """Iterates over the pages."""
        page = await self._request_page(None)
        yield page
        while page.next_cursor is not None:
            page = await self._request_page(page.next_cursor)
            yield page

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in page.data:
                yield item

    async def to_list(self) -> list[Item]:
        """Reads all items into memory."""
        return [item async for item in self]


class AsyncResource:
    """Methods that share a requester."""

    def __init__(self, requester: AsyncRequester) -> None:
        self._requester = requester

    async def _call(self, method: str, path: str, arguments: Mapping[str, Any], **request: Any) -> Any:
        """Sends a request. The arguments are options of the call and query parameters."""
        options, query = split_arguments(arguments)
        return await self._requester.request(ApiRequest(method, path, options, query, **request))

    def _list(self, path: str, arguments: Mapping[str, Any]) -> AsyncPaginator[Any]:
        options, query = split_arguments(arguments)

        async def request_page(cursor: str | None) -> Page[Any]:
            at = {} if cursor is None else {"cursor": cursor}
            body = await self._requester.request(ApiRequest("GET", path, options, {**query, **at}))
            return Page(body["data"], body["next_cursor"], body["has_more"])

        return AsyncPaginator(request_page)


def split_arguments(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    options = {name: value for name, value in arguments.items() if name in OPTION_NAMES}
    return options, {name: value for name, value in arguments.items() if name not in OPTION_NAMES}
