"""Errors as RFC 9457 problem details."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
from starlette.responses import Response

from aui_tui.errors import AuiError, BadValue, RateLimited
from aui_tui.model.quota import Quota

MEDIA_TYPE: Final = "application/problem+json"
POLICY: Final = "scan"
WINDOW: Final = 3600
"""Seconds in which the scans of a client are counted."""


class Kind(NamedTuple):
    """A problem type: its usual status, its title and what it means; errors of the program have titles of their own."""

    status: int
    title: str
    meaning: str


KINDS: Final = MappingProxyType(
    {
        "invalid-host": Kind(400, "Invalid host", "The host or address cannot or must not be scanned."),
        "host-never-scanned": Kind(404, "Host never scanned", "No report card is stored for the host."),
        "rate-limited": Kind(
            429,
            "Rate limited",
            "The client has used its scans of the hour; retry_after and reset_at say when to try again.",
        ),
        "bad-value": Kind(
            400, "Bad value", "A parameter is missing or has a value outside its list; allowed names the list."
        ),
        "unavailable": Kind(503, "Unavailable", "The service cannot answer now; please try again in a moment."),
        "scans-refused": Kind(
            403, "Scans refused", "This service does not scan for its visitors; stored report cards can be read."
        ),
        "cross-site-request-refused": Kind(
            403, "Cross-site request refused", "Another site's page may not start a scan or use the tools."
        ),
        "misdirected-request": Kind(
            421, "Misdirected request", "The Host header names another site than this service."
        ),
        "not-found": Kind(404, "Not found", "Nothing is published at this address."),
        "method-not-allowed": Kind(
            405, "Method not allowed", "The address does not take this method; Allow names those it takes."
        ),
        "request-too-large": Kind(
            413, "Request too large", "The address, the header fields or the body of the request are too large."
        ),
        "bad-request": Kind(
            400,
            "Bad request",
            "The request is not valid HTTP: its Host names no host, or its end is uncertain.",
        ),
        "internal-error": Kind(500, "Internal error", "The service failed; the fault is on its side."),
    }
)
"""Every problem type."""
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
AGAIN: Final = MappingProxyType({"Retry-After": "5"})
"""The advice to try again in a moment."""


class HttpProblem(Exception):
    """One error, to be raised or answered: ``kind`` is a key of KINDS, ``extra`` are further members.

    It has the usual status of its kind, and its meaning for a ``detail``, where nothing else is said. ``headers``:
    further fields of the answer.
    """

    def __init__(
        self,
        kind: str,
        detail: str = "",
        *,
        status: int = 0,
        extra: Mapping[str, Any] = NOTHING,
        headers: Mapping[str, str] = NOTHING,
    ) -> None:
        usual = KINDS[kind]
        self.kind, self.title, self.extra, self.headers = kind, usual.title, extra, headers
        self.status, self.detail = status or usual.status, detail or usual.meaning
        super().__init__(self.detail)


def of(error: AuiError) -> HttpProblem:
    """Return the problem that reports ``error`` to a remote client.

    What failed inside the service stays inside: it may name paths and addresses of the operator.
    """
    if error.http_status >= 500:
        return HttpProblem("unavailable", headers=AGAIN)
    extra: dict[str, Any] = {}
    headers = NOTHING
    if isinstance(error, RateLimited):
        wait = max(1, error.retry_after)
        instant = datetime.fromtimestamp(error.reset_at, UTC)
        extra = {"retry_after": wait, "reset_at": instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")}
        headers = {"Retry-After": str(wait)}
    elif isinstance(error, BadValue) and error.allowed:
        extra = {"allowed": list(error.allowed)}
    kind = error.title.lower().replace(" ", "-")
    return HttpProblem(kind, str(error), status=error.http_status, extra=extra, headers=headers)


def not_allowed(method: str, allow: str) -> HttpProblem:
    """Return the problem of a method that an address does not take (RFC 9110 section 15.5.6)."""
    sentence = f"This address does not take {method}; allowed are: {allow}."
    return HttpProblem("method-not-allowed", sentence, headers={"Allow": allow})


def cross_site(base_url: str) -> HttpProblem:
    """Return the problem of a request that another site's page may have caused and that would run a scan."""
    sentence = f"A page of another site may have asked for this, so nothing is scanned; scan from {base_url}/ instead."
    return HttpProblem("cross-site-request-refused", sentence)


class ProblemDetails(msgspec.Struct, kw_only=True):
    """RFC 9457 problem details with the members that this service adds."""

    type: str
    title: str
    status: int
    detail: str
    found: bool | msgspec.UnsetType = msgspec.UNSET
    allowed: list[str] | msgspec.UnsetType = msgspec.UNSET
    retry_after: int | msgspec.UnsetType = msgspec.UNSET
    reset_at: str | msgspec.UnsetType = msgspec.UNSET


def response(problem: HttpProblem, base_url: str) -> Response:
    """Return ``problem`` as an answer of the API."""
    details = ProblemDetails(
        type=f"{base_url}/problems#{problem.kind}",
        title=problem.title,
        status=problem.status,
        detail=problem.detail,
        found=False if problem.status == 404 else msgspec.UNSET,
        **problem.extra,
    )
    return Response(
        msgspec.json.encode(details),
        status_code=problem.status,
        media_type=MEDIA_TYPE,
        headers={"Cache-Control": "no-store", **problem.headers},
    )


def quota_fields(quota: Quota | None, now: float) -> dict[str, str]:
    """Return RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers) for the scans of a client."""
    if quota is None:
        return {}
    fields = {"RateLimit-Policy": f'"{POLICY}";q={quota.limit};w={WINDOW}', "RateLimit": f'"{POLICY}";r={quota.left}'}
    if quota.next_slot:
        fields["RateLimit"] += f";t={max(0, math.ceil(quota.next_slot - now))}"
    return fields
