// Search over titles, headings and names of the reference: all of them are in index.js, so that it works from disk.
"use strict";

const field = document.getElementById("search");
const list = document.getElementById("found");
const root = document.documentElement.dataset.root;

// An entry that begins with what was typed comes first, then one with a word that does, then any that holds it.
function rank(name, typed) {
  const at = name.indexOf(typed);
  if (at < 0) return 0;
  if (name === typed) return 4;
  if (at === 0) return 3;
  return /[\s_.:/(-]/.test(name[at - 1]) ? 2 : 1;
}

function show() {
  const typed = field.value.trim().toLowerCase();
  list.replaceChildren();
  list.hidden = typed.length < 2;
  if (list.hidden) return;
  const found = [];
  for (const [name, where, address] of window.corneaIndex) {
    const value = rank(name.toLowerCase(), typed);
    if (value) found.push([value + (where ? 0 : 0.5), name, where, address]); // pages before their parts
  }
  found.sort((a, b) => b[0] - a[0] || a[1].length - b[1].length);
  for (const [, name, where, address] of found.slice(0, 24)) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = root + address;
    link.append(name);
    const small = document.createElement("small");
    small.textContent = where;
    link.append(small);
    item.append(link);
    list.append(item);
  }
  if (!found.length) {
    const item = document.createElement("li");
    item.textContent = "Nothing has this name.";
    list.append(item);
  }
}

field.addEventListener("input", show);
field.addEventListener("keydown", (event) => {
  const first = list.querySelector("a");
  if (event.key === "Enter" && first) first.click();
  if (event.key === "ArrowDown" && first) {
    first.focus();
    event.preventDefault();
  }
  if (event.key === "Escape") {
    field.value = "";
    show();
  }
});
list.addEventListener("keydown", (event) => {
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (!step) return;
  const links = [...list.querySelectorAll("a")];
  const next = links[links.indexOf(document.activeElement) + step];
  (next || field).focus();
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement.tagName !== "INPUT") {
    field.focus();
    event.preventDefault();
  }
});
