// What links and forms do not: results while a question is typed, running imports, keys, marked lines, cards of names.
// Every page works without it.
"use strict";

const HEADERS = { "x-prism-fragment": "1" };
const PAUSE_MS = 160;
const CARD_MS = 250;
const STREAM_PAUSE_MS = 3_000;

// Results while a question is typed: the form's own address, whose changing part is asked for.
for (const form of document.querySelectorAll("form[data-live]")) {
  const place = document.querySelector(form.dataset.live);
  let timer = 0, running = null;
  const ask = async () => {
    running?.abort();
    const asking = (running = new AbortController());
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    const url = `${form.getAttribute("action")}?${new URLSearchParams(fields)}`;
    place.classList.add("stale");
    try {
      const answer = await fetch(url, { headers: HEADERS, signal: asking.signal });
      if (answer.status === 401) return location.reload();
      const html = await answer.text();
      if (asking.signal.aborted) return;
      place.innerHTML = html;
      history.replaceState(null, "", url);
    } catch (error) {
      if (asking.signal.aborted) return;
      place.textContent = "The gateway does not answer. Press Enter to try again.";
    }
    place.classList.remove("stale");
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, PAUSE_MS); });
}

// Running imports, and the rows of the list that changed: the server sends them again. The browser connects again by
// itself, but not after an answer that is no stream: a proxy's while the gateway restarts, or the sign-in.
for (const place of document.querySelectorAll("[data-stream]")) {
  const late = new Map(); // what waits until the focus leaves it
  let stream = null;
  const put = (fresh) => {
    const old = document.getElementById(fresh.id);
    if (old?.contains(document.activeElement)) return late.set(fresh.id, fresh);
    late.delete(fresh.id);
    if ("gone" in fresh.dataset) return old?.remove();
    if (old) return old.replaceWith(fresh);
    const rows = document.getElementById("repositories"), above = document.getElementById(fresh.dataset.after);
    above ? above.after(fresh) : rows.prepend(fresh);
    rows.closest(".wide").hidden = false;
    document.querySelector(".empty")?.remove();
  };
  document.addEventListener("focusout", () => setTimeout(() => late.forEach(put)));
  const connect = () => {
    stream = new EventSource(place.dataset.stream);
    stream.onmessage = (event) => {
      const sent = document.createElement("template");
      sent.innerHTML = event.data;
      sent.content.querySelectorAll("tr").forEach(put);
      sent.content.querySelector("table")?.remove();
      if (!place.contains(document.activeElement)) place.replaceChildren(sent.content);
    };
    stream.onerror = () => {
      if (stream?.readyState === EventSource.CLOSED) setTimeout(again, STREAM_PAUSE_MS, stream);
    };
  };
  const again = async (ended) => {
    if (stream !== ended) return; // the page was hidden meanwhile
    const answer = await fetch(location.href, { headers: HEADERS }).catch(() => null);
    if (answer?.status === 401) location.reload();
    else if (stream === ended) connect();
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { stream?.close(); stream = null; } else if (!stream) connect();
  });
  if (!document.hidden) connect();
}

// Lines that an address marks: #L10 or #L10-L20. A click on a number with Shift marks a range.
const lines = () => /^#L(\d+)(?:-L(\d+))?$/.exec(location.hash);
const mark = (isScrolling) => {
  const found = lines();
  document.querySelectorAll(".l.on").forEach((line) => line.classList.remove("on"));
  if (!found) return;
  const [first, last] = [Number(found[1]), Number(found[2] ?? found[1])];
  for (let number = first; number <= Math.min(last, first + 5000); number++) document.getElementById(`L${number}`)?.classList.add("on");
  if (isScrolling) document.getElementById(`L${first}`)?.scrollIntoView({ block: "center" });
};
addEventListener("hashchange", () => mark(false));
mark(true);
document.addEventListener("click", (event) => {
  const number = event.target.closest?.(".file .no"), found = lines();
  if (!number || !event.shiftKey || !found) return;
  event.preventDefault();
  const [a, b] = [Number(found[1]), Number(number.textContent)].sort((x, y) => x - y);
  history.replaceState(null, "", `#L${a}-L${b}`);
  mark(false);
});

