// The chat wire beside its floor and the library it replaces: the cost of a turn at 100, 500 and 2,000 turns of history, and of 20,000 chunks.
// Run: node bench/wire.ts [rounds]. FAIRLEAD_MOCK may name a mock server script of one's own that takes --port.
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  messageToolCalls,
  appendItem,
  messageText,
  createPersistentList,
  type Message,
  type ModelRequest,
  type PersistentList,
} from '../src/core/index.ts';
import { chatProvider } from '../src/providers/openai-compatible/chat.ts';

type BenchConversation = { turn(): Promise<number> };
type Contender = { readonly name: string; start(url: string, turns: number): BenchConversation };
type JsonRecord = { readonly [key: string]: unknown };

const tool = {
  name: 'noop',
  description: 'does nothing',
  input: { type: 'object', properties: { i: { type: 'integer' } }, required: ['i'] },
} as const;
const system = 'You are a test.';
const requestCount = 40;

/** Plain fetch and JSON, nothing streamed: what anybody would write first. */
const fetchBaseline: Contender = {
  name: 'fetch floor',
  start(url, turns) {
    const tools = [
      { type: 'function', function: { name: tool.name, description: tool.description, parameters: tool.input } },
    ];
    const messages: unknown[] = [{ role: 'system', content: system }, ...createWireHistory(turns)];
    return {
      async turn() {
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
          body: JSON.stringify({ model: 'mock', messages, tools }),
        });
        const reply = (await response.json()) as {
          choices: { message: { content: string | null; tool_calls?: { id: string }[] } }[];
        };
        const message = reply.choices[0]?.message;
        messages.push(message);
        for (const call of message?.tool_calls ?? [])
          messages.push({ role: 'tool', tool_call_id: call.id, content: 'ok' });
        return message?.content?.length ?? 0;
      },
    };
  },
};

/** Plain fetch with the events read by hand. */
const streamBaseline: Contender = {
  name: 'fetch floor, streamed',
  start(url, turns) {
    const tools = [
      { type: 'function', function: { name: tool.name, description: tool.description, parameters: tool.input } },
    ];
    const messages: unknown[] = [{ role: 'system', content: system }, ...createWireHistory(turns)];
    return {
      async turn() {
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
          body: JSON.stringify({ model: 'mock', messages, tools, stream: true }),
        });
        const decoder = new TextDecoder();
        const calls: { id: string }[] = [];
        let rest = '';
        let text = '';
        for await (const bytes of response.body as AsyncIterable<Uint8Array>) {
          rest += decoder.decode(bytes, { stream: true });
          for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
            const line = rest.slice(0, end);
            rest = rest.slice(end + 2);
            if (!line.startsWith('data: {')) continue;
            const event = JSON.parse(line.slice(6)) as {
              choices: { delta: { content?: string; tool_calls?: { id: string }[] } }[];
            };
            const delta = event.choices[0]?.delta;
            if (delta?.content) text += delta.content;
            if (delta?.tool_calls) calls.push(...delta.tool_calls);
          }
        }
        messages.push({ role: 'assistant', content: text || null, tool_calls: calls });
        for (const call of calls) messages.push({ role: 'tool', tool_call_id: call.id, content: 'ok' });
        return text.length;
      },
    };
  },
};

const fairleadContender: Contender = {
  name: 'fairlead chat wire',
  start(url, turns) {
    const provider = chatProvider({ model: 'mock', baseUrl: `${url}/v1`, apiKey: 'x' });
    const never = new AbortController().signal;
    const fixed = { system, tools: [tool], toolChoice: 'auto', settings: {} } as const satisfies Partial<ModelRequest>;
    let messages: PersistentList<Message> = createPersistentList(createHistory(turns));
    return {
      async turn() {
        for await (const chunk of provider.stream({ ...fixed, messages }, never)) {
          if (chunk.type !== 'end') continue;
          messages = appendItem(messages, chunk.message);
          const calls = messageToolCalls(chunk.message);
          const parts = calls.map(
            ({ id }) => ({ type: 'tool-result', id, tool: tool.name, text: 'ok', failed: false }) as const,
          );
          if (parts.length > 0) messages = appendItem(messages, { role: 'tool', parts });
          return messageText(chunk.message).length;
        }
        throw new Error('no end');
      },
    };
  },
};

type SdkModel = ReturnType<ReturnType<typeof createOpenAICompatible>>;
type SdkPrompt = Parameters<SdkModel['doStream']>[0]['prompt'];

const aiSdkContender: Contender = {
  name: '@ai-sdk/openai-compatible',
  start(url, turns) {
    const model = createOpenAICompatible({ name: 'mock', baseURL: `${url}/v1`, apiKey: 'x', includeUsage: true })(
      'mock',
    );
    const prompt: SdkPrompt = [{ role: 'system', content: system }, ...createHistory(turns).map(toSdkMessage)];
    const tools = [
      { type: 'function', name: tool.name, description: tool.description, inputSchema: tool.input },
    ] as never[];
    return {
      async turn() {
        const { stream } = await model.doStream({ prompt, tools });
        let text = '';
        for await (const part of stream as unknown as AsyncIterable<{
          type: string;
          delta?: string;
          toolCallId?: string;
        }>) {
          if (part.type === 'text-delta') text += part.delta ?? '';
          if (part.type !== 'tool-call') continue;
          const toolCallId = part.toolCallId ?? '';
          prompt.push({
            role: 'assistant',
            content: [{ type: 'tool-call', toolCallId, toolName: tool.name, input: { i: 1 } }],
          });
          prompt.push(toSdkMessage(createToolResult(toolCallId)));
        }
        return text.length;
      },
    };
  },
};

