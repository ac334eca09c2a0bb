// Questions to a page. Elements are chosen by role and name beforehand; these functions only ask about one of them,
// or explain afterwards what an agent could not see. A line `//: name` begins a function. HIT, REACTS, HOVERS, OPERATED,
// SPOKEN, LABELLED, TICKS, DEEP, BOXED, BESIDE, EDITABLES, FOCUS and SERVES stand for `hit`, `reaction` and the functions of their names,
// HOVERED, GLIMPSE, REGION, ROOT, ABOVE, DIGITS, CURRENCY, LEAD, INERT and MARKED for `hovered`, `glimpse`, `region`, `root`, `above`,
// `digits`, `currency`, `lead`, `inert` and whether the markup calls something a search.

//: hit  Would a click at the centre of the first visible box reach the element? null: no box is in sight.
element => {
  const page = element.ownerDocument, view = page.defaultView;
  for (const box of element.getClientRects()) {
    let left = Math.max(0, box.left), top = Math.max(0, box.top);
    let right = Math.min(view.innerWidth, box.right), bottom = Math.min(view.innerHeight, box.bottom);
    for (let up = element.parentElement; up && up !== page.body && up !== page.documentElement; up = up.parentElement) {
      const style = view.getComputedStyle(up);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const clip = up.getBoundingClientRect();
      left = Math.max(left, clip.left); top = Math.max(top, clip.top);
      right = Math.min(right, clip.right); bottom = Math.min(bottom, clip.bottom);
    }
    if (right - left < 4 || bottom - top < 4) continue;
    const x = (left + right) / 2, y = (top + bottom) / 2;
    let hit = page.elementFromPoint(x, y);
    // closed roots are known from below alone
    const roots = new Map();
    for (let root = element.getRootNode(); root.host; root = root.host.getRootNode()) roots.set(root.host, root);
    while (hit && (hit.shadowRoot || roots.has(hit))) {
      const inner = (hit.shadowRoot || roots.get(hit)).elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    if (!hit) continue;
    for (let node = hit; node; node = node.assignedSlot || node.parentNode || node.host) if (node === element) return true;
    // a press on a text in a slot is one on what holds the slot, though the host of the text is told
    const range = page.createRange(), covers = part => part.left <= x && x <= part.right && part.top <= y && y <= part.bottom;
    const texts = [...element.querySelectorAll("slot")].flatMap(slot => slot.assignedNodes({ flatten: true })).filter(node => node.nodeType === 3);
    if (texts.some(node => (range.selectNode(node), node.parentElement === hit && [...range.getClientRects()].some(covers)))) return true;
    if (element.labels && [...element.labels].some(label => label.contains(hit))) return true;
    const link = hit.closest("a[href]");
    return !!(element.href && link && link.href === element.href);
  }
  return null;
}

//: reach  The same once it is scrolled into sight.
element => { element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" }); return (HIT)(element); }

//: hits  The same of several elements; null for one that has gone.
elements => { const reach = HIT; return elements.map(element => element && reach(element)); }

//: free  Whether a click reaches every link and control in sight; false where there is none.
() => {
  const reach = HIT, found = [], shown = "a[href],button,input,select,textarea,[role=button],[role=link],[role=tab]";
  const deep = root => {
    for (const inner of root.querySelectorAll("*")) {
      if (inner.matches(shown) && inner.checkVisibility({ visibilityProperty: true })) found.push(inner);
      if (inner.shadowRoot) deep(inner.shadowRoot);
      if (found.length > 500) return;
    }
  };
  deep(document);
  const hits = found.map(reach), inert = INERT;
  return hits.includes(true) && !hits.includes(false) && !inert();
}

//: over  The names of the buttons in what lies over the centre of the element.
element => {
  const box = element.getBoundingClientRect();
  let top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  while (top && top.parentElement && top.parentElement !== document.body && !top.parentElement.contains(element)) {
    top = top.parentElement;
  }
  const inside = top && !top.contains(element) ? [...top.querySelectorAll("button,[role=button],a[href]")] : [];
  return inside.map(button => button.innerText || button.getAttribute("aria-label") || button.title || "").filter(name => name);
}

//: operated  Whether an element is a control of the accessibility tree, or part of one.
element => (LABELLED)(element) || !!element.closest([..."a[href],area[href],button,input,select,textarea,summary".split(",").map(native => native +
  ":not([role=img],[role=image],[role=heading],[role=figure],[role=listitem],[role=group],[role=article],[role=status],[role=note])"),
  ...["button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
    "combobox", "slider", "spinbutton", "textbox", "searchbox", "treeitem", "gridcell"].map(role => `[role=${role}]`)].join())

//: spoken  Whether an element has a name in the accessibility tree: a text, a label, a title or an alternative text.
element => {
  const says = text => /[\p{L}\p{N}]/u.test(text || "");
  if (element.closest("[aria-hidden=true],[inert]")) return false;
  const drawn = part => ["::before", "::after"].some(side => /^"/.test(getComputedStyle(part, side).content) &&
    says(getComputedStyle(part, side).content.replace(/^.*" \/ /, "")));
  const every = [element, ...element.querySelectorAll("*")].filter(part => !part.closest("[aria-hidden=true]") &&
    (part.localName === "title" || part.checkVisibility({ visibilityProperty: true })));
  return says(element.value) || !!(element.labels && element.labels.length) || every.some(part => part.hasAttribute("aria-labelledby") ||
    ["aria-label", "alt", "title", "placeholder"].some(key => says(part.getAttribute(key))) || drawn(part) ||
    [...part.childNodes].some(child => child.nodeType === 3 && says(child.data)));
}

//: labelled  Whether an element is part of the label of a control that is displayed, which has the name; or of none.
element => { const label = element.closest("label"); return !!label && (!label.control || label.control.checkVisibility()); }

//: ticks  Whether an element is part of a label whose box is not displayed: then only a mouse ticks the box.
element => {
  const label = element.closest("label"), box = label && label.control;
  return !!box && ["checkbox", "radio"].includes(box.type) && !box.disabled && !box.checkVisibility({ visibilityProperty: true }) &&
    label.tabIndex < 0 && !element.closest("[role=button],[role=radio],[role=checkbox],[role=switch]");
}

//: boxed  Whether an element is drawn like a button or a field: a short text with an edge or a ground of its own.
element => {
  const style = getComputedStyle(element), box = element.getBoundingClientRect(), around = element.parentElement;
  if (box.height < 18 || box.height > 120 || [...element.querySelectorAll("p,ul,ol,table,h1")].some(part => part.checkVisibility())) return false;
  if ((element.innerText || element.textContent || "").trim().length >= 40) return false;
  return parseFloat(style.borderTopWidth) > 0 || style.backgroundImage !== "none" ||
    (!/, 0\)$|^transparent/.test(style.backgroundColor) && !!around && style.backgroundColor !== getComputedStyle(around).backgroundColor);
}

//: beside  What stands beside or around something hidden and is shown, and the short texts in it: what may unfold it.
(hidden, shown, live) => {
  const above = ABOVE;
  let top = hidden;
  while (above(top) && !above(top).matches("body,html") && !shown(above(top))) top = above(top);
  // the middle of what holds several things is none of them
  const parts = element => live(element) ? [] : [...element.querySelectorAll("*")].filter(inner => !inner.children.length &&
    inner.textContent.trim().length < 40 && shown(inner)).slice(0, 6);
  const [before, after] = [top.previousElementSibling, top.nextElementSibling].map(one => one && shown(one) ? one : null);
  return [before, after, above(top)].filter(one => one && shown(one)).concat([before, after].filter(Boolean).flatMap(parts));
}

//: serves  Whether an element is a mark beside the one control that is shown with it, or asks for help, or stands before a text
// that is folded and holds no control: the controls do without.
element => {
  const said = (element.textContent || "").trim(), around = element.parentElement;
  if (/^[?iⓘℹ]$/.test(said)) return true;
  const sentence = node => node.nodeType === 3 && node.data.trim().length >= 30, alike = one => one.children.length > 2 &&
    new Set([...one.children].map(inner => inner.tagName + inner.className)).size === 1;
  const folded = one => !!one && (!one.checkVisibility() || one.getBoundingClientRect().height < 4) && !alike(one) &&
    [one, ...one.querySelectorAll("*")].some(inner => [...inner.childNodes].some(sentence)) && !one.querySelector("input,select,textarea,button,li,[role]");
  if (said && [element, around].some(one => one && !one.matches("form") && folded(one.nextElementSibling))) return true;
  return !/[\p{L}\p{N}]/u.test(said) && !!around && !around.matches("form,body,main") &&
    [...around.querySelectorAll("input,select,textarea")].filter(control => control.checkVisibility({ visibilityProperty: true })).length === 1;
}

//: region  What holds the content of the page: the dialog over it, else the main region that is not left out, else all.
() => document.querySelector("dialog:modal") || [...document.querySelectorAll("main,[role=main]")].find(main =>
  !main.closest("[inert],[aria-hidden=true]") && main.checkVisibility()) || document.body

//: root  The shadow root of an element, a closed one too where `know-root` was told of it.
element => element.shadowRoot || (globalThis[Symbol.for("roots")] || new Map()).get(element)

//: above  The element around a node, around its shadow root, or around its frame; null where there is none.
node => node.parentElement || node.getRootNode().host || ((node.ownerDocument || {}).defaultView || {}).frameElement || null

//: hear  Let a page know which elements of a frame listen.
own => { Object.defineProperty(globalThis, Symbol.for("listeners"), { value: own, configurable: true }); }

//: listeners  Which elements listen, those of frames too where `hear` was told of them.
own => element => (((element.ownerDocument || element).defaultView || {})[Symbol.for("listeners")] || own)(element)

//: know-root  Let the other questions look into a closed shadow root; written as a method, since it is called on it.
function () {
  const key = Symbol.for("roots");
  if (!globalThis[key]) Object.defineProperty(globalThis, key, { value: new Map() });
  globalThis[key].set(this.host, this);
}

//: deep  The elements of the page that match, those of shadow roots and of frames of the same origin too.
(selector, from) => {
  const every = [], root = ROOT;
  const walk = part => {
    for (const inner of part.querySelectorAll("*")) {
      if (every.length >= 5000) return;
      if (inner.matches(selector)) every.push(inner);
      if (root(inner)) walk(root(inner));
      if (inner.localName === "iframe" && inner.contentDocument) walk(inner.contentDocument);
    }
  };
  walk(from || document);
  return every;
}

//: hovers  Whether an element listens to a pointer that comes near without pressing.
(listeners, element) => {
  const own = listeners(element);
  return ["mouseenter", "mouseover", "pointerenter", "pointerover", "touchmove"].some(kind => element.hasAttribute("on" + kind) || own[kind]);
}

//: hovered  The selectors of what a style sheet draws in another way, or draws something else beside, while a mouse is over it.
() => {
  const sheets = [...document.styleSheets].flatMap(sheet => { try { return [...sheet.cssRules]; } catch { return []; } });
  const shows = style => ["content", "display", "visibility", "opacity", "clipPath", "maxHeight", "height", "transform"].some(key => style[key]);
  const found = sheets.filter(rule => rule.selectorText && rule.selectorText.includes(":hover") && rule.style && shows(rule.style))
    .flatMap(rule => rule.selectorText.split(",").filter(part => part.includes(":hover")).map(part => part.split(":hover")[0].trim()));
  return found.filter(selector => selector && CSS.supports(`selector(${selector})`)).slice(0, 200);
}

//: reaction  Whether an element reacts to a mouse, a pen or a finger: by a listener of its own or the hand that it shows.
(listeners, element) => {
  const kinds = ["click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "drop"];
  const own = listeners(element);
  return kinds.some(kind => element.hasAttribute("on" + kind) || own[kind]) ||
    ["pointer", "grab"].includes(getComputedStyle(element).cursor);
}

//: prominent  The addresses of the links that are drawn like buttons.
() => [...document.querySelectorAll("a[href]")].filter(BOXED).map(link => link.href).slice(0, 200)

//: anchors  The places of the page that an address with # can lead to.
() => [...document.querySelectorAll("[id],a[name]")].map(element => element.id || element.name).slice(0, 5000)

//: unheard  What keeps an element that a person sees out of the accessibility tree; empty for one that nobody sees.
element => {
  const page = element.ownerDocument, view = page.defaultView, box = element.getBoundingClientRect();
  const away = box.width < 4 || box.height < 4 || box.right + view.scrollX <= 0 || box.bottom + view.scrollY <= 0 ||
    box.left + view.scrollX >= Math.max(page.documentElement.scrollWidth, view.innerWidth);
  if (away || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return "";
  return element.closest("[aria-hidden=true]") ? "aria-hidden" : element.closest("[inert]") ? "inert" : "the markup";
}

//: opener  Whether an element says that it opens something on the page.
element => element.tagName === "SUMMARY" || element.hasAttribute("aria-expanded") || element.hasAttribute("aria-controls") ||
  ![null, "false"].includes(element.getAttribute("aria-haspopup"))

//: end  Scroll to the end of the page, and let it draw; its height before, in heights of the window.
async () => {
  const root = document.scrollingElement || document.documentElement, was = root.scrollHeight;
  root.scrollTo(0, was);
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  return was / innerHeight;
}

//: back  Scroll to the beginning of the page.
() => { scrollTo({ left: 0, top: 0, behavior: "instant" }); }

//: eyes  The text of the page as it is laid out, which leaves out what is not displayed.
() => document.body.innerText.slice(0, 100000)

//: fits  Whether the whole page is in the window.
() => { const root = document.scrollingElement || document.documentElement; return root.scrollHeight <= innerHeight; }

//: hand  Whether the mouse shows a hand over an element.
element => ["pointer", "grab"].includes(getComputedStyle(element).cursor)

//: glimpse  A number that is another one where the page shows something else; null where a frame keeps its own to itself.
() => {
  const deep = DEEP, root = ROOT, every = deep("*"), said = [location.href, document.title, document.documentElement.outerHTML];
  for (const element of every) {
    if (element.localName === "iframe" && !element.contentDocument) return null;
    if (element.localName === "iframe") said.push(element.contentDocument.documentElement.outerHTML);
    if (root(element)) said.push(root(element).innerHTML);
    const box = element.getBoundingClientRect(), view = element.ownerDocument.defaultView;
    const shown = element.checkVisibility({ visibilityProperty: true });
    said.push(shown && box.width > 0 && box.height > 0 ? 2 : +shown);
    if ("value" in element) said.push(element.value, element.checked, element.selectedIndex);
    if (!shown) continue;
    for (const side of ["::before", "::after"]) {
      const drawn = view.getComputedStyle(element, side).content;
      if (drawn !== "none" && drawn !== "normal") said.push(drawn);
    }
  }
  // two hashes of 32 bits each (cyrb53), since only whether it is the same is asked
  let left = 0xdeadbeef, right = 0x41c6ce57;
  for (const part of said) {
    const text = String(part) + "\n";
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      left = Math.imul(left ^ code, 2654435761);
      right = Math.imul(right ^ code, 1597334677);
    }
  }
  return `${left >>> 0} ${right >>> 0}`;
}

//: focused  Whether the page shows something else once any of the elements has the focus; null where that cannot be seen.
elements => {
  const glimpse = GLIMPSE, first = glimpse();
  return first === null ? null : elements.some(element => { element.focus(); return glimpse() !== first; });
}

//: after  Wait for what an input brings about: two frames, and more while the page moves, `most` milliseconds at most; its glimpse then.
async most => {
  const glimpse = GLIMPSE, end = performance.now() + most, calm = window[Symbol.for("rest")];
  let stirred = false;
  const watch = new MutationObserver(() => { stirred = true; });
  watch.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
  const frame = () => new Promise(done => { requestAnimationFrame(done); scheduler.postTask(done, { delay: 50 }); });
  const due = () => { const rest = calm ? calm() : null; return rest === null || rest < 0; };
  const shows = key => /^(display|visibility|content-?visibility|(max|min)?-?(height|width))$/i.test(key);
  const turns = one => one.transitionProperty ? shows(one.transitionProperty) : one.effect.getKeyframes().some(frame => Object.keys(frame).some(shows));
  const moves = () => document.getAnimations().some(one => one.playState === "running" && one.effect.getComputedTiming().endTime < Infinity && turns(one));
  for (let still = 0; still < 2 && performance.now() < end;) {
    await frame();
    still = stirred || due() || moves() ? 0 : still + 1;
    stirred = false;
  }
  watch.disconnect();
  return glimpse();
}

//: closed  Whether a node lies in a closed shadow root.
node => {
  for (let root = node.getRootNode(); root.host; root = root.host.getRootNode()) if (root.mode === "closed") return true;
  return false;
}

//: place  Where the element lies.
element => { const box = element.getBoundingClientRect(); return [box.left + scrollX, box.top + scrollY]; }

//: begun  Wait until the document has a body, or can get none.
() => new Promise(done => {
  const begun = () => document.body || document.readyState !== "loading";
  if (begun()) { done(true); return; }
  const watch = new MutationObserver(() => { if (begun()) { watch.disconnect(); done(true); } });
  watch.observe(document, { childList: true, subtree: true });
  document.addEventListener("readystatechange", () => done(true), { once: true });
})

//: state  Whether the document is complete and its scripts are at rest, which `at_once` does not ask, for how long, and its title.
async at_once => {
  // Chromium 156 has no idle time after a press that draws nothing, until a frame is drawn
  const idle = done => requestIdleCallback(at => done(!at.didTimeout), { timeout: 300 });
  const rest = at_once || await new Promise(done => {
    requestAnimationFrame(() => idle(done));
    scheduler.postTask(() => idle(done), { delay: 50 });
  });
  const calm = window[Symbol.for("rest")];
  return { ready: rest && document.readyState === "complete", title: document.title, rest: calm ? calm() : null };
}

//: shut-frames  Hide the frames that hold the outline up: those that the fence keeps from loading, or all of them.
all => {
  const barred = frame => !/^(https?|about|blob|data|javascript):/.test(new URL(frame.src || "about:blank", location).href);
  const found = [...document.querySelectorAll("iframe,frame,object,embed")]
    .filter(frame => frame.style.display !== "none" && (all || (frame.src && barred(frame))));
  for (const frame of found) frame.style.display = "none";
  return found.length > 0 || !all;
}

//: calm  Wait until the document is complete and has not changed for so many milliseconds, and for as many at most.
async ([calm, most]) => {
  const end = performance.now() + most, rest = window[Symbol.for("rest")];
  for (let at = -1; at < calm && performance.now() < end;) {
    at = document.readyState !== "complete" ? -1 : rest ? rest() ?? calm : calm;
    if (at < calm) await new Promise(done => scheduler.postTask(done, { delay: 20 }));
  }
}

//: snippet  The start tag of an element.
element => element.cloneNode(false).outerHTML

//: keep  Keep the element that this is asked of for the next question; written as a method, since it is called on it.
function (key) {
  const value = this.nodeType === 3 ? (ABOVE)(this) : this;
  Object.defineProperty(globalThis, Symbol.for(key), { value, configurable: true });
}

//: kept  The element that was kept.
name => { const key = Symbol.for(name), kept = globalThis[key]; delete globalThis[key]; return kept || null; }

//: tools  The names of the WebMCP tools that the page has registered; null where the browser has no WebMCP for it.
async () => {
  const context = document.modelContext || navigator.modelContext;
  return context && context.getTools ? (await context.getTools()).map(tool => String(tool.name)).slice(0, 50) : null;
}

//: jsonld  All JSON-LD of the page as one text.
() => [...document.querySelectorAll('script[type="application/ld+json" i]')]
  .map(script => script.textContent).join("\n").slice(0, 200000)

//: may-close  Whether an element of a script's own says nothing, as one does that keeps its shadow root to itself.
() => [...document.querySelectorAll("*")].some(element => element.localName.includes("-") && !element.shadowRoot && customElements.get(element.localName) &&
  !(element.textContent || "").trim())

//: inert  Whether a part of the page that is shown and says something is inert.
() => [...document.querySelectorAll("[inert]")].some(part => part.checkVisibility({ visibilityProperty: true }) && (part.textContent || "").trim().length > 100)

//: priced  Whether the page holds a price, shown or not: in a text, a style or an attribute; or may draw or write one.
([price, takes]) => {
  const cost = new RegExp(price), had = new RegExp(takes, "i"), deep = DEEP, root = ROOT, every = deep("*");
  const kept = ["aria-label", "alt", "title", "value", "content", "placeholder"];
  const written = [...document.scripts].map(script => script.textContent);
  const said = [written.reduce((text, script) => text.replace(script, ""), document.documentElement.textContent)];
  for (const element of every) {
    if (element.localName === "canvas" || (element.localName === "iframe" && !element.contentDocument)) return true;
    if (element.localName === "iframe") said.push(element.contentDocument.documentElement.textContent);
    if (element.localName === "template") said.push(element.content.textContent);
    if (root(element)) said.push(root(element).textContent);
    for (const { name, value } of element.attributes) if (kept.includes(name) || name.startsWith("data-")) said.push(value);
  }
  // a script puts it together: a sign of a currency apart from the amount, or markup with something to be had
  const scripts = written.join("\n").slice(0, 200000);
  if (/[€£¥￥₹₩₽₺₴₪฿₫]|["'`]\$["'`]|\$\$\{|\b(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN)\b/.test(scripts)) return true;
  if ([...scripts.matchAll(/>([^<>{}]{2,40})</g)].some(part => had.test(part[1]))) return true;
  // a dollar and one digit stand for an argument there
  said.push(scripts.replace(/\$\d(?![\d.,])/g, ""));
  return cost.test(said.join("\n").slice(0, 500000));
}

//: unshown  Whether a text or a link of the page that is not shown is a way to get in touch: what matches, an address or a number.
ways => {
  const about = new RegExp(ways, "i"), hidden = element => !element.checkVisibility({ visibilityProperty: true });
  if ([...document.querySelectorAll("a[href^='mailto:'],a[href^='tel:']")].some(hidden)) return true;
  const may = /@|[\[(](?:at|ät)[\])]|\d(?:[\s().\/-]{0,3}\d){4}/i;
  if (!may.test(document.body.textContent)) return false;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(), seen = 0; node && seen < 20000; node = walk.nextNode(), seen++) {
    if (node.data.length < 6 || !may.test(node.data)) continue;
    if (node.parentElement.closest("script,style,noscript,textarea") || !hidden(node.parentElement)) continue;
    // the word before a number may stand in an element of its own
    const around = node.parentElement.parentElement.textContent;
    if (about.test(node.data.slice(0, 2000)) || (around.length < 200 && about.test(around))) return true;
  }
  return false;
}

//: marks  What the markup calls an element and what it holds.
element => [element, ...element.querySelectorAll("*")].flatMap(part => [...part.attributes].filter(one => !["d", "style", "points", "viewBox"].includes(one.name))
  .map(one => one.value)).join(" ").replace(/[_-]/g, " ").slice(0, 600)

//: readings  The text and headings of the page as it is, and of its HTML as sent, parsed without running anything.
raw => {
  const skipped = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "TEXTAREA", "SELECT", "DATALIST", "IFRAME",
    "OBJECT"]);
  const inline = new Set(["A", "ABBR", "B", "BDI", "BDO", "CITE", "CODE", "DATA", "DEL", "EM", "FONT", "I", "INS", "KBD",
    "LABEL", "MARK", "Q", "S", "SAMP", "SLOT", "SMALL", "SPAN", "STRONG", "SUB", "SUP", "TIME", "U", "VAR", "WBR"]);
  const read = (root, live) => {
    const out = [], headings = [];
    let length = 0;
    const hidden = element => skipped.has(element.tagName) || element.getAttribute("aria-hidden") === "true" ||
      element.hidden || (live && element !== document.body && getComputedStyle(element).display !== "contents" &&
        !element.checkVisibility({ visibilityProperty: true }));
    const children = element => {
      if (element.shadowRoot) return element.shadowRoot.childNodes;
      const given = element.tagName === "SLOT" ? element.assignedNodes() : [];
      return given.length ? given : element.childNodes;
    };
    const walk = node => {
      if (length > 400000) return;
      if (node.nodeType === 3) { out.push(node.nodeValue); length += node.nodeValue.length; return; }
      if (node.nodeType !== 1 || hidden(node)) return;
      const begin = out.length;
      if (!inline.has(node.tagName)) out.push("\n");
      for (const child of children(node)) walk(child);
      if (!inline.has(node.tagName)) out.push("\n");
      if (/^H[1-6]$/.test(node.tagName) || node.getAttribute("role") === "heading") headings.push(out.slice(begin).join(""));
    };
    if (root) walk(root);
    return { text: out.join(""), headings };
  };
  const sent = new DOMParser().parseFromString(raw, "text/html");
  return { live: read(document.body, true), sent: read(sent.body, false) };
}
