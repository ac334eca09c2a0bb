// Questions about fields, forms and searches: what they say of themselves, and what looks like them. See `questions.js`.

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

//: unshown-fields  Whether a form holds fields to type in and shows none of them.
() => (DEEP)("form").some(form => {
  const fields = [...form.querySelectorAll("input:not([type]),input[type=text],input[type=email],input[type=tel],textarea")];
  return fields.length > 1 && fields.every(field => !field.checkVisibility({ visibilityProperty: true }));
})

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

//: takes-file  Whether something on the page takes a file; what is in frames of other sites is not known.
() => { const deep = DEEP; return deep("input[type=file]").length > 0; }

//: control  What an element says of itself as a control of a form, and what that would do. `key` numbers the form, -1 without one;
// `group`: the radio buttons that it is one of; `declared`: it says by which method it sends; `entries`: its fields of text; `marked`: the markup calls it or the control a
// search; `sends`: a button with a name sends it, and it is none around the content of the page; `numbers`: the control is a list
// of nothing else.
element => {
  const deep = DEEP, reached = (() => { try { return element.ownerDocument.defaultView.top.document; } catch { return null; } })();
  const above = node => node.assignedSlot || node.parentNode || node.host;
  let form = element.form;
  for (let up = element; !form && up; up = above(up)) if (up.matches && up.matches("form,[role=form]")) form = up;
  const named = button => button.innerText || button.value || button.getAttribute("aria-label") || button.alt || button.title || "";
  const marks = part => part ? ["id", "name", "class", "action"].map(key => part.getAttribute(key) || "").join(" ") : "";
  const address = url => { try { return new URL(url, element.baseURI).href; } catch { return ""; } };
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
    group: element.type === "radio" ? element.name : "",
    key: form ? deep("form,[role=form]", reached || element.ownerDocument).indexOf(form) : -1,
    reached: !!reached,
    password: !!around.querySelector("input[type=password]"),
    search: !!(form && (form.getAttribute("role") === "search" || form.closest("[role=search],search"))),
    buttons: form
      ? [...form.querySelectorAll("button,input[type=submit],input[type=image]")].map(named).join(" | ") : "",
    visible: (element.checkVisibility ? element.checkVisibility({ visibilityProperty: true }) : true) && !(entry && away),
    method: form ? (form.getAttribute("method") || "get").toLowerCase() : "",
    declared: !!form && form.hasAttribute("method"),
    action: form ? address(form.getAttribute("action") || "") : "",
    entries: form ? form.querySelectorAll("textarea,input:not([type])," + ["text", "search", "email", "tel", "url", "number"].map(type => `input[type=${type}]`).join()).length : 0,
    hint: element.placeholder || "",
    marked: (MARKED)(marks(element) + " " + marks(form)),
    sends: !!form && !form.querySelector("main,nav,[role=main]") && [...form.elements || []].some(one => named(one) &&
      one.matches("button:not([type=button],[type=reset]),input[type=submit],input[type=image]") && one.checkVisibility({ visibilityProperty: true })),
    readonly: !!element.readOnly || element.getAttribute("aria-readonly") === "true",
    disabled: element.matches(":disabled,[aria-disabled=true]"),
    checked: !!(element.pattern || element.getAttribute("inputmode") || element.getAttribute("aria-invalid") === "true" ||
      (element.validity && element.validity.customError) || element.placeholder),
    min: element.min || "",
    max: element.max || "",
    maxlength: element.maxLength || 0,
    numbers: element.localName === "select" && [...element.options].every(option => /^\d*$/.test(option.text.trim())),
  };
}

//: value  The value that a control holds.
element => {
  const own = element.value !== undefined && !element.isContentEditable && !["DIV", "LI", "BUTTON"].includes(element.tagName);
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
  // what a shadow root holds without a role
  const sealed = (EDITABLES)(form).find(inner => inner.getRootNode() !== form.getRootNode() && inner.getBoundingClientRect().height >= 12);
  const found = fake || label || written || sealed;
  return found ? found.cloneNode(false).outerHTML.slice(0, 200) : "";
}

//: unwritable  Whether nobody can write into the form of that number: all its fields to type in are read-only, and none reacts
// to a mouse, which could open what to choose from.
(getEventListeners, key) => {
  const deep = DEEP, reacts = REACTS, hovers = HOVERS, form = deep("form,[role=form]")[Number(key)];
  const types = ["checkbox", "radio", "hidden", "submit", "button", "reset", "image", "file", "range", "color"];
  const fields = form ? deep("input,textarea", form).filter(one => !types.includes(one.type) && one.checkVisibility()) : [];
  return fields.length > 0 && fields.every(one => one.readOnly && !reacts(getEventListeners, one) && !hovers(getEventListeners, one));
}

