#!/bin/sh
# HTML: an <a> without href is a placeholder, no link (HTML Living Standard 4.5.1), and HTML-AAM gives it the role generic.
# Seen: Chromium 153.0.8010.0 (npm @sparticuz/chromium 153.0.0) puts it into the accessibility tree as a link once it has
# a click listener of its own, though Tab does not reach it; a listener of its parent does not do that. What stands under
# aria-hidden comes back into that tree as soon as it has the focus. The outline of Playwright 1.64.1 (npm
# playwright-core), which tools hand to agents, has neither.
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
  await page.setContent(`<!doctype html><title>Books</title><main><a>Plain</a> <a id=own>Own</a>
<p id=list><a>Of the list</a></p><div aria-hidden=true><button id=held>Held</button></div></main>
<script>own.addEventListener("click", () => {}); list.addEventListener("click", () => {})</script>`);
  const session = await page.context().newCDPSession(page);
  const show = async when => {
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    const controls = nodes.filter(node => !node.ignored && ["link", "button"].includes(node.role.value));
    console.log(when, "tree:", controls.map(node => `${node.role.value} ${node.name.value}`).join(", "));
    console.log(when, "outline:", (await page.locator("main").ariaSnapshot()).replace(/\s*\n\s*/g, " "));
  };
  console.log(browser.version());
  await show("loaded");
  await page.keyboard.press("Tab");
  console.log("Tab reaches:", await page.evaluate("document.activeElement.textContent"));
  await show("focused");
  await browser.close();
})();
JS
node look.cjs > seen
cat seen
diff - seen <<'TEXT'
153.0.8010.0
loaded tree: link Own
loaded outline: - main: - text: Plain Own - paragraph: Of the list
Tab reaches: Held
focused tree: link Own, button Held
focused outline: - main: - text: Plain Own - paragraph: Of the list
TEXT
