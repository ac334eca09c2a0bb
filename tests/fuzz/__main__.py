"""``python -m tests.fuzz [NAME ...] [--seconds N] [--seed N] [--save FOLDER]``: fuzz, guided by coverage.

Without names every target has its turn. Exit code 1 when an input broke something; it is printed and, with
``--save``, written to a file, which ``--replay FILE`` runs again without tracing.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from pathlib import Path

from tests.fuzz.guided import Fuzzer
from tests.fuzz.targets import SUBJECTS


def main() -> int:
    """Run the targets that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SUBJECTS))
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target (60)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--save", type=Path, help="folder for inputs that broke something")
    parser.add_argument("--replay", type=Path, help="run one saved input")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(SUBJECTS)
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are: {', '.join(SUBJECTS)}")
    broken = 0
    for name in chosen.names or SUBJECTS:
        subject = SUBJECTS[name]
        if chosen.replay:
            subject.run(chosen.replay.read_bytes())
            continue
        fuzzer = Fuzzer(subject.run, subject.seeds, subject.words, random.Random(f"{chosen.seed}{name}"))
        findings = fuzzer.run(seconds=chosen.seconds)
        print(
            f"{name:<8} {fuzzer.runs:>9,} inputs, {len(fuzzer.seen):>5,} steps reached, {len(fuzzer.corpus):>4} kept, "
            f"{len(findings)} broken  (--seed {chosen.seed})",
            flush=True,
        )
        for finding in findings:
            broken += 1
            print(f"  {finding.error}\n  {finding.data!r}")
            if chosen.save:
                chosen.save.mkdir(parents=True, exist_ok=True)
                (chosen.save / f"{name}-{hashlib.sha256(finding.data).hexdigest()[:12]}").write_bytes(finding.data)
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
