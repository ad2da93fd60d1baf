"use strict";
// Before the page is drawn: the reader's choice of light or dark, if this browser kept one.
const theme = {
  key: "cyclescope-theme",
  kept() {
    try {
      return localStorage.getItem(this.key);
    } catch {
      return null; // some browsers keep nothing for files
    }
  },
  keep(name) {
    try {
      localStorage.setItem(this.key, name);
    } catch {
      // then it applies to this page only
    }
  },
  isDark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  },
  choose(name) {
    document.documentElement.dataset.theme = name;
  },
};
if (theme.kept() === "dark" || theme.kept() === "light") theme.choose(theme.kept());
document.documentElement.classList.add("scripted");
