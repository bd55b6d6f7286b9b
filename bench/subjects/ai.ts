// A peer: the AI SDK, where it is installed beside us.
import path from 'node:path';
import type { Subject } from '../subject-process.ts';
import { importFromPeer } from '../peer.ts';

type Ai = {
  readonly tool: (options: object) => unknown;
  readonly isStepCount: (count: number) => unknown;
  readonly generateText: (options: object) => Promise<{ readonly steps: readonly unknown[] }>;
  readonly streamText: (options: object) => { readonly textStream: AsyncIterable<string> };
};
type Wire = { readonly createOpenAICompatible: (options: object) => (name: string) => unknown };
type Zod = { readonly z: { object: (shape: object) => unknown; number: () => { int: () => unknown } } };

/** The AI SDK, found in a folder of peers. */
export function subject(peers: string): Subject {
  const get = (name: string): Promise<unknown> => importFromPeer(path.join(peers, 'lib-ai'), name);
  const parts = async (url: string): Promise<{ readonly ai: Ai; readonly options: object }> => {
    const ai = (await get('ai')) as Ai;
    const { createOpenAICompatible } = (await get('@ai-sdk/openai-compatible')) as Wire;
    const { z } = (await get('zod')) as Zod;
    const model = createOpenAICompatible({ name: 'mock', baseURL: `${url}/v1`, apiKey: 'x' })('mock');
    const inputSchema = z.object({ i: z.number().int() });
    const noop = ai.tool({ description: 'does nothing', inputSchema, execute: async () => 'ok' });
    return { ai, options: { model, tools: { noop }, prompt: 'hi' } };
  };
  return {
    async load() {
      for (const name of ['ai', '@ai-sdk/openai-compatible', 'zod']) await get(name);
    },
    async turn(url, turns) {
      const { ai, options } = await parts(url);
      const result = await ai.generateText({ ...options, stopWhen: ai.isStepCount(turns + 2) });
      return result.steps.length - 1;
    },
    async stream(url) {
      const { ai, options } = await parts(url);
      let length = 0;
      const { textStream } = ai.streamText(options);
      for await (const text of textStream) length += text.length;
      return length;
    },
  };
}
