"use strict";
// Shades corresponding lines on both sides, and scrolls them into view on a click.
const rows = [...document.querySelectorAll("tr[data-lines]")];
const byLine = new Map();
for (const row of rows) {
  row.lines = row.dataset.lines.split(" ");
  for (const line of row.lines) byLine.set(line, [...(byLine.get(line) ?? []), row]);
}
function others(row) {
  const side = row.closest(".side");
  const found = row.lines.flatMap((line) => byLine.get(line));
  return found.filter((other) => other.closest(".side") !== side && other.closest("section").contains(row));
}
function shade(row) {
  for (const shaded of document.querySelectorAll("tr.same")) shaded.classList.remove("same");
  for (const other of row ? others(row) : []) other.classList.add("same");
}
addEventListener("mouseover", (event) => shade(event.target.closest?.("tr[data-lines]")));
addEventListener("click", (event) => {
  const row = event.target.closest?.("tr[data-lines]");
  if (row) others(row)[0]?.scrollIntoView({ block: "center" });
});
