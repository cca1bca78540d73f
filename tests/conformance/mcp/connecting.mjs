// A client of either generation of the TypeScript SDK, connected.
import { createRequire } from "node:module";
import path from "node:path";

const own = { name: "round", version: "1.0.0" };

function made(folder, generation, mode, url) {
  const require = createRequire(path.join(folder, "package.json"));
  if (generation === "sdk") {
    const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return [new Client(own), new StreamableHTTPClientTransport(new URL(url))];
  }
  const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
  const versionNegotiation = { mode: ["legacy", "auto"].includes(mode) ? mode : { pin: mode } };
  return [new Client(own, { versionNegotiation }), new StreamableHTTPClientTransport(new URL(url))];
}

export async function connected(folder, generation, mode, url) {
  const [client, transport] = made(folder, generation, mode, url);
  await client.connect(transport);
  return client;
}
