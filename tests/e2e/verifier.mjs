// A site that refuses agents by name unless they sign, on the verifier of the npm package web-bot-auth.
// node verifier.mjs MODE PUBLIC_JWK; MODE: verify (replayed nonces are refused too), anything, ignore
import http from "node:http";
import { verify } from "web-bot-auth";
import { verifierFromJWK } from "web-bot-auth/crypto";

const [mode, jwk] = process.argv.slice(2);
const check = jwk ? await verifierFromJWK(JSON.parse(jwk)) : null;
const seen = new Set();
const page = `<!doctype html><title>Shop</title><main><h1>Shop</h1><p>${"Coats in all sizes. ".repeat(30)}</p></main>`;

async function isLetIn(request) {
  const agent = request.headers["user-agent"] ?? "";
  if (!/ChatGPT-User|Claude-User|Google-Agent|Perplexity-User/.test(agent)) return true;
  if (mode === "ignore") return false;
  if (mode === "anything") return Boolean(request.headers["signature"]);
  try {
    const url = `http://${request.headers.host}${request.url}`;
    await verify(new Request(url, { headers: request.headers }), check);
  } catch {
    return false;
  }
  const nonce = /nonce="([^"]*)"/.exec(request.headers["signature-input"])?.[1];
  if (!nonce || seen.has(nonce)) return false;
  seen.add(nonce);
  return true;
}

const server = http.createServer(async (request, response) => {
  if (request.url !== "/") return response.writeHead(404).end();
  if (await isLetIn(request)) return response.writeHead(200, { "Content-Type": "text/html" }).end(page);
  response.writeHead(403, { "Content-Type": "text/html" }).end("<title>403</title>Forbidden");
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
