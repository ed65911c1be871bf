// Keeps the page for use without a network. The compiler's worker keeps its own files, and reads its modules through this one. A name
// with a hash never changes; the page itself comes from the network if there is one.
const cacheName = "dimwise-playground";
const inScope = path => new URL(path, self.registration.scope).href;

self.addEventListener("install", event => {
  event.waitUntil(caches.open(cacheName).then(cache => cache.addAll(SHELL.map(inScope))).then(() => self.skipWaiting()));
});

self.addEventListener("activate", event => {
  event.waitUntil((async () => {
    const cache = await caches.open(cacheName), current = new Set([...SHELL, ...FILES].map(inScope));
    for (const request of await cache.keys()) {
      if (!current.has(request.url)) { await cache.delete(request); }
    }
    await self.clients.claim();
  })());
});

self.addEventListener("fetch", event => {
  const {url, method} = event.request, path = url.split(/[?#]/)[0];
  const page = [inScope("./"), inScope("./index.html")].includes(path);
  const kept = path.startsWith(inScope("files/")) && !path.endsWith(".gz");  // also those of a later page, which is open already
  if (method !== "GET" || (!page && !kept && !SHELL.map(inScope).includes(path))) { return; }
  const stored = () => caches.match(page ? inScope("./") : path);
  const fetched = () => fetch(event.request).then(response => {
    if (page && response.ok) {
      const copy = response.clone();
      event.waitUntil(caches.open(cacheName).then(cache => cache.put(inScope("./"), copy)));
    }
    return response;
  });
  event.respondWith(page ? fetched().catch(stored) : stored().then(response => response ?? fetched()));
});
