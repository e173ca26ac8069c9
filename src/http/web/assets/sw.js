/* Rookery's service worker: shows pushed notifications, and a page while the server cannot be reached. Keeps no page of anybody. */
"use strict";
const KEPT = "rookery-1";
const OFFLINE = "/offline";

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.add(OFFLINE)).catch(() => undefined));
  self.skipWaiting();
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  if (event.request.mode !== "navigate") return;
  event.respondWith(fetch(event.request).catch(() => caches.match(OFFLINE)));
});

self.addEventListener("push", (event) => {
  const shown = (() => { try { return event.data.json(); } catch { return undefined; } })();
  if (!shown) return;
  const path = "/notifications";
  event.waitUntil(self.registration.showNotification(shown.title, { body: shown.body, icon: shown.icon, tag: shown.notification_id, data: { path } }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const path = event.notification.data?.path ?? "/notifications";
  event.waitUntil((async () => {
    const open = (await self.clients.matchAll({ type: "window" })).find((window) => "focus" in window);
    if (!open) return self.clients.openWindow(path);
    await open.focus();
    return open.navigate(path);
  })());
});
