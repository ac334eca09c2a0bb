// Questions about what only a mouse finds: what reacts, what may be pointed at, and where. See `questions.js`.

//: moved  Whether something in the main region, or what stands for it, reacts to a mouse and is no control, or asks for a
// date; of the whole page with `all`. What lies around it may listen for it.
(getEventListeners, all) => {
  const reacts = REACTS, hovers = HOVERS, operated = OPERATED, deep = DEEP, drawn = (HOVERED)().join() || ":not(*)";
  const main = all ? document.body : (REGION)();
  const own = element => getEventListeners(element);
  if (main.querySelector("input[type^=date],input[type=time],input[type=week],input[type=month]")) return true;
  for (let around = main; around; around = around.parentNode) {
    if (Object.keys(own(around)).some(kind => /^(click|mouse|pointer|touch|wheel|dragstart|drop)/.test(kind))) return true;
  }
  return deep("*", main).some(element => !operated(element) && element.checkVisibility({ visibilityProperty: true }) && !element.closest("footer,form") &&
    (reacts(getEventListeners, element) || hovers(getEventListeners, element) || element.matches(drawn) || Object.keys(own(element)).some(kind => /wheel/.test(kind))));
}

//: clickable  Elements of the main region that react to a click without being links or buttons.
getEventListeners => {
  const reacts = REACTS, operated = OPERATED, deep = DEEP;
  const main = (REGION)();
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

//: heard  Whether anything listens to a press on what says just this, or hardly more: itself, what it holds or what is around it.
(getEventListeners, said) => {
  const deep = DEEP, above = ABOVE, plain = text => text.replace(/\s+/g, ""), letters = plain(said);
  const hears = node => Object.keys(getEventListeners(node)).some(kind => /^(dbl)?click$|^(mouse|pointer|touch)/.test(kind)) ||
    (node.getAttributeNames ? node.getAttributeNames().some(name => /^on((dbl)?click$|mouse|pointer|touch)|^jsaction$/.test(name)) : false);
  const parts = deep("*").filter(element => plain(element.textContent || "").includes(letters) && plain(element.textContent).length <= letters.length + 6);
  const around = new Set([document]);  // the window has listeners of those who drive the browser
  for (const part of parts) {
    for (const inner of part.querySelectorAll("*")) around.add(inner);
    for (let node = part; node; node = above(node)) around.add(node);
  }
  return [...around].some(hears);
}

//: clipped  Whether what is around an element cuts it off, as a slide that is not in turn.
element => {
  const box = element.getBoundingClientRect(), above = ABOVE;
  for (let up = above(element); up && !up.matches("body,html"); up = above(up)) {
    const style = getComputedStyle(up), clip = up.getBoundingClientRect(), [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    if (/hidden|clip/.test(style.overflowX) && (x < clip.left || x > clip.right)) return true;
    if (/hidden|clip/.test(style.overflowY) && (y < clip.top || y > clip.bottom)) return true;
  }
  return false;
}

//: operable  Whether an element is a control, or part of one.
element => (OPERATED)(element)

//: links-left-out  Links to other pages of the site that are seen, say nothing and are hidden from the accessibility tree, but in the
// foot: their addresses and start tags, and whether they stand in the main region.
() => {
  const main = (REGION)(), says = "[alt]:not([alt='']),[aria-label]:not([aria-label='']),[title]:not([title='']),title";
  return [...document.querySelectorAll("[aria-hidden=true] a[href],a[href][aria-hidden=true]")].filter(link => link.checkVisibility({ visibilityProperty: true }) &&
    link.host === location.host && !link.closest("footer") && !(link.textContent || "").trim() && !link.matches(says) && !link.querySelector(says))
    .map(link => [link.href, link.cloneNode(false).outerHTML, main.contains(link) && !link.closest("nav,header,footer,aside")]);
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

//: pointable  Start tags with texts, places in the document, and whether it reacts, of what a mouse may be pointed at for something that is
// hidden, the likeliest first: what
// reacts, what lies around the hidden, and what is drawn like a button or an icon; no control with a name. `about`: a
// pattern of what they may say.
(getEventListeners, hidden, about) => {
  const reacts = REACTS, hovers = HOVERS, operated = OPERATED, spoken = SPOKEN, ticks = TICKS, deep = DEEP, boxed = BOXED, beside = BESIDE;
  const box = element => element.getBoundingClientRect(), text = element => (element.textContent || "").trim();
  const main = (REGION)(), above = ABOVE;
  const inside = element => { for (let node = element; node; node = above(node)) if (node === main) return true; return false; };
  const away = element => !element.checkVisibility({ visibilityProperty: true });
  const shown = element => element.nodeType === 1 && !element.matches("body,html") && !away(element) &&
    box(element).width >= 8 && box(element).height >= 8 && box(element).right + scrollX > 0 && box(element).bottom + scrollY > 0;
  const painted = element => !text(element) && /url\(/.test(getComputedStyle(element).backgroundImage);
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
    return [...ranks].filter(([element, rank]) => rank < most && !same(element, above(element)))
      .sort((left, right) => left[1] - right[1]).map(([element]) => element);
  };
  const wheels = element => Object.keys(getEventListeners(element)).some(kind => /wheel/.test(kind)) || element.hasAttribute("onwheel");
  // large drawings and pictures that listen, or whose surroundings do: they are pressed in several places, which takes time
  const listens = element => reacts(getEventListeners, element) || Object.keys(getEventListeners(element)).some(kind => /^(dbl)?click$|^(mouse|pointer|touch)(down|up|start|end)$/.test(kind));
  const hears = element => {
    const closest = [element, above(element), above(above(element) || element)].filter(up => up && !up.matches("body,html,main"));
    return element.localName === "canvas" ? closest.some(listens) : listens(element);
  };
  const surfaces = new Set(deep("canvas,img,svg").filter(element => free(element) && box(element).width >= 100 && box(element).width * box(element).height >= 8000 &&
    !element.closest("nav,footer") && hears(element)).slice(0, 2));
  const shapes = from => [...surfaces].filter(element => !from || from.contains(element))
    .concat(deep("g,path,rect,circle,polygon,ellipse,canvas", from).filter(element => free(element) && live(element) && !surfaces.has(element)));
  const scrolls = element => /auto|scroll/.test(getComputedStyle(element).overflowY) && element.scrollHeight > element.clientHeight + 1;
  const unfolding = (targets, fits) => [...new Set(targets.slice(0, 40).flatMap(one => beside(one, free, live)))].filter(fits);
  const rows = () => {
    const apart = "nav,header,footer,aside,form";
    const lists = deep("*").filter(list => list.children.length > 1 && !list.closest(apart + ",[role=navigation],p") && shown(list) &&
      new Set([...list.children].map(row => row.tagName + row.className)).size === 1 && text(list.firstElementChild) && text(list.firstElementChild).length < 400);
    const cards = every.filter(element => inside(element) && live(element) && text(element) && text(element).length < 400 &&
      !live(above(element)) && !element.closest(apart));
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
    const targets = deep(kinds[hidden] || kinds.control).filter(element => away(element) && (hidden !== "text" || !element.querySelector(":not(br)")));
    const around = hidden === "disabled" ? closed() : unfolding(targets, () => true);
    const said = new RegExp(about, "i");
    const marks = part => ["id", "class", "title", "placeholder", "href", "src", "xlink:href"].map(key => part.getAttribute(key) || "")
      .concat(Object.entries(part.dataset || {}).flat()).join(" ");
    const drawings = hidden === "field" ? [...deep("canvas").filter(free), ...shapes(main).filter(few(3))] : [...surfaces].filter(element => element.localName === "canvas");
    // the page may listen for what is drawn on a canvas
    const own = window[Symbol.for("watch")], presses = node => Object.entries(getEventListeners(node)).some(([kind, those]) =>
      /^(click|(mouse|pointer)(down|up)|touch(start|end))$/.test(kind) && those.some(({ listener }) => listener !== own));
    const served = canvas => { for (let up = canvas; up; up = above(up)) if (presses(up)) return true; return presses(document) || presses(window); };
    const paints = element => (element[Symbol.for("painted")] || []).some(one => said.test(one.text));
    const tells = element => paints(element) || text(element).length < 80 && [text(element), ...[element, ...[...element.querySelectorAll("*")].slice(0, 6)].map(marks)].some(part => said.test(part));
    // one of a few short texts in what listens, as the tabs of a row
    const heard = element => !element.children.length && text(element).length < 40 && above(element) !== main && !element.closest("nav,p,h1,h2,h3,ul") &&
      reacts(getEventListeners, above(element));
    const looks = element => live(element) || surfaces.has(element) ? 0 : around.includes(element) ? 1 : boxed(element) || element.isContentEditable || heard(element) ? 2 :
      icon(element) || (drawings.includes(element) && element.localName === "canvas" && served(element)) ? 3 : 4;
    const open = [...new Set([...around, ...every])].filter(element => box(element).height < 600 && !element.querySelector("main,h1")).concat(drawings);
    return ranked(new Map(open.map(element => [element, looks(element) + (tells(element) ? 0 : 5)])), 9);
  };
  // an icon, a sign, a box or a short text in the smallest part of the page that has a price
  const priced = () => {
    const price = new RegExp(about), small = element => icon(element) || /^[+＋⊕➕]$/.test(text(element)) || boxed(element) || (!text(element) && box(element).height <= 120 && box(element).width <= 300);
    // a shadow root says what its elements say, without its style sheet
    const said = node => node.host ? [...node.children].filter(one => !one.matches("style,script")).map(text).join(" ") : text(node);
    const part = element => { let up = element; while (up && !price.test(said(up))) up = up.parentNode; return up; };
    const close = element => { const up = part(element); return !!up && up.nodeType !== 9 && !(up.matches && up.matches("body,html")) && said(up).length < 200; };
    const plain = element => !element.children.length && !!text(element) && text(element).length < 40 && !element.matches("h1,h2,h3,h4");
    return ranked(new Map(every.filter(element => (small(element) || plain(element)) && !price.test(text(element)) && !element.closest("nav,header,footer") && close(element))
      .map(element => [element, live(element) ? 0 : small(element) ? 1 : 2])), 9);
  };
  // what may lead on from a page without links: icons, shapes and short texts that react, then short texts around the main region
  const ways = () => {
    const around = every.concat(shapes()).filter(element => !element.closest("footer,form") && !element.querySelector(control));
    const reacting = around.filter(element => (live(element) || surfaces.has(element)) && !live(above(element)) &&
      (icon(element) || painted(element) || element.matches("canvas,svg,svg *") || (text(element) && text(element).length < 60)));
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
    const first = every.filter(element => inside(element) && wheels(element) && !scrolls(element));
    return [...new Set([...first, ...shapes(main), ...openers(), ...alike()])].filter(few(3));
  };
  // of things alike, as days or seats, and of short texts in what listens
  const alike = () => every.filter(element => inside(element) && text(element).length < 40 && !element.querySelector(control) && !element.closest("nav,p,h1,h2,h3") &&
      ([element.previousElementSibling, element.nextElementSibling].some(one => one && one.tagName === element.tagName && one.className === element.className) ||
      (!element.children.length && text(element) && above(element) !== main && reacts(getEventListeners, above(element)))));
  // what may enable a control: what holds it, what reacts, and things alike
  const enablers = () => [...new Set([...shapes(main), ...openers(), ...alike()])].filter(few(2));
  // what has come up since it was last asked what may be pointed at
  const known = globalThis[Symbol.for("every")];
  const fresh = () => {
    const came = every.filter(element => !known.has(element) && text(element).length < 60 && !element.querySelector(control));
    return came.filter(element => live(element) || !came.some(inner => inner !== element && element.contains(inner)));
  };
  if (hidden !== "fresh") Object.defineProperty(globalThis, Symbol.for("every"), { value: new Set(every), configurable: true });
  // for each letter of `about` what shows just that among things alike with ten letters and more, as the keys of a keyboard do;
  // then what else stands beside them and may send what they write, what says so first
  const keys = () => {
    const written = element => (/^"((?:[^"\\]|\\.)*)"/.exec(getComputedStyle(element, "::before").content) || ["", ""])[1].trim();
    const said = element => text(element) || written(element);
    const boards = new Map();
    for (const element of every.filter(one => /^\p{L}$/u.test(said(one)) && !one.querySelector("*"))) {
      const board = element.localName + element.className;
      boards.set(board, new Map([[said(element).toLowerCase(), element], ...boards.get(board) || []]));
    }
    const [letters] = [...boards.values()].sort((left, right) => right.size - left.size);
    const typed = letters && letters.size >= 10 ? [...about].map(letter => letters.get(letter)) : [undefined];
    if (typed.includes(undefined)) return [];
    const marked = MARKED, tells = element => marked([said(element), element.className, element.id].join(" "));
    const others = [...new Set([...letters.values()].flatMap(key => [...above(key).children]))].filter(one => free(one) && said(one).length < 30 &&
      !/^[\p{L}\p{N}<←⌫_␣.,'-]$/u.test(said(one)));
    // what sends stands last on most keyboards, behind what takes a letter away
    return [...typed, ...others.reverse().sort((left, right) => tells(right) - tells(left))];
  };
  // fields and editables without a name that are empty, one on a line, alone in their form, and ask for nothing like `about`
  const entries = () => deep("input:not([type]),input[type=text],input[type=search],textarea,[contenteditable]").filter(field => {
    const form = field.form || field.closest("form,[role=form]"), around = form || field.parentElement, asks = new RegExp(about, "i");
    const others = form ? deep("input:not([type=hidden],[type=submit],[type=button],[type=image]),textarea,select,[contenteditable]", form) : [];
    const writes = field.isContentEditable ? !field.parentElement || !field.parentElement.isContentEditable : field.matches("input,textarea") && !field.readOnly;
    const said = [...field.attributes].map(one => one.value).concat(around && text(around).length < 200 ? text(around) : []).join(" ");
    return writes && shown(field) && box(field).width >= 60 && box(field).height <= 80 && !field.matches(":disabled") && !(field.value || text(field)) &&
      !(operated(field) && spoken(field)) && !asks.test(said) && others.every(one => one === field || !shown(one)) &&
      !(form && /^(post|dialog)$/i.test(form.getAttribute("method") || ""));
  });
  // what reacts, holds the word, or is one of things alike; `about`: the word, then the start tags and texts that came without it
  const tagged = element => element.cloneNode(false).outerHTML.slice(0, 160) + text(element).slice(0, 40);
  const results = () => {
    const [word, ...known] = JSON.parse(about), bare = element => tagged(element).toLowerCase().replaceAll(word, "");
    const says = element => text(element).toLowerCase().includes(word), least = element => says(element) && ![...element.children].some(says);
    const one = element => [element.previousElementSibling, element.nextElementSibling].some(other => other && other.className && other.className === element.className);
    const rank = element => text(element).length > 400 || element.querySelector(control) ? 9 : live(element) ? (says(element) ? 0 : 1) : least(element) ? 2 : one(element) ? 3 : 9;
    const came = [...new Set([...every, ...shapes()])].filter(element => rank(element) < 9 && !known.includes(bare(element)));
    return ranked(new Map(came.map(element => [element, rank(element)])), 9).filter(few(2));
  };
  const kinds = {
    row: rows,
    result: results,
    entry: entries,
    way: ways,
    offer: offers,
    disabled: enablers,
    fresh,
    key: keys,
    priced,
    list: lists,
    said: () => every.filter(element => text(element).length < 40 && new RegExp("^(?:" + about + ")", "i").test(text(element)) && !element.children.length),
  };
  const chosen = (kinds[hidden] || openers)();
  Object.defineProperty(globalThis, Symbol.for("pointable"), { value: chosen, configurable: true });
  const around = [...new Set(chosen.concat(chosen.map(above)))].filter(Boolean);
  const heard = pattern => element => Object.keys(getEventListeners(element)).some(kind => pattern.test(kind));
  const listening = {
    surfaces,
    wheels: new Set(chosen.filter(wheels)),
    files: new Set(chosen.filter(element => heard(/^dragover$/)(element) && heard(/^drop$/)(element))),
    grabs: new Set(around.filter(heard(/^(pointer|mouse|touch)(down|start)$/))),
    doubles: new Set(deep("*").filter(element => heard(/^dblclick$/)(element) || element.hasAttribute("ondblclick"))),
    drops: new Set(every.filter(heard(/^(drop|pointerup|mouseup|touchend)$/))),
    touches: new Set(deep("*").filter(element => heard(/^touch(start|end)$/)(element) || ["ontouchstart", "ontouchend"].some(key => element.hasAttribute(key)))),
  };
  // the page, or what is dragged, may listen for what is drawn like a place to drop something, else like a box that holds next to nothing
  const place = element => getComputedStyle(element).borderTopStyle === "dashed" && box(element).width >= 80 && box(element).height >= 40 && !element.closest("form");
  const clear = colour => /^transparent$|, 0\)$/.test(colour);
  const stays = element => /fixed|sticky/.test(getComputedStyle(element).position);
  const drawnApart = element => {
    const own = getComputedStyle(element), around = getComputedStyle(above(element) || element);
    return (!clear(own.backgroundColor) && own.backgroundColor !== around.backgroundColor) || own.backgroundImage !== "none" || parseFloat(own.borderTopWidth) > 0;
  };
  const held = element => { for (let up = element; up && up !== document; up = above(up)) if (up.draggable || listening.grabs.has(up)) return true; return false; };
  const empty = element => box(element).width >= 60 && box(element).height >= 60 && box(element).width * box(element).height < 0.4 * innerWidth * innerHeight &&
    text(element).length < 40 && !/\p{Sc}/u.test(text(element)) && !element.matches("img,svg") && !element.querySelector(control) &&
    !element.closest("form,nav,header") && (stays(element) || drawnApart(element)) && !held(element);
  const apart = [...listening.drops].some(one => !listening.grabs.has(one)), dashed = every.filter(place);
  const ends = !apart && (listening.drops.size > 0 || [document, document.body, window].some(heard(/^(drop|pointerup|mouseup|touchend)$/)));
  if (ends) listening.drops = new Set([...listening.drops, ...dashed]);
  if (ends && !dashed.length) {
    const boxes = every.filter(empty), first = boxes.filter(one => !boxes.includes(above(one)));
    const alike = one => first.filter(other => other.tagName + other.className === one.tagName + one.className);
    const rank = one => stays(one) ? 0 : alike(one).length > 1 ? 2 : 1;
    listening.places = first.filter(one => alike(one)[0] === one).sort((left, right) => rank(left) - rank(right)).slice(0, 3);
  }
  Object.defineProperty(globalThis, Symbol.for("listening"), { value: Object.assign(listening, { about }), configurable: true });
  const path = element => {
    const steps = [];
    for (let node = element; node; node = above(node)) steps.push(node.parentNode ? [...node.parentNode.children].indexOf(node) : 0);
    return steps.join("/");
  };
  return chosen.slice(0, 14).map(element => [tagged(element), path(element), !!live(element)]);
}

//: point  Bring one of what may be pointed at into sight; the centre of what is in sight of it, whether a control with a
// name gets a press there, how far it can be dragged, the way whose turn it is: to the right or down, below 0 to the left or up;
// whether it listens to a wheel, to a double press, and to a finger, itself or what lies around it and is not the page; half of
// its width that is in sight; whether it listens to what is dropped into it, which may be files.
at => {
  const element = globalThis[Symbol.for("pointable")][at], above = ABOVE, deep = DEEP;
  const listening = globalThis[Symbol.for("listening")] || {}, listens = (kind, one = element) => !!listening[kind] && listening[kind].has(one);
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
  const style = getComputedStyle(element), broad = listens("grabs") && box.width > 200;
  const slides = /grab|resize|move/.test(style.cursor) || /none|pan-y/.test(style.touchAction);
  const wide = box.width > right - left + 40 || (style.overflowX === "hidden" && element.scrollWidth > element.clientWidth + 40);
  // a knob goes along its track; a grip of what stays at an edge of the window, or in a tall track, away from that
  const track = element.parentElement ? element.parentElement.getBoundingClientRect() : box, view = element.ownerDocument.defaultView;
  const free = { right: track.right - box.right, down: track.bottom - box.bottom, up: box.top - track.top }, most = size => Math.min(300, size - 8);
  let stays = element;
  while (stays && !(stays.nodeType === 1 && /fixed|sticky/.test(getComputedStyle(stays).position))) stays = above(stays);
  const grip = () => {
    const along = [track.right - box.left, 0], part = stays && stays.getBoundingClientRect();
    if (free.right >= 40 && track.height <= 3 * box.height) return along;
    if (track.height > box.height + 40 && track.width <= 3 * box.width) return [0, free.down >= free.up ? free.down : -free.up];
    if (part && part.right >= view.innerWidth - 24 && part.left > 60) return [-most(box.left), 0];
    return part && part.bottom >= view.innerHeight - 24 && part.top > 60 ? [0, -most(box.top)] : along;
  };
  const centre = one => { const { left, width, top, height } = one.getBoundingClientRect(); return [left + width / 2, top + height / 2]; };
  const to = one => { const [right, down] = centre(one), [from, begin] = centre(element); return [right - from, down - begin]; };
  const held = (element.draggable && element.localName !== "a") || slides || listens("grabs");
  const drop = held && deep("*").find(one => listens("drops", one) && !one.contains(element) && !element.contains(one) && one.tagName + one.className !== element.tagName + element.className);
  // what holds a grid of things alike follows the mouse over them
  const next = !slides && listens("grabs", above(element)) && [...element.parentElement.children].find(one =>
    one !== element && one.classList[0] === element.classList[0] && Math.abs(centre(one)[0] - centre(element)[0]) < 4 && centre(one)[1] > centre(element)[1]);
  let doubles = false, touches = false;
  for (let node = element; node && !doubles; node = above(node)) doubles = listens("doubles", node);
  for (let node = element.contains(hit) ? hit : element; node && !touches && !node.querySelector("main,h1"); node = above(node)) touches = listens("touches", node);
  const usual = next ? to(next) : slides && wide ? [20 - (right - left), 0] : broad ? [(left - right) / 2, 0] : slides ? grip() : [0, 0];
  // a thing that says what is asked for, as a price, may go into a box that listens to nothing; one after the other is tried
  const cost = new RegExp(listening.about || "(?!)");
  const sold = () => {
    let up = element;
    while (up && !cost.test(up.textContent || "")) up = above(up);
    return !!up && up !== document && !up.matches("body,html,main") && up.textContent.length < 400;
  };
  const apart = one => one.isConnected && !one.contains(element) && !element.contains(one);
  const places = drop ? [drop] : held && (listening.places || []).length && sold() ? listening.places.filter(apart) : [];
  const ways = (drop || !usual.some(Boolean) ? [] : [{ drag: usual }]).concat(places.map(place => ({ drag: to(place), place })));
  if (listening.at !== at) Object.assign(listening, { at, turn: 0 });
  const way = ways[listening.turn] || { drag: [0, 0] }, drag = way.drag;
  Object.assign(listening, { ways: ways.length, place: way.place, had: way.place ? way.place.textContent : "" });
  return [x, y, !!hit && !own && (OPERATED)(hit), drag, listens("wheels"), doubles, touches, (right - left) / 2, listens("files")];
}

//: elsewhere  Go on to the next way to drag what was pointed at last; whether there is one.
() => {
  const listening = globalThis[Symbol.for("listening")] || {};
  if (listening.ways) listening.turn = (listening.turn + 1) % listening.ways;
  return !!listening.turn;
}

//: filled  What the place says, and what its markup calls it, into which something was dragged last, where it counts one more
// since then; empty otherwise.
() => {
  const { place, had } = globalThis[Symbol.for("listening")] || {}, numbers = said => (said.match(/\d+/g) || []).map(Number);
  if (!place || !place.isConnected) return "";
  const [before, now] = [numbers(had), numbers(place.textContent)];
  const more = before.length === now.length ? now.filter((one, at) => one !== before[at]).length === 1 && now.every((one, at) => one - before[at] <= 1 && one >= before[at]) :
    now.some((one, at) => one === 1 && now.filter((_, other) => other !== at).join() === before.join());
  return more ? [place.textContent, place.id, place.getAttribute("class"), place.getAttribute("aria-label"), "."].join(" ") : "";
}

//: places  Where to press one of what may be pointed at that is a canvas, holds one, or is a large picture, as far as it is in sight: where
// a text that matches is painted, then in areas that are drawn, far from each other, else in its middle, the middle of its ends, and
// its corners where it is high; null for anything else. Without `about` only what listens.
([at, about]) => {
  const element = globalThis[Symbol.for("pointable")][at], { surfaces } = globalThis[Symbol.for("listening")] || {}, deep = DEEP;
  const surface = surfaces && surfaces.has(element) ? element : about ? (element.matches("canvas") ? element : element.querySelector("canvas")) : null;
  if (!surface || surface.ownerDocument !== document) return null;
  const box = surface.getBoundingClientRect(), said = new RegExp(about, "i"), [wide, high] = [box.width >= 300, box.height >= 150];
  const middle = one => { const { left, width, top, height } = one.getBoundingClientRect(); return [left + width / 2, top + height / 2]; };
  const apart = (one, others) => Math.min(...others.map(([x, y]) => Math.hypot(x - one[0], y - one[1])));
  // areas of one colour beside each other, but for the largest, which is the ground; a copy gives the canvas no context of its own
  const areas = canvas => {
    const share = Math.min(1, Math.sqrt(2e5 / (canvas.width * canvas.height))), [w, h] = [Math.round(canvas.width * share), Math.round(canvas.height * share)];
    let colours;
    try {
      const copy = new OffscreenCanvas(w, h).getContext("2d");
      copy.imageSmoothingEnabled = false;
      copy.drawImage(canvas, 0, 0, w, h);
      colours = new Uint32Array(copy.getImageData(0, 0, w, h).data.buffer).map(one => one >>> 24 < 32 ? 0 : one & 0xf0f0f0);
    } catch { return []; }  // it holds what is of another site, or nothing
    const known = new Uint8Array(w * h), found = [];
    for (let begin = 0; begin < w * h; begin++) {
      if (known[begin]) continue;
      const cells = [begin];
      known[begin] = 1;
      for (let number = 0; number < cells.length; number++) {
        const cell = cells[number], x = cell % w;
        for (const next of [x && cell - 1, x < w - 1 && cell + 1, cell - w, cell + w]) {
          if (next > 0 && next < w * h && !known[next] && colours[next] === colours[begin]) { known[next] = 1; cells.push(next); }
        }
      }
      if (cells.length >= 64) found.push({ cells, colour: colours[begin] });
    }
    const [, ...drawn] = found.sort((left, right) => right.cells.length - left.cells.length);
    const centre = cells => {
      const sum = cells.reduce(([x, y], cell) => [x + cell % w, y + Math.floor(cell / w)], [0, 0]).map(all => all / cells.length);
      const off = cell => Math.hypot(cell % w - sum[0], Math.floor(cell / w) - sum[1]);
      const best = cells.reduce((near, cell) => off(cell) < off(near) ? cell : near);
      return [box.left + (best % w + 0.5) * box.width / w, box.top + (Math.floor(best / w) + 0.5) * box.height / h];
    };
    const colour = new Map();
    for (const area of drawn.slice(0, 60)) colour.set(area.colour, [...colour.get(area.colour) || [], centre(area.cells)]);
    // one of each colour, the largest first, then the one that lies farthest from the others
    const chosen = [], left = [...colour.values()];
    while (chosen.length < 6 && left.some(same => same.length)) {
      for (const same of left.filter(one => one.length)) {
        const far = same.reduce((best, one) => chosen.length && apart(one, chosen) > apart(best, chosen) ? one : best);
        chosen.push(...same.splice(same.indexOf(far), 1));
      }
    }
    return chosen;
  };
  const painted = (surface[Symbol.for("painted")] || []).filter(one => said.test(one.text))
    .map(({ x, y }) => [box.left + (x + 4) * box.width / surface.width, box.top + (y - 4) * box.height / surface.height]);
  const shares = [[0.5, 0.5], ...wide ? [[0.15, 0.5], [0.85, 0.5]] : [], ...high ? [[0.5, 0.12], [0.15, 0.12], [0.85, 0.12]] : []];
  const spread = shares.map(([x, y]) => [box.left + x * box.width, box.top + y * box.height]);
  const drawn = surface.localName === "canvas" ? areas(surface) : surface.localName === "svg" ? deep("path,rect,circle,polygon,ellipse", surface).slice(0, 6).map(middle) : [];
  const hit = ([x, y]) => surface.contains(surface.getRootNode().elementFromPoint(x, y));
  const places = [...painted.slice(0, 2), ...drawn, ...drawn.length > 2 ? [] : spread].filter(hit);
  return places.filter((one, at) => !at || apart(one, places.slice(0, at)) >= 8).slice(0, 6);
}

//: take-focus  Give the focus to one of what may be pointed at, where it can have it and is no control: a keyboard goes there too.
at => { const element = globalThis[Symbol.for("pointable")][at]; if (element.tabIndex >= 0 && !(OPERATED)(element)) element.focus({ preventScroll: true }); }

//: focus  What has the focus, in a shadow root or a frame of the same origin too.
() => {
  const root = ROOT, inner = element => root(element) || (element.localName === "iframe" && element.contentDocument) || null;
  let focus = document.activeElement;
  for (let next = focus; next && !next.matches("body,html"); next = (inner(next) || {}).activeElement) focus = next;
  return focus;
}

//: typed  Start tags and texts of what may send what is typed in the field that has the focus, and is no control with a name:
// short texts that hold the word, those that react or lie close to the field first, then icons and short texts beside the field.
(getEventListeners, word) => {
  const deep = DEEP, reacts = REACTS, operated = OPERATED, spoken = SPOKEN, boxed = BOXED;
  const field = (FOCUS)();
  if (!field || field.matches("body,html")) return [];
  const box = element => element.getBoundingClientRect(), text = element => (element.textContent || "").trim();
  const free = element => element.checkVisibility({ visibilityProperty: true }) && box(element).width >= 8 && box(element).height >= 8 &&
    (!operated(element) || (element.matches("button,[role=button],a[href]") && !spoken(element)));
  const live = element => reacts(getEventListeners, element), plain = "div,span,li,p,td,b,i,u,em,strong,svg,img,a,button";
  const below = element => box(element).top >= box(field).top && box(element).top - box(field).bottom < 500 && box(element).left < box(field).right && box(element).right > box(field).left;
  const every = deep("*").filter(element => (element.matches(plain) || element.localName.includes("-")) && free(element) && element !== field && !element.contains(field));
  const suggested = every.filter(element => text(element).toLowerCase().includes(word.toLowerCase()) && text(element).length < 120 && below(element) &&
    (live(element) || !element.children.length) && !element.closest("h1,h2,h3,p"));
  const beside = [], bare = element => !/[\p{L}\p{N}]/u.test(text(element)) && box(element).width <= 80;
  const whole = part => part.nodeType === 9 || part === document.body || (!!part.matches && part.matches("main,html"));
  const middle = element => [box(element).left + box(element).right, box(element).top + box(element).bottom];
  const same = (element, outer) => outer !== element && outer.contains(element) && middle(outer).every((at, side) => Math.abs(at - middle(element)[side]) < 6);
  // a shadow root and the body of a frame hold what is beside the field too
  for (let around = field.parentNode, level = 0; around && level < 3 && !whole(around); around = around.parentNode || around.host, level++) {
    const near = every.filter(element => around.contains(element) && !beside.includes(element) && !suggested.includes(element) && text(element).length < 20 &&
      box(element).height <= 80 && (live(element) || boxed(element) || bare(element)));
    const apart = near.filter(element => ![...beside, ...near].some(outer => same(element, outer)));
    beside.push(...apart.sort((left, right) => live(right) - live(left)));
  }
  const chosen = [...suggested, ...beside];
  Object.defineProperty(globalThis, Symbol.for("pointable"), { value: chosen, configurable: true });
  return chosen.slice(0, 14).map(element => element.cloneNode(false).outerHTML.slice(0, 160) + text(element).slice(0, 60));
}

//: touched  The start tag of the first of what may be pointed at that listens to a finger.
getEventListeners => {
  const found = globalThis[Symbol.for("pointable")].find(element => ["touchstart", "touchend"].some(kind => getEventListeners(element)[kind] || element.hasAttribute("on" + kind)));
  return found ? found.cloneNode(false).outerHTML.slice(0, 160) : "";
}

//: keyed  Whether what has the focus takes keys, or anything around it listens to them.
getEventListeners => {
  const above = ABOVE, own = window[Symbol.for("watch")];
  const focus = (FOCUS)() || document.body;
  if (!focus || focus.isContentEditable || ["iframe", "input", "textarea", "select", "object", "embed"].includes(focus.localName)) return true;
  const hears = node => Object.entries(getEventListeners(node)).some(([kind, those]) =>
    /^key|^(before|text)?input$|^paste$/i.test(kind) && those.some(({ listener }) => listener !== own));
  for (let node = focus; node; node = above(node)) if (hears(node)) return true;
  return hears(document) || hears(window);
}

//: writes  Whether what is typed goes into a control with a name.
() => {
  const focus = (FOCUS)();
  return !!focus && (OPERATED)(focus) && (SPOKEN)(focus);
}

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
