// The TypeScript client of both eras: connects, lists, calls, and says what it saw.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, era] = process.argv.slice(2);
const mode = era === 'legacy' ? 'legacy' : { pin: era };
const client = new Client({ name: 'typescript', version: '1' }, { versionNegotiation: { mode } });
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
const { tools } = await client.listTools();
const progress = [];
const text = await client.callTool({ name: 'test_simple_text', arguments: {} });
const done = await client.callTool(
  { name: 'test_tool_with_progress', arguments: {} },
  { onprogress: (report) => progress.push(report.progress) },
);
const failed = await client.callTool({ name: 'test_error_handling', arguments: {} });
console.log(JSON.stringify({
  version: client.getNegotiatedProtocolVersion(),
  session: transport.sessionId ?? null,
  tools: tools.map((tool) => tool.name),
  text: text.content[0].text,
  progress,
  done: done.content[0].text,
  failed: failed.isError,
}));
await client.close();
