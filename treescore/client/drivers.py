"""Carry out plans: with httpx.Client, or with httpx.AsyncClient."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, contextmanager
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

import httpx
import orjson

from treescore.client.answers import Answer, Receiver
from treescore.client.documents import Document
from treescore.client.errors import ClientError, RequestError, WrongAddress, WrongAnswer
from treescore.client.requests import JSON, open_form
from treescore.client.session import CONNECT_SECONDS, Pages, Plan, Send, Session, Step, page_of

T = TypeVar("T")
D = TypeVar("D", bound=Document)
P = ParamSpec("P")


def opened(kind: type[httpx.Client | httpx.AsyncClient], session: Session, options: Mapping[str, Any]) -> Any:
    """Return a client of the HTTP library.

    Raises:
        WrongAddress: the URL is invalid.
    """
    try:
        address = httpx.URL(session.url)
        if address.userinfo:  # it would replace the token, and stand in each message
            raise WrongAddress("The URL has a user name or a password. Give them as http={'auth': (name, password)}.")
        if address.query or address.fragment:
            raise WrongAddress(f"{session.url} has a query or a fragment. Give the address without it.")
        return kind(base_url=address, headers=session.headers, **options)
    except httpx.InvalidURL as error:
        raise WrongAddress(f"Invalid URL {session.url}: {error}") from error


class BlockingDriver:
    """Carries out plans one step after the other."""

    def __init__(self, session: Session, options: Mapping[str, Any]) -> None:
        self.session = session
        self.http: httpx.Client = opened(httpx.Client, session, options)

    def run(self, plan: Plan[T]) -> T:
        """Return the result of a plan."""
        answer, fault = None, None
        while True:
            try:
                step = plan.send(answer) if fault is None else plan.throw(fault)
            except StopIteration as ended:
                result: T = ended.value
                return result
            answer, fault = None, None
            try:
                answer = self._do(step)
            except (httpx.TransportError, ClientError) as error:
                fault = error

    def give(self, pages: Pages, kind: type[D]) -> Iterator[D]:
        """Yield the members of a list as documents."""
        following: Pages | None = pages
        while following is not None:
            documents, following = self.run(page_of(self.session, following))
            for document in documents:
                yield kind(document)

    def _do(self, step: Step) -> Answer | None:
        if isinstance(step, Send):
            return self._send(step)
        self.pause(step.seconds)
        return None

    def pause(self, seconds: float) -> None:
        """Wait; a signal of the program interrupts it."""
        threading.Event().wait(seconds)

    def _send(self, step: Send) -> Answer:
        with ExitStack() as stack:
            request = _request(self.http, self.session, step, stack)
            with _readable_head(self.session):
                response = self.http.send(request, stream=True)
            stack.callback(response.close)
            receiver = stack.enter_context(Receiver(response, step.target, step.check))
            if not receiver.whole:
                for piece in response.iter_raw():
                    receiver.feed(piece)
            return receiver.finish()


class AwaitingDriver:
    """Carries out plans in an event loop; files are read in it, piece by piece."""

    def __init__(self, session: Session, options: Mapping[str, Any]) -> None:
        self.session = session
        self.http: httpx.AsyncClient = opened(httpx.AsyncClient, session, options)

    async def run(self, plan: Plan[T]) -> T:
        """Return the result of a plan."""
        answer, fault = None, None
        while True:
            try:
                step = plan.send(answer) if fault is None else plan.throw(fault)
            except StopIteration as ended:
                result: T = ended.value
                return result
            answer, fault = None, None
            try:
                answer = await self._do(step)
            except (httpx.TransportError, ClientError) as error:
                fault = error

    async def give(self, pages: Pages, kind: type[D]) -> AsyncIterator[D]:
        """Yield the members of a list as documents."""
        following: Pages | None = pages
        while following is not None:
            documents, following = await self.run(page_of(self.session, following))
            for document in documents:
                yield kind(document)

    async def _do(self, step: Step) -> Answer | None:
        if isinstance(step, Send):
            return await self._send(step)
        await self.pause(step.seconds)
        return None

    async def pause(self, seconds: float) -> None:
        """Wait, while other tasks go on."""
        await asyncio.sleep(seconds)

    async def _send(self, step: Send) -> Answer:
        async with AsyncExitStack() as stack:
            request = _request(self.http, self.session, step, stack.enter_context(ExitStack()))
            with _readable_head(self.session):
                response = await self.http.send(request, stream=True)
            stack.push_async_callback(response.aclose)
            receiver = stack.enter_context(Receiver(response, step.target, step.check))
            if not receiver.whole:
                async for piece in response.aiter_raw():
                    receiver.feed(piece)
            return receiver.finish()


def _request(http: httpx.Client | httpx.AsyncClient, session: Session, step: Send, stack: ExitStack) -> httpx.Request:
    """Return the request of a step; the files that it sends are open as long as `stack`.

    Raises:
        RequestError: the URL is invalid, a file cannot be read, or the document is not JSON.
    """
    given: dict[str, Any] = {"headers": step.headers, "params": dict(step.query) or None}
    try:
        body = orjson.dumps({} if step.json is None else step.json)
    except orjson.JSONEncodeError as error:
        raise RequestError(f"The request cannot be written as JSON: {error}.") from error
    if step.uploads is not None:
        given["data"] = {"meta": body}
        given["files"] = open_form(step.uploads, stack, step.watch, step.check)
    elif step.json is not None:
        given["content"] = body
        given["headers"] = {"Content-Type": JSON, **step.headers}
    timeout = httpx.Timeout(step.seconds, connect=min(CONNECT_SECONDS, step.seconds))
    try:
        return http.build_request(step.method, step.path, timeout=timeout, **given)
    except httpx.InvalidURL as error:
        raise WrongAddress(f"Invalid URL {session.url}: {error}") from error


@contextmanager
def _readable_head(session: Session) -> Iterator[None]:
    """Tell of an answer whose Location is none: the HTTP library reads it, although it is not followed."""
    try:
        yield
    except httpx.InvalidURL as error:
        raise WrongAnswer(f"{session.url} answers with a redirect to an invalid address: {error}.") from error


class Blocking:
    """Whose methods return results."""

    _driver: BlockingDriver


class Awaiting:
    """Whose methods return what is awaited."""

    _driver: AwaitingDriver


class method(Generic[P, T]):  # noqa: N801 - a decorator
    """A method written as a plan: it returns its result where the instance blocks, and an awaitable where it awaits."""

    def __init__(self, plan: Callable[Concatenate[Any, P], Plan[T]]) -> None:
        self._plan = plan
        self.__doc__ = plan.__doc__
        self.__wrapped__ = plan

    @overload
    def __get__(self, instance: None, owner: Any) -> method[P, T]: ...
    @overload
    def __get__(self, instance: Blocking, owner: Any) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Awaiting, owner: Any) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        """Return the method of an instance."""
        if instance is None:
            return self

        def call(*given: P.args, **named: P.kwargs) -> Any:
            return instance._driver.run(self._plan(instance, *given, **named))  # noqa: SLF001 - its own

        return update_wrapper(call, self._plan)


class Listing(Generic[P, D]):
    """A method that lists: an iterator over all pages, an asynchronous one where the instance awaits."""

    def __init__(self, kind: type[D], pages: Callable[Concatenate[Any, P], Pages]) -> None:
        self._kind = kind
        self._pages = pages
        self.__doc__ = pages.__doc__
        self.__wrapped__ = pages

    @overload
    def __get__(self, instance: None, owner: Any) -> Listing[P, D]: ...
    @overload
    def __get__(self, instance: Blocking, owner: Any) -> Callable[P, Iterator[D]]: ...
    @overload
    def __get__(self, instance: Awaiting, owner: Any) -> Callable[P, AsyncIterator[D]]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        """Return the method of an instance."""
        if instance is None:
            return self

        def call(*given: P.args, **named: P.kwargs) -> Any:
            return instance._driver.give(self._pages(instance, *given, **named), self._kind)  # noqa: SLF001 - its own

        return update_wrapper(call, self._pages)


def listing(kind: type[D]) -> Callable[[Callable[Concatenate[Any, P], Pages]], Listing[P, D]]:
    """Return the decorator of a method that lists documents of a kind."""
    return lambda pages: Listing(kind, pages)
