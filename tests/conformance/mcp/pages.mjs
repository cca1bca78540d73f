// Reads a document page by page, by fetch and by get_document, with either generation of the TypeScript SDK.
// node pages.mjs FOLDER_OF_NODE_MODULES sdk|client legacy|auto|2026-07-28 URL TYPE/ID MAX_TOKENS
import { connected } from "./connecting.mjs";

const [, , folder, generation, mode, url, ref, maxTokens] = process.argv;
const client = await connected(folder, generation, mode, url);

async function data(name, given) {
  const answer = await client.callTool({ name, arguments: given });
  if (answer.isError) throw new Error(answer.content[0].text);
  return answer;
}

const fetched = [];
for (let id = ref; id; ) {
  const answer = await data("fetch", { id });
  const told = JSON.parse(answer.content[0].text); // the text alone: some clients see nothing else
  fetched.push(told.text);
  id = told.text.match(/^\[Page .* the next is fetched with id "([^"]+)"\]/)?.[1];
}
const read = [];
for (let cursor; read.length === 0 || cursor; ) {
  const answer = await data("get_document", { id: ref, maxTokens: Number(maxTokens), ...(cursor ? { cursor } : {}) });
  read.push(answer.structuredContent.content);
  cursor = answer.content[0].text.match(/More: get_document with cursor `([^`]+)`/)?.[1];
}
await client.close();
console.log(JSON.stringify({ fetched, read }));
