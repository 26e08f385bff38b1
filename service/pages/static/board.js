/* Sorting a board moves its rows, without asking the service. The address of a head shows the same without this script;
   figures that are equal as printed keep their order. */
(() => {
  "use strict";
  const MISSING = "–";
  const other = (sort) => (sort.startsWith("-") ? sort.slice(1) : `-${sort}`);
  const sorted_by = (address) => new URL(address, location.href).searchParams.get("sort") || "";
  const with_sort = (address, sort) => {
    const url = new URL(address, location.href);
    url.searchParams.set("sort", sort);
    return url;
  };
  let shown = location.search;
  const value = (cell) => {
    const text = cell.textContent.trim();
    if (cell.tagName === "TH") return text.toLowerCase();
    const number = Number.parseFloat(text.replace("−", "-").replace(/\u2009/g, ""));
    return text === MISSING || Number.isNaN(number) ? null : number;
  };

  const move = (table, column, down) => {
    const body = table.tBodies[0];
    for (const note of body.querySelectorAll("tr.note")) note.remove();
    const rows = [...body.rows].map((row) => ({ row, value: value(row.cells[column]) }));
    const order = (a, b) => (a < b ? -1 : Number(a > b));
    rows.sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
      return down ? order(b.value, a.value) : order(a.value, b.value);
    });
    for (const { row } of rows) row.classList.remove("cl");
    body.append(...rows.map(({ row }) => row));
  };

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

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#board .board thead a");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const section = document.getElementById("board");
    const head = link.closest("th");
    const sort = sorted_by(link.href);
    if (!sort) return;
    event.preventDefault();
    move(head.closest("table"), head.cellIndex, sort.startsWith("-"));
    mark(head, link, sort);
    history.pushState(null, "", with_sort(location.href, sort).search);
    shown = location.search;
    if (section.hasAttribute("hx-get") && window.htmx) {
      const live = with_sort(section.getAttribute("hx-get"), sort);
      section.setAttribute("hx-get", live.pathname + live.search);
      window.htmx.process(section);
    }
  });
  window.addEventListener("popstate", () => { if (location.search !== shown) location.reload(); });
})();
