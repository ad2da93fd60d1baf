// The contents beside the page, the button for dark and light, and links to folded parts.

// A place that a link leads to may be in a folded part, or in a table that is not made yet.
function makeLaterTable(details) {
  const template = details.querySelector("template");
  if (!template) return;
  details.append(template.content);
  template.remove();
  details.querySelectorAll("table.sorts").forEach(makeSortable);
}

function reveal() {
  const id = decodeURIComponent(location.hash.slice(1));
  if (!id) return;
  let place = document.getElementById(id);
  if (!place) {
    const has = (details) => details.querySelector("template")?.content.getElementById(id);
    const later = [...document.querySelectorAll("details.later")].find(has);
    if (!later) return;
    makeLaterTable(later);
    place = document.getElementById(id);
  }
  if (place.hidden) clearFilter(place.closest("table"));
  for (let above = place.parentElement; above; above = above.parentElement) {
    if (above.tagName === "DETAILS") above.open = true;
  }
  place.scrollIntoView({ block: place.tagName === "TR" ? "center" : "start" });
}

function showSectionInContents(links, section) {
  const link = links.get(section.id);
  if (!link) return;
  for (const other of links.values()) other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  document.querySelector(".contents .parts")?.remove();
  const headings = section.querySelectorAll(":scope > h3[id]");
  if (!headings.length) return;
  const parts = document.createElement("ul");
  parts.className = "parts";
  for (const heading of headings) {
    const item = document.createElement("li");
    const target = document.createElement("a");
    target.href = `#${heading.id}`;
    target.textContent = heading.textContent;
    item.append(target);
    parts.append(item);
  }
  link.parentElement.append(parts);
}

function followScrolling() {
  const links = new Map();
  for (const link of document.querySelectorAll(".contents a")) {
    links.set(link.hash.slice(1), link);
  }
  const sections = [...document.querySelectorAll("main > section")];
  let current = null;
  const look = () => {
    const above = (section) => section.getBoundingClientRect().top < innerHeight / 3;
    const found = sections.filter(above).pop() ?? sections[0];
    if (found && found !== current) showSectionInContents(links, (current = found));
  };
  let asked = false;
  const lookSoon = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      look();
    });
  };
  addEventListener("scroll", lookSoon, { passive: true });
  addEventListener("resize", lookSoon);
  // opening a part moves all that is below it
  document.addEventListener("toggle", lookSoon, true);
  look();
}

function foldContentsWhenNarrow() {
  const contents = document.querySelector(".contents details");
  const narrow = matchMedia("(max-width: 68rem)");
  const fold = () => { contents.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  contents.addEventListener("click", (event) => {
    if (narrow.matches && event.target.closest("a")) contents.open = false;
  });
}

function offerThemes() {
  const button = document.getElementById("theme");
  const say = () => {
    button.textContent = theme.isDark() ? "Light" : "Dark";
    button.title = `Show the page ${theme.isDark() ? "light" : "dark"}`;
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const name = theme.isDark() ? "light" : "dark";
    theme.choose(name);
    theme.keep(name);
    say();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", say);
  say();
}

for (const details of document.querySelectorAll("details.later")) {
  details.addEventListener("toggle", () => makeLaterTable(details), { once: true });
}
offerThemes();
foldContentsWhenNarrow();
followScrolling();
addEventListener("hashchange", reveal);
// a link to the current place does not change the hash
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='#']");
  if (link && link.getAttribute("href") === location.hash) reveal();
});
reveal();
