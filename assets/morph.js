// Makes an element's content like that of another, and leaves alone what is the same: so focus, what was typed, what is
// chosen and where somebody scrolled stay when a page is written again.
//
// Children with an id are found by it, wherever they stand; others by their place.

// What scripts write themselves stays, unless the page has something to say there.
function isOwn(old, fresh) {
  if (old.hasAttribute("data-own")) return true;
  return old.hasAttribute("data-notice") && fresh.childNodes.length === 0;
}

// The property of a form is no id where one of its fields has that name.
const idOf = (node) => node.getAttribute?.("id");
const alike = (old, fresh) =>
  old.nodeType === fresh.nodeType && old.nodeName === fresh.nodeName && !idOf(old) && !idOf(fresh);

function morphNode(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  if (isOwn(old, fresh)) return;
  // A time that is the same instant is in the viewer's zone already.
  if (old.nodeName === "TIME" && old.dateTime === fresh.dateTime) return;
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== "tabindex") old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  morph(old, fresh);
}

export function morph(old, fresh) {
  const byId = new Map([...old.children].filter(idOf).map((child) => [idOf(child), child]));
  let at = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    const named = idOf(next) && byId.get(idOf(next));
    if (named) {
      if (named === at) at = at.nextSibling;
      else old.insertBefore(named, at);
      morphNode(named, next);
    } else if (at && alike(at, next)) {
      const here = at;
      at = at.nextSibling;
      morphNode(here, next);
    } else {
      old.insertBefore(next, at);
    }
  }
  while (at) {
    const rest = at.nextSibling;
    at.remove();
    at = rest;
  }
}
