#!/bin/sh
# Playwright 1.64.1 (npm playwright-core) on Chromium 153.0.8010.0 (npm @sparticuz/chromium 153.0.0): `ariaSnapshot` in its
# default mode puts a blank where a page has <br>; the mode "ai", which agents read, joins the words on both sides, so that
# three lines of an address become one word. The tree of the browser itself (Accessibility.getFullAXTree) has a node of the
# role LineBreak between the texts. Needs npm and node.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @sparticuz/chromium@153.0.0 playwright-core@1.64.1 >/dev/null 2>&1
cat > look.cjs <<'JS'
const packed = require("@sparticuz/chromium").default;
const { chromium } = require("playwright-core");
(async () => {
  const browser = await chromium.launch({ executablePath: await packed.executablePath(), args: packed.args });
  const page = await browser.newPage();
  await page.setContent("<p>Ada Berg<br>Wills<br>Harbour Street</p>");
  const line = text => text.split("\n").find(one => one.includes("paragraph")).replace(/ \[ref=\w+\]/, "").trim();
  console.log("default:", line(await page.locator("body").ariaSnapshot()));
  console.log("ai:", line(await page.locator("body").ariaSnapshot({ mode: "ai" })));
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const kinds = nodes.map(node => node.role.value).filter(kind => ["StaticText", "LineBreak"].includes(kind));
  console.log("tree:", kinds.join(" "));
  await browser.close();
})();
JS
node look.cjs > seen
cat seen
diff - seen <<'TEXT'
default: - paragraph: Ada Berg Wills Harbour Street
ai: - paragraph: Ada BergWillsHarbour Street
tree: StaticText LineBreak StaticText LineBreak StaticText
TEXT
