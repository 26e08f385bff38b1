/* Sorting a board moves its rows, without asking the service. The address of a head shows the same without this script;
   figures that are equal as printed keep their order. */
(() => {
  "use strict";
  const MISSING = "–";
  const STEP = 50;
  const other = (sort) => (sort.startsWith("-") ? sort.slice(1) : `-${sort}`);
  const sorted_by = (address) => new URL(address, location.href).searchParams.get("sort") || "";
  const with_sort = (address, sort) => {
    const url = new URL(address, location.href);
    url.searchParams.set("sort", sort);
    return url;
  };
  const value = (cell) => {
    const text = cell.textContent.trim();
    if (cell.tagName === "TH") return text.toLowerCase();
    const number = Number.parseFloat(text.replace("−", "-").replace(/\u2009/g, ""));
    return text === MISSING || Number.isNaN(number) ? null : number;
  };

  const with_path = (address, sort) => {
    const url = with_sort(address, sort);
    return url.pathname + url.search;
  };
  const sorted_rows = (rows, column, down) => {
    const keyed = rows.map((row) => ({ row, value: value(row.cells[column]) }));
    const order = (a, b) => (a < b ? -1 : Number(a > b));
    keyed.sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
      return down ? order(b.value, a.value) : order(a.value, b.value);
    });
    return keyed.map(({ row }) => row);
  };

  const move = (table, column, down) => {
    const bodies = [...table.tBodies];
    const unsorted = [...table.querySelectorAll("tbody tr:not(.note)")];
    const long = unsorted.length > STEP;
    const in_view = Math.ceil(window.innerHeight / Math.max(1, unsorted[0].offsetHeight));
    if (long) hold_size(table);
    for (const note of table.querySelectorAll("tr.note")) note.remove();
    const rows = sorted_rows(unsorted, column, down);
    for (const row of rows) row.classList.remove("cl");
    if (!long) { bodies[0].append(...rows); return; }
    const groups = [rows.splice(0, in_view)];
    while (rows.length) groups.push(rows.splice(0, STEP));
    const sorted = groups.map((group, at) => {
      const body = document.createElement("tbody");
      body.hidden = at > 0;
      body.append(...group);
      return body;
    });
    table.tHead.after(...sorted);
    for (const body of bodies) body.remove();
    show_in_steps(table, sorted);
  };
  // a long table is laid out in steps, what is in view first: all at once would hold the page for half a second
  const show_in_steps = (table, bodies) => {
    const more = () => {
      if (!bodies[0].isConnected) return; // sorted again, or replaced by news
      const body = bodies.find((each) => each.hidden);
      if (!body) { table.parentElement.style.minHeight = ""; return; }
      body.hidden = false;
      next();
    };
    const next = () => requestAnimationFrame(() => setTimeout(more));
    next();
  };
  // so that nothing moves while rows are hidden
  const hold_size = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const widths = heads.map((head) => head.offsetWidth);
    const whole = table.offsetWidth;
    table.parentElement.style.minHeight = `${table.parentElement.getBoundingClientRect().height}px`;
    heads.forEach((head, at) => { head.style.width = `${widths[at]}px`; });
    table.style.width = `${whole}px`;
    table.style.tableLayout = "fixed";
  };
  const let_widths_go = () => {
    const table = document.querySelector("#board .board");
    for (const each of table ? [table, ...table.tHead.rows[0].cells] : []) {
      each.style.width = "";
      each.style.tableLayout = "";
    }
  };
  const show_all = () => {
    for (const body of document.querySelectorAll("#board .board tbody[hidden]")) body.hidden = false;
    let_widths_go();
  };
  window.addEventListener("resize", let_widths_go);
  window.addEventListener("beforeprint", show_all);

  const mark = (head, link, sort) => {
    for (const each of head.parentElement.children) {
      const active = each.hasAttribute("aria-sort");
      each.removeAttribute("aria-sort");
      const its = each.querySelector("a");
      // the head that was active leads back to its best first, unless it is the one that is sorted by again
      if (active && its && its !== link && sorted_by(location.href)) its.setAttribute("href", with_sort(its.href, other(sorted_by(its.href))).search);
    }
    head.setAttribute("aria-sort", sort.startsWith("-") ? "descending" : "ascending");
    link.setAttribute("href", with_sort(link.href, other(sort)).search);
  };

  // of a board in pages only the service can say which rows come first
  const in_pages = () => document.querySelector('#board [rel="next"]') || new URL(location.href).searchParams.has("cursor");

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#board .board thead a");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const head = link.closest("th");
    const sort = sorted_by(link.href);
    if (!sort || in_pages()) return;
    event.preventDefault();
    const table = head.closest("table");
    // what is said of the next team and of lines between rows is so by rank alone
    for (const cell of table.querySelectorAll(".p")) cell.remove();
    const said = table.caption.querySelector("[data-sorted]");
    said.textContent = said.dataset.sorted;
    move(table, head.cellIndex, sort.startsWith("-"));
    mark(head, link, sort);
    document.getElementById("news").textContent = `Sorted by ${link.textContent}, ${sort.startsWith("-") ? "descending" : "ascending"}.`;
    for (const each of document.querySelectorAll('#board .exports a[href*="export?"]')) each.setAttribute("href", with_path(each.href, sort));
    history.pushState(null, "", with_sort(location.href, sort).search);
    document.body.dataset.shown = location.search;
  });
  // the page asks for its news in the order that is shown
  document.addEventListener("htmx:configRequest", (event) => {
    const sort = sorted_by(location.href);
    if (event.target.id !== "board" || !sort) return;
    const live = with_sort(event.detail.path, sort);
    event.detail.path = live.pathname + live.search;
  });
  // what its news changed is said to those who do not see it
  const standing = () => new Map([...document.querySelectorAll("#board tbody tr:not(.note)")].map((row) =>
    [row.querySelector("th").title, [row.cells[0].firstChild?.textContent ?? "", row.querySelector(".main")?.textContent]]));
  const changes = (before, after) => [...after].flatMap(([name, [rank, score]]) => {
    const [old_rank, old_score] = before.get(name) ?? [];
    if (old_rank === undefined) return [`new: ${name}, rank ${rank}, ${score}`];
    if (old_rank !== rank) return [`${name}: rank ${rank}, before ${old_rank}`];
    return old_score === score ? [] : [`${name}: ${score}, before ${old_score}`];
  });
  let before = new Map();
  document.addEventListener("htmx:beforeSwap", (event) => { if (event.detail.target.id === "board") before = standing(); });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id !== "board") return;
    const said = changes(before, standing());
    const more = said.length > 3 ? `; and ${said.length - 3} more rows changed` : "";
    document.getElementById("news").textContent = `The board has changed. ${said.slice(0, 3).join("; ")}${more}`;
  });
})();
