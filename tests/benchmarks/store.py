"""Figures of the store at three sizes: ``python -m tests.benchmarks.store [--sizes 1000,100000,1000000] [--keep DIR]``.

Times are medians in milliseconds over many queries of one kind, hosts and cards made up by ``samples``.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import msgspec

from aui_tui.index.packed import Packed
from aui_tui.index.store import Store
from aui_tui.model.card import ReportCard
from aui_tui.model.codec import names_of
from aui_tui.model.observations import Observations
from aui_tui.model.query import Query
from aui_tui.model.vocabulary import CATEGORIES, STANCES
from tests.benchmarks.samples import START, host, scans

BATCH = 1000
TEMPLATES = 3000
GENUINE = 5000


def fill(store: Store, size: int) -> None:
    """Put ``size`` hosts into the index: the blobs of TEMPLATES graded scans under ever new hosts, names and times."""
    random_ = random.Random(7)
    templates = [Packed.of(card, seen) for card, seen in scans(min(TEMPLATES, size))]
    made = 0
    began = time.monotonic()
    while made < size:
        batch = []
        for number in range(made, min(made + 10 * BATCH, size)):
            scan = random_.choice(templates)
            name = host(random_, number)
            shown = name if random_.random() < 0.5 else name.split(".")[0]
            at = round((START - random_.random() * 30 * 86400) * 1000)
            columns = scan.columns | {"host": name, "name": shown, "folded": shown, "at": at}
            batch.append(msgspec.structs.replace(scan, columns=columns))
        store.put_packed(batch)
        made += len(batch)
        if size > 50_000 and made % 100_000 == 0:
            print(f"  filled {made:,} in {time.monotonic() - began:.0f} s", file=sys.stderr)


def median(work: Callable[[int], object], times: int) -> float:
    """Return the median time of ``work(n)`` for n below ``times``, in milliseconds."""
    taken = []
    for number in range(times):
        began = time.perf_counter()
        work(number)
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def filtered() -> Iterator[Query]:
    """Yield filtered queries in rank order, no two alike."""
    for stance in ("", *STANCES):
        for category in CATEGORIES:
            yield Query.of(stance=stance, category=category)


def terms() -> Iterator[Query]:
    """Yield queries with terms, no two alike."""
    slugs = names_of("matrix")
    for category in CATEGORIES:
        yield Query.of(category=category, line=f"agent:{slugs[2]}=walled -has:llms")
        yield Query.of(category=category, line="fix:jsonld edge:akamai")
        yield Query.of(stance="Selective", line=f"contradiction category:{category.split()[0]}")
        yield Query.of(line=f"score:<50 has:main category:{category.split()[0]}")


def first_rows(store: Store, query: Query) -> object:
    """Return the first page of ``query`` as the dashboard asks for it: before the counts where those take longer."""
    return (store.first_page(query) or store.index(query)).ranked[0:50]


def report(store: Store, size: int, seconds: float) -> dict[str, float]:
    """Return the figures of a filled store."""
    found: dict[str, float] = {}
    random_ = random.Random(3)
    plain, complex_ = list(filtered()), list(terms())
    views = [store.index(query) for query in plain]
    found["page of 50, filtered, by score"] = median(lambda n: views[n].ranked[0:50], len(views))
    found["  the same, counts and facets included"] = median(
        lambda n: store.index(msgspec.structs.replace(plain[n], line=" ")).ranked[0:50], len(plain)
    )
    deep = [random_.randrange(max(1, len(view.ranked) - 50)) for view in views]
    found["  the same, anywhere in the list"] = median(lambda n: views[n].ranked[deep[n] : deep[n] + 50], len(views))
    found["facets, category and stance"] = median(
        lambda n: store.index(msgspec.structs.replace(plain[n], line="  ")), len(plain)
    )
    found["facets, terms of the query line"] = median(lambda n: store.index(complex_[n]), len(complex_))
    listed = [store.index(query) for query in complex_]
    found["page of 50, terms of the query line"] = median(lambda n: listed[n].ranked[0:50], len(listed))
    hosts = [row.summary.host for row in store.index(Query()).ranked[0 : size // 2 : max(1, size // 400)]][:50]
    parts = [name[2:9] for name in hosts]
    found["substring of a host, first page"] = median(
        lambda n: store.index(Query.of(line=f'"{parts[n]}"')).ranked[0:50], len(parts)
    )
    common = [Query.of(line=line) for line in ("market", "arket", "hop", "store", "market4", "arket5")]
    found["common substring (market, hop), first rows"] = median(lambda n: first_rows(store, common[n]), len(common))
    found["  its counts and facets included"] = median(lambda n: store.index(common[n]).ranked[0:50], len(common))
    whole = store.index(Query()).ranked
    found["place of a host in the whole list"] = median(lambda n: whole.find(hosts[n]), len(hosts))
    found["overview"] = median(lambda n: store.overview(plain[n]), len(plain))
    found["one card"] = median(lambda n: store.get(hosts[n]), len(hosts))
    found["order by age, whole list"] = median(lambda n: store.index(Query.of(sort="age", descending=bool(n))), 2)
    began = time.perf_counter()
    other = Store(store.path)
    found["open"] = (time.perf_counter() - began) * 1000
    other.close()
    found["bytes per host on disk"] = sum(p.stat().st_size for p in store.path.parent.iterdir()) / size
    fresh = list(scans(GENUINE, seed=2 + size))
    found["new cards per second, batches of 1,000"] = rate(store, fresh)
    later = [(msgspec.structs.replace(card, scanned_at="2026-11-19T00:00:00.000Z"), seen) for card, seen in fresh]
    random_.shuffle(later)
    found["renewed cards per second, batches of 1,000"] = rate(store, later)
    found["seconds to fill"] = seconds
    return found


def rate(store: Store, many: list[tuple[ReportCard, Observations]]) -> float:
    """Return cards per second for genuine scans, packing included."""
    began = time.perf_counter()
    source = iter(many)
    while batch := list(islice(source, BATCH)):
        store.put_many(batch)
    return len(many) / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,100000,1000000")
    parser.add_argument("--keep", type=Path, help="folder in which filled indexes are kept and found again")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    table = {}
    with tempfile.TemporaryDirectory() as scratch, patch("time.time", lambda: START):
        for size in sizes:
            folder = (options.keep or Path(scratch)) / str(size)
            filled = (folder / "index.db").exists()
            folder.mkdir(parents=True, exist_ok=True)
            store = Store(folder / "index.db")
            began = time.monotonic()
            if not filled:
                fill(store, size)
            table[size] = report(store, size, time.monotonic() - began)
            store.close()
    names = list(table[sizes[0]])
    print(f"{'':44}" + "".join(f"{size:>14,}" for size in sizes))
    for name in names:
        print(f"{name:44}" + "".join(f"{table[size][name]:14,.2f}" for size in sizes))


if __name__ == "__main__":
    main()
