"""Traces of OpenTelemetry, where TREESCORE_OTLP_ENDPOINT names a collector; nothing of it is loaded otherwise.

A span has names, ids, states and durations, never a text, a score or a token.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import TYPE_CHECKING

from service.variables import ConfigError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

PARENT = "traceparent"
"""The header of W3C Trace Context, whose value is stored with a run."""
FLUSH_MILLISECONDS = 2000
_NO_SPAN = nullcontext()
_provider: TracerProvider | None = None


def configure_traces(endpoint: str, process: str) -> None:
    """Send the spans of this process to a collector; without an endpoint there are none.

    Args:
        endpoint: of OTLP over HTTP, as http://collector:4318.
        process: kind of the process, as service.meters has it.

    Raises:
        ConfigError: the packages are not installed.
    """
    global _provider  # noqa: PLW0603 - one for the process, as the log
    _provider = None
    if not endpoint:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(
            "TREESCORE_OTLP_ENDPOINT is set, but the packages of OpenTelemetry are not installed. Install "
            "opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http, or unset it."
        ) from error
    names = {"service.name": "treescore", "treescore.process": process}
    _provider = TracerProvider(resource=Resource.create(names))
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=FLUSH_MILLISECONDS // 1000)
    _provider.add_span_processor(BatchSpanProcessor(exporter))


def span(name: str, parent: str | None = None, **attributes: str | int) -> AbstractContextManager[Span | None]:
    """Time a block as a span: of the trace of `parent`, else inside the span around it. None where there are none."""
    if _provider is None:
        return _NO_SPAN
    opened: AbstractContextManager[Span] = _provider.get_tracer("treescore").start_as_current_span(
        name, _context_of(parent), attributes=attributes, record_exception=False, set_status_on_exception=False
    )
    return opened


def past(name: str, begin: datetime, end: datetime, parent: str | None) -> None:
    """Add a span that is over."""
    if _provider is not None:
        since, until = (int(moment.timestamp() * 1e9) for moment in (begin, end))
        tracer = _provider.get_tracer("treescore")
        tracer.start_span(name, _context_of(parent), start_time=since).end(until)


def traceparent() -> str | None:
    """Return the present span as `traceparent` has it; None outside of one."""
    if _provider is None:
        return None
    from opentelemetry.trace.propagation import tracecontext  # noqa: PLC0415 - loaded already

    carrier: dict[str, str] = {}
    tracecontext.TraceContextTextMapPropagator().inject(carrier)
    return carrier.get(PARENT)


def flush() -> None:
    """Send what is finished, in a process that may end at once. Waits for at most FLUSH_MILLISECONDS."""
    if _provider is not None:
        _provider.force_flush(FLUSH_MILLISECONDS)


def _context_of(parent: str | None) -> object:
    if parent is None:
        return None
    from opentelemetry.trace.propagation import tracecontext  # noqa: PLC0415 - loaded already

    return tracecontext.TraceContextTextMapPropagator().extract({PARENT: parent})