const createToolResult = (id: string): Message => ({
  role: 'tool',
  parts: [{ type: 'tool-result', id, tool: tool.name, text: 'ok', failed: false }],
});

function createHistory(turns: number): Message[] {
  const messages: Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }];
  for (let i = 0; i < turns; i++) {
    const id = `call_${i}_${i}`;
    messages.push(
      { role: 'assistant', parts: [{ type: 'tool-call', id, tool: tool.name, input: { i: 1 } }] },
      createToolResult(id),
    );
  }
  return messages;
}

const createWireHistory = (turns: number): JsonRecord[] =>
  createHistory(turns).map(({ role, parts }): JsonRecord => {
    const part = parts[0];
    if (part?.type === 'tool-call')
      return {
        role,
        content: null,
        tool_calls: [{ id: part.id, type: 'function', function: { name: tool.name, arguments: '{"i":1}' } }],
      };
    return part?.type === 'tool-result' ? { role, tool_call_id: part.id, content: 'ok' } : { role, content: 'hi' };
  });

function toSdkMessage({ role, parts }: Message): SdkPrompt[number] {
  const part = parts[0];
  if (part?.type === 'tool-call')
    return {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: part.id, toolName: part.tool, input: part.input }],
    };
  if (role === 'tool' && part?.type === 'tool-result')
    return {
      role,
      content: [
        { type: 'tool-result', toolCallId: part.id, toolName: part.tool, output: { type: 'text', value: part.text } },
      ],
    };
  return { role: 'user', content: [{ type: 'text', text: 'hi' }] };
}

async function measure(rounds: number): Promise<void> {
  const { url, server } = await startServer();
  try {
    for (const turns of [100, 500, 2000]) {
      await configureServer(url, { T: 1e9, chunks: 1 });
      printReport(
        `a turn at ${turns} turns of history`,
        await runInterleaved(url, turns, requestCount, rounds, [
          fetchBaseline,
          streamBaseline,
          fairleadContender,
          aiSdkContender,
        ]),
      );
    }
    await configureServer(url, { T: 0, chunks: 20_000 });
    printReport(
      '20,000 chunks',
      await runInterleaved(url, 0, 1, rounds * 2, [streamBaseline, fairleadContender, aiSdkContender]),
    );
  } finally {
    server.kill();
  }
}

type Time = { readonly ms: number; readonly cpuMs: number };
type Times = ReadonlyMap<string, Time[]>;

/** Time per turn, on the clock and of the processor: the latter moves little when others use the machine. The contenders taking turns so that a busy machine is busy for all of them. */
async function runInterleaved(
  url: string,
  turns: number,
  count: number,
  rounds: number,
  contenders: readonly Contender[],
): Promise<Times> {
  const times = new Map<string, Time[]>(contenders.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const contender of contenders) {
      const { name } = contender;
      const talk = contender.start(url, turns);
      await talk.turn();
      const since = performance.now();
      const used = process.cpuUsage();
      for (let i = 0; i < count; i++) await talk.turn();
      const { user, system } = process.cpuUsage(used);
      if (round < 0) continue;
      times.get(name)?.push({ ms: (performance.now() - since) / count, cpuMs: (user + system) / 1000 / count });
    }
  }
  return times;
}

function printReport(what: string, times: Times): void {
  console.log(`\n${what}`);
  const [floor = []] = times.values();
  for (const [name, each] of times) {
    const line = (['ms', 'cpuMs'] as const).map((kind) => {
      const values = each.map((time) => time[kind]);
      const ratio = median(values) / median(floor.map((time) => time[kind]));
      const figures = `${median(values).toFixed(2).padStart(8)} (min ${Math.min(...values).toFixed(2)})`.padEnd(23);
      return `${kind === 'ms' ? 'wall' : 'cpu'} ${figures} x${ratio.toFixed(2)}`;
    });
    console.log(`  ${name.padEnd(28)} ${line.join('   ')}`);
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function configureServer(url: string, settings: JsonRecord): Promise<void> {
  await (await fetch(`${url}/__ctl`, { method: 'POST', body: JSON.stringify(settings) })).text();
}

async function startServer(): Promise<{ readonly url: string; readonly server: ChildProcess }> {
  const own = process.env['FAIRLEAD_MOCK'];
  const args = own ? [own, '--port', '0'] : [path.join(import.meta.dirname, 'mock-server.ts')];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of server.stdout ?? []) {
    const url = /http:\/\/\S+/.exec(String(line))?.[0];
    if (url) return { url, server };
  }
  throw new Error('The server did not start.');
}

await measure(Number(process.argv[2] ?? 5));
