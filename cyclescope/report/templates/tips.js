// Explains a mark of a plot beside the pointer or the focus; without scripts browsers show titles.

const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
document.body.append(tip);
let shown = null; // the mark, and its place

// The title is taken from the mark, or the browser would show it as well.
function explanationOf(element) {
  const mark = element.closest?.("svg g:has(> title), svg a:has(> title), svg [data-tip]");
  if (!mark) return null;
  const title = mark.querySelector(":scope > title");
  if (title) {
    mark.dataset.tip = title.textContent;
    mark.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  return mark;
}

function showTip(event) {
  const mark = explanationOf(event.target);
  if (!mark) return hideTip();
  tip.textContent = mark.dataset.tip;
  tip.hidden = false;
  const box = mark.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const middle = box.left + box.width / 2 - own.width / 2;
  const left = Math.min(Math.max(middle, 8), document.documentElement.clientWidth - own.width - 8);
  const above = box.top - own.height - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above < 8 ? box.bottom + 8 : above}px`;
  shown = { mark, top: box.top, left: box.left };
}

function hideTip() {
  tip.hidden = true;
}

// Browsers report scrolling late: the mark may not have moved.
function hideTipIfMoved() {
  const box = shown?.mark.getBoundingClientRect();
  if (box && (box.top !== shown.top || box.left !== shown.left)) hideTip();
}

document.addEventListener("pointerover", showTip);
document.addEventListener("focusin", showTip);
document.addEventListener("focusout", hideTip);
document.addEventListener("scroll", hideTipIfMoved, { passive: true, capture: true });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
