#!/bin/sh
# robots.txt: a line between the User-agent lines of one group. By RFC 9309, 2.2.1, only a rule ends the names of a group,
# and a record that a parser does not know is passed over (2.2.4); so both crawlers below are disallowed.
# Seen: Protego 0.7.0 (PyPI) and robots-parser 3.0.1 (npm) begin another group after such a line, and the crawlers named
# before it may fetch everything. Without the line both read what RFC 9309 says.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python >/dev/null
python/bin/pip install --quiet --disable-pip-version-check protego==0.7.0 2>/dev/null
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund robots-parser@3.0.1 >/dev/null
cat > read.py <<'PY'
from protego import Protego
for line in ("", "Content-Signal: ai-train=no\n", "Crawl-delay: 5\n"):
    rules = Protego.parse(f"User-agent: GPTBot\n{line}User-agent: CCBot\nDisallow: /\n")
    print("Protego", [rules.can_fetch("https://shop.example/", name) for name in ("GPTBot", "CCBot")])
PY
cat > read.cjs <<'JS'
const parse = require('robots-parser')
for (const line of ['', 'Content-Signal: ai-train=no\n', 'Crawl-delay: 5\n']) {
  const rules = parse('https://shop.example/robots.txt', `User-agent: GPTBot\n${line}User-agent: CCBot\nDisallow: /\n`)
  console.log('robots-parser', ['GPTBot', 'CCBot'].map((name) => rules.isAllowed('https://shop.example/', name)).join(' '))
}
JS
python/bin/python read.py > seen
node read.cjs >> seen
cat seen
diff - seen <<'TEXT'
Protego [False, False]
Protego [True, False]
Protego [True, False]
robots-parser false false
robots-parser true false
robots-parser true false
TEXT
