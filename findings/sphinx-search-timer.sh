#!/bin/sh
# HTML standard, "Timers": a script may set a timer again in each of its calls, so that some timer is always due.
# Seen: the search page of Sphinx 9.0.4 (theme basic) moves dots while it searches, by a timer of half a second that its
# script stops once the results stand there. The call that is still due then counts from -1 to 0, which means "go on":
# the dots are gone and the timer goes on for ever, so that who waits until nothing is due waits in vain. Chromium
# 153.0.8010.0 (npm @sparticuz/chromium 153.0.0), Playwright 1.64.1 (npm playwright-core). Needs python3, npm and node.
set -eu
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
server=
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check sphinx==9.0.4 2>/dev/null
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @sparticuz/chromium@153.0.0 playwright-core@1.64.1 >/dev/null 2>&1
mkdir book
echo "project = 'Harbour'; html_theme = 'basic'" > book/conf.py
printf 'Harbour\n=======\n\nA lantern by the water.\n' > book/index.rst
python/bin/sphinx-build -q book site
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python3 -m http.server --bind 127.0.0.1 --directory site "$port" >server.log 2>&1 &
server=$!
cat > look.cjs <<'JS'
const packed = require("@sparticuz/chromium").default;
const { chromium } = require("playwright-core");
(async () => {
  const browser = await chromium.launch({ executablePath: await packed.executablePath(), args: packed.args });
  const page = await browser.newPage();
  await page.addInitScript(() => {
    window.due = [];
    const set = window.setTimeout;
    window.setTimeout = (work, wait, ...rest) => { window.due.push(wait); return set(work, wait, ...rest); };
  });
  await page.goto(process.argv[2], { waitUntil: "load", timeout: 60000 });
  await page.getByText("Search finished").waitFor();
  await page.waitForTimeout(1500);
  await page.evaluate(() => { window.due.length = 0; });
  await page.waitForTimeout(4000);
  const due = await page.evaluate(() => window.due);
  console.log(await page.locator("#search-results h2").innerText());
  console.log("timers of 500 ms after that:", due.filter(wait => wait === 500).length >= 4 ? "they go on" : "none");
  await browser.close();
})();
JS
for _ in 1 2 3 4 5 6 7 8 9 10; do python3 -c "import urllib.request as r; r.urlopen('http://127.0.0.1:$port/search.html')" 2>/dev/null && break; sleep 0.5; done
node look.cjs "http://127.0.0.1:$port/search.html?q=lantern" > seen
cat seen
diff - seen <<'TEXT'
Search Results
timers of 500 ms after that: they go on
TEXT
