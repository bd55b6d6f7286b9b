// The floor: what a program written by hand for this one purpose would do, with plain fetch and JSON.
import { readFileSync } from 'node:fs';
import type { Subject } from '../subject-process.ts';

const tools = [
  {
    type: 'function',
    function: {
      name: 'noop',
      description: 'does nothing',
      parameters: { type: 'object', properties: { i: { type: 'integer' } }, required: ['i'] },
    },
  },
];
type WireMessage = { role: string; content: string | null; tool_calls?: readonly { id: string }[] };
const postChat = (url: string, body: object): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
    body: JSON.stringify(body),
  });

/** The floor for everything that is measured. */
export const subject = (): Subject => ({
  async load() {
    await import('../empty.ts');
  },
  async turn(url) {
    const messages: unknown[] = [
      { role: 'system', content: 'You are a test.' },
      { role: 'user', content: 'hi' },
    ];
    for (let calls = 0; ;) {
      const reply = (await (await postChat(url, { model: 'mock', messages, tools })).json()) as {
        choices: [{ message: WireMessage }];
      };
      const { message } = reply.choices[0];
      messages.push(message);
      if (!message.tool_calls) return calls;
      for (const call of message.tool_calls) {
        calls++;
        messages.push({ role: 'tool', tool_call_id: call.id, content: 'ok' });
      }
    }
  },
  async stream(url) {
    const reply = await postChat(url, {
      model: 'mock',
      messages: [{ role: 'user', content: 'hi' }],
      tools,
      stream: true,
    });
    const decoder = new TextDecoder();
    let rest = '';
    let length = 0;
    for await (const piece of reply.body as ReadableStream<Uint8Array>) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
        const chunk = JSON.parse(line.slice(6)) as { choices: readonly { delta: { content?: string } }[] };
        length += chunk.choices[0]?.delta.content?.length ?? 0;
      }
    }
    return length;
  },
  async open(file) {
    return readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown).length;
  },
  async first(url, file) {
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as {
            type?: string;
            message?: { parts: readonly Part[] };
            call?: string;
            text?: string;
            parts?: readonly { text: string }[];
          },
      );
    const messages = lines.flatMap((line): unknown[] => {
      if (line.type === 'input-received') return [{ role: 'user', content: line.parts?.[0]?.text }];
      if (line.type === 'turn-ended') return [toWire(line.message?.parts ?? [])];
      return line.type === 'tool-ended' ? [{ role: 'tool', tool_call_id: line.call, content: line.text }] : [];
    });
    const reply = await postChat(url, {
      model: 'mock',
      messages: [{ role: 'system', content: 's' }, ...messages, { role: 'user', content: 'and now?' }],
      tools,
    });
    await reply.text();
    return messages.length;
  },
});

type Part = {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly tool?: string;
  readonly input?: unknown;
};

function toWire(parts: readonly Part[]): unknown {
  const calls = parts
    .filter((part) => part.type === 'tool-call')
    .map((part) => ({
      id: part.id,
      type: 'function',
      function: { name: part.tool, arguments: JSON.stringify(part.input) },
    }));
  return {
    role: 'assistant',
    content: parts.find((part) => part.type === 'text')?.text ?? null,
    ...(calls.length ? { tool_calls: calls } : {}),
  };
}
