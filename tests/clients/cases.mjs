// Shared by masto.mjs and megalodon.mjs: the server, its users, and helpers for assertions.
//
// Run by run.py, which sets CLIENTS_LIVE.

import assert from "node:assert/strict";
import { createECDH, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** The URL of the server, and its users by name: `{ id, username, access_token }`. */
export const { url, people } = JSON.parse(process.env.CLIENTS_LIVE);

/** How long feeds, notifications, the index and streams may lag behind a response. */
const LAG_MS = 20_000;

/** How long filling a list with the statuses of a new member takes: until then, nothing of them is streamed. */
export const FILL_MS = 1000;

/** A PNG of one pixel. */
export const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Repeats `find` until it returns something, and returns that. */
export async function eventually(find) {
  for (const deadline = Date.now() + LAG_MS; Date.now() < deadline; await sleep(100)) {
    const found = await find();
    if (found) return found;
  }
  assert.fail(`still nothing after ${LAG_MS} ms: ${find}`);
}

/** The item of `list` with this id. */
export function withId(list, id) {
  return list.find((item) => item.id === id);
}

/** A word that no other case uses. */
export function word() {
  return `w${randomBytes(6).toString("hex")}`;
}

/** `seconds` from now, as the API writes times. */
export function later(seconds) {
  return new Date(Date.now() + seconds * 1000).toISOString();
}

/** The keys of a browser's push subscription. */
export function pushKeys() {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  return { p256dh: pair.getPublicKey("base64url"), auth: randomBytes(16).toString("base64url") };
}

/** Signs `person` in, grants what the authorization URL requests, and returns the code. The redirect is out of band. */
export async function authorize(address, person) {
  const { pathname, search } = new URL(address);
  const browser = new Browser();
  const signIn = await browser.fetch(`/auth/sign_in?next=${encodeURIComponent(pathname + search)}`);
  const password = `password of ${person.username}`;
  const consent = await browser.fetch("/auth/sign_in", { ...hidden(signIn), email: person.username, password });
  await browser.fetch("/oauth/authorize", { ...hidden(consent), decision: "authorise" });
  return browser.address.searchParams.get("code");
}

/** Keeps cookies and follows redirects. */
class Browser {
  #cookies = new Map();

  async fetch(path, fields) {
    this.address = new URL(path, url);
    const cookie = [...this.#cookies].map((pair) => pair.join("=")).join("; ");
    const form = fields && { method: "POST", body: new URLSearchParams(fields) };
    const response = await fetch(this.address, { ...form, headers: { cookie }, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]*)=([^;]*)/.exec(line);
      this.#cookies.set(name, value);
    }
    const text = await response.text();
    const next = response.headers.get("location");
    if (next) return this.fetch(next);
    assert.equal(response.status, 200, text);
    return text;
  }
}

/** The hidden fields of the first form of a page. */
function hidden(page) {
  const fields = page.split("</form>")[0].matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name, value]) => [name, unescape(value)]));
}

function unescape(text) {
  const names = { "&quot;": '"', "&lt;": "<", "&gt;": ">", "&amp;": "&" };
  return text
    .replace(/&#(x?)([0-9a-f]+);/gi, (_, hex, digits) => String.fromCodePoint(parseInt(digits, hex ? 16 : 10)))
    .replace(/&(quot|lt|gt|amp);/g, (entity) => names[entity]);
}
