"""The outcome of a request: an answer whose body is still to be read, or an error that says why there is none."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Final

import h2.events
import httpcore
import httpx

from aui_tui.model.observations import NO_ISSUER
from aui_tui.text import clean

Field = tuple[bytes, bytes]
FINAL_STATUSES: Final = (200, 999)
"""Statuses that end an exchange; sites do use numbers beyond 599."""
HTTP2_ONLY: Final = frozenset({b"priority"})
"""Lower-case names of fields that are not sent over HTTP/1.1: what browsers send there over HTTP/2 alone."""
HTTP1_ONLY: Final = frozenset({b"connection"})
"""The same of fields that HTTP/2 forbids (RFC 9113 8.2.2)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Status line and header fields of an answer; ``chunks`` are the body's bytes as sent, still encoded.

    ``waited``: seconds for which the request was held back before it was sent.
    """

    status: int
    fields: Sequence[Field]
    http_version: str
    chunks: AsyncGenerator[bytes, None]
    waited: float = 0.0


NO_TLS: Final = "the TLS handshake failed: the port speaks plain HTTP"
BROKEN_OFF: Final = "the server broke off the TLS handshake"
_NO_ISSUER: Final = frozenset({2, 20, 21})
"""OpenSSL's ways to say that a certificate's issuer is not known."""
_NOT_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})
"""Reasons of OpenSSL when what answers a handshake is no TLS record."""


class NetworkError(httpx.TransportError):
    """No usable answer: ``kind`` is one word of ``observations.ERRORS``, ``detail`` one sentence without a full stop.

    ``silent``: nothing listens there (connection refused, unreachable, or no answer to the attempt to connect).
    ``flooded``: the server sends more small things than an answer needs. ``lacks_issuer``: the certificate's issuer was
    not sent and is not known.
    """

    def __init__(
        self, kind: str, detail: str, *, silent: bool = False, flooded: bool = False, lacks_issuer: bool = False
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.silent = silent
        self.flooded = flooded
        self.lacks_issuer = lacks_issuer


class ConnectFailed(httpcore.ConnectError):
    """Carries a NetworkError through httpcore."""

    def __init__(self, error: NetworkError) -> None:
        super().__init__(error.detail)
        self.error = error


class Flooded(httpcore.RemoteProtocolError):
    """The peer sends more small things than an answer needs; the text is what it sends."""


class TlsEnded(httpcore.ReadError):
    """The peer ended an established TLS session with an alert (a missing client certificate, TLS 1.3)."""


def tls_failure(error: OSError) -> NetworkError:
    """Return the error for a failed TLS handshake; the server's words pass ``clean``."""
    if isinstance(error, ssl.SSLCertVerificationError):
        unknown = error.verify_code in _NO_ISSUER
        reason = NO_ISSUER if unknown else error.verify_message
        return NetworkError("tls", clean(f"the certificate is not accepted: {reason}", 400), lacks_issuer=unknown)
    if isinstance(error, ssl.SSLError) and error.reason in _NOT_TLS:
        return NetworkError("tls", NO_TLS)
    if isinstance(error, ssl.SSLError) and error.reason:
        return NetworkError("tls", clean(f"the TLS handshake failed: {error.reason.replace('_', ' ').lower()}", 400))
    return NetworkError("tls", BROKEN_OFF)


def answer_failure(error: Exception) -> NetworkError:
    """Return the error for an exception of httpcore after which there is no answer, or not the whole of it."""
    if isinstance(error, ConnectFailed):
        return error.error
    if isinstance(error, Flooded):
        return NetworkError("protocol", f"the server sent {error}", flooded=True)
    if isinstance(error, TlsEnded):
        return NetworkError("tls", clean(f"the server ended the TLS session: {_reason(error)}", 400))
    ended = any(isinstance(cause, h2.events.StreamReset | h2.events.ConnectionTerminated) for cause in error.args)
    if ended or isinstance(error, httpcore.NetworkError) or "disconnected" in str(error):
        return NetworkError("protocol", "the server closed the connection without an answer")
    return NetworkError("protocol", clean(f"the answer is not valid HTTP ({clean(error, 120).rstrip('.')})"))


def _reason(error: Exception) -> str:
    cause = error.__cause__
    return cause.reason.replace("_", " ").lower() if isinstance(cause, ssl.SSLError) and cause.reason else str(error)
