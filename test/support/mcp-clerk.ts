// A well-behaved MCP server over stdio that tells in a folder how often it was started, and says of itself what a file there says.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { JsonObject } from '../../src/core/index.ts';
import { answerTo, plain, text, type Behaviour, type Message } from './mcp-server.ts';

const [, , folder = ''] = process.argv;
const write = (message: Message): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);
const waiting = new Map<string | number, (result: JsonObject) => void>();

/** Asks the client something, and waits for what it says. */
const ask = (method: string, params: JsonObject): Promise<JsonObject> =>
  new Promise((resolve) => {
    const id = `q${waiting.size + 1}`;
    waiting.set(id, resolve);
    write({ jsonrpc: '2.0', id, method, params });
  });

const form: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name' },
    age: { type: 'integer', title: 'Age' },
    size: { type: 'string', title: 'Size', enum: ['small', 'large'] },
    news: { type: 'boolean', title: 'News' },
  },
  required: ['name', 'size'],
};
const wish: JsonObject = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }],
  systemPrompt: 'Be short.',
  maxTokens: 50,
};

const about = path.join(folder, 'about');
const extra = path.join(folder, 'extra');
const story = existsSync(about) ? readFileSync(about, 'utf8') : 'Greets somebody.';
const behaviour: Behaviour = {
  tools: [
    plain('greet', { description: story }),
    plain('die'),
    plain('ask'),
    plain('sample'),
    ...Array.from({ length: existsSync(extra) ? Number(readFileSync(extra, 'utf8')) : 0 }, (_, i) => plain(`more${i}`)),
  ],
  async call(tool, { a = 'nobody' }) {
    if (tool === 'die') process.exit(3);
    if (tool === 'ask')
      return text(JSON.stringify(await ask('elicitation/create', { message: 'Who are you?', requestedSchema: form })));
    if (tool === 'sample') return text(JSON.stringify(await ask('sampling/createMessage', wish)));
    return text(`Hello ${String(a)}, from ${process.cwd()}.`);
  },
};

appendFileSync(path.join(folder, 'starts'), `${process.pid}\n`);
createInterface({ input: process.stdin }).on('line', (line) => void take(JSON.parse(line) as Message));

async function take(message: Message): Promise<void> {
  if (message.method === undefined) return waiting.get(message.id ?? '')?.(message.result ?? message.error ?? {});
  const answer = await answerTo(behaviour, message);
  if (answer) write(answer);
}
