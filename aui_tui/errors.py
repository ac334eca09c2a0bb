"""Errors in words for the user. Standard library only.

Every error carries one clear sentence, the exit code of the command line and the HTTP status of the service.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from typing import ClassVar, Final

DEBUG: Final = "AUI_TUI_DEBUG"
"""Variable that shows the traceback of an unexpected error."""


class AuiError(Exception):
    """Base of every error that the user sees: ``str(error)`` is one sentence."""

    exit_code: ClassVar[int] = 2
    http_status: ClassVar[int] = 500
    title: ClassVar[str] = "Error"


class InvalidHost(AuiError):
    """The host or URL asked for cannot or must not be scanned (status 400)."""

    http_status = 400
    title = "Invalid host"


class PrivateHost(InvalidHost):
    """A host outside the public web, or another port: a user of this machine may allow it."""


class NeverScanned(AuiError):
    """No card is stored for the host (status 404)."""

    exit_code = 3
    http_status = 404
    title = "Host never scanned"

    def __init__(self, host: str) -> None:
        super().__init__(f"{host} has never been scanned." if host else "No host is named, so there is no card.")
        self.host = host


class NoCard(NeverScanned):
    """Only the summary of a host is known, from another index: it was never scanned here."""

    def __init__(self, host: str) -> None:
        AuiError.__init__(self, f"Only the summary of {host} is known, from another index; scan it for its card.")
        self.host = host


class RateLimited(AuiError):
    """The client has used its scans of the last hour (status 429).

    ``retry_after`` is in whole seconds from now; ``reset_at`` is the wall-clock time of the next free slot in
    seconds since the epoch.
    """

    exit_code = 4
    http_status = 429
    title = "Rate limited"

    def __init__(self, message: str, *, retry_after: int, reset_at: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.reset_at = reset_at


class Unavailable(AuiError):
    """The service, the store or the source could not answer now."""

    exit_code = 3
    http_status = 503
    title = "Unavailable"


class NoTasks(Unavailable):
    """No run of the tasks is kept for the host."""

    def __init__(self, host: str) -> None:
        super().__init__(f"No run of the tasks is kept for {host}; aui-tui scan {host} --tasks makes one.")


class NoPage(Unavailable):
    """No page of the host is kept."""

    def __init__(self, host: str) -> None:
        super().__init__(f"No page of {host} is kept to be read; aui-tui scan {host} keeps one.")


class NoVisits(Unavailable):
    """No access log of the host was read."""

    def __init__(self, host: str) -> None:
        super().__init__(f"No access log of {host} was read; aui-tui visits LOG --host {host} reads one.")


class ScansRefused(AuiError):
    """The service publishes its index and scans nothing for others."""

    exit_code = 3
    http_status = 403
    title = "Scans refused"


class BadValue(AuiError):
    """A filter or option has a value outside its list; ``allowed`` names the list."""

    http_status = 400
    title = "Bad value"

    def __init__(self, message: str, *, allowed: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.allowed = tuple(allowed)


class RecordError(AuiError):
    """A record does not follow its schema; the sentence names the field."""

    http_status = 502
    title = "Broken record"


class ConfigError(AuiError):
    """A setting, a settings file or a folder cannot be used."""

    title = "Bad configuration"


def again_with(extra: str) -> str:
    """Return how ``extra`` is installed, wherever aui-tui came from."""
    return (
        f"install aui-tui again with it: pip install -e '.[{extra}]' in a checkout, "
        f"pip install 'FILE.whl[{extra}]' from a wheel"
    )


class MissingExtra(ConfigError):
    """``what`` needs libraries that are not installed; ``extra`` is the extra of the package that installs them."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra “{extra}”; {again_with(extra)}.")


def require(what: str, extra: str, *modules: str) -> None:
    """Raise MissingExtra where one of ``modules``, which come with the ``extra``, is not installed; none is loaded."""
    if any(map(missing, modules)):
        raise MissingExtra(what, extra)


def missing(module: str) -> bool:
    """Return whether ``module`` is not installed."""
    return importlib.util.find_spec(module) is None


class NoBrowser(AuiError):
    """Tasks need a browser and the extra that drives it."""

    http_status = 501
    title = "No browser"

    def __init__(self, missing: str) -> None:
        install = f"{again_with('browser')}. Then " if "extra" in missing else ""
        super().__init__(f"Tasks need {missing}; {install}run: python -m playwright install chromium")


def lacking(error: BaseException) -> str:
    """Return what the machine lacks, in words, where that is why ``error`` was raised; else an empty string."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(lacking, error.exceptions)), "")
    words = str(error)
    if isinstance(error, MemoryError) or (isinstance(error, ImportError) and re.search(_MAPPING, words)):
        return "is not enough memory (ulimit -v)"
    if isinstance(error, RuntimeError) and "can't start new thread" in words:
        return "is no room for another thread: too many processes or too little memory (ulimit -u, ulimit -v)"
    return lacking(error.__cause__) if error.__cause__ else ""


_MAPPING: Final = "(?i)failed to map segment|cannot allocate memory|cannot map"
"""What the loader of shared objects says when there is no address space left."""