//: editables  The elements of a form that take typing and are no fields, in shadow roots and slots too.
form => {
  const deep = DEEP, around = node => node.assignedSlot || node.parentNode || node.host, field = "input,textarea,[contenteditable],[role=textbox],[role=searchbox],[role=combobox]";
  const inside = element => {
    for (let up = around(element); up; up = around(up)) {
      if (up === form) return true;
      if (up.isContentEditable || (up.matches && up.matches(field))) return false;
    }
    return false;
  };
  return deep("[contenteditable]").filter(element => element.isContentEditable && !element.hasAttribute("role") && inside(element) &&
    element.checkVisibility({ visibilityProperty: true }));
}

//: editable  The start tag of the first of so many elements of one form that take typing without being fields.
least => {
  const deep = DEEP, editables = EDITABLES;
  for (const form of deep("[contenteditable]").length ? deep("form,[role=form]") : []) {
    const fields = form.closest("[role=search],search") ? [] : editables(form);
    const sends = fields.length >= least && deep("button,input[type=submit],[role=button]", form).concat(...form.elements || []).some(one => one.matches("button,input[type=submit],[role=button]"));
    if (sends) return fields[0].cloneNode(false).outerHTML.slice(0, 200);
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

//: bare-forms  The numbers of the forms that send by POST what is hidden, show no control but those that send, and those by name.
// At least two inputs wait for a value, or one where days stand; a row of boxes that only their labels show is one. None around
// the content of the page, in its head or foot, or for consent.
() => {
  const deep = DEEP, operated = OPERATED, spoken = SPOKEN, shown = element => element.checkVisibility({ visibilityProperty: true });
  const around = "nav,header,footer,search,dialog," + ["navigation", "banner", "contentinfo", "search", "dialog"].map(role => `[role=${role}]`).join() +
    "," + ["cookie", "consent"].flatMap(word => [`[class*=${word} i]`, `[id*=${word} i]`]).join();
  const control = "button,input:not([type=hidden]),select,textarea,summary,iframe,a[href^='#'],a[href^='javascript:'],[role],[contenteditable]";
  const sends = element => element.matches("button:not([type=button],[type=reset]),input[type=submit],input[type=image]");
  const waits = input => input.type === "hidden" && input.name && /^\d{0,4}$/.test(input.value);
  const day = element => !element.children.length && /^\d{1,2}$/.test(element.textContent.trim()) && shown(element);
  return deep("form,[role=form]").flatMap((form, at) => {
    if ((form.getAttribute("method") || "").toLowerCase() !== "post" || form.closest(around) || form.querySelector("main,nav,[role=main]")) return [];
    const controls = [...new Set([...form.elements || [], ...deep(control, form)])].filter(one => one.matches(control) && shown(one) &&
      (one.matches("iframe,[contenteditable]") || (operated(one) && (one.matches("input,select,textarea") || spoken(one)))));
    const labelled = [...form.querySelectorAll("input[type=radio],input[type=checkbox]")].filter(box => !shown(box) && [...box.labels].some(shown));
    const waiting = [...form.querySelectorAll("input")].filter(waits).length + new Set(labelled.map(box => box.name)).size;
    const fits = controls.length && controls.every(sends) && (waiting > 1 || (waiting && deep("*", form).filter(day).length >= 7));
    return fits ? [[String(at), controls.map(one => one.innerText || one.value || one.getAttribute("aria-label") || one.alt || "").join(" | ")]] : [];
  });
}

//: choices  Start tags of what a form of that number shows like things to choose from: what reacts, beside each other, in place
// of a control that is not displayed, or drawn like a button, a field or a place to drop something; with `marks` also what serves
// a control.
(getEventListeners, key, marks) => {
  const deep = DEEP, operated = OPERATED, boxed = BOXED, serves = SERVES, reacts = REACTS, ticks = TICKS;
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
  const live = element => reacts(getEventListeners, element);
  const kinds = [live, stands, blank, drop, sign, boxed, alike, day];
  const rank = element => kinds.findIndex(kind => kind(element));
  const chosen = deep("div,span,li,p,b,i,svg,td,label", form).filter(element => element.checkVisibility({ visibilityProperty: true }) && (marks || !serves(element)) &&
    (element.localName === "label" ? ticks(element) && !element.parentElement.querySelector("button,[role],[tabindex]") : !operated(element)) &&
    (text(element).length < 40 || drop(element)) && rank(element) >= 0 && ![...element.querySelectorAll(control)].some(inner => inner.checkVisibility()))
    .sort((left, right) => rank(left) - rank(right));
  Object.defineProperty(globalThis, Symbol.for("pointable"), { value: chosen, configurable: true });
  if (document.activeElement) document.activeElement.blur(); // what a form checks when a field is left is checked now
  return chosen.slice(0, 8).map(element => element.cloneNode(false).outerHTML.slice(0, 160));
}

//: form-state  What the form of that number holds, its marks too; what its controls hold that are shown, and those that are not.
key => {
  const deep = DEEP, form = deep("form,[role=form]")[Number(key)];
  if (!form) return null;
  const shown = control => control.checkVisibility({ visibilityProperty: true }), every = [...form.querySelectorAll("input,select,textarea")];
  const held = controls => controls.map(control => control.value + control.checked).join();
  const hidden = held(every.filter(control => !shown(control)));
  return [form.innerHTML + hidden, held(every.filter(shown)), hidden];
}