// Cards of names in code: after a pause on a name, or with its focus. Escape closes the card; the link works as always.
for (const code of document.querySelectorAll("[data-card]")) {
  const known = new Map();
  let card = null, owner = null, timer = 0;
  const close = () => {
    clearTimeout(timer);
    owner?.removeAttribute("aria-describedby");
    card?.remove();
    card = owner = null;
  };
  const open = async (link) => {
    const name = new URLSearchParams(link.getAttribute("href")).get("symbol");
    let html = known.get(name);
    if (html === undefined) {
      const answer = await fetch(code.dataset.card + encodeURIComponent(name), { headers: HEADERS }).catch(() => null);
      if (!answer?.ok) return;
      known.set(name, (html = await answer.text()));
    }
    if (owner !== link || card) return; // another name, or none, meanwhile
    card = document.createElement("div");
    Object.assign(card, { className: "card", id: "card", role: "tooltip", innerHTML: html });
    document.body.append(card);
    const at = link.getBoundingClientRect(), own = card.getBoundingClientRect();
    const isAbove = at.bottom + own.height + 8 > innerHeight && at.top > own.height + 8;
    card.style.left = `${Math.max(8, Math.min(at.left, innerWidth - own.width - 8)) + scrollX}px`;
    card.style.top = `${(isAbove ? at.top - own.height - 4 : at.bottom + 4) + scrollY}px`;
    link.setAttribute("aria-describedby", "card");
    card.addEventListener("pointerenter", () => clearTimeout(timer));
    card.addEventListener("pointerleave", leave);
  };
  const enter = (event) => {
    const link = event.target.closest?.('a[href^="?symbol="]');
    if (card && link === owner) return clearTimeout(timer);
    if (!link) return owner && leave();
    close();
    owner = link;
    timer = setTimeout(open, CARD_MS, link);
  };
  const leave = () => { clearTimeout(timer); timer = setTimeout(close, CARD_MS); };
  code.addEventListener("pointerover", enter);
  code.addEventListener("pointerleave", leave);
  code.addEventListener("focusin", enter);
  code.addEventListener("focusout", (event) => { if (!card?.contains(event.relatedTarget)) close(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
}

// A component of the map under the pointer: its own lines are brought out.
for (const picture of document.querySelectorAll(".picture svg[role]")) {
  const show = (event) => {
    const node = event.target.closest?.("[data-node]")?.dataset.node;
    picture.classList.toggle("chosen", node !== undefined);
    for (const line of picture.querySelectorAll("[data-ends]")) line.classList.toggle("on", line.dataset.ends.split(" ").includes(node));
  };
  picture.addEventListener("pointerover", show);
  picture.addEventListener("pointerleave", show);
}

// Buttons that copy a text. Without a script they are not there: the text can be selected.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const isCopied = await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent).then(() => true, () => false);
    button.textContent = isCopied ? "Copied" : "Not copied: select the text";
  });
}

// Keys.
const PLACES = { r: "/repos", s: "/search", d: "/documents", t: "/tasks", w: "/wiki", u: "/usage", k: "/tokens", h: "/health" };
const isTyping = (target) => target.closest("input, textarea, select, [contenteditable]");
const isShown = (path) => document.querySelector(`aside nav a[href="${path}"]`);
let leader = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && isTyping(event.target)) return event.target.blur();
  if (event.key === "Escape" && document.querySelector(".menu[open]")) {
    const menu = document.querySelector(".menu");
    menu.open = false;
    return menu.querySelector("summary").focus();
  }
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const place = leader && PLACES[event.key];
  leader = event.key === "g";
  if (place && isShown(place)) return void (location.href = place);
  if (event.key === "/") {
    event.preventDefault();
    const field = document.querySelector(".big") ?? document.querySelector(".top input[type=search]");
    field ? (field.focus(), field.select()) : (location.href = "/search");
  } else if (event.key === "?") {
    document.getElementById("keys")?.showModal();
  } else if (event.key === "j" || event.key === "k") {
    const rows = [...document.querySelectorAll("tbody tr[tabindex], .hit")];
    const at = rows.indexOf(document.activeElement.closest("tr, .hit"));
    rows[Math.max(0, Math.min(rows.length - 1, at + (event.key === "j" ? 1 : -1)))]?.focus();
  } else if (event.key === "Enter" && document.activeElement.matches("tr, .hit")) {
    document.activeElement.querySelector("a")?.click();
  }
});
