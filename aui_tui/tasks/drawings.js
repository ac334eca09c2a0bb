// Questions about what a page draws without a text: pictures, shapes and generated content. See `questions.js`.

//: pictures  Pictures of the main region without any alt text, and canvases without text; small ones are decoration.
() => {
  const main = (REGION)();
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
  const box = element => element.getBoundingClientRect(), main = (REGION)();
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
  // digits as pictures beside a currency, or where the markup calls a price one
  const sum = row => (CURRENCY)(row) || (row.differ > 1 && !/\d/.test(row.beside) && (about.test(row.marks) || (row.narrow && row.count > 2)));
  const price = alone && (DIGITS)(main).find(sum);
  const inside = element => [element, ...element.querySelectorAll("*")].some(part => shaped.includes(part));
  const found = (price && price.first.parentElement) || shown.find(element => marked(element) && text(element).length < 60 && inside(element)) ||
    shaped.find(labels) || (shaped.length === 1 && (alone || ends(shaped[0])) && shaped[0]);
  return found ? `; what is drawn by ${found.cloneNode(false).outerHTML.slice(0, 100)} has no text` : "";
}

//: digits  Rows of small pictures that stand side by side and have no text, as a number does that is drawn digit by digit. Of
// each: its first picture, how many there are and how many of them differ, what they look like, whether they are as narrow and as
// close as digits (`narrow`), and stand in groups (`parted`), what stands before and around them, and what the markup calls them.
from => {
  const deep = DEEP, box = element => element.getBoundingClientRect(), text = element => (element.textContent || "").trim();
  const source = style => /url\(/.test(style.backgroundImage + style.maskImage + style.content) &&
    [style.backgroundImage, style.backgroundPosition, style.maskImage, style.maskPosition, style.content].join();
  // what is drawn, and which part of it: of a sheet with all digits each shows another part
  const look = element => {
    if (element.localName === "img") return element.naturalWidth > 0 && element.currentSrc + getComputedStyle(element).objectPosition;
    if (element.localName === "svg") return !element.querySelector("use + use,text") && element.getAttribute("viewBox") + element.innerHTML;
    if (element.localName === "use") return !!element.parentNode.querySelector("use + use") && element.getAttribute("href") + element.getAttribute("xlink:href");
    const one = element.firstElementChild, sheet = one && one.localName === "img" && element.children.length === 1 && getComputedStyle(element).overflow !== "visible";
    if (sheet) return (box(one).width > box(element).width || box(one).height > box(element).height) &&
      [one.currentSrc, Math.round(box(one).left - box(element).left), Math.round(box(one).top - box(element).top)].join();
    return !one && (source(getComputedStyle(element)) || ["::before", "::after"].map(side => source(getComputedStyle(element, side))).find(Boolean));
  };
  const label = element => ["aria-label", "alt", "title"].map(key => element.getAttribute(key) || "").join(" ");
  const small = element => box(element).height >= 8 && box(element).height <= 60 && box(element).width >= 3 && box(element).width <= 1.6 * box(element).height;
  const shown = deep("*", from).filter(element => small(element) && !text(element) && !label(element).trim() && !element.querySelector("title") &&
    (element.localName === "use" || !element.closest("svg *")) && element.checkVisibility({ visibilityProperty: true, opacityProperty: true }));
  const pictures = shown.map(element => ({ element, look: look(element), box: box(element) })).filter(one => one.look);
  const control = element => element.closest("a[href],button,[role=button],label,select");
  const between = (left, right) => {
    const range = document.createRange();
    range.setStartAfter(left); range.setEndBefore(right);
    return range.toString();
  };
  const follows = (left, right) => left.element.getRootNode() === right.element.getRootNode() && control(left.element) === control(right.element) &&
    Math.abs(left.box.top + left.box.bottom - right.box.top - right.box.bottom) <= 0.7 * left.box.height &&
    right.box.left - left.box.right >= -0.5 * left.box.height && right.box.left - left.box.right <= 1.2 * left.box.height &&
    !/[\p{L}\p{N}]/u.test(between(left.element, right.element));
  const rows = pictures.reduce((found, one, at) => {
    if (at && follows(pictures[at - 1], one)) found[found.length - 1].push(one);
    else found.push([one]);
    return found;
  }, []).filter(row => row.length > 1);
  return rows.map(row => {
    const first = row[0].element, last = row[row.length - 1].element;
    let holder = first.parentElement;
    while (holder && !holder.contains(last)) holder = holder.parentElement;
    let block = holder;
    while (block && block.parentElement && /inline|contents/.test(getComputedStyle(block).display)) block = block.parentElement;
    if (!block) return null;
    const range = document.createRange();
    range.setStart(block, 0); range.setEndBefore(first);
    let above = block;
    for (let level = 0; level < 3 && above && !(above.previousElementSibling && text(above.previousElementSibling)); level++) above = above.parentElement;
    const before = range.toString().trim() || (above && above.previousElementSibling ? text(above.previousElementSibling) : "");
    const around = [holder, block, block.parentElement, first.previousElementSibling, holder.previousElementSibling, ...row.map(one => one.element)];
    const gaps = row.slice(1).map((one, at) => one.box.left - row[at].box.right).sort((left, right) => left - right);
    const tall = Math.max(...row.map(one => one.box.height));
    return {
      first, count: row.length, looks: row.map(one => one.look), differ: new Set(row.map(one => one.look)).size,
      narrow: row.filter(one => one.box.width <= 0.85 * tall).length >= 0.6 * row.length && gaps[Math.floor(gaps.length / 2)] <= 0.4 * tall,
      parted: gaps[gaps.length - 1] - gaps[Math.floor(gaps.length / 2)] >= 0.15 * tall,
      before: before.slice(-60), beside: text(holder),
      told: [block, ...block.querySelectorAll("*")].map(label).concat(block.innerText || text(block)).join(" "),
      marks: around.filter(element => element && !element.matches("body,main,html")).map(element => [element.id, element.getAttribute("class")].join(" ")).join(" "),
    };
  }).filter(row => row && !/star|rating|review|badge|logo|seal|flag|social/i.test(row.marks));
}

//: currency  Whether nothing but a currency stands beside a row of pictures.
row => /^(?:\p{Sc}|zł|kr|Kč|Ft|lei|CHF|EUR|USD|GBP|円|元|руб)\.?$/u.test(row.beside)

//: number  The start tag around a number that is drawn digit by digit, where text or markup beside it says that it is one to call
// (`marks`), or the page is about contact (`here`) and it differs as digits do; with `counts`, a pattern of what says that digits
// count something, also where nine and more stand in groups; empty without one.
([marks, here, counts]) => {
  const about = new RegExp(marks, "i"), many = text => (text.match(/\d/g) || []).length;
  const plain = (document.body.innerText.match(/[+(0]\d?[\d ()\/.-]{5,}\d/g) || []).map(many);
  const found = (DIGITS)(document.body).find(row => {
    // a row of icons has no two alike, and one of stars few that differ
    const digits = row.differ >= 4 && row.differ < row.count, says = about.test(row.before) || about.test(row.marks);
    const grouped = !!counts && row.narrow && row.differ >= 4 && row.count >= 9 && row.count <= 13 && row.parted &&
      !new RegExp(counts, "i").test([row.told, row.before, row.marks].join(" "));
    return row.count >= 6 && (says ? row.narrow || digits : grouped || (here && row.narrow && digits && row.count >= 7)) &&
      !/\p{Sc}/u.test(row.told) && !/\d(?:[\s().\/-]{0,2}\d){4}/.test(row.told) && !plain.some(count => Math.abs(count - row.count) <= 3);
  });
  return found ? found.first.parentElement.cloneNode(false).outerHTML.slice(0, 100) + found.first.cloneNode(false).outerHTML.slice(0, 100) : "";
}

//: painted  The texts that scripts have drawn on canvases that are shown and say nothing.
() => (DEEP)("canvas").filter(canvas => canvas.checkVisibility({ visibilityProperty: true }) && !canvas.textContent.trim())
  .flatMap(canvas => canvas[Symbol.for("painted")] || []).map(one => one.text).join(" ").slice(0, 4000)

//: lead  What is said last before an element: the text of that block up to the element (`said`), whether it is a heading, whether
// it ends with a colon or names what stands beside it (`label`), the heading above (`head`), and whether the part of the page
// that the block begins says nothing after the element (`alone`), or the whole document, or frame, does not (`last`).
element => {
  const heads = "h1,h2,h3,h4,h5,h6,[role=heading]", page = element.ownerDocument;
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT, node => /[\p{L}\p{N}]/u.test(node.data) &&
    node.parentElement.checkVisibility({ visibilityProperty: true }) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
  walker.currentNode = element;
  const last = walker.previousNode();
  walker.currentNode = element;
  const next = walker.nextNode();
  let block = last && last.parentElement;
  while (block && block !== page.body && /inline|contents/.test(getComputedStyle(block).display)) block = block.parentElement;
  if (!block) return { said: "", heading: false, label: false, head: "", alone: false, last: !next };
  const range = page.createRange();
  range.selectNodeContents(block);
  if (block.contains(element)) range.setEndBefore(element);
  const said = range.toString().replace(/\s+/g, " ").trim(), heading = !!block.closest(heads);
  const above = [...page.querySelectorAll(heads)].filter(one => one.checkVisibility({ visibilityProperty: true }) &&
    one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING).pop();
  let part = block;
  while (part && !part.contains(element)) part = part.parentElement;
  return {
    said, heading, label: !block.closest("label") && (/[:：]$/.test(said) || block.matches("dt,th")), head: above ? above.textContent.trim() : "",
    alone: !next || !!next.parentElement.closest(heads) || !part || !part.contains(next), last: !next,
  };
}

//: drawings  Start tags of what the main region draws without a text or a name, decoration too, the largest first: `drawing`
// and its number bring one into sight. `about`: only what stands anywhere in the place of an address or a number, right after a
// text with a colon that bids to write or call, or is a label, or below a heading about contact: as all that it has there, or of
// the size of a line, right after it or a text with a colon; also as the last of a frame that stands there.
about => {
  const deep = DEEP, lead = LEAD, main = about ? document.body : (REGION)(), [heads, bids, labels] = (about || []).map(words => new RegExp(words, "i"));
  const stands = element => {
    const { said, heading, label, head, alone } = lead(element), line = box(element).height <= 60 && box(element).width >= 3 * box(element).height;
    if (heading) return (alone || line) && said.length < 60 && heads.test(said);
    return label && ((said.length < 120 && (bids.test(said) || (line && heads.test(head)))) || (said.length < 30 && labels.test(said)));
  };
  const placed = element => {
    if (!about) return true;
    if (box(element).width > 700 || box(element).height > 300 || element.closest("form,[role=form],label")) return false;
    const frame = element.ownerDocument.defaultView.frameElement;
    return stands(element) || (!!frame && lead(element).last && stands(frame));
  };
  const box = element => element.getBoundingClientRect(), says = text => /[\p{L}\p{N}]/u.test(text || "");
  const drawn = element => element.matches("img,canvas,svg,object,picture") || /url\(/.test(getComputedStyle(element).backgroundImage);
  const chosen = deep("*", main).filter(element => box(element).width >= 80 && box(element).height >= 14 && drawn(element) &&
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !element.closest("nav,svg *,a[href],button,[role=button]") &&
    ![element.textContent, element.getAttribute("aria-label"), element.getAttribute("alt"), element.title].some(says) && !element.hasAttribute("aria-labelledby") &&
    placed(element));
  chosen.sort((left, right) => box(right).width * box(right).height - box(left).width * box(left).height);
  Object.defineProperty(globalThis, Symbol.for("drawings"), { value: chosen, configurable: true });
  return chosen.slice(0, 8).map(element => element.cloneNode(false).outerHTML.slice(0, 80));
}

//: drawing  Bring a drawing of that number into sight; the part of the page in which it is seen.
at => {
  const element = globalThis[Symbol.for("drawings")][at];
  element.scrollIntoView({ block: "center", behavior: "instant" });
  let { left, top, right, bottom } = element.getBoundingClientRect();
  for (let view = element.ownerDocument.defaultView; view;) {
    left = Math.max(0, left); top = Math.max(0, top); right = Math.min(view.innerWidth, right); bottom = Math.min(view.innerHeight, bottom);
    const frame = view.frameElement, around = frame ? frame.getBoundingClientRect() : null;
    if (frame) {
      left += around.left + frame.clientLeft; right += around.left + frame.clientLeft;
      top += around.top + frame.clientTop; bottom += around.top + frame.clientTop;
    }
    view = frame ? frame.ownerDocument.defaultView : null;
  }
  const width = right - left, height = bottom - top;
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
    // letters stand apart and are of several widths, unlike waves, dots and dashes; digits are all as wide and cross a line once or twice
    const widths = new Set(parts.map(([left, right]) => right - left));
    const shapes = new Set(parts.map(([left, right]) => [0.25, 0.5, 0.75].map(share => from + Math.round(share * (high - 1)))
      .map(y => range(right - left + 1).filter(x => inked(left + x, y) && !(x && inked(left + x - 1, y))).length).join()));
    return high <= 60 && wide >= 3 * high && strokes >= 10 && parts.length >= 6 && (widths.size >= 3 || shapes.size >= 4);
  });
  return letters.length > 0 && letters.length > 0.6 * bands.length;
}

//: drawn-beside  The start tag of what is drawn in the shape of a short text, in several parts of the page that have a heading,
// or are rows, and a control of a name that matches `takes` and say no `price`; empty without it.
([takes, price]) => {
  const said = new RegExp(takes, "i"), cost = new RegExp(price), main = (REGION)();
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
  const digits = (DIGITS)(main);
  const found = takers.map(taker => {
    let part = taker.parentElement;
    while (part !== main && part !== document.body && !part.matches("tr,li") && !part.querySelector("h1,h2,h3,h4,h5,h6,[role=heading]")) part = part.parentElement;
    const alone = part !== main && part !== document.body && takers.filter(one => part.contains(one)).length === 1 && part.textContent.length < 600;
    if (!alone || cost.test(part.innerText)) return null;
    const row = digits.find(one => part.contains(one.first) && (one.narrow || (CURRENCY)(one)) && !/\d/.test(one.beside) && !cost.test(one.told) &&
      !other.test(one.marks) && !one.first.closest("button"));
    const shape = [...part.querySelectorAll("*")].find(element => !other.test(marks(element)) &&
      !element.closest("svg *,a[href],button") && drawn(element) && fits(element) && !named(element) && !element.textContent.trim());
    return shape || row ? { part, taker, row, shape } : null;
  }).filter(one => one);
  // the digits of several prices differ; the same few signs for each thing do not
  const looks = new Set(found.flatMap(one => one.row ? one.row.looks : []));
  const several = found.filter(({ row, shape }) => shape || (CURRENCY)(row) || looks.size >= 4).map(({ row, shape }) => shape || row.first.parentElement);
  // one alone stands between the heading and the control of the only thing to be had, and nothing tells a price
  const after = (left, right) => !!left && !!right && !!(left.compareDocumentPosition(right) & 4);
  const single = several.length === 1 && takers.length === 1 && !cost.test(main.innerText) &&
    found.some(({ part, taker, shape }) => after(part.querySelector("h2,h3,h4,h5,h6"), shape) && after(shape, taker));
  return several.length > 1 || single ? several[0].cloneNode(false).outerHTML.slice(0, 100) : "";
}

//: pictured  What of the page shows an SVG picture, each with the address of it or its source: pictures, what style sheets lay
// behind and beside, and drawings in the page whose texts the accessibility tree leaves out. Of a canvas that says nothing the
// source of such a picture with what scripts have written on it.
() => {
  const box = element => element.getBoundingClientRect(), quoted = text => [...text.matchAll(/url\("((?:[^"\\]|\\.)*)"\)/g)].map(one => one[1].replace(/\\(.)/g, "$1"));
  const painted = element => quoted(["", "::before", "::after"].map(side => {
    const style = getComputedStyle(element, side || null);
    return style.backgroundImage + (side ? style.content : "");
  }).join());
  // the last that was written in a place stands there; what is far apart in a row, as the labels of an axis, is no one text
  const written = canvas => {
    const rows = new Map(), picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const { text, x, y } of canvas[Symbol.for("painted")] || []) {
      const at = Math.round(y / 6), rest = (rows.get(at) || []).filter(one => Math.abs(one.x - x) > 2);
      rows.set(at, [...rest, { text, x }].sort((left, right) => left.x - right.x));
    }
    for (const row of rows.values()) {
      const close = (left, right) => right.x - left.x < 24 + 14 * left.text.length, between = row.some(one => one.text.length > 1) ? " " : "";
      const texts = row.reduce((found, one, at) => at && close(row[at - 1], one) ? [...found.slice(0, -1), found[found.length - 1] + between + one.text] : [...found, one.text], []);
      for (const text of texts) picture.appendChild(document.createElementNS(picture.namespaceURI, "text")).textContent = text;
    }
    return picture.children.length ? [picture.outerHTML] : [];
  };
  const sources = element => {
    if (element.localName === "canvas") return element.textContent.trim() || element.ariaLabel ? [] : written(element);
    if (element.localName === "img") return element.naturalWidth > 0 ? [element.currentSrc] : [];
    if (element.localName !== "svg") return element.matches("object,embed,iframe") ? [] : painted(element);
    return element.closest("[aria-hidden=true],[role=img],[role=presentation],[role=none]") ? [element.outerHTML] : [];
  };
  return (DEEP)("*").filter(element => !element.closest("svg *") && box(element).width >= 60 && box(element).height >= 10 &&
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true })).flatMap(element => sources(element).map(source => ({ element, source })))
    .filter(({ source }) => source.length < 100000 && (/^data:image\/svg|^<svg/.test(source) || /\.svg(?:[?#]|$)/.test(source)));
}

//: picture-files  The addresses of the SVG pictures of the site that the page shows.
() => [...new Set((PICTURED)().map(one => one.source).filter(source => !/^data:|^</.test(source) && new URL(source, document.baseURI).origin === location.origin)
  .map(source => new URL(source, document.baseURI).href))].slice(0, 12)

//: unsaid  What the page says to eyes alone: what style sheets write, as generated content with an empty alternative text or of
// what is aria-hidden, and what is written in SVG pictures (`files`: the sources of those that are files), line by line, where no
// text or name tells the same number or address. `about`: only what stands below a heading about contact, or after a text that
// bids to write or call or is a label, each with that text before it; of pictures also the short ones, and all in head and foot.
// `main`: only pictures of the main region.
([about, files, main]) => {
  const lead = LEAD, [heads, ...says] = (about || []).map(words => new RegExp(words, "i")), region = (REGION)();
  const stands = element => {
    const { said, head } = lead(element), before = element.textContent.trim() || said;
    return heads.test(head) || says[0].test(head) || says.some(words => words.test(before)) ? before : "";
  };
  const written = [...document.querySelectorAll("body *")].flatMap(element => ["::before", "::after"].map(part => {
    const match = /^((?:"(?:[^"\\]|\\.)*"\s*)+)(\/\s*"")?$/.exec(getComputedStyle(element, part).content);
    if (!match || !(match[2] || element.closest("[aria-hidden=true]")) || !element.checkVisibility({ visibilityProperty: true })) return "";
    const text = [...match[1].matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(one => one[1].replace(/\\(.)/g, "$1")).join("").replace(/\s+/g, " ");
    if (!about) return text;
    const before = stands(element);
    return before ? before.slice(-60) + " " + text : "";
  }));
  const source = text => {
    const data = /^data:[^,]*?(;base64)?,(.*)$/s.exec(text);
    try {
      if (!data) return text.startsWith("<") ? text : files[new URL(text, document.baseURI).href] || "";
      const plain = decodeURIComponent(data[2]);
      return data[1] ? new TextDecoder().decode(Uint8Array.from(atob(plain), one => one.charCodeAt(0))) : plain;
    } catch { return ""; }
  };
  const lines = text => {
    const picture = new DOMParser().parseFromString(text, text.startsWith("<svg") && !text.includes("xmlns=") ? "text/html" : "image/svg+xml");
    const parts = [...picture.querySelectorAll("text,foreignObject")].flatMap(one => {
      const rows = [...one.querySelectorAll("tspan[x],tspan[dy]")];
      return rows.length > 1 ? rows : [one];
    });
    return parts.map(one => one.textContent.replace(/\s+/g, " ").trim()).filter(Boolean).join("\n");
  };
  const names = [...document.querySelectorAll("[alt],[title],[aria-label],a[href]")].filter(one => !one.closest("[aria-hidden=true]"))
    .flatMap(one => ["alt", "title", "aria-label", "href"].map(key => one.getAttribute(key) || ""));
  const bare = text => text.toLowerCase().replace(/[\s()./-]/g, ""), told = bare([document.body.innerText, ...names].join(" ; "));
  const same = text => {
    const tells = text.match(/\d[\d\s()./-]{3,}\d|[\w.+-]+@[\w.-]+|\d+[.,]\d\d/g) || [];
    return tells.length > 0 && tells.every(one => told.includes(bare(one).slice(one.includes("@") ? 0 : -7)));
  };
  const edge = "header,footer,address,[role=banner],[role=contentinfo]";
  const placed = (element, text) => {
    if (main) return region.contains(element) && !element.closest("header,footer,nav,aside");
    if (!about || element.closest(edge) || stands(element)) return true;
    return text.length < 100 && element.localName !== "svg" && !element.closest("figure,[aria-hidden=true]");
  };
  const drawn = (PICTURED)().slice(0, 60).map(one => ({ element: one.element, text: lines(source(one.source)) }))
    .filter(({ element, text }) => text && text.length <= 200 && !same(text) && placed(element, text)).map(one => one.text);
  return [...written.filter(Boolean), ...drawn];
}

//: muted  Lines of text that are seen and that aria-hidden or inert keep out of the accessibility tree; with `foot` only those
// in a foot, an address or below a heading about contact (`heads`), that is: none of what a drawing of a screen or a letter says.
// None where something else beside them says it to those who listen, or the page waits below a dialog.
([foot, heads]) => {
  const lead = LEAD, about = new RegExp(heads, "i"), box = element => element.getBoundingClientRect();
  const off = "[aria-hidden=true],[inert]", shown = element => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  if ([...document.querySelectorAll("dialog[open],[role=dialog],[role=alertdialog],[aria-modal=true]")].some(one => shown(one) && !one.closest(off))) return [];
  // what is rolled up, pushed aside or clipped is not seen
  const seen = element => {
    let { left, top, right, bottom } = box(element);
    [left, top, right, bottom] = [left + scrollX, top + scrollY, right + scrollX, bottom + scrollY];
    for (let up = element.parentElement; up && up !== document.body; up = up.parentElement) {
      if (getComputedStyle(up).overflow === "visible") continue;
      const clip = box(up);
      left = Math.max(left, clip.left + scrollX); right = Math.min(right, clip.right + scrollX);
      top = Math.max(top, clip.top + scrollY); bottom = Math.min(bottom, clip.bottom + scrollY);
    }
    const root = document.documentElement;
    return right - Math.max(left, 0) >= 20 && bottom - Math.max(top, 0) >= 8 && left < Math.max(root.scrollWidth, innerWidth) - 20;
  };
  const quiet = element => [...element.querySelectorAll("*")].some(one => !one.closest(off) && /[\p{L}\p{N}]/u.test(one.textContent) &&
    (box(one).width <= 2 || box(one).height <= 2 || box(one).right + scrollX <= 0));
  const stands = part => part.closest("footer,address,[role=contentinfo]") || part.matches(":has(address)") || about.test(lead(part).head);
  const parts = [...document.querySelectorAll(off)].filter(part => shown(part) && !part.parentElement.closest(off) && !part.querySelector("h1,main") &&
    !part.closest("[role=img],[role=presentation],figure,p[aria-label],span[aria-label],a,button,label,nav,dialog") &&
    !quiet(part.parentElement) && !part.parentElement.hasAttribute("aria-label"));
  const lines = parts.flatMap(part => {
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT), found = new Set();
    while (walker.nextNode()) {
      let block = walker.currentNode.parentElement;
      while (block !== part && /inline|contents/.test(getComputedStyle(block).display)) block = block.parentElement;
      if (walker.currentNode.data.trim() && shown(block) && seen(block) && (!foot || stands(block))) found.add(block.innerText.replace(/\s+/g, " ").trim());
    }
    return [...found];
  });
  return lines.filter(line => line && line.length < 200).slice(0, 40);
}

//: turned  Texts that style sheets draw from right to left letter by letter, as they stand in the page.
() => [...document.querySelectorAll("body *")].filter(element => {
  const style = getComputedStyle(element), text = element.textContent || "";
  return style.unicodeBidi.includes("override") && style.direction === "rtl" && text.length < 120 && !/[\u0590-\u08ff]/.test(text) &&
    element.checkVisibility({ visibilityProperty: true });
}).map(element => element.textContent.trim()).slice(0, 20)
