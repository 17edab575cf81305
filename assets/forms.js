// How the pages of bids talk to the server: a page is read by its address, a form is sent as it is.

export const here = () => location.pathname + location.search;

async function ask(address, options) {
  const answer = await fetch(address, options);
  const value = await answer.json().catch(() => null);
  if (answer.ok && value) return value;
  throw { status: value?.status ?? answer.status, title: value?.title, detail: value?.detail };
}

// The page at an address, as { html }.
export const read = (address) => ask(`/pages/bids?${new URLSearchParams({ address })}`);

// What became of a form: { to, said } where it is done, { html } where it is not, { preview, errors } for a preview.
export const send = (address, body) =>
  ask("/pages/send-bids", {
    method: "POST",
    // What was sent is done, even where the page is left at once.
    keepalive: true,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ address, body: String(body) }),
  });

// The fields of a form, with that of the pressed button.
export function fieldsOf(form, button) {
  const fields = new URLSearchParams(new FormData(form));
  if (button?.name) fields.append(button.name, button.value);
  return fields;
}

// A link of its own: the pages' router follows it without loading the page.
export function go(to) {
  const link = document.createElement("a");
  link.href = to;
  document.body.append(link);
  link.click();
  link.remove();
}

export function element(name, className, ...content) {
  const one = document.createElement(name);
  if (className) one.className = className;
  one.append(...content);
  return one;
}

// HTML as nodes.
export function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}
