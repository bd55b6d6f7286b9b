// A peer: pi's agent core, where it is installed beside us. It streams only.
import path from 'node:path';
import type { Subject } from '../subject-process.ts';
import { importFromPeer } from '../peer.ts';

type Made = {
  prompt(text: string): Promise<void>;
  subscribe(seen: (event: { type: string; assistantMessageEvent?: { type: string; delta?: string } }) => void): void;
};

/** Pi's agent core, found in a folder of peers. */
export function subject(peers: string): Subject {
  const get = (name: string): Promise<Record<string, unknown>> => importFromPeer(path.join(peers, 'pi'), name);
  let calls = 0;
  const make = async (url: string): Promise<Made> => {
    const { Agent } = (await get('@earendil-works/pi-agent-core')) as { Agent: new (options: object) => Made };
    const { streamSimple } = (await get('@earendil-works/pi-ai/api/openai-completions')) as {
      streamSimple: (model: unknown, context: unknown, options: object) => unknown;
    };
    const model = {
      id: 'mock',
      name: 'mock',
      api: 'openai-completions',
      provider: 'mock',
      baseUrl: `${url}/v1`,
      reasoning: false,
      input: ['text'],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 1e6,
      maxTokens: 32_000,
    };
    const execute = async (): Promise<object> => (calls++, { content: [{ type: 'text', text: 'ok' }], details: {} });
    const noop = {
      name: 'noop',
      label: 'noop',
      description: 'does nothing',
      parameters: { type: 'object', properties: { i: { type: 'integer' } }, required: ['i'] },
      execute,
    };
    return new Agent({
      initialState: { systemPrompt: 'You are a test.', model, tools: [noop] },
      streamFn: (m: unknown, c: unknown, o: object) => streamSimple(m, c, { ...o, apiKey: 'x' }),
      getApiKey: () => 'x',
    });
  };
  return {
    async load() {
      for (const name of [
        '@earendil-works/pi-agent-core',
        '@earendil-works/pi-ai',
        '@earendil-works/pi-ai/api/openai-completions',
      ])
        await get(name);
    },
    async turn(url) {
      calls = 0;
      await (await make(url)).prompt('hi');
      return calls;
    },
    async stream(url) {
      const agent = await make(url);
      let length = 0;
      agent.subscribe((event) => {
        if (event.type === 'message_update' && event.assistantMessageEvent?.type === 'text_delta')
          length += event.assistantMessageEvent.delta?.length ?? 0;
      });
      await agent.prompt('hi');
      return length;
    },
  };
}
