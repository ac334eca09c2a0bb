"""SQLite connections of one database file: WAL, short waits, a schema version, one writer and a reader per thread.

A file may come from anybody: it is opened with a schema that is not trusted, checked before anything is read from it,
and no value of it may be larger than LARGEST.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from aui_tui.errors import ConfigError, Unavailable
from aui_tui.index import folder
from aui_tui.index.schema import VERSION, is_ours, ours, schema, shape
from aui_tui.model.methods import REVISION
from aui_tui.text import clean

APPLICATION_ID: Final = 0x41554931
"""``AUI1``, kept in ``PRAGMA application_id``."""
PAGE: Final = 8192
LOG: Final = 32 * 1024 * 1024
"""Bytes of the write-ahead log at which it is written back."""
BUSY: Final = 0.25
"""Longest wait in seconds for another process's lock."""
CACHED: Final = 8 * 1024
"""KiB of pages that a connection keeps at most; the system's own cache makes up for more."""
LARGEST: Final = 64 * 1024 * 1024
"""Bytes of the largest value that is read or written."""
MEMORY: Final = 384 * 1024 * 1024
"""Bytes that SQLite may use in this process: it would load a key of an index whole, whatever LARGEST says."""
STEPS: Final = 20_000
"""Instructions of SQLite's machine between two questions whether to stop, about a millisecond."""
LONGEST: Final = 60.0
"""Seconds after which a question to the index is given up."""

DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
UNWRITABLE: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def code_of(error: BaseException) -> int:
    """Return the primary result code of an error of SQLite, 0 of another one."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def is_damage(error: BaseException) -> bool:
    """Say whether ``error`` means that the file itself is damaged."""
    return code_of(error) in DAMAGED


class Database:
    """The database at ``path``: created when it is missing, set aside and started again when it is damaged.

    ``warnings`` holds sentences for the user, such as that a damaged file was set aside. Raises ConfigError when the
    file is no index, or one of another version of this program. A file that another process keeps locked is opened at a
    later use.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        self.generation = 0
        """Grows when the file is started again: nothing that was kept of the old one holds."""
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._lock = threading.RLock()
        self._writer: sqlite3.Connection | None = None
        self._mode = ""
        self._file: tuple[int, int] | None = None
        self.read_only = path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        """This user may not write where the file is: it is read, and nothing is kept."""
        with suppress(Unavailable):
            self._open()

    def reader(self) -> sqlite3.Connection:
        """Return this thread's connection for reading. Raises Unavailable when the file cannot be opened."""
        if self._writer is None:
            self._open()
        self._local.used = self.generation
        opened: tuple[int, sqlite3.Connection] | None = getattr(self._local, "reader", None)
        if opened is None or opened[0] != self.generation:
            connection = self._connect(self._mode)
            connection.execute("PRAGMA query_only = 1")
            opened = self._local.reader = (self.generation, connection)
            with self._lock:
                self._readers.append(connection)
        return opened[1]

    @contextmanager
    def reading(
        self, stop: Callable[[], bool] | None = None, *, seconds: float = LONGEST
    ) -> Iterator[sqlite3.Connection]:
        """Give this thread's reader inside one transaction, so that all that is read belongs together.

        ``stop`` is asked about once a millisecond whether what is read is still wanted; after ``seconds`` it is given
        up. Raises Unavailable.
        """
        end = time.monotonic() + seconds
        try:
            db = self.reader()
            db.execute("BEGIN")
            db.set_progress_handler(lambda: (stop is not None and stop()) or time.monotonic() > end, STEPS)
            try:
                yield db
            finally:
                db.set_progress_handler(None, 0)
                if db.in_transaction:  # SQLite ends it itself when memory runs out
                    db.execute("COMMIT")
        except (sqlite3.Error, MemoryError) as error:
            raise self._explained(error, "read") from None

    def value(self, sql: str) -> object:
        """Return the one value of ``sql``, read by itself. Raises Unavailable."""
        try:
            return self.reader().execute(sql).fetchone()[0]
        except (sqlite3.Error, MemoryError) as error:
            raise self._explained(error, "read") from None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the one writing connection inside a transaction; commit at the end, roll back on any error.

        Raises Unavailable when the file cannot be written.
        """
        if self.read_only:
            raise Unavailable(
                f"Nothing can be saved: the folder of {clean(self.path.name)} is read-only for this user."
            )
        try:
            with self._lock:
                if self._mode:
                    self._leave()
                writer = self._open()
                if self._mode:
                    raise Unavailable("Nothing can be saved: the disk is full, or the index cannot be written now.")
                self._local.used = self.generation
                if self._file != _identity(self.path):
                    self._leave()
                    raise Unavailable(
                        f"The index {clean(self.path.name)} was removed or replaced while it was in use; from now on "
                        "the new one is used."
                    )
                with transaction(writer):
                    yield writer
        except (sqlite3.Error, OSError, MemoryError) as error:
            raise self._explained(error, "written") from None

    def close(self) -> None:
        """Close every connection; no thread may be using one."""
        with self._lock:
            for connection in (*self._readers, self._writer):
                if connection is not None:
                    connection.close()
            self._readers.clear()
            self._writer = None
            self._local = threading.local()

    def __del__(self) -> None:
        self.close()

    def _explained(self, error: Exception, verb: str) -> Unavailable:
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
        return self._failed(error, f"could not be {verb}")

    def _failed(self, error: Exception, what: str) -> Unavailable:
        reason = clean(error, 120) or "it takes too much memory"
        return Unavailable(f"The index {clean(self.path.name)} {what}: {reason}.")

    def _open(self) -> sqlite3.Connection:
        with self._lock:
            if self._writer is None:
                try:
                    self._writer = self._prepare_reading() if self.read_only else self._prepare()
                except (sqlite3.Error, OSError, MemoryError) as error:
                    if not is_damage(error):
                        raise self._failed(error, "cannot be used now") from None
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
        aside = folder.set_aside(self.path)
        self.warnings.append(
            f"The index {clean(self.path.name)} was damaged: it was set aside as {clean(aside.name)} and a new one was "
            "started; a backup can take its place."
        )
        self._writer = self._prepare()

    def _connect(self, mode: str = "") -> sqlite3.Connection:
        name = f"file:{quote(str(self.path))}{f'?{mode}' if mode else ''}"
        connection = sqlite3.connect(
            name, timeout=BUSY, isolation_level=None, check_same_thread=False, cached_statements=256, uri=True
        )
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
            connection.execute("PRAGMA trusted_schema = 0")
            connection.execute(f"PRAGMA hard_heap_limit = {MEMORY}")
            connection.execute(f"PRAGMA cache_size = -{CACHED}")
            connection.execute("PRAGMA temp_store = 2")  # a million hosts are put in order in 50 MB
            connection.create_function("now_ms", 0, lambda: round(time.time() * 1000), deterministic=True)
        except BaseException:  # ctrl+c too
            connection.close()
            raise
        return connection

    def _prepare(self) -> sqlite3.Connection:
        """Open the file for writing; where there is no room to write, for reading."""
        self._file = _identity(self.path)
        fresh = not self.path.exists() or self.path.stat().st_size == 0
        try:
            connection = self._connect()
            try:
                self._prepare_writing(connection, fresh=fresh)
            except BaseException:  # ctrl+c too
                connection.close()
                raise
        except sqlite3.OperationalError as error:
            if code_of(error) in UNWRITABLE and not fresh:
                return self._prepare_reading()
            raise
        self._file, self._mode = _identity(self.path), ""
        return connection

    def _prepare_writing(self, connection: sqlite3.Connection, *, fresh: bool) -> None:
        if fresh:
            self.path.chmod(0o600)
            connection.execute(f"PRAGMA page_size = {PAGE}")
        made = self._has_tables(connection)  # before anything is written to what may be no index
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {LOG // PAGE}")
        connection.execute(f"PRAGMA journal_size_limit = {LOG}")
        if not made:
            with transaction(connection):
                self._create(connection)

    def _prepare_reading(self) -> sqlite3.Connection:
        """Open a file that cannot be written to. Raises Unavailable for an empty one."""
        mode = "mode=ro"
        try:
            connection = self._connect(mode)
            made = self._has_tables(connection)
        except sqlite3.OperationalError:  # the log needs a file beside it that cannot be made
            mode = "immutable=1"
            connection = self._connect(mode)
            made = self._has_tables(connection)
            log = self.path.with_name(self.path.name + "-wal")
            if log.exists() and log.stat().st_size:
                self.warnings.append(
                    f"The index {clean(self.path.name)} is read-only; its newest scans may be missing."
                )
        if not made:
            connection.close()
            raise Unavailable(f"The index {clean(self.path.name)} is empty, and cannot be written now.")
        self._file, self._mode = _identity(self.path), mode
        return connection

    def _has_tables(self, connection: sqlite3.Connection) -> bool:
        """Say whether the file is an index of this version, or empty. Raises ConfigError for anything else."""
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        shown = f"The file {clean(self.path, 200)}"
        parts = shape(connection)
        if version == 0 and not parts:
            return False
        identity: int = connection.execute("PRAGMA application_id").fetchone()[0]
        if version <= 0 or identity != APPLICATION_ID:
            raise ConfigError(f"{shown} is not an index of this program (schema {version}).")
        if version != VERSION:
            raise ConfigError(
                f"{shown} was written by another version of this program (schema {version}, not {VERSION}): there "
                "“aui-tui export --cards -o cards.ndjson” writes its cards, and here “aui-tui import cards.ndjson” "
                "reads them into another folder (--data-dir DIR)."
            )
        strange = [name for name in parts if not is_ours(name, parts[name])]
        strange += [name for name in ours() if name not in parts and not name.startswith("view ")]
        if strange:
            raise ConfigError(f"{shown} is not an index of this program: its {clean(strange[0], 80)} is not ours.")
        connection.execute("SELECT 1 FROM site LIMIT 1").fetchone()
        return True

    def _create(self, connection: sqlite3.Connection) -> None:
        """Create the tables, unless another process has done so meanwhile."""
        if self._has_tables(connection):
            return
        for part in schema():
            connection.execute(part.sql)
        connection.execute("UPDATE meta SET revision = ?", (REVISION,))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
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


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells the file at ``path`` from another one put in its place; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
