// The TypeScript SDK of the handshake era: as many sessions as asked for, each called whenever a line comes in.
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, count] = process.argv.slice(2);
const sessions = [];
for (let index = 0; index < Number(count); index += 1) {
  const client = new Client({ name: 'sdk', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  transport.onerror = () => {}; // its own stream breaks when the server restarts, and is opened again
  await client.connect(transport);
  sessions.push([client, transport, transport.sessionId]);
}
console.log(JSON.stringify({ ready: sessions.length, sample: sessions[0][2] }));

for await (const line of createInterface({ input: process.stdin })) {
  const answers = [];
  for (const [client, transport, id] of sessions) {
    try {
      const result = await client.callTool({ name: 'test_simple_text', arguments: {} });
      answers.push(transport.sessionId === id ? result.content[0].text : 'another session');
    } catch (error) {
      answers.push(`error: ${error.code ?? ''} ${error.message}`);
    }
  }
  console.log(JSON.stringify({ asked: line, answers }));
}
process.exit(0);
