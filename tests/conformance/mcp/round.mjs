// Searches, fetches what was found first, and prints both, with either generation of the TypeScript SDK.
// node round.mjs FOLDER_OF_NODE_MODULES sdk|client legacy|auto|2026-07-28 URL QUERY
import { createRequire } from "node:module";
import path from "node:path";

const [, , folder, generation, mode, url, query] = process.argv;
const require = createRequire(path.join(folder, "package.json"));
const own = { name: "round", version: "1.0.0" };

function connecting() {
  if (generation === "sdk") {
    const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return [new Client(own), new StreamableHTTPClientTransport(new URL(url))];
  }
  const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
  const versionNegotiation = { mode: ["legacy", "auto"].includes(mode) ? mode : { pin: mode } };
  return [new Client(own, { versionNegotiation }), new StreamableHTTPClientTransport(new URL(url))];
}

const [client, transport] = connecting();
await client.connect(transport);
const { tools } = await client.listTools(); // the SDK checks every later answer against the output schemas
const found = await client.callTool({ name: "search", arguments: { query } });
const first = JSON.parse(found.content[0].text).results[0];
const fetched = await client.callTool({ name: "fetch", arguments: { id: first.id } });
const passages = await client.callTool({ name: "search_knowledge", arguments: { query } });
const { resources } = await client.listResources();
const read = await client.readResource({ uri: resources[0].uri });
const era = client.getProtocolEra?.() ?? "legacy";
await client.close();
console.log(JSON.stringify({
  era,
  tools: tools.map((tool) => tool.name),
  found: found.structuredContent,
  fetched: fetched.structuredContent,
  failed: [found, fetched, passages].some((answer) => answer.isError),
  passages: passages.structuredContent,
  read: read.contents[0].uri,
}));
