// Searches, fetches what was found first, and prints both, with either generation of the TypeScript SDK.
// node round.mjs FOLDER_OF_NODE_MODULES sdk|client legacy|auto|2026-07-28 URL QUERY
import { connected } from "./connecting.mjs";

const [, , folder, generation, mode, url, query] = process.argv;
const client = await connected(folder, generation, mode, url);
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
