// Tables that sort by a click on a heading and have a filter; without scripts they are complete.

const FEWEST_TO_FILTER = 8;

// The number that a cell begins with, times in seconds; NaN for words.
const SECONDS = { ps: 1e-12, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };
function numberOf(text) {
  const found = /^\(?([+-]?[\d,]*\.?\d+(?:[eE][+-]?\d+)?)\s*(ps|ns|us|ms|s)?(?![\w.])/
    .exec(text.trim().replaceAll("\u2212", "-"));
  if (!found) return NaN;
  return Number(found[1].replaceAll(",", "")) * (SECONDS[found[2]] ?? 1);
}

function textOf(row, column) {
  return row.cells[column]?.textContent.trim() ?? "";
}

// Empty cells come last in either order, numbers before words.
function compare(left, right, sign) {
  if (!left || !right) return !left - !right;
  const [a, b] = [numberOf(left), numberOf(right)];
  if (Number.isNaN(a) !== Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
  if (Number.isNaN(a)) return sign * left.localeCompare(right, "en", { numeric: true });
  return sign * (a - b);
}

function sortBy(table, column, order) {
  const body = table.tBodies[0];
  const sign = order === "descending" ? -1 : 1;
  const rows = [...body.rows];
  rows.forEach((row, place) => { row.dataset.place ??= place; });
  const texts = new Map(rows.map((row) => [row, textOf(row, column)]));
  rows.sort((left, right) => {
    const apart = Number(left.dataset.place) - Number(right.dataset.place);
    return (order && compare(texts.get(left), texts.get(right), sign)) || apart;
  });
  body.append(...rows);
}

// Ascending, descending, and the original order.
const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
function makeHeadingsSort(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    heading.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const order = NEXT[heading.getAttribute("aria-sort")];
      for (const other of headings) other.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", order);
      sortBy(table, column, order === "none" ? null : order);
    });
  });
}

// "quad error>5": words that the row has, and comparisons with a column by the start of its name.
const OPERATORS = {
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
  "=": (a, b) => a === b,
};
function conditionOf(word, names) {
  const found = /^(\|?)(\w[\w ]*?)(\|?)(>=|<=|>|<|=)([+-]?[\d.,]+)$/.exec(word);
  const column = found ? names.findIndex((name) => name.startsWith(found[2])) : -1;
  if (column < 0 || found[1] !== found[3]) {
    return (row) => row.textContent.toLowerCase().includes(word);
  }
  const limit = Number(found[5].replaceAll(",", ""));
  const sized = found[1] ? Math.abs : (value) => value;
  return (row) => OPERATORS[found[4]](sized(numberOf(textOf(row, column))), limit);
}

function namesOf(table) {
  return [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim().toLowerCase());
}

function applyFilter(table, text, said) {
  const names = namesOf(table);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const conditions = words.map((word) => conditionOf(word, names));
  const rows = [...table.tBodies[0].rows];
  let shown = 0;
  for (const row of rows) {
    row.hidden = !conditions.every((holds) => holds(row));
    shown += !row.hidden;
  }
  said.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
}

function makeFilter(table) {
  const box = document.createElement("input");
  box.type = "search";
  const hasErrors = namesOf(table).includes("error");
  box.placeholder = hasErrors ? "Filter: words, error>5" : "Filter: words";
  box.setAttribute("aria-label", "Filter the rows of the table below");
  const said = document.createElement("output");
  const tools = document.createElement("p");
  tools.className = "tools";
  tools.append(box, said);
  table.closest(".wide").before(tools);
  box.addEventListener("input", () => applyFilter(table, box.value, said));
}

function clearFilter(table) {
  const box = table?.closest(".wide")?.previousElementSibling?.querySelector("input");
  if (!box) return;
  box.value = "";
  box.dispatchEvent(new Event("input"));
}

function makeSortable(table) {
  makeHeadingsSort(table);
  if (table.tBodies[0].rows.length >= FEWEST_TO_FILTER) makeFilter(table);
}

document.querySelectorAll("table.sorts").forEach(makeSortable);
