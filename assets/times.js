// Fields for times: the server writes into them in UTC; a person sees and types them in the zone that goes with the form.

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
const two = (number) => String(number).padStart(2, "0");

export function toLocalTime(form) {
  const field = form.querySelector("input[data-zone-field]");
  if (!field || field.value !== "UTC") return;
  for (const input of form.querySelectorAll("[data-local-time]")) {
    const at = new Date(`${input.value}Z`);
    if (Number.isNaN(at.getTime())) continue;
    const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
    const seconds = at.getSeconds() ? `:${two(at.getSeconds())}` : "";
    input.setAttribute("value", `${date}T${two(at.getHours())}:${two(at.getMinutes())}${seconds}`);
  }
  field.value = zone;
  const name = form.querySelector("[data-zone-of-form]");
  if (name) name.textContent = zone;
}
