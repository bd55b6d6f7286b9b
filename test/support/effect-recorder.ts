// A local HTTP service that records every external effect of a fleet, including repeats.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createBarrier } from './fleet-program.ts';

/** A recorded effect. `repeat`: the service knew its idempotency key and did nothing. */
export type EffectEntry = {
  readonly run: string;
  readonly tool: string;
  readonly key: string;
  /** The process that requested it. */
  readonly by: number;
  readonly repeat: boolean;
};

/** The service. */
export type EffectRecorder = {
  readonly url: string;
  readonly entries: readonly EffectEntry[];
  /** The effects, without refused repeats. */
  effects(run?: string, tool?: string): readonly EffectEntry[];
  /** Holds the next response for a tool of a run: the effect has happened, but the caller does not know it. */
  holdReply(run: string, tool: string): ReturnType<typeof createBarrier>;
};

/** The maximum delay of a response in milliseconds, in which the caller may be killed. */
const maxReplyDelayMs = 15;

/** Starts the service; it stops with the test. */
export async function startEffectRecorder(t: TestContext): Promise<EffectRecorder> {
  const entries: EffectEntry[] = [];
  const doors = new Map<string, ReturnType<typeof createBarrier>>();

  /** Records the effect synchronously, so that a later query for it is correct. */
  function act(asked: URLSearchParams): string {
    const given = (name: string): string => asked.get(name) ?? '';
    const key = given('key');
    const repeat = given('once') === 'yes' && entries.some((entry) => entry.key === key);
    entries.push({ run: given('run'), tool: given('tool'), key, by: Number(given('by')), repeat });
    return repeat ? 'was done before' : 'done';
  }

  const find = (asked: URLSearchParams): string =>
    entries.some(({ key }) => key === asked.get('key')) ? 'happened' : 'unknown';

  async function answer(path: string, asked: URLSearchParams): Promise<string> {
    const text = path === '/act' ? act(asked) : path === '/find' ? find(asked) : 'thought';
    const name = `${asked.get('run')} ${asked.get('tool')}`;
    const held = doors.get(name);
    doors.delete(name);
    await (held ? held.wait() : pause(Math.random() * maxReplyDelayMs));
    return text;
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://outside');
    void answer(pathname, searchParams).then((text) => response.end(text));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const held of doors.values()) held.open();
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    entries,
    effects: (run, tool) =>
      entries.filter(
        (entry) => !entry.repeat && (run ?? entry.run) === entry.run && (tool ?? entry.tool) === entry.tool,
      ),
    holdReply(run, tool) {
      const made = createBarrier();
      doors.set(`${run} ${tool}`, made);
      return made;
    },
  };
}
