// Starts `fairlead serve` for a test and sends requests to it with an API key.
import type { TestContext } from 'node:test';
import { waitUntil, type TestProgram } from './cli-harness.ts';

/** A reply of the server. */
export type ServeReply = { readonly status: number; readonly body: Record<string, unknown> };
/** Sends a request such as `GET /api/runs` with an API key. */
export type SendToServe = (key: string, request: string, body?: unknown) => Promise<ServeReply>;

/** A server that a test has started. */
export type TestServe = {
  readonly send: SendToServe;
  /** What the server has printed. */
  readonly printed: () => string;
  readonly stop: () => Promise<void>;
};

/** Starts the server on a free port with these API keys; the test ends it. */
export async function startServe(
  t: Pick<TestContext, 'after'>,
  program: TestProgram,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<TestServe> {
  const process = program.start(['serve', '--port', '0', ...args], { env });
  t.after(() => process.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(process.err()), 30_000);
  const url = /Listening at (\S+)/.exec(process.err())?.[1]?.replace('0.0.0.0', '127.0.0.1') ?? '';
  return {
    printed: () => process.err(),
    async stop() {
      process.kill('SIGTERM');
      await process.ended;
    },
    async send(key, request, body) {
      const [method = 'GET', address = '/'] = request.split(' ');
      const answer = await fetch(url + address, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
  };
}
