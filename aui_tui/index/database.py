"""SQLite connections of one database file: WAL, short waits, a schema version, one writer and a reader per thread."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from aui_tui.errors import ConfigError, Unavailable
from aui_tui.index import folder
from aui_tui.index.columns import views
from aui_tui.text import clean

VERSION: Final = 3
"""Schema version of this program, kept in ``PRAGMA user_version``."""

MIGRATIONS: Final[Mapping[int, str]] = MappingProxyType(
    {
        1: "CREATE TABLE visits (host TEXT PRIMARY KEY, at INTEGER NOT NULL, record BLOB NOT NULL) WITHOUT ROWID;\n",
        2: "ALTER TABLE scan ADD COLUMN plain INTEGER;",
    }
)
"""SQL that takes a database of version n to version n + 1."""

APPLICATION_ID: Final = 0x41554931
"""``AUI1``, kept in ``PRAGMA application_id``."""

PAGE: Final = 8192
LOG: Final = 32 * 1024 * 1024
"""Bytes of the write-ahead log at which it is written back."""
BUSY: Final = 0.25
"""Longest wait in seconds for another process's lock."""
MAPPED: Final = 1 << 30
CACHED: Final = 4096
"""KiB of pages that a reader keeps; the system's own cache makes up for more, and for mapping the file."""

CORRUPT, NOT_A_DATABASE = 11, 26
"""Primary result codes of SQLite for a damaged file."""


