// Questions to a page. Elements are chosen by role and name beforehand; these functions only ask about one of them,
// or explain afterwards what an agent could not see. A line `//: name` begins a function. HIT, REACTS, HOVERS, OPERATED,
// SPOKEN, LABELLED, TICKS, DEEP, BOXED, BESIDE and SERVES stand for `hit`, `reaction` and the functions of their names,
// HOVERED and MARKED for `hovered` and whether the markup calls something a search.

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
    if (element.labels && [...element.labels].some(label => label.contains(hit))) return true;
    const link = hit.closest("a[href]");
    return !!(element.href && link && link.href === element.href);
  }
  return null;
}

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
  const hits = found.map(reach);
  return hits.includes(true) && !hits.includes(false);
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
element => !!element.closest(["a[href]", "area[href]", "button", "input", "select", "textarea", "label", "summary",
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

//: labelled  Whether an element is part of the label of a control that is displayed: the control has the name.
element => !!element.closest("label")?.control?.checkVisibility()

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
  const above = node => node.parentElement || node.getRootNode().host;
  let top = hidden;
  while (above(top) && !above(top).matches("body,html") && !shown(above(top))) top = above(top);
  // the middle of what holds several things is none of them
  const parts = element => live(element) ? [] : [...element.querySelectorAll("*")].filter(inner => !inner.children.length &&
    inner.textContent.trim().length < 40 && shown(inner)).slice(0, 6);
  const [before, after] = [top.previousElementSibling, top.nextElementSibling].map(one => one && shown(one) ? one : null);
  return [before, after, above(top)].filter(one => one && shown(one)).concat([before, after].filter(Boolean).flatMap(parts));
}

//: serves  Whether an element is a mark beside the one control that is shown with it, or asks for help: the control does without.
element => {
  const said = (element.textContent || "").trim(), around = element.parentElement;
  if (/^[?iⓘℹ]$/.test(said)) return true;
  return !/[\p{L}\p{N}]/u.test(said) && !!around && !around.matches("form,body,main") &&
    [...around.querySelectorAll("input,select,textarea")].filter(control => control.checkVisibility({ visibilityProperty: true })).length === 1;
}

//: deep  The elements of the page that match, those of open shadow roots and of frames of the same origin too.
(selector, from) => {
  const every = [];
  const walk = root => {
    for (const inner of root.querySelectorAll("*")) {
      if (every.length >= 5000) return;
      if (inner.matches(selector)) every.push(inner);
      if (inner.shadowRoot) walk(inner.shadowRoot);
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
  const kinds = ["click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "drop"];
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

//: hand  Whether the mouse shows a hand over an element.
element => ["pointer", "grab"].includes(getComputedStyle(element).cursor)

//: glimpse  A text that is another one where the page shows something else.
() => {
  const deep = DEEP, shown = deep("*").filter(element => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }));
  return [location.href, shown.length, document.body.innerText, ...shown.filter(element => !element.children.length).map(element => element.textContent)].join();
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

//: state  Whether the document is complete and its scripts are at rest, for how long, and its title.
async () => {
  const rest = await new Promise(done => requestIdleCallback(at => done(!at.didTimeout), { timeout: 300 }));
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

//: snippet  The start tag of an element.
element => element.cloneNode(false).outerHTML

//: keep  Keep the element that this is asked of for the next question; written as a method, since it is called on it.
function (key) {
  const value = this.nodeType === 3 ? this.parentElement : this;
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

//: pictures  Pictures of the main region without any alt text, and canvases without text; small ones are decoration.
() => {
  const main = document.querySelector("main,[role=main]") || document.body;
  const shown = element => {
    const box = element.getBoundingClientRect();
    return element.checkVisibility() && box.width >= 24 && box.height >= 12 && !element.closest("[aria-hidden=true],[role=presentation],[role=none]");
  };
  return {
    pictures: [...main.querySelectorAll("img")].filter(image => shown(image) && !image.hasAttribute("alt") &&
      !image.getAttribute("aria-label") && !image.title).length,
    canvases: [...main.querySelectorAll("canvas")].filter(canvas => shown(canvas) && !canvas.textContent.trim() &&
      !canvas.getAttribute("aria-label")).length,
  };
}

//: drawn  What shows a short text as a drawing, as the end of a sentence: in the size of a line, by what its markup, its file or
// the words beside it say (`marks`), or by its place. `alone`: the one of that size tells whatever stands before it; else it
// must end a sentence or follow what matches.
([marks, alone]) => {
  const deep = DEEP, about = new RegExp(marks, "i"), text = element => (element.textContent || "").trim();
  const said = element => /\d/.test([element, ...element.querySelectorAll("*")].map(part => [part.textContent, part.getAttribute("aria-label"), part.getAttribute("alt"), part.title].join()).join());
  const drawn = element => element.matches("img,svg,canvas,object,picture") || ["", "::before", "::after"].some(side => {
    const style = getComputedStyle(element, side || null);
    return /url\(/.test(style.backgroundImage + style.maskImage + (side ? style.content : ""));
  });
  const box = element => element.getBoundingClientRect(), main = document.querySelector("main,[role=main]") || document.body;
  // a picture that did not come shows nothing
  const shown = deep("*", main).filter(element => element.checkVisibility({ visibilityProperty: true }) && box(element).height >= 10 && !said(element) &&
    (element.localName !== "img" || element.naturalWidth > 0) && !element.closest("svg *,a[href],button,[role=button],nav,header,footer"));
  const named = element => !!element.closest("[aria-label]:not([aria-label='']),[title]:not([title=''])") || !!element.getAttribute("alt") || !!element.querySelector("title");
  const line = element => box(element).height >= 12 && box(element).height <= 80 && box(element).width >= 2 * box(element).height && box(element).width <= 400;
  const shaped = shown.filter(element => drawn(element) && line(element) && !named(element) && !text(element) && (element.localName === "svg" || !element.children.length) &&
    !element.closest("[aria-hidden=true],[role=presentation],[role=none]"));
  const file = element => (element.getAttribute("src") || "").replace(/^data:.*|#.*$/, "").split("/").pop();
  const marked = element => ["id", "class", "itemprop"].map(key => element.getAttribute(key) || "").concat(file(element)).some(one => about.test(one));
  const before = element => element.previousSibling && element.previousSibling.nodeType === 3 ? element.previousSibling.data.trim() : "";
  const above = element => element.previousElementSibling || element.parentElement.previousElementSibling;
  // several alike are decoration
  const ends = element => {
    const one = above(element), said = one && !one.matches("h1") ? text(one) : "";
    return /[\p{L}:]$/u.test(before(element)) || (!!said && (one.matches("h2,h3,h4,h5,h6,dt,th,td,label") ? about.test(said) : /[\p{L}:：]$/u.test(said)));
  };
  const labels = element => [before(element), above(element) && !above(element).matches("h1") ? text(above(element)) : ""].some(said => said.length < 40 && about.test(said));
  const row = element => element.children.length > 4 && [...element.children].every(part => shown.includes(part) && drawn(part) && !part.children.length && box(part).height <= 80);
  // digits as pictures beside a currency
  const sum = element => element.children.length > 1 && [...element.children].filter(part => shown.includes(part) && drawn(part) && box(part).width <= 40).length > 1 &&
    /^(?:\p{Sc}|zł|kr|Kč|Ft|lei|CHF|EUR|USD|GBP|円|元|руб)\.?$/u.test(text(element));
  const inside = element => [element, ...element.querySelectorAll("*")].some(part => shaped.includes(part));
  const found = shown.find(row) || (alone && shown.find(sum)) || shown.find(element => marked(element) && text(element).length < 60 && inside(element)) ||
    shaped.find(labels) || (shaped.length === 1 && (alone || ends(shaped[0])) && shaped[0]);
  return found ? `; what is drawn by ${found.cloneNode(false).outerHTML.slice(0, 100)} has no text` : "";
}

//: drawings  Start tags of what the main region draws without a text or a name, decoration too, the largest first: `drawing`
// and its number bring one into sight.
() => {
  const deep = DEEP, main = document.querySelector("main,[role=main]") || document.body;
  const box = element => element.getBoundingClientRect(), says = text => /[\p{L}\p{N}]/u.test(text || "");
  const drawn = element => element.matches("img,canvas,svg,object,picture") || /url\(/.test(getComputedStyle(element).backgroundImage);
  const chosen = deep("*", main).filter(element => box(element).width >= 80 && box(element).height >= 14 && drawn(element) &&
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !element.closest("nav,svg *,a[href],button,[role=button]") &&
    ![element.textContent, element.getAttribute("aria-label"), element.getAttribute("alt"), element.title].some(says) && !element.hasAttribute("aria-labelledby"));
  chosen.sort((left, right) => box(right).width * box(right).height - box(left).width * box(left).height);
  Object.defineProperty(globalThis, Symbol.for("drawings"), { value: chosen, configurable: true });
  return chosen.slice(0, 8).map(element => element.cloneNode(false).outerHTML.slice(0, 80));
}

//: drawing  Bring a drawing of that number into sight; the part of the page in which it is seen.
at => {
  const element = globalThis[Symbol.for("drawings")][at];
  element.scrollIntoView({ block: "center", behavior: "instant" });
  const box = element.getBoundingClientRect();
  const left = Math.max(0, box.left), top = Math.max(0, box.top);
  const width = Math.min(innerWidth, box.right) - left, height = Math.min(innerHeight, box.bottom) - top;
  return width >= 40 && height >= 12 ? [left + scrollX, top + scrollY, width, height] : null;
}

//: lettered  Whether a PNG image shows lines of letters: on a ground of one colour, bands of ink of the height of a line, each
// parted into letters.
async data => {
  const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), one => one.charCodeAt(0))], { type: "image/png" }));
  const { width, height } = image, context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = context.getImageData(0, 0, width, height).data, counts = new Map();
  const key = at => (pixels[at] >> 4 << 8) | (pixels[at + 1] >> 4 << 4) | (pixels[at + 2] >> 4);
  for (let at = 0; at < pixels.length; at += 4) counts.set(key(at), (counts.get(key(at)) || 0) + 1);
  const [ground, often] = [...counts].reduce((most, one) => one[1] > most[1] ? one : most);
  if (often < 0.5 * width * height) return false;
  const colour = [ground >> 8, ground >> 4 & 15, ground & 15].map(part => part * 16 + 8);
  const ink = new Uint8Array(width * height);
  for (let at = 0; at < ink.length; at++) {
    ink[at] = Math.abs(colour[0] - pixels[4 * at]) + Math.abs(colour[1] - pixels[4 * at + 1]) + Math.abs(colour[2] - pixels[4 * at + 2]) > 120;
  }
  const differs = (x, y) => ink[y * width + x] > 0;
  const range = length => [...Array(length).keys()], columns = range(width), rows = range(height);
  // a line from edge to edge, or nearly so, is a frame
  const most = (many, inks) => many.filter(inks).length > 0.9 * many.length;
  const across = new Set(columns.filter(x => most(rows, y => differs(x, y)))), along = new Set(rows.filter(y => most(columns, x => differs(x, y))));
  const inked = (x, y) => x >= 0 && !across.has(x) && !along.has(y) && differs(x, y);
  const groups = flags => flags.reduce((found, flag, at) => {
    if (flag && !flags[at - 1]) found.push([at, at]);
    if (flag) found[found.length - 1][1] = at;
    return found;
  }, []);
  const bands = groups(rows.map(y => columns.some(x => inked(x, y)))).filter(([from, to]) => to - from >= 4);
  const letters = bands.filter(([from, to]) => {
    const high = to - from + 1, band = range(high).map(row => from + row);
    const parts = groups(columns.map(x => band.some(y => inked(x, y)))), wide = parts[parts.length - 1][1] - parts[0][0] + 1;
    const strokes = Math.max(...band.map(y => columns.filter(x => inked(x, y) && !inked(x - 1, y)).length));
    // letters stand apart and are of several widths, unlike waves, dots and dashes
    const widths = new Set(parts.map(([left, right]) => right - left));
    return high <= 60 && wide >= 3 * high && strokes >= 10 && parts.length >= 6 && widths.size >= 3;
  });
  return letters.length > 0 && letters.length > 0.6 * bands.length;
}

//: drawn-beside  The start tag of what is drawn in the shape of a short text, in several parts of the page that have a heading
// and a control of a name that matches `takes` and say no `price`; empty without it.
([takes, price]) => {
  const said = new RegExp(takes, "i"), cost = new RegExp(price), main = document.querySelector("main,[role=main]") || document.body;
  const box = element => element.getBoundingClientRect(), name = element => element.innerText || element.value || element.getAttribute("aria-label") || "";
  const takers = [...main.querySelectorAll("button,a[href],[role=button],input[type=submit]")].filter(element => element.checkVisibility() && said.test(name(element)));
  const drawn = element => element.matches("img,svg,canvas,object,picture") ||
    /url\(/.test(getComputedStyle(element).backgroundImage + getComputedStyle(element).maskImage);
  const named = element => !!element.closest("[aria-label]:not([aria-label='']),[title]:not([title=''])") || !!element.getAttribute("alt") || !!element.querySelector("title");
  const fits = element => box(element).height >= 10 && box(element).height <= 60 && box(element).width >= 1.5 * box(element).height &&
    box(element).width <= 260 && element.checkVisibility({ visibilityProperty: true });
  // stars and seals are no price
  const other = /star|rating|review|badge|logo|seal|flag|icon/i;
  const marks = element => element.outerHTML.slice(0, 300).replace(/data:[^"')]*/g, "") + (element.parentElement.getAttribute("class") || "");
  const found = takers.map(taker => {
    let part = taker.parentElement;
    while (part !== main && part !== document.body && !part.querySelector("h1,h2,h3,h4,h5,h6,[role=heading]")) part = part.parentElement;
    const alone = part !== main && part !== document.body && takers.filter(one => part.contains(one)).length === 1 && part.textContent.length < 600;
    return alone && !cost.test(part.innerText) && [...part.querySelectorAll("*")].find(element => drawn(element) && fits(element) && !named(element) &&
      !element.textContent.trim() && !element.closest("svg *,a[href],button") && !other.test(marks(element)));
  }).filter(one => one);
  return found.length > 1 ? found[0].cloneNode(false).outerHTML.slice(0, 100) : "";
}

//: moved  Whether something in the main region, or what stands for it, reacts to a mouse and is no control.
getEventListeners => {
  const reacts = REACTS, hovers = HOVERS, operated = OPERATED, deep = DEEP;
  const main = document.querySelector("main,[role=main]") || document.body;
  const own = element => getEventListeners(element);
  return deep("*", main).some(element => !operated(element) && element.checkVisibility({ visibilityProperty: true }) && !element.closest("footer,form") &&
    (reacts(getEventListeners, element) || hovers(getEventListeners, element) || Object.keys(own(element)).some(kind => /wheel/.test(kind))));
}

//: marks  What the markup calls an element and what it holds.
element => [element, ...element.querySelectorAll("*")].flatMap(part => [...part.attributes].filter(one => !["d", "style", "points", "viewBox"].includes(one.name))
  .map(one => one.value)).join(" ").replace(/[_-]/g, " ").slice(0, 600)

//: clickable  Elements of the main region that react to a click without being links or buttons.
getEventListeners => {
  const reacts = REACTS, operated = OPERATED, deep = DEEP;
  const main = document.querySelector("main,[role=main]") || document.body;
  const native = "a[href],button,input,select,textarea";
  const plain = ["a:not([href])", ..."div,span,li,tr,td,p,img,article,section,i,b,u,canvas,g,path,rect,circle,polygon,text".split(",")];
  const every = deep("*", main).filter(inner => inner.matches(plain.join()) || inner.localName.includes("-"));
  const found = every.slice(0, 3000).filter(element => reacts(getEventListeners, element) && !operated(element) &&
    !element.querySelector(native) && element.checkVisibility());
  // a list that listens for its entries is none of them
  const hand = element => ["pointer", "grab"].includes(getComputedStyle(element).cursor);
  const lists = found.filter(element => !hand(element) && [...element.children].filter(one => found.includes(one)).length > 2);
  const single = found.filter(element => !lists.includes(element));
  const top = single.filter(element => !single.includes(element.parentElement));
  const first = top[0];
  return {
    count: top.length,
    drawn: top.some(element => element.matches("canvas") && !element.textContent.trim()),
    example: first ? first.cloneNode(false).outerHTML.slice(0, 160) + (first.textContent || "").trim().slice(0, 40) : "",
  };
}

//: reacts  Whether what says just this, or hardly more, reacts to a click without being a link or a button.
(getEventListeners, said) => {
  const reacts = REACTS, operated = OPERATED, deep = DEEP, plain = text => text.replace(/\s+/g, "");
  const letters = plain(said);
  return deep("a:not([href]),span,div,p,li,td,b,i,u,em,strong,h1,h2,h3,h4,h5,h6,dt,dd,svg,g,text,img").some(element => {
    const text = plain(element.textContent || "");
    if (!text.includes(letters) || text.length > letters.length + 6 || operated(element) || !element.checkVisibility()) return false;
    if (element.querySelector("a[href],button,input,select,textarea")) return false;
    return [element, ...element.querySelectorAll("*")].some(inner => reacts(getEventListeners, inner));
  });
}

//: operable  Whether an element is a control, or part of one.
element => (OPERATED)(element)

//: nameless-links  Links of the main region, or `everywhere` but in the foot, to other pages of the site that have no name.
everywhere => {
  const main = document.querySelector("main,[role=main]") || document.body;
  const named = "[alt]:not([alt='']),[aria-label]:not([aria-label='']),[title]:not([title='']),title";
  const found = [...(everywhere ? document : main).querySelectorAll("a[href],area[href]")].filter(link => link.host === location.host &&
    link.pathname + link.search !== location.pathname + location.search && (link.localName === "area" || link.checkVisibility()) &&
    !link.closest(everywhere ? "footer" : "nav,header,footer,aside") && !(link.textContent || "").trim() &&
    !link.matches("[alt]:not([alt='']),[aria-label]:not([aria-label='']),[aria-labelledby],[title]:not([title=''])") && !link.querySelector(named));
  return { count: found.length, example: found.length ? found[0].outerHTML.slice(0, 160) : "" };
}

//: hidden-controls  The names of links and buttons that are not shown.
() => [...document.querySelectorAll("a[href],button,[role=button]")].filter(link => !link.checkVisibility({ visibilityProperty: true }))
  .map(link => (link.textContent || "").trim().slice(0, 80)).filter(name => name).slice(0, 500)

//: hover-links  The names of links that a style sheet shows under a mouse alone.
() => {
  const rules = [...document.styleSheets].flatMap(sheet => { try { return [...sheet.cssRules]; } catch { return []; } })
    .filter(rule => rule.selectorText && rule.style && (rule.style.display || rule.style.visibility || rule.style.opacity));
  const shows = (element, state) => rules.some(rule => rule.selectorText.split(",").some(part => part.includes(state) &&
    element.matches(part.replaceAll(state, "") || "*")));
  const hidden = link => {
    for (let up = link; up; up = up.parentElement) {
      if (shows(up, ":hover")) return !shows(up, ":focus-within") && !shows(up, ":focus");
    }
    return false;
  };
  return [...document.querySelectorAll("a[href]")].filter(link => !link.checkVisibility({ visibilityProperty: true }) &&
    link.host === location.host && hidden(link)).map(link => (link.textContent || "").trim().slice(0, 80)).filter(name => name);
}

//: hidden-search  Whether a search field stands in the page without being shown, and what without a name may open it.
getEventListeners => {
  const reacts = REACTS, hovers = HOVERS, operated = OPERATED, labelled = LABELLED, marked = MARKED;
  const spoken = element => (element.innerText || "").trim().match(/[\p{L}\p{N}]/u) || element.title ||
    element.getAttribute("aria-label") || element.getAttribute("aria-labelledby") || element.querySelector("[alt]:not([alt='']),title,[aria-label]");
  const marks = part => part ? ["id", "name", "class", "action", "placeholder", "aria-label"].map(key => part.getAttribute(key) || "").join(" ") : "";
  const field = [...document.querySelectorAll("input:not([type]),input[type=search],input[type=text]")].find(input =>
    !input.checkVisibility({ visibilityProperty: true }) && (input.type === "search" || input.closest("search,[role=search]") ||
      marked(marks(input) + " " + marks(input.form))));
  if (!field) return null;
  const small = element => { const box = element.getBoundingClientRect(); return box.width <= 80 && box.height <= 80; };
  const opener = [...document.querySelectorAll("button,[role=button],a,span,div,i,svg,b")].find(element =>
    element.checkVisibility({ visibilityProperty: true }) && !spoken(element) && !labelled(element) && !element.contains(field) && !element.querySelector("a,button,input") &&
    (element.matches("button,[role=button]") || reacts(getEventListeners, element) ||
      (small(element) && !operated(element) && hovers(getEventListeners, element))));
  return { opener: opener ? opener.cloneNode(false).outerHTML.slice(0, 200) : "" };
}

//: search-opener  The start tag of a control without a name, or of an icon in the head, that seems to open a search.
getEventListeners => {
  const reacts = REACTS, hovers = HOVERS, operated = OPERATED, labelled = LABELLED, marked = MARKED, deep = DEEP;
  const spoken = element => (element.innerText || "").trim() || element.title || element.getAttribute("aria-label") ||
    element.getAttribute("aria-labelledby") || element.querySelector("[alt]:not([alt='']),title,[aria-label]");
  const marks = element => ["id", "class", "href", "xlink:href", "src", "data-icon", "data-lucide", "icon", "name"]
    .map(key => element.getAttribute(key) || "").join(" ");
  const hint = element => [element, ...element.querySelectorAll("*")].some(inner =>
    marked(marks(inner)) || /magnif|lupe\b|lupa\b|loupe\b/i.test(marks(inner)));
  const head = "header,nav,[role=banner],[role=navigation],[class*=header i],[class*=nav i],[class*=toolbar i],[class*=topbar i]";
  const found = deep("button,[role=button],a:not([href]),div,span,i,b,li,svg,img").find(element =>
    element.checkVisibility({ visibilityProperty: true }) && !spoken(element) && !labelled(element) && hint(element) &&
    (element.matches("button,[role=button]") || (element.closest(head) && !operated(element) && !element.querySelector("a,button,input") &&
      (reacts(getEventListeners, element) || hovers(getEventListeners, element)))));
  return found ? found.cloneNode(false).outerHTML.slice(0, 200) : "";
}

//: search-form  What the form of a search field would do, and what it and the field are called in the markup.
element => {
  const form = element.form || element.closest("form");
  const named = button => button.innerText || button.value || button.getAttribute("aria-label") || button.title || "";
  const marks = part => part ? ["id", "name", "class", "action"].map(key => part.getAttribute(key) || "").join(" ") : "";
  return {
    method: form ? (form.getAttribute("method") || "get").toLowerCase() : "",
    action: form ? new URL(form.getAttribute("action") || "", element.baseURI).href : "",
    buttons: form ? [...form.querySelectorAll("button,input[type=submit],input[type=image]")].map(named) : [],
    entries: form ? form.querySelectorAll("input:not([type]),input[type=text],input[type=search],textarea").length : 0,
    marked: (MARKED)(marks(element) + " " + marks(form)),
    readonly: !!element.readOnly,
    alone: !form,
  };
}

//: opensearch  The address for searching that the page's OpenSearch description declares.
async () => {
  const link = document.querySelector('link[rel~="search" i][type="application/opensearchdescription+xml" i][href]');
  if (!link || new URL(link.href).origin !== location.origin) return "";
  const answer = await fetch(link.href);
  const made = new DOMParser().parseFromString((await answer.text()).slice(0, 100000), "text/xml");
  const urls = [...made.getElementsByTagName("Url")].filter(url => url.getAttribute("type") === "text/html");
  const get = urls.find(url => (url.getAttribute("method") || "get").toLowerCase() === "get");
  return get ? get.getAttribute("template") || "" : "";
}

//: search-fake  What looks like a search field and is not a field: by its markup, or by the button beside it.
() => {
  const marked = MARKED, words = element => ["id", "class", "placeholder", "data-placeholder", "aria-label", "title", "type"]
    .map(key => element.getAttribute(key) || "").join(" ");
  const beside = element => [element.parentElement, element.parentElement?.parentElement]
    .filter(around => around && around !== document.body && !around.querySelector("input:not([type=hidden]),textarea"))
    .flatMap(around => [...around.querySelectorAll("button,[role=button]")]).some(button => marked(words(button) + " " + button.innerText));
  const fake = [...document.querySelectorAll("div,span,p")].find(element => element.checkVisibility() &&
    (element.hasAttribute("contenteditable") || element.hasAttribute("data-placeholder")) &&
    !element.getAttribute("role") && !element.querySelector("input,button,a[href]") && (marked(words(element)) || beside(element)));
  return fake ? fake.cloneNode(false).outerHTML.slice(0, 200) : "";
}

//: control  What an element says of itself as a control of a form. `key` numbers its form, -1 without one.
element => {
  const deep = DEEP, reached = (() => { try { return element.ownerDocument.defaultView.top.document; } catch { return null; } })();
  const above = node => node.assignedSlot || node.parentNode || node.host;
  let form = element.form;
  for (let up = element; !form && up; up = above(up)) if (up.matches && up.matches("form,[role=form]")) form = up;
  const named = button => button.innerText || button.value || button.getAttribute("aria-label") || button.alt || "";
  const around = form || element.getRootNode();
  const box = element.getBoundingClientRect(), entry = element.matches("input,textarea") && element.type !== "radio" &&
    element.type !== "checkbox";
  const inner = { left: box.left, top: box.top, right: box.right, bottom: box.bottom };
  for (let up = element.parentElement; up && up !== element.ownerDocument.documentElement; up = up.parentElement) {
    const style = getComputedStyle(up), clip = up.getBoundingClientRect();
    if (up === element.ownerDocument.body || (style.overflow === "visible" && style.clipPath === "none")) continue;
    if (style.clipPath !== "none" || style.overflow === "hidden" || style.overflow === "clip") {
      inner.left = Math.max(inner.left, clip.left); inner.top = Math.max(inner.top, clip.top);
      inner.right = Math.min(inner.right, clip.right); inner.bottom = Math.min(inner.bottom, clip.bottom);
    }
  }
  const clipped = inner.right - inner.left <= 2 || inner.bottom - inner.top <= 2 || !!element.closest("[aria-hidden=true]") ||
    /inset\((?:50|100)%/.test(getComputedStyle(element).clipPath);
  const away = clipped || box.right + scrollX <= 0 || box.bottom + scrollY <= 0 || box.width <= 2 || box.height <= 2 ||
    !element.checkVisibility({ opacityProperty: true });
  return {
    type: (element.type || "").toLowerCase(),
    tag: element.tagName,
    key: form ? deep("form,[role=form]", reached || element.ownerDocument).indexOf(form) : -1,
    reached: !!reached,
    password: !!around.querySelector("input[type=password]"),
    search: !!(form && (form.getAttribute("role") === "search" || form.closest("[role=search],search"))),
    buttons: form
      ? [...form.querySelectorAll("button,input[type=submit],input[type=image]")].map(named).join(" | ") : "",
    visible: (element.checkVisibility ? element.checkVisibility({ visibilityProperty: true }) : true) && !(entry && away),
    method: form ? (form.getAttribute("method") || "").toLowerCase() : "",
    readonly: !!element.readOnly || element.getAttribute("aria-readonly") === "true",
    checked: !!(element.pattern || element.getAttribute("inputmode") || element.getAttribute("aria-invalid") === "true" ||
      (element.validity && element.validity.customError) || element.placeholder),
    min: element.min || "",
    max: element.max || "",
    maxlength: element.maxLength || 0,
  };
}

//: value  The value that a control holds.
element => {
  const own = element.value !== undefined && !element.isContentEditable && !["DIV", "LI"].includes(element.tagName);
  return own ? String(element.value) : element.getAttribute("aria-valuenow") || element.innerText || "";
}

//: checked  Whether a box, radio button or switch is on.
element => element.checked !== undefined ? element.checked : element.getAttribute("aria-checked") === "true"

//: chosen  What is chosen in a list box of the page's own.
element => [...element.querySelectorAll("[aria-selected=true]")].map(option => option.innerText).join() +
  (element.getAttribute("aria-activedescendant") || "")

//: option  The value of the first option of a select that is not chosen yet.
element => [...element.options]
  .filter(option => !option.disabled && !option.selected && option.value !== "").map(option => option.value).slice(0, 1)

//: custom  What in the form of that number looks like a control and has no role.
(getEventListeners, key) => {
  const deep = DEEP, form = deep("form,[role=form]")[Number(key)];
  if (!form) return "";
  const reacts = REACTS, operated = OPERATED, ticks = TICKS, serves = SERVES;
  const fake = [...form.querySelectorAll("div,span,i,b,u,p,li,svg,canvas")].find(inner =>
    inner.checkVisibility() && !operated(inner) && !serves(inner) && !inner.querySelector("input,select,textarea,button,a[href],[role]") &&
    !inner.closest("[role]:not(form,fieldset,[role=form],[role=group],[role=radiogroup],[role=presentation],[role=none],[role=main],[role=dialog],[role=region],[role=tabpanel])") &&
    (inner.isContentEditable || inner.tabIndex >= 0 || reacts(getEventListeners, inner)));
  // a label stands for a box that only a click on it reaches
  const label = [...form.querySelectorAll("label")].find(inner => ticks(inner) && inner.checkVisibility() &&
    !inner.parentElement.querySelector("button,[role]:not([role=presentation],[role=none],[role=img]),[tabindex]"));
  const written = [...form.querySelectorAll("iframe")].find(frame => frame.checkVisibility() && frame.contentDocument && !frame.title && !frame.ariaLabel &&
    (frame.contentDocument.designMode === "on" || frame.contentDocument.body.isContentEditable) && !frame.contentDocument.body.ariaLabel && !frame.contentDocument.body.role);
  const found = fake || label || written;
  return found ? found.cloneNode(false).outerHTML.slice(0, 200) : "";
}

//: editable  The start tag of the first of so many elements of one form that take typing without being fields.
least => {
  for (const form of document.querySelectorAll("form,[role=form]")) {
    if (form.closest("[role=search],search")) continue;
    const fields = [...form.querySelectorAll("[contenteditable]")].filter(element => element.isContentEditable &&
      !element.parentElement.isContentEditable && !element.hasAttribute("role") && element.checkVisibility({ visibilityProperty: true }));
    if (fields.length >= least && form.querySelector("button,input[type=submit],[role=button]")) return fields[0].cloneNode(false).outerHTML.slice(0, 200);
  }
  return "";
}

//: caption  The short text that stands right before a field, outside its shadow root too, and is no heading.
element => {
  for (let up = element, level = 0; up && level < 5; level++, up = up.parentElement || up.getRootNode().host) {
    const before = up.previousElementSibling;
    if (before && before.matches("style,script")) continue;
    if (before) return before.matches("label,span,p,div,b,strong,legend,dt,td,th") && before.textContent.trim().length < 60 ? before.textContent.trim() : "";
  }
  return "";
}

//: written  Start tags of the first element outside every form that takes typing, is empty and has no role, where the text around
// it matches `about`, and of what stands behind it and may send that; empty without either.
(getEventListeners, about) => {
  const reacts = REACTS, operated = OPERATED, boxed = BOXED, asks = new RegExp(about, "i"), text = element => (element.textContent || "").trim();
  const shown = element => element.checkVisibility({ visibilityProperty: true }), box = element => element.getBoundingClientRect();
  for (const field of document.querySelectorAll("[contenteditable]")) {
    if (!field.isContentEditable || field.parentElement.isContentEditable || field.hasAttribute("role") || !shown(field) || text(field) || operated(field)) continue;
    if (field.closest("form,[role=form],search,[role=search]") || box(field).width < 60 || box(field).height > 200) continue;
    for (let around = field.parentElement; around && !around.matches("body,html,main") && text(around).length < 400; around = around.parentElement) {
      if (!asks.test(text(around) + [...field.attributes].map(one => one.value).join(" "))) continue;
      const senders = [...around.querySelectorAll("*")].filter(element => shown(element) && field.compareDocumentPosition(element) & 4 &&
        !field.contains(element) && text(element) && text(element).length < 40 && (element.matches("button,[role=button]") ||
        (!operated(element) && !element.querySelector("a[href],button") && (reacts(getEventListeners, element) || boxed(element)))));
      if (!senders.length) continue;
      Object.defineProperty(globalThis, Symbol.for("pointable"), { value: [field, ...senders], configurable: true });
      return [field, ...senders].map(element => element.cloneNode(false).outerHTML.slice(0, 160));
    }
  }
  return [];
}

//: keeps  Whether the first of what may be pointed at holds a text.
text => globalThis[Symbol.for("pointable")][0].textContent.includes(text)

//: senders  Start tags of what looks like the button of the form of that number (-1: of the fields outside every form) and is
// no control with a name, the last first; empty where a control with a name may send it.
(getEventListeners, key) => {
  const deep = DEEP, reacts = REACTS, operated = OPERATED, spoken = SPOKEN, serves = SERVES, boxed = BOXED;
  const shown = element => element.checkVisibility({ visibilityProperty: true }), box = element => element.getBoundingClientRect();
  const forms = deep("form,[role=form]"), text = element => (element.textContent || "").trim();
  const control = "button,input[type=submit],input[type=image],input[type=button],[role=button],[role=link],[role=menuitem],a[href^='#'],a[href^='javascript:'],summary";
  const sends = around => deep(control, around).concat([...around.elements || []].filter(one => one.matches(control)))
    .some(one => shown(one) && (spoken(one) || one.matches("input")));
  // a closed shadow root looks like an element of its own without anything in it
  const sealed = element => element.localName.includes("-") && !element.shadowRoot && !text(element) && box(element).width >= 40;
  const looks = around => deep("*", around).filter(element => shown(element) && box(element).height >= 14 && text(element).length < 40 &&
    (!operated(element) || (element.matches("button,[role=button]") && !spoken(element))) && !element.matches("input,select,textarea,option") &&
    !serves(element) && !element.closest("label") && !element.querySelector("input,select,textarea,label") &&
    (sealed(element) || element.matches("button") || (text(element) && (boxed(element) || reacts(getEventListeners, element)))));
  let around = forms[Number(key)];
  if (Number(key) < 0) {
    const loose = deep("input,textarea").filter(one => shown(one) && !/^(hidden|checkbox|radio|submit|button|image)$/.test(one.type) &&
      !forms.some(form => form.contains(one)) && !one.closest("search,[role=search]") && one.type !== "search");
    around = loose[0];
    while (around && !loose.every(one => around.contains(one))) around = around.parentElement;
    for (let up = 0; up < 2 && around && !sends(around) && !looks(around).length; up++) around = around.parentElement;
  }
  if (!around || around.matches("body,html") || sends(around)) return [];
  const chosen = looks(around).reverse();
  Object.defineProperty(globalThis, Symbol.for("pointable"), { value: chosen, configurable: true });
  return chosen.slice(0, 8).map(element => element.cloneNode(false).outerHTML.slice(0, 160));
}

//: puzzle  The start tag of what asks for proof of a person in words that match, and holds no control and something to press,
// where a form is hidden, or a control of a name that matches `named`.
([words, named]) => {
  const shown = element => element.checkVisibility({ visibilityProperty: true }), control = "a[href],button,input,select,textarea,iframe,[tabindex],[role]";
  const fields = form => form.querySelectorAll("input:not([type=hidden]),textarea").length;
  const hidden = named ? [...document.querySelectorAll("a[href],button,[role=button]")].some(one => !shown(one) && new RegExp(named, "i").test((one.textContent || "").trim()))
    : [...document.forms].some(form => !shown(form) && fields(form) > 1 && !form.querySelector("[type=password]") && !form.closest("[role=search],search"));
  const said = new RegExp(words, "i");
  const asking = hidden && [...document.querySelectorAll("p,h2,h3,h4,label,span,div")].find(element => shown(element) &&
    (element.textContent || "").length < 200 && said.test(element.textContent) && ![...element.children].some(inner => said.test(inner.textContent)));
  const around = asking && (asking.nextElementSibling ? asking.parentElement : asking);
  if (!around || around.matches("body,main,[role=main]") || [...around.querySelectorAll(control)].some(shown)) return "";
  const silent = [...around.querySelectorAll("*")].filter(element => shown(element) && !element.textContent.trim() && element.getBoundingClientRect().height >= 16);
  return silent.length ? around.cloneNode(false).outerHTML.slice(0, 200) : "";
}

//: pointable  Start tags and texts of what a mouse may be pointed at for something that is hidden, the likeliest first: what
// reacts, what lies around the hidden, and what is drawn like a button or an icon; no control with a name. `about`: a
// pattern of what they may say.
(getEventListeners, hidden, about) => {
  const reacts = REACTS, hovers = HOVERS, operated = OPERATED, spoken = SPOKEN, ticks = TICKS, deep = DEEP, boxed = BOXED, beside = BESIDE;
  const box = element => element.getBoundingClientRect(), text = element => (element.textContent || "").trim();
  const main = document.querySelector("main,[role=main]") || document.body;
  const away = element => !element.checkVisibility({ visibilityProperty: true });
  const shown = element => element.nodeType === 1 && !element.matches("body,html") && !away(element) &&
    box(element).width >= 8 && box(element).height >= 8 && box(element).right + scrollX > 0 && box(element).bottom + scrollY > 0;
  const icon = element => box(element).width <= 80 && box(element).height <= 80 && !text(element);
  const control = "a[href],button,input:not([type=hidden]),select,textarea";
  const unnamed = element => element.matches(control + ",[role=button],[role=link]") && !spoken(element);
  const ticking = element => element.localName === "label" && ticks(element);
  const free = element => shown(element) && (unnamed(element) || ticking(element) || !operated(element));
  const drawn = (HOVERED)().join() || ":not(*)";
  const live = element => reacts(getEventListeners, element) || hovers(getEventListeners, element) || unnamed(element) || ticking(element) || element.matches(drawn);
  const every = deep("*").filter(element => (element.localName.includes("-") ||
    element.matches("div,span,li,i,b,u,em,strong,p,td,tr,svg,img,figure,article,section,header,nav,footer,h2,h3,h4,dt,dd,label,button,a,[role]")) && free(element));
  const middle = element => [box(element).left + box(element).right, box(element).top + box(element).bottom];
  // by rank; a press on the middle of what lies around another is one on that
  const ranked = (ranks, most) => {
    const same = (element, outer) => ranks.get(outer) < most && middle(outer).every((at, side) => Math.abs(at - middle(element)[side]) < 6);
    return [...ranks].filter(([element, rank]) => rank < most && !same(element, element.parentElement))
      .sort((left, right) => left[1] - right[1]).map(([element]) => element);
  };
  const wheels = element => Object.keys(getEventListeners(element)).some(kind => /wheel/.test(kind)) || element.hasAttribute("onwheel");
  const shapes = from => deep("g,path,rect,circle,polygon,ellipse,canvas", from).filter(element => free(element) && live(element));
  const scrolls = element => /auto|scroll/.test(getComputedStyle(element).overflowY) && element.scrollHeight > element.clientHeight + 1;
  const unfolding = (targets, fits) => [...new Set(targets.slice(0, 40).flatMap(one => beside(one, free, live)))].filter(fits);
  const rows = () => {
    const apart = "nav,header,footer,aside,form";
    const lists = deep("*").filter(list => list.children.length > 1 && !list.closest(apart + ",[role=navigation],p") && shown(list) &&
      new Set([...list.children].map(row => row.tagName + row.className)).size === 1 && text(list.firstElementChild) && text(list.firstElementChild).length < 400);
    const cards = every.filter(element => main.contains(element) && live(element) && text(element) && text(element).length < 400 &&
      !live(element.parentElement) && !element.closest(apart));
    return lists.flatMap(list => [...list.children].slice(0, 2)).concat(cards).filter(row => free(row) && row.tabIndex < 0 && !row.querySelector(control));
  };
  const lists = () => {
    const reacting = every.filter(element => live(element) && text(element) && text(element).length < 60);
    const folded = deep("ul,ol,div").filter(list => away(list) && list.children.length > 1 && !list.querySelector(control) &&
      new Set([...list.children].map(row => row.tagName + row.className)).size === 1);
    return [...new Set([...reacting, ...unfolding(folded, element => box(element).height < 120), ...every.filter(boxed)])];
  };
  // what holds disabled controls, from within
  const closed = () => [...new Set(deep(":disabled,[aria-disabled=true]").flatMap(element => [element.closest("fieldset"), element.parentElement,
    element.closest("form,[role=form],[role=search]")]))].filter(element => element && element.localName !== "label" && shown(element));
  const openers = () => {
    const kinds = {
      field: "input:not([type=hidden]),textarea,[role=searchbox],[role=combobox]",
      control: "button,a[href],[role=button],input[type=submit]",
      text: "a[href^='mailto:'],a[href^='tel:'],p,div,span,li,dd,address,figcaption,b,strong,em,small",
    };
    const targets = deep(kinds[hidden] || kinds.control).filter(element => away(element) && (hidden !== "text" || !element.children.length));
    const around = hidden === "disabled" ? closed() : unfolding(targets, () => true);
    const said = new RegExp(about, "i");
    const marks = part => ["id", "class", "title", "placeholder", "href", "src", "xlink:href"].map(key => part.getAttribute(key) || "")
      .concat(Object.entries(part.dataset || {}).flat()).join(" ");
    const tells = element => text(element).length < 80 && [text(element), ...[element, ...[...element.querySelectorAll("*")].slice(0, 6)].map(marks)].some(part => said.test(part));
    const looks = element => live(element) ? 0 : around.includes(element) ? 1 : boxed(element) || element.isContentEditable ? 2 : icon(element) ? 3 : 4;
    const open = [...new Set([...around, ...every])].filter(element => box(element).height < 600 && !element.querySelector("main,h1"));
    return ranked(new Map(open.map(element => [element, looks(element) + (tells(element) ? 0 : 5)])), 9);
  };
  // an icon, a sign, a box or a short text in the smallest part of the page that has a price
  const priced = () => {
    const price = new RegExp(about), small = element => icon(element) || /^[+＋⊕➕]$/.test(text(element)) || boxed(element) || (!text(element) && box(element).height <= 120 && box(element).width <= 300);
    const part = element => { let up = element; while (up && !price.test(up.textContent)) up = up.parentElement; return up; };
    const close = element => { const up = part(element); return !!up && !up.matches("body,html") && text(up).length < 200; };
    const plain = element => !element.children.length && !!text(element) && text(element).length < 40 && !element.matches("h1,h2,h3,h4");
    return ranked(new Map(every.filter(element => (small(element) || plain(element)) && !price.test(text(element)) && !element.closest("nav,header,footer") && close(element))
      .map(element => [element, live(element) ? 0 : small(element) ? 1 : 2])), 9);
  };
  // what may lead on from a page without links: icons, shapes and short texts that react, then short texts around the main region
  const ways = () => {
    const around = every.concat(shapes()).filter(element => !element.closest("footer,form") && !element.querySelector(control));
    const reacting = around.filter(element => live(element) && !live(element.parentElement) &&
      (icon(element) || element.matches("canvas,svg,svg *") || (text(element) && text(element).length < 60)));
    const plain = around.filter(element => text(element) && text(element).length < 40 && !element.closest("main,[role=main],p,h1,h2,h3") &&
      [...element.childNodes].some(child => child.nodeType === 3 && child.data.trim()));
    return [...new Set([...reacting, ...plain])];
  };
  // of things alike beside each other a few stand for all
  const few = most => {
    const same = new Map();
    return element => {
      const alike = same.get(element.parentElement) || same.set(element.parentElement, new Map()).get(element.parentElement);
      const key = element.tagName + element.getAttribute("class");
      return alike.set(key, (alike.get(key) || 0) + 1).get(key) <= most;
    };
  };
  // what may bring an offer
  const offers = () => {
    const first = every.filter(element => main.contains(element) && wheels(element) && !scrolls(element));
    return [...new Set([...first, ...shapes(main), ...openers()])].filter(few(3));
  };
  // what may enable a control: what holds it, what reacts, and of things alike, as days or seats, the first
  const enablers = () => {
    const alike = every.filter(element => main.contains(element) && text(element).length < 40 && !element.querySelector(control) && !element.closest("nav,p,h1,h2,h3") &&
      [element.previousElementSibling, element.nextElementSibling].some(one => one && one.tagName === element.tagName && one.className === element.className));
    return [...new Set([...shapes(main), ...openers(), ...alike])].filter(few(2));
  };
  const kinds = {
    row: rows,
    way: ways,
    offer: offers,
    disabled: enablers,
    priced,
    list: lists,
    said: () => every.filter(element => text(element).length < 40 && new RegExp("^(?:" + about + ")", "i").test(text(element)) && !element.children.length),
    mark: () => every.filter(element => icon(element) && live(element)),
  };
  const chosen = (kinds[hidden] || openers)();
  Object.defineProperty(globalThis, Symbol.for("pointable"), { value: chosen, configurable: true });
  Object.defineProperty(globalThis, Symbol.for("wheeled"), { value: new Set(chosen.filter(wheels)), configurable: true });
  return chosen.slice(0, 14).map(element => element.cloneNode(false).outerHTML.slice(0, 160) + text(element).slice(0, 40));
}

//: point  Bring one of what may be pointed at into sight; the centre of what is in sight of it, whether a control with a
// name gets a press there, how far it can be dragged: to the right, below 0 to the left; and whether it listens to a wheel.
at => {
  const element = globalThis[Symbol.for("pointable")][at], listens = globalThis[Symbol.for("wheeled")];
  element.scrollIntoView({ block: "center", behavior: "instant" });
  const box = element.getBoundingClientRect();
  let left = Math.max(0, box.left), right = Math.min(element.ownerDocument.defaultView.innerWidth, box.right);
  for (let up = element.parentElement; up && !up.matches("body,html"); up = up.parentElement) {
    if (getComputedStyle(up).overflowX === "visible") continue;
    const clip = up.getBoundingClientRect();
    left = Math.max(left, clip.left); right = Math.min(right, clip.right);
  }
  if (right - left < 4) [left, right] = [box.left, box.right];
  let x = (left + right) / 2, y = box.top + box.height / 2;
  const hit = element.ownerDocument.elementFromPoint(x, y);
  const closed = hit && hit.closest(":disabled");
  const own = element.localName === "label" || !!closed || (element.contains(hit) && (OPERATED)(element));
  for (let frame = element.ownerDocument.defaultView.frameElement; frame; frame = frame.ownerDocument.defaultView.frameElement) {
    x += frame.getBoundingClientRect().left + frame.clientLeft;
    y += frame.getBoundingClientRect().top + frame.clientTop;
  }
  const style = getComputedStyle(element), slides = /grab|resize|move/.test(style.cursor) || /none|pan-y/.test(style.touchAction);
  const wide = box.width > right - left + 40 || (style.overflowX === "hidden" && element.scrollWidth > element.clientWidth + 40);
  const room = element.parentElement ? element.parentElement.getBoundingClientRect().right - box.left : 0;
  return [x, y, !!hit && !own && (OPERATED)(hit), !slides ? 0 : wide ? 20 - (right - left) : room, !!listens && listens.has(element)];
}

//: typed  Start tags and texts of what may send what is typed in the field that has the focus, and is no control with a name:
// short texts that hold the word, those that react or lie close to the field first, then icons and short texts beside the field.
(getEventListeners, word) => {
  const deep = DEEP, reacts = REACTS, operated = OPERATED, spoken = SPOKEN, boxed = BOXED;
  let field = document.activeElement;
  while (field && field.shadowRoot && field.shadowRoot.activeElement) field = field.shadowRoot.activeElement;
  if (!field || field.matches("body,html")) return [];
  const box = element => element.getBoundingClientRect(), text = element => (element.textContent || "").trim();
  const free = element => element.checkVisibility({ visibilityProperty: true }) && box(element).width >= 8 && box(element).height >= 8 &&
    (!operated(element) || (element.matches("button,[role=button],a[href]") && !spoken(element)));
  const live = element => reacts(getEventListeners, element), plain = "div,span,li,p,td,b,i,em,strong,svg,img,a,button";
  const below = element => box(element).top >= box(field).top && box(element).top - box(field).bottom < 500 && box(element).left < box(field).right && box(element).right > box(field).left;
  const every = deep("*").filter(element => (element.matches(plain) || element.localName.includes("-")) && free(element) && element !== field && !element.contains(field));
  const suggested = every.filter(element => text(element).toLowerCase().includes(word.toLowerCase()) && text(element).length < 120 && below(element) &&
    (live(element) || !element.children.length) && !element.closest("h1,h2,h3,p"));
  const beside = [];
  for (let around = field.parentElement, level = 0; around && level < 3 && !around.matches("body,main,html"); around = around.parentElement, level++) {
    const near = every.filter(element => around.contains(element) && !beside.includes(element) && !suggested.includes(element) && text(element).length < 20 &&
      box(element).height <= 80 && (live(element) || boxed(element) || (!text(element) && box(element).width <= 80)));
    beside.push(...near.sort((left, right) => live(right) - live(left)));
  }
  const chosen = [...suggested, ...beside];
  Object.defineProperty(globalThis, Symbol.for("pointable"), { value: chosen, configurable: true });
  return chosen.slice(0, 14).map(element => element.cloneNode(false).outerHTML.slice(0, 160) + text(element).slice(0, 60));
}

//: writes  Whether what is typed goes into a control with a name.
() => {
  let focus = document.activeElement;
  while (focus && focus.shadowRoot && focus.shadowRoot.activeElement) focus = focus.shadowRoot.activeElement;
  return !!focus && (OPERATED)(focus) && (SPOKEN)(focus);
}

//: choices  Start tags of what a form of that number shows like things to choose from: beside each other, in place of a
// control that is not displayed, or drawn like a button, a field or a place to drop something.
(getEventListeners, key) => {
  const deep = DEEP, operated = OPERATED, boxed = BOXED, serves = SERVES;
  const form = deep("form,[role=form]")[Number(key)];
  if (!form) return [];
  const text = element => (element.textContent || "").trim(), control = "input,select,textarea,button,a[href],label,[role]";
  const alike = element => [element.previousElementSibling, element.nextElementSibling].some(one => one && element.className &&
    one.tagName === element.tagName && one.classList[0] === element.classList[0]);
  const undisplayed = element => element && element.matches("select,input[type=checkbox],input[type=radio],input[type=file]") && !element.checkVisibility();
  // a box without anything in it looks like an empty field or a switch
  const blank = element => {
    const box = element.getBoundingClientRect();
    return !element.children.length && !text(element) && box.width >= 16 && box.height >= 12 && box.height <= 60 &&
      (parseFloat(getComputedStyle(element).borderTopWidth) > 0 || !/, 0\)$|^transparent/.test(getComputedStyle(element).backgroundColor));
  };
  const stands = element => [element.previousElementSibling, element.nextElementSibling, ...element.children].some(undisplayed);
  const drop = element => getComputedStyle(element).borderTopStyle === "dashed" && text(element).length < 200;
  const sign = element => /^[-+−–×✕★☆<>‹›▲▼▾⌄]$/.test(text(element)) && !element.children.length;
  const day = element => /^\d{1,2}$/.test(text(element)) && [element.previousElementSibling, element.nextElementSibling].some(one => one &&
    one.tagName === element.tagName && /^\d{1,2}$/.test(text(one)));
  const kinds = [stands, blank, drop, sign, boxed, alike, day];
  const rank = element => kinds.findIndex(kind => kind(element));
  const chosen = deep("div,span,li,p,b,i,svg,td", form).filter(element => element.checkVisibility({ visibilityProperty: true }) && !operated(element) && !serves(element) &&
    (text(element).length < 40 || drop(element)) && rank(element) >= 0 && ![...element.querySelectorAll(control)].some(inner => inner.checkVisibility()))
    .sort((left, right) => rank(left) - rank(right));
  Object.defineProperty(globalThis, Symbol.for("pointable"), { value: chosen, configurable: true });
  if (document.activeElement) document.activeElement.blur(); // what a form checks when a field is left is checked now
  return chosen.slice(0, 8).map(element => element.cloneNode(false).outerHTML.slice(0, 160));
}

//: form-state  What the form of that number holds, its marks too; and what its controls that are shown hold.
key => {
  const deep = DEEP, form = deep("form,[role=form]")[Number(key)];
  if (!form) return null;
  const shown = control => control.checkVisibility({ visibilityProperty: true }), every = [...form.querySelectorAll("input,select,textarea")];
  const held = controls => controls.map(control => control.value + control.checked).join();
  return [form.innerHTML + held(every.filter(control => !shown(control))), held(every.filter(shown))];
}

//: unsaid  What style sheets write on the page for eyes alone: generated content with an empty alternative text.
() => [...document.querySelectorAll("body *")].flatMap(element => ["::before", "::after"].map(part => {
  const match = /^"((?:[^"\\]|\\.)*)"\s*\/\s*""$/.exec(getComputedStyle(element, part).content);
  return match && element.checkVisibility({ visibilityProperty: true }) ? match[1] : "";
})).filter(text => text)

//: turned  Texts that style sheets draw from right to left letter by letter, as they stand in the page.
() => [...document.querySelectorAll("body *")].filter(element => {
  const style = getComputedStyle(element), text = element.textContent || "";
  return style.unicodeBidi.includes("override") && style.direction === "rtl" && text.length < 120 && !/[\u0590-\u08ff]/.test(text) &&
    element.checkVisibility({ visibilityProperty: true });
}).map(element => element.textContent.trim()).slice(0, 20)

//: closer  What seems to close the thing that lies over the page, and is no control.
getEventListeners => {
  const reacts = REACTS, operated = OPERATED;
  let top = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  while (top && top.parentElement && top.parentElement !== document.body && top.parentElement !== document.documentElement) top = top.parentElement;
  const found = top && top !== document.body ? [...top.querySelectorAll("*")].find(element =>
    element.checkVisibility({ visibilityProperty: true }) && !operated(element) && !element.querySelector("a[href],button,input") &&
    (/^[×✕✖xX]$/.test((element.textContent || "").trim()) || /close|dismiss|schlie|fermer|cerrar|chiudi|fechar|zamknij/i.test(element.getAttribute("class") || "")) &&
    reacts(getEventListeners, element)) : null;
  return found ? found.cloneNode(false).outerHTML.slice(0, 160) : "";
}

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
