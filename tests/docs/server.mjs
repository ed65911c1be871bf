// tests/docs/server.mjs -- a server of the files of a folder on the loopback, for the tests in browsers.
import {createReadStream, existsSync, statSync} from "node:fs";
import {createServer} from "node:http";
import {extname, join} from "node:path";

const kinds = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png"};

/** -> {server, address} */
export async function serve(folder) {
  const server = createServer((request, response) => {
    if (request.url === "/favicon.ico") { response.writeHead(204).end(); return; }  // asked for where a page names none
    const path = join(folder, decodeURIComponent(new URL(request.url, "http://127.0.0.1").pathname));
    const file = existsSync(path) && statSync(path).isDirectory() ? join(path, "index.html") : path;
    if (!file.startsWith(folder) || !existsSync(file)) { response.writeHead(404).end(); return; }
    response.writeHead(200, {"content-type": kinds[extname(file)] ?? "application/octet-stream"});
    createReadStream(file).pipe(response);
  });
  await new Promise(done => server.listen(0, "127.0.0.1", done));
  return {server, address: `http://127.0.0.1:${server.address().port}/`};
}
