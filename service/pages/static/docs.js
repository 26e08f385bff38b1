/* The search field finds while one types, with the server's own rules, and blocks of code can be copied. All else works without this script. */
(() => {
  "use strict";
  const form = document.querySelector("form.find");
  const field = form.querySelector("input");
  const box = form.querySelector(".finds");
  const say = document.createElement("p");
  say.className = "vh";
  say.setAttribute("role", "status");
  form.append(say);
  let index = null;

  const load = () => {
    index ??= fetch(field.dataset.index).then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)))
      .catch(() => { index = null; return null; });
    return index;
  };
  const rank = (name, whole, words) => {
    if (name === whole) return 0;
    if (name.startsWith(whole)) return 1;
    if (name.endsWith(whole)) return 2;
    return words.every((word) => name.includes(word)) ? 3 : 4;
  };
  const found = (entries, query) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    const whole = words.join(" ");
    return entries
      .filter(([name, , detail]) => words.every((word) => `${name} ${detail}`.toLowerCase().includes(word)))
      .map((entry, at) => [rank(entry[0].toLowerCase(), whole, words), at, entry])
      .sort((a, b) => a[0] - b[0] || a[1] - b[1])
      .map((each) => each[2]);
  };
  const row = ([name, kind, detail, address]) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = address;
    link.textContent = name;
    const meta = document.createElement("span");
    meta.className = "meta";
    meta.textContent = ` ${kind} · ${detail}`;
    item.append(link, meta);
    return item;
  };
  const hide = () => { box.hidden = true; box.replaceChildren(); say.textContent = ""; };
  const show = (all, most) => {
    const list = document.createElement("ul");
    list.className = "results";
    list.append(...all.slice(0, most).map(row));
    box.replaceChildren(list);
    box.hidden = !all.length;
    say.textContent = all.length ? `${all.length} found. Arrow keys move through them.` : "Nothing found.";
  };
  const search = async () => {
    const query = field.value;
    if (!query.trim()) { hide(); return; }
    const known = await load();
    if (known && query === field.value) show(found(known.entries, query), known.most);
  };
  field.addEventListener("focus", load, { once: true });
  field.addEventListener("input", search);
  form.addEventListener("keydown", (event) => {
    const links = [...box.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "Escape" && !box.hidden) { event.preventDefault(); hide(); field.focus(); }
    else if (event.key === "ArrowDown" && at + 1 < links.length) { event.preventDefault(); links[at + 1].focus(); }
    else if (event.key === "ArrowUp" && at >= 0) { event.preventDefault(); (links[at - 1] ?? field).focus(); }
  });
  box.addEventListener("click", (event) => { if (event.target.closest("a")) hide(); });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) hide(); });

  const contents = document.querySelector(".contents");
  const here = contents.querySelector('[aria-current="page"]');
  if (here && here.offsetTop + here.offsetHeight > contents.clientHeight) contents.scrollTop = here.offsetTop - contents.clientHeight / 3;

  for (const block of navigator.clipboard ? document.querySelectorAll(".reading pre") : []) {
    const around = document.createElement("div");
    around.className = "copied";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(block.textContent); button.textContent = "Copied"; }
      catch { button.textContent = "Not allowed"; }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.replaceWith(around);
    around.append(block, button);
  }
})();
