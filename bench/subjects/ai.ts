// A peer: the AI SDK, where it is installed beside us.
import path from 'node:path';
import type { Subject } from '../one.ts';
import { fromPeer } from '../peer.ts';

type Loose = Record<string, (...args: readonly unknown[]) => unknown>;

/** The AI SDK, found in a folder of peers. */
export function subject(peers: string): Subject {
  const get = async (name: string): Promise<Loose> => (await fromPeer(path.join(peers, 'lib-ai'), name)) as Loose;
  const parts = async (url: string): Promise<{ ai: Loose; options: object }> => {
    const [ai, { createOpenAICompatible }, { z }] = [
      await get('ai'),
      await get('@ai-sdk/openai-compatible'),
      (await get('zod')) as unknown as {
        z: { object: (shape: object) => unknown; number: () => { int: () => unknown } };
      },
    ];
    const model = (createOpenAICompatible as (options: object) => (name: string) => unknown)({
      name: 'mock',
      baseURL: `${url}/v1`,
      apiKey: 'x',
    })('mock');
    const noop = ai['tool']?.({
      description: 'does nothing',
      inputSchema: z.object({ i: z.number().int() }),
      execute: async () => 'ok',
    });
    return { ai, options: { model, tools: { noop }, prompt: 'hi' } };
  };
  return {
    async load() {
      for (const name of ['ai', '@ai-sdk/openai-compatible', 'zod']) await get(name);
    },
    async turn(url, turns) {
      const { ai, options } = await parts(url);
      const result = (await ai['generateText']?.({ ...options, stopWhen: ai['isStepCount']?.(turns + 2) })) as {
        steps: readonly unknown[];
      };
      return result.steps.length - 1;
    },
    async stream(url) {
      const { ai, options } = await parts(url);
      let length = 0;
      const { textStream } = ai['streamText']?.(options) as { textStream: AsyncIterable<string> };
      for await (const text of textStream) length += text.length;
      return length;
    },
  };
}
