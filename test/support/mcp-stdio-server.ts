// A well-behaved MCP server over stdio that records its starts and the metadata of calls in a folder, and takes its description from a file there.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { JsonObject } from '../../src/core/index.ts';
import {
  answerMcpMessage,
  createListedTool,
  createTextResult,
  type McpBehaviour,
  type McpMessage,
} from './mcp-server.ts';

const [, , folder = ''] = process.argv;
const writeMessage = (message: McpMessage): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);
const pendingRequests = new Map<string | number, (result: JsonObject) => void>();

/** Sends a request to the client, and waits for the response. */
const requestClient = (method: string, params: JsonObject): Promise<JsonObject> =>
  new Promise((resolve) => {
    const id = `q${pendingRequests.size + 1}`;
    pendingRequests.set(id, resolve);
    writeMessage({ jsonrpc: '2.0', id, method, params });
  });

const elicitationSchema: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name' },
    age: { type: 'integer', title: 'Age' },
    size: { type: 'string', title: 'Size', enum: ['small', 'large'] },
    news: { type: 'boolean', title: 'News' },
  },
  required: ['name', 'size'],
};
const samplingRequest: JsonObject = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }],
  systemPrompt: 'Be short.',
  maxTokens: 50,
};

const descriptionFile = path.join(folder, 'about');
const extraCountFile = path.join(folder, 'extra');
const description = existsSync(descriptionFile) ? readFileSync(descriptionFile, 'utf8') : 'Greets somebody.';
const behaviour: McpBehaviour = {
  tools: [
    createListedTool('greet', { description }),
    createListedTool('die'),
    createListedTool('ask'),
    createListedTool('sample'),
    ...Array.from({ length: existsSync(extraCountFile) ? Number(readFileSync(extraCountFile, 'utf8')) : 0 }, (_, i) =>
      createListedTool(`more${i}`),
    ),
  ],
  async call(tool, { a = 'nobody' }) {
    if (tool === 'die') process.exit(3);
    if (tool === 'ask')
      return createTextResult(
        JSON.stringify(
          await requestClient('elicitation/create', { message: 'Who are you?', requestedSchema: elicitationSchema }),
        ),
      );
    if (tool === 'sample')
      return createTextResult(JSON.stringify(await requestClient('sampling/createMessage', samplingRequest)));
    return createTextResult(`Hello ${String(a)}, from ${process.cwd()}.`);
  },
};

if (folder !== '') appendFileSync(path.join(folder, 'starts'), `${process.pid}\n`);
createInterface({ input: process.stdin }).on('line', (line) => void handleLine(JSON.parse(line) as McpMessage));

async function handleLine(message: McpMessage): Promise<void> {
  if (message.method === undefined)
    return pendingRequests.get(message.id ?? '')?.(message.result ?? message.error ?? {});
  if (message.method === 'tools/call' && folder !== '')
    appendFileSync(path.join(folder, 'meta'), `${JSON.stringify(message.params?.['_meta'] ?? {})}\n`);
  const answer = await answerMcpMessage(behaviour, message);
  if (answer) writeMessage(answer);
}