def is_damage(error: BaseException) -> bool:
    """Say whether ``error`` means that the file itself is damaged."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, sqlite3.DatabaseError) and code is not None and code & 0xFF in (CORRUPT, NOT_A_DATABASE)


class Database:
    """The database at ``path``: created when it is missing, set aside and started again when it is damaged.

    ``warnings`` holds sentences for the user, such as that a damaged file was set aside. Raises ConfigError when the
    file belongs to a newer program. A file that another process keeps locked is opened at a later use.
    """

    def __init__(
        self,
        path: Path,
        *,
        busy: float = BUSY,
        clock: Callable[[], float] = time.time,
        migrations: Mapping[int, str] = MIGRATIONS,
        version: int = VERSION,
    ) -> None:
        self.path = path
        self.warnings: list[str] = []
        self.generation = 0
        """Grows when the file is started again: nothing that was kept of the old one holds."""
        self._busy = busy
        self._clock = clock
        self._migrations = migrations
        self._version = version
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._lock = threading.RLock()
        self._writer: sqlite3.Connection | None = None
        self._reading = "mode=ro"
        self._file: tuple[int, int] | None = None
        self.read_only = path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        """This user may not write where the file is: it is read, and nothing is kept."""
        with suppress(Unavailable):
            self._open()

    def reader(self) -> sqlite3.Connection:
        """Return this thread's connection for reading: long lists are put in order in an unnamed file, not in memory.

        Raises Unavailable when the file cannot be opened.
        """
        if self._writer is None:
            self._open()
        self._local.used = self.generation
        found: tuple[int, sqlite3.Connection] | None = getattr(self._local, "reader", None)
        if found is None or found[0] != self.generation:
            connection = self._connect()
            connection.execute("PRAGMA query_only = 1")
            connection.execute("PRAGMA mmap_size = 0")
            connection.execute(f"PRAGMA cache_size = -{CACHED}")
            connection.execute("PRAGMA temp_store = 1")
            found = (self.generation, connection)
            self._local.reader = found
            with self._lock:
                self._readers.append(connection)
        return found[1]

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the one writing connection inside a transaction; commit at the end, roll back on any error.

        Raises Unavailable when the file cannot be opened, and whatever SQLite raises.
        """
        if self.read_only:
            raise Unavailable(
                f"Nothing can be saved: the folder of {clean(self.path.name)} is read-only for this user."
            )
        with self._lock:
            writer = self._open()
            self._local.used = self.generation
            if self._file != _identity(self.path):
                self._leave()
                raise Unavailable(
                    f"The index {clean(self.path.name)} was removed or replaced while it was in use; from now on the "
                    "new one is used."
                )
            with _transaction(writer):
                yield writer

    def explain(self, error: Exception, verb: str) -> Unavailable:
        """Return the error for the user after ``error``; a damaged file is set aside and started again.

        One that this or another process has set aside already is left for the new one.
        """
        if is_damage(error):
            with self._lock:
                before = len(self.warnings)
                if getattr(self._local, "used", self.generation) == self.generation:
                    with suppress(OSError, Unavailable):
                        self._begin_anew()
                if len(self.warnings) > before:
                    return Unavailable(self.warnings[-1])
        return Unavailable(f"The index {clean(self.path.name)} could not be {verb}: {clean(str(error), 120)}.")

    def close(self) -> None:
        """Close every connection; no thread may be using one."""
        with self._lock:
            for connection in (*self._readers, self._writer):
                if connection is not None:
                    connection.close()
            self._readers.clear()
            self._writer = None
            self._local = threading.local()

    def _open(self) -> sqlite3.Connection:
        with self._lock:
            if self._writer is None:
                try:
                    self._writer = self._prepare()
                except (sqlite3.Error, OSError) as error:
                    if not is_damage(error):
                        reason = clean(str(error), 120)
                        raise Unavailable(f"The index {clean(self.path.name)} cannot be used now: {reason}.") from None
                    self._begin_anew()
            assert self._writer is not None
            return self._writer

    def _leave(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self.generation += 1

    def _begin_anew(self) -> None:
        self._leave()
        if self._file != _identity(self.path):
            self._open()
            return
        if self.read_only:
            raise Unavailable(f"The index {clean(self.path.name)} is damaged, and read-only for this user.")
        aside = folder.set_aside(self.path, clock=self._clock)
        self.warnings.append(
            f"The index {clean(self.path.name)} was damaged: it was set aside as {clean(aside.name)} and a new one was "
            "started; a backup can take its place."
        )
        self._writer = self._prepare()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{quote(str(self.path))}?{self._reading}" if self.read_only else self.path,
            timeout=self._busy,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            uri=self.read_only,
        )
        connection.execute("PRAGMA foreign_keys = 1")
        connection.execute("PRAGMA trusted_schema = 0")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute(f"PRAGMA mmap_size = {MAPPED}")
        connection.execute("PRAGMA temp_store = 2")
        return connection

    def _prepare_reading(self) -> sqlite3.Connection:
        """Open a file that cannot be written to. Raises ConfigError for one of another version of this program."""
        try:
            connection = self._connect()
            version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.OperationalError:  # its log needs a file beside it that cannot be made
            self._reading = "immutable=1"
            connection = self._connect()
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            log = self.path.with_name(self.path.name + "-wal")
            if log.exists() and log.stat().st_size:
                self.warnings.append(
                    f"The index {clean(self.path.name)} is read-only; its newest scans may be missing."
                )
        if version != self._version:
            connection.close()
            raise ConfigError(
                f"The index {clean(str(self.path), 200)} is of another version of this program (schema {version}, not "
                f"{self._version}) and cannot be brought up to date, since it is read-only; copy the folder."
            )
        connection.execute("SELECT 1 FROM site LIMIT 1").fetchone()
        self._file = _identity(self.path)
        return connection

    def _prepare(self) -> sqlite3.Connection:
        if self.read_only:
            return self._prepare_reading()
        self._file = _identity(self.path)
        fresh = not self.path.exists() or self.path.stat().st_size == 0
        connection = self._connect()
        try:
            if fresh:
                self.path.chmod(0o600)
                connection.execute(f"PRAGMA page_size = {PAGE}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG // PAGE}")
            connection.execute(f"PRAGMA journal_size_limit = {LOG}")
            self._upgrade(connection)
            with suppress(sqlite3.OperationalError):  # locked: at a later opening
                _give_views(connection)
            connection.execute("SELECT 1 FROM site LIMIT 1").fetchone()
            self._file = _identity(self.path)
        except BaseException:  # ctrl+c too
            connection.close()
            raise
        return connection

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        """Create the tables, or bring those of an older program to this one's version."""
        if connection.execute("PRAGMA user_version").fetchone()[0] == self._version:
            return
        with _transaction(connection):
            version: int = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > self._version:
                raise ConfigError(
                    f"The index {clean(str(self.path), 200)} was written by a newer version of this program "
                    f"(schema {version}; this one knows up to {self._version})."
                )
            steps = [schema()] if version == 0 else [self._migrations[n] for n in range(version, self._version)]
            for step in steps:
                for statement in statements(step):
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {self._version}")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what the block writes at its end, roll it back on any error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:  # ctrl+c too
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def _give_views(connection: sqlite3.Connection) -> None:
    """Create the views of ``columns.views``, or replace those that another version of this program made."""
    wanted = {name: f"CREATE VIEW {name} AS {sql}" for name, sql in views().items()}
    found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'view'").fetchall()
    if wanted.items() <= dict(found).items():
        return
    with _transaction(connection):
        for name, sql in wanted.items():
            connection.execute(f"DROP VIEW IF EXISTS {name}")
            connection.execute(sql)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells the file at ``path`` from another one put in its place; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def schema() -> str:
    """Return the SQL that creates an empty index."""
    from importlib.resources import files

    return files("aui_tui.index").joinpath("schema.sql").read_text(encoding="utf-8")


def statements(script: str) -> Iterator[str]:
    """Yield the statements of an SQL script, which ``executescript`` would run outside our transaction."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
