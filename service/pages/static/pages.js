/* Keys, files that are dropped and those that are listed before they are sent, copying, a fitting id, lit words, and what
   happened while a page asks for news. Nothing that must be done needs this script. */
(() => {
  "use strict";
  const KEYS = "treescore-keys";
  const say = document.createElement("p");
  say.className = "toast told";
  say.setAttribute("role", "status");

  const tell = (words) => {
    say.textContent = words;
    if (!say.isConnected) document.querySelector("main").prepend(say);
  };
  const form_unanswered = (why) => `The service, or a proxy before it, could not answer${why}. Whether the form arrived is not known: send it again, it is taken once; your files stay chosen.`;
  document.addEventListener("htmx:sendError", ({ detail }) =>
    tell(detail.target?.id === "answer" ? form_unanswered("") : "The service does not answer. What you see may be old; the page asks again by itself."));
  document.addEventListener("htmx:responseError", (event) => {
    const status = event.detail.xhr.status;
    tell(status === 413 ? "Nothing was stored: the files are larger than the service, or a proxy before it, accepts (413). Pack them (.gz, .zst) or send fewer; they stay chosen."
      : event.detail.target?.id === "answer" ? form_unanswered(` (${status})`)
      : [401, 403, 404, 410].includes(status) ? "This is not shown any more. Load the page again to see why."
      : "The service could not answer (" + status + "). What you see may be old; the page asks again by itself.");
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, target } = event.detail;
    const files = [...elt.querySelectorAll("input[type=file]")].flatMap((input) => [...input.files]);
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    if (bytes > Number(elt.dataset.mostBytes ?? Infinity)) {
      event.preventDefault();
      tell(`Not sent: the files have ${bytes.toLocaleString("en")} bytes, and the service accepts ${Number(elt.dataset.mostBytes).toLocaleString("en")}. Send fewer.`);
    } else target.setAttribute("aria-busy", "true");
  });
  document.addEventListener("htmx:afterRequest", (event) => event.detail.target.removeAttribute("aria-busy"));
  document.addEventListener("htmx:afterOnLoad", (event) => { if (event.detail.successful) say.remove(); });
  // what is wrong with a form is said in its page, so that its files stay chosen
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, xhr } = event.detail;
    if (target?.id !== "answer" || xhr.status < 400 || !xhr.responseText.includes('id="answer"')) return;
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  });
  // what is wrong is marked, and the focus goes to the first of it; else back to a button that was disabled meanwhile
  let focused;
  document.addEventListener("htmx:beforeRequest", (event) => { if (event.target.matches("form")) focused = document.activeElement; });
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (target.id !== "answer") return;
    for (const fault of document.querySelectorAll(".fault[id]")) {
      const wrong = fault.querySelector(".faults") !== null;
      for (const field of document.querySelectorAll(`[aria-describedby~="${fault.id}"]`)) {
        field.setAttribute("aria-invalid", wrong);
        for (let box = wrong && field.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
      }
    }
    const here = document.querySelector("main [aria-invalid=true], #fault[tabindex]") ?? document.getElementById(focused?.id) ?? focused;
    if (here !== focused || document.activeElement === document.body) here?.focus();
  });
  // what is chosen stands in the address
  document.body.dataset.shown = location.search;
  document.addEventListener("htmx:afterSettle", (event) => {
    if (!event.detail.requestConfig?.elt.matches("form.pick[hx-get]")) return;
    history.pushState(null, "", event.detail.pathInfo.finalRequestPath);
    document.body.dataset.shown = location.search;
    for (const each of document.querySelectorAll(".foot [name=next]")) each.value = location.pathname + location.search;
    document.getElementById("news").textContent = document.querySelector("main caption, main .lead")?.firstChild.textContent ?? "";
  });
  window.addEventListener("popstate", () => { if (location.search !== document.body.dataset.shown) location.reload(); });
  document.addEventListener("htmx:xhr:progress", (event) => {
    const { lengthComputable, loaded, total } = event.detail;
    if (lengthComputable && total > 1e6) tell(loaded < total ? `Sending, ${Math.floor((100 * loaded) / total)} %` : "Sent. The service reads it.");
  });
  // what is chosen, before it is sent: the part of each file as the service finds it, what is missing, the size
  const part_of = (name, parts) => {
    const named = new Map(parts.flatMap((part) => ["/", ".", "_", "-"].map((joint) => [part.replaceAll("/", joint), part])));
    let stem = name.replace(/\.(gz|zst)$/i, "");
    while (stem && !named.has(stem)) stem = stem.slice(0, Math.max(0, stem.lastIndexOf(".")));
    return named.get(stem);
  };
  // of gold that makes a benchmark, its files name the parts, and the format as far as their suffixes tell it
  const new_part_of = (name, sides) => {
    const whole = name.replace(/\.(gz|zst)$/i, "");
    const side = sides.length ? whole.match(new RegExp(`^(.+?)[._-](${sides.join("|")})(?:\\..*)?$`)) : null;
    return side ? `${side[1]}/${side[2]}` : whole.split(".")[0];
  };
  const format_line = (names, formats, chosen) => {
    const known = (name) => Object.keys(formats).filter((suffix) => name.toLowerCase().replace(/\.(gz|zst)$/, "").endsWith(suffix)).sort((a, b) => b.length - a.length)[0];
    const told = [...new Set(names.map(known).filter(Boolean).map((suffix) => formats[suffix]))];
    if (chosen) return { words: `Format ${chosen}` };
    if (told.length > 1) return { words: `The names tell several formats (${told.join(", ")}), but all parts have one`, wrong: true };
    return { words: told.length ? `Format ${told[0]} by the names, unless the first lines tell another one` : "The names tell no format: it is guessed from the first lines of the first file" };
  };
  const megabytes = (bytes) => (bytes < 1e5 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
  const is_zip = (file) => /\.zip$/i.test(file.name);
  // the files in a zip by the directory at its end, without the folders that all are in; none where it cannot be read
  const in_zip = async (file) => {
    const tail = new DataView(await file.slice(-65557).arrayBuffer());
    let end = tail.byteLength - 22;
    while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end -= 1;
    if (end < 0) return [];
    const start = tail.getUint32(end + 16, true);
    const directory = new DataView(await file.slice(start, start + tail.getUint32(end + 12, true)).arrayBuffer());
    const found = [];
    for (let at = 0; at + 46 <= directory.byteLength && directory.getUint32(at, true) === 0x02014b50;) {
      const [name, ...more] = [28, 30, 32].map((field) => directory.getUint16(at + field, true));
      const bytes = directory.buffer.slice(at + 46, at + 46 + name);
      found.push({ name: new TextDecoder().decode(bytes), size: directory.getUint32(at + 24, true) });
      at += 46 + name + more[0] + more[1];
    }
    const shown = found.filter(({ name }) => !/(^|\/)(\.|__MACOSX\/)|\/$/.test(name));
    let top = shown[0]?.name ?? "";
    do top = top.slice(0, top.slice(0, -1).lastIndexOf("/") + 1); while (!shown.every(({ name }) => name.startsWith(top)));
    return shown.map(({ name, size }) => ({ name: name.slice(top.length), size }));
  };
  const list_chosen = async (input, list) => {
    const chosen = [...input.files];
    const unpacked = await Promise.all(chosen.map(async (file) => (is_zip(file) ? { zip: file, inside: await in_zip(file) } : { inside: [file] })));
    if (chosen.some((file, at) => file !== input.files[at]) || chosen.length !== input.files.length) return; // others meanwhile
    const parts = JSON.parse(input.dataset.parts ?? "[]"); // of gold that makes a benchmark none is known
    const formats = JSON.parse(input.dataset.formats ?? "null");
    const most = Number(input.form.dataset.mostBytes);
    const format = formats && (input.form.elements.format.value || input.dataset.format);
    const sides = (formats && JSON.parse(input.dataset.sides)[format]) ?? [];
    const files = unpacked.flatMap(({ inside }) => inside);
    const found = new Map();
    const line_of = (file) => {
      const answered = input.form.elements[`part:${file.name}`]?.value;
      const part = answered || (formats ? new_part_of(file.name, sides)
        : part_of(file.name, parts) ?? part_of(file.name.replace(/.*\//, ""), parts) ?? (parts.length === 1 && files.length === 1 ? parts[0] : undefined));
      const twice = found.has(part);
      if (part !== undefined) found.set(part, file);
      const where = part === undefined ? `has the name of no part: ${input.dataset.unnamed}`
        : twice ? `a second file for the part ${part}` : `part ${part}`;
      return { words: `${file.name}: ${where}, ${megabytes(file.size)}`, wrong: twice || part === undefined };
    };
    const lines = unpacked.flatMap(({ zip, inside }) => [
      ...(zip ? [{ words: `${zip.name}: ${inside.length ? `a zip of ${inside.length} file${inside.length > 1 ? "s" : ""}` : "no zip whose files can be listed"}, ${megabytes(zip.size)}`, wrong: !inside.length }] : []),
      ...inside.map(line_of),
    ]);
    const missing = unpacked.every(({ inside }) => inside.length) ? parts.filter((part) => !found.has(part)) : [];
    if (files.length && missing.length) lines.push({ words: `${input.dataset.missing}: ${missing.slice(0, 20).join(", ")}${missing.length > 20 ? ` and ${missing.length - 20} more` : ""}` });
    if (files.length && formats) lines.push(format_line(files.map((file) => file.name), formats, format));
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    if (chosen.length) lines.push({ words: `Together ${megabytes(bytes)}; the service accepts ${megabytes(most)} unpacked`, wrong: bytes > most });
    list.replaceChildren(...lines.map(({ words, wrong }) => {
      const item = document.createElement("li");
      item.textContent = words;
      item.classList.toggle("wrong", Boolean(wrong));
      return item;
    }));
  };
  const list_all = (root) => { for (const input of root.querySelectorAll("input[data-list]")) list_chosen(input, document.getElementById(input.dataset.list)); };
  document.addEventListener("change", (event) => { if (event.target.matches("input[data-list], [data-relists]")) list_all(event.target.form); });
  list_all(document); // a page that is gone back to
  const listed = async (folder) => {
    const reader = folder.createReader();
    const found = [];
    for (let some = [undefined]; some.length;) { // a hundred at a time
      some = await new Promise((done, failed) => reader.readEntries(done, failed));
      found.push(...some);
    }
    return found;
  };
  // news may bring a form, so that the document listens
  for (const kind of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, async (event) => {
      const zone = event.target.closest?.("[data-drop]");
      if (!zone) return;
      event.preventDefault();
      zone.classList.toggle("over", kind === "dragover");
      if (kind !== "drop") return;
      const input = zone.querySelector("input[type=file]");
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
      let { files } = event.dataTransfer;
      if (entries.some((entry) => entry.isDirectory)) { // a folder itself cannot be sent: the files in it are
        const found = new DataTransfer();
        const take = async (entry) => {
          if (entry.isFile) found.items.add(await new Promise((done, failed) => entry.file(done, failed)));
          else for (const each of await listed(entry)) await take(each);
        };
        for (const entry of entries) await take(entry);
        ({ files } = found);
      }
      if (files.length) { input.files = files; input.dispatchEvent(new Event("change", { bubbles: true })); }
    });
  }

  // an id follows the title that it is made of, until it is changed itself
  for (const id of document.querySelectorAll("[data-id-of]")) {
    let own = id.value !== "";
    id.addEventListener("input", () => { own = id.value !== ""; });
    document.getElementById(id.dataset.idOf).addEventListener("input", (event) => {
      if (!own) id.value = event.target.value.normalize("NFKD").replace(/[^\x00-\x7f]/g, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60).replace(/-$/, "");
    });
  }

  for (const button of document.querySelectorAll("button[data-copy]")) {
    const source = document.getElementById(button.dataset.copy);
    button.hidden = false;
    button.addEventListener("click", () => {
      // without a secure connection a page may not write to the clipboard: what is selected is copied by keys
      getSelection().selectAllChildren(source);
      const done = navigator.clipboard?.writeText(source.textContent) ?? Promise.reject(new Error("not secure"));
      done.then(() => tell("Copied."), () => tell("Selected: copy it with your keys."));
    });
  }

  const off = () => { try { return localStorage.getItem(KEYS) === "off"; } catch { return false; } };
  const typing = (target) => target.closest("input, select, textarea, [contenteditable]");
  // a word lights the words below it in the output's tree: those that a pointer is on, or that focus or keys have come to
  const lights = [...document.querySelectorAll("[data-heads]")].map((box) => {
    const heads = JSON.parse(box.dataset.heads);
    const words = [...box.querySelectorAll("text.num")].map((number) => ({ id: number.textContent, texts: [number.previousElementSibling, number] }));
    const below = (word, top) => { for (let steps = words.length; word && word !== "0" && steps; steps -= 1) { if (word === top) return true; word = heads[word]; } return false; };
    const light = (top) => {
      box.firstElementChild.classList.toggle("lights", top !== undefined);
      for (const { id, texts } of words) for (const text of texts) text.classList.toggle("lit", top !== undefined && below(id, top));
    };
    for (const { id, texts } of words) for (const text of texts) {
      text.addEventListener("pointerenter", () => light(id));
      text.addEventListener("pointerleave", () => light(undefined));
    }
    let at = -1;
    const move = (step) => { at = Math.min(Math.max(at + step, 0), words.length - 1); if (words.length) light(words[at].id); };
    box.addEventListener("focus", () => { if (box.matches(":focus-visible")) move(at < 0 ? 1 : 0); });
    box.addEventListener("blur", () => light(undefined));
    return move;
  });
  const follow = (name) => { const link = document.querySelector(`a[data-key="${name}"]`); if (link) link.click(); };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || typing(event.target) || off()) return;
    if (event.key === "j" || event.key === "k") follow(event.key);
    else if (event.key === "l" || event.key === "h") for (const step of lights) step(event.key === "l" ? 1 : -1);
    else if (event.key === "/") {
      const field = document.querySelector("input[type=search][name=q]") ?? document.querySelector("input[type=search]");
      if (field) { event.preventDefault(); field.focus(); field.select(); }
    } else if (event.key === "?") {
      const help = document.getElementById("keys");
      if (help) { help.open = true; help.querySelector("summary").focus(); }
    }
  });
  for (const box of document.querySelectorAll("input[data-keys]")) {
    box.checked = !off();
    box.closest("[hidden]")?.removeAttribute("hidden");
    box.addEventListener("change", () => { try { localStorage.setItem(KEYS, box.checked ? "on" : "off"); } catch { /* private window */ } });
  }
})();
