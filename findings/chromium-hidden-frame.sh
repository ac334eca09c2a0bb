#!/bin/sh
# WAI-ARIA 1.2: an element is left out of the accessibility tree where aria-hidden=true stands on it or on an ancestor.
# Seen: Chromium 153.0.8010.0 (npm @sparticuz/chromium 153.0.0) leaves out the <iframe> that has it, but still gives a
# tree with every control of the document in the frame to who asks for the tree of that frame
# (Accessibility.getFullAXTree with frameId). The outline of Playwright 1.64.1 (npm playwright-core), which tools hand to
# agents, has neither.
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
  await page.setContent(`<!doctype html><title>Book</title><main><h1>Book</h1><div aria-hidden=true><button>Beside</button>
<iframe title=Dates srcdoc="<button>Choose a day</button>"></iframe></div></main>`);
  await page.frameLocator("iframe").getByText("Choose a day").waitFor();
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  for (const [name, id] of [["page", frameTree.frame.id], ["frame", frameTree.childFrames[0].frame.id]]) {
    const { nodes } = await session.send("Accessibility.getFullAXTree", { frameId: id });
    const told = nodes.filter(node => !node.ignored && ["button", "Iframe", "heading"].includes(node.role.value));
    console.log(`tree of the ${name}:`, told.map(node => `${node.role.value} ${node.name.value}`).join(", "));
  }
  console.log("outline:", (await page.locator("main").ariaSnapshot()).replace(/\s*\n\s*/g, " "));
  console.log(browser.version());
  await browser.close();
})();
JS
node look.cjs > seen
cat seen
diff - seen <<'TEXT'
tree of the page: heading Book
tree of the frame: button Choose a day
outline: - main: - heading "Book" [level=1]
153.0.8010.0
TEXT
