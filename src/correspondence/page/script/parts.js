/* What both kinds of pages share: elements, short texts, colours. */

const FONT = "system-ui, sans-serif";
const NO_GROUP = ["(missing)", "\u2013"];  // labels of values that are missing

const $ = id => document.getElementById(id);

/* Element with a class, text and children; nothing is ever read as HTML. */
function make(tag, name = "", ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}
/* A button with a class and what stands in it; within a form it would send nothing. */
function makeButton(name, ...children) { const element = make("button", name, ...children); element.type = "button"; return element; }
function header(text) { const element = make("th", "", text); element.scope = "col"; return element; }
function option(value, text) { const element = make("option", "", text); element.value = String(value); return element; }
function short(text, most) {
  const letters = [...text.replace(/[\s\p{Cc}]+/gu, " ").trim() || "''"];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : letters.join("");
}
function rgb(hex) { return [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16)); }
/* As WCAG defines it. */
function luminance(parts) {
  const [r, g, b] = parts.map(part => part / 255 <= .03928 ? part / 255 / 12.92 : ((part / 255 + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b;
}
/* The colour at a place between 0 and 1 of a scale, as three numbers. */
function mixColours(scale, share) {
  const at = share * (scale.length - 1), low = Math.min(Math.floor(at), scale.length - 2), rest = at - low;
  return scale[low].map((part, k) => Math.round(part + rest * (scale[low + 1][k] - part)));
}
function css(parts) { return `rgb(${parts.slice(0, 3).join(",")})`; }
/* Draw a line through places on a canvas. */
function line(context, points) {
  context.beginPath();
  points.forEach(([x, y], k) => k ? context.lineTo(x, y) : context.moveTo(x, y));
  context.stroke();
}
/* Let the browser save a file, also from a page within another one. */
function download(name, blob) {
  const link = make("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
