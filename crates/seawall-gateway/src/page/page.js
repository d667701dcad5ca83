"use strict";
// What others wrote is only ever set as text: never as markup, never as an address.

const EVERY_MS = 2000;
const SVG = "http://www.w3.org/2000/svg";
const STATES = {
  up: ["●", "up", "good"],
  degraded: ["▲", "up in part", "warn"],
  connecting: ["◌", "connecting", "warn"],
  waiting: ["◷", "reconnecting", "bad"],
  closing: ["◌", "closing", "warn"],
  unreaped: ["■", "child not gone", "bad"],
  down: ["✕", "down", "bad"],
};
const OUTCOMES = {
  ok: ["✓", "ok"],
  input_required: ["…", "asked for input"],
  tool_error: ["!", "tool error"],
  error_response: ["✕", "error response"],
  answered: ["✕", "unusable answer"],
  not_sent: ["⊘", "not sent"],
  no_response: ["?", "no response"],
  refused: ["⊘", "refused"],
  cancelled: ["–", "cancelled"],
};

const part = (id) => document.getElementById(id);

function node(tag, kind, ...children) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  made.append(...children);
  return made;
}

function shape(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A name that others chose: its direction stays its own.
const name = (text) => node("bdi", "", text);
const cell = (...children) => node("td", "", ...children);
const number = (value) => node("td", "number", String(value));

function took(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 9.95) return `${ms.toFixed(ms < 0.995 ? 2 : 1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 99950) return `${(ms / 1000).toFixed(ms < 9995 ? 2 : 1)} s`;
  return `${Math.round(ms / 1000)} s`;
}

function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  for (; bytes >= 1000 && at < units.length - 1; at += 1) bytes /= 1024;
  return `${at === 0 ? bytes : bytes.toPrecision(3)} ${units[at]}`;
}

function since(ms) {
  const seconds = Math.floor(ms / 1000);
  const parts = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = parts.findIndex(([, length]) => seconds >= length);
  if (first < 0) return "0 s";
  let rest = seconds;
  return parts.slice(0, first + 2).map(([unit, length]) => {
    const count = Math.floor(rest / length);
    rest %= length;
    return `${count} ${unit}`;
  }).slice(first).join(" ");
}

function badge([sign, word, kind]) {
  const mark = node("span", "", sign);
  mark.setAttribute("aria-hidden", "true");
  return node("span", `badge ${kind}`, mark, ` ${word}`);
}

function cross(x, y, r) {
  return shape("path", { class: "cross", d: `M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}` });
}

// Every call as a point on a logarithmic scale; one that went wrong is a cross.
function spark(calls) {
  const width = 132, height = 30, edge = 4;
  const logs = calls.map((call) => Math.log10(Math.max(call.ms, 0.01)));
  const low = Math.min(...logs), high = Math.max(...logs);
  const range = Math.max(high - low, 0.3);
  const base = (low + high - range) / 2;
  const step = (width - 2 * edge) / Math.max(calls.length - 1, 1);
  const points = logs.map((log, at) => [
    (edge + at * step).toFixed(1) * 1,
    (height - edge - ((log - base) / range) * (height - 2 * edge)).toFixed(1) * 1,
  ]);
  const bad = calls.filter((call) => !call.good).length;
  const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.append(shape("title", {}, `The newest ${calls.length} calls took from ${took(10 ** low)} to ${took(10 ** high)}; ${bad} failed.`));
  svg.append(shape("path", { class: "path", d: points.map(([x, y], at) => `${at ? "L" : "M"}${x} ${y}`).join("") }));
  points.forEach(([x, y], at) => {
    if (!calls[at].good) svg.append(cross(x, y, 2.5));
    else if (points.length === 1) svg.append(shape("circle", { class: "dot", cx: x, cy: y, r: 2 }));
  });
  return svg;
}

// When calls ended, and how long they took.
function scatter(calls, now) {
  const width = 960, height = 150, left = 52, right = 14, top = 10, bottom = 24;
  const marks = [[0.1, "0.1 ms"], [1, "1 ms"], [10, "10 ms"], [100, "100 ms"], [1000, "1 s"], [10000, "10 s"], [100000, "100 s"]];
  const logs = calls.map((call) => Math.log10(Math.max(call.ms, 0.01)));
  const low = Math.floor(Math.min(...logs)), high = Math.max(Math.ceil(Math.max(...logs)), low + 1);
  const oldest = Math.min(...calls.map((call) => call.atMs));
  const span = Math.max(now - oldest, 10000);
  const x = (at) => left + (1 - (now - at) / span) * (width - left - right);
  const y = (log) => height - bottom - ((log - low) / (high - low)) * (height - top - bottom);
  const bad = calls.filter((call) => !call.good).length;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": "latency-text" });
  for (const [ms, word] of marks) {
    const log = Math.log10(ms);
    if (log < low || log > high) continue;
    svg.append(shape("line", { class: "grid", x1: left, x2: width - right, y1: y(log), y2: y(log) }));
    svg.append(shape("text", { x: left - 8, y: y(log) + 4, "text-anchor": "end" }, word));
  }
  svg.append(shape("text", { x: left, y: height - 7 }, `${since(span)} ago`));
  svg.append(shape("text", { x: width - right, y: height - 7, "text-anchor": "end" }, "now"));
  calls.forEach((call, at) => {
    const [cx, cy] = [x(call.atMs), y(logs[at])];
    svg.append(call.good ? shape("circle", { class: "dot", cx, cy, r: 2.5 }) : cross(cx, cy, 3));
  });
  const caption = node("figcaption", "", `When the newest ${calls.length} calls ended, and how long they took (logarithmic); ${bad} that did not end well ${bad === 1 ? "is a cross" : "are crosses"}.`);
  caption.id = "latency-text";
  return [svg, caption];
}

function serverRows(server) {
  const calls = server.calls;
  const title = node("th", "", name(server.server));
  title.scope = "row";
  if (server.required) title.append(node("span", "small", "required"));
  const spoken = cell(server.revision || "–");
  if (server.transport) spoken.append(node("span", "small", server.transport));
  const latency = cell();
  if (calls && calls.newest.length) {
    const words = node("span", "", node("span", "small", `median ${took(calls.p50Ms)}`), node("span", "small", `95 % ${took(calls.p95Ms)}`));
    latency.append(node("div", "latency", spark(calls.newest), words));
  } else {
    latency.append(node("span", "faint", "no calls yet"));
  }
  const tools = server.toolsLeftOut ? `${server.tools} (${server.toolsLeftOut} left out)` : server.tools;
  const row = node("tr", "", title, cell(badge(STATES[server.state] || ["?", server.state, "warn"])), spoken,
    number(tools), number(calls ? calls.good + calls.bad : 0), number(calls ? calls.bad : 0),
    number(calls ? calls.inFlight : 0), latency, number(server.restarts),
    number(size(server.receivedBytes)), number(size(server.sentBytes)));
  if (!server.lastError) return [row];
  const isUp = server.state === "up" || server.state === "degraded";
  const error = node("td", isUp ? "error" : "error now", `${isUp ? "Earlier" : "Last error"}: ${server.lastError.message}`);
  error.colSpan = 11;
  return [row, node("tr", "under", error)];
}

function callRow(call) {
  const [sign, word] = OUTCOMES[call.outcome] || ["?", call.outcome];
  const when = node("time", "", new Date(call.atMs).toLocaleTimeString());
  when.dateTime = new Date(call.atMs).toISOString();
  const named = (text) => (text === null ? node("td", "faint", "–") : node("td", "name", name(text)));
  return node("tr", "", cell(when), named(call.server), named(call.tool),
    cell(badge([sign, word, call.good ? "good" : call.outcome === "cancelled" ? "warn" : "bad"])),
    number(took(call.ms)), node("td", "name", name(call.client)));
}

function show(status) {
  const { gateway, servers, recent } = status;
  const kind = gateway.state === "ready" ? ["●", "ready", "good"] : ["▲", gateway.state, "warn"];
  part("state").replaceWith(Object.assign(badge(kind), { id: "state" }));
  const facts = [`version ${gateway.version}`, `up ${since(gateway.uptimeMs)}`, `${gateway.tools} tools`,
    `${gateway.callsInFlight} calls under way`, `${gateway.sessions} sessions`, `${gateway.subscriptions} subscriptions`];
  part("facts").textContent = facts.join(" · ");
  part("servers").replaceChildren(...servers.flatMap(serverRows));
  part("no-servers").hidden = servers.length > 0;
  part("latency").replaceChildren(...(recent.length ? scatter(recent, gateway.nowMs) : []));
  part("calls").replaceChildren(...recent.map(callRow));
  part("no-calls").hidden = recent.length > 0;
  const down = servers.filter((server) => server.state !== "up" && server.state !== "degraded").length;
  document.title = down ? `(${down} not up) Seawall` : "Seawall";
}

let shown = null;
async function refresh() {
  try {
    const response = await fetch("/status.json", { cache: "no-store" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    show(await response.json());
    shown = new Date();
    part("notice").textContent = "";
  } catch {
    const when = shown ? `What is shown is of ${shown.toLocaleTimeString()}.` : "";
    part("notice").textContent = `The gateway does not answer. ${when}`;
  }
  setTimeout(() => (document.hidden ? document.addEventListener("visibilitychange", refresh, { once: true }) : refresh()), EVERY_MS);
}
refresh();
