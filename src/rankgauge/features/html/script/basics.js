// Elements, numbers as the static part writes them, and small helpers.

const $ = (id) => document.getElementById(id);
const el = (name, props = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined) continue;
    if (key === "text") node.textContent = value;
    else if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
};
const svg = (name, props = {}, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(props)) {
    if (key === "text") node.textContent = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
};

// Numbers, as the static part writes them.
const MINUS = "\u2212", DASH = "\u2013";
const fixed = (value, decimals = 3) => (value === null || value === undefined ? DASH : value.toFixed(decimals).replace("-", MINUS));
const signed = (value, decimals = 3) => {
  if (value === null || value === undefined) return DASH;
  const text = fixed(value, decimals);
  return value > 0 ? "+" + text : text;
};
const many = (count) => count.toLocaleString("en-US");
const counted = (count, noun) => `${many(count)} ${noun}${count === 1 ? "" : "s"}`;

// Parts rounded so that they add up to their rounded sum: the largest remainders are rounded up.
const addUp = (parts, total) => {
  const units = parts.map((part) => part * 1000);
  const floors = units.map(Math.floor);
  let left = Math.round(total * 1000) - floors.reduce((sum, each) => sum + each, 0);
  const order = units.map((unit, i) => [unit - floors[i], i]).sort((x, y) => y[0] - x[0]);
  for (const [, i] of order) if (left-- > 0) floors[i] += 1;
  return floors.map((unit) => unit / 1000);
};
const minmax = (values) => {
  let low = Infinity, high = -Infinity;
  for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
  return values.length ? [low, high] : [0, 0];
};
const niceStep = (raw) => {
  const base = 10 ** Math.floor(Math.log10(raw));
  return base * ([1, 2, 5, 10].find((factor) => base * factor >= raw) || 10);
};
const cut = (text, most) => (text.length <= most ? text : text.slice(0, Math.max(1, most - 1)) + "\u2026");
// A name that is read from right to left is kept apart, so that the numbers beside it stay in order.
const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const apart = (text) => (RTL.test(text) ? `\u2068${text}\u2069` : text);
const cutName = (text, most) => apart(cut(text, most));
// Told to whoever waits for the views, such as a test.
const ready = () => { document.documentElement.dataset.ready = "yes"; };
