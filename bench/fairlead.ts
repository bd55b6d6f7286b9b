// What is measured of Fairlead: the built package, used as a program would.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type * as Library from '../src/index.ts';
import type * as Providers from '../src/providers/index.ts';
import type * as Stores from '../src/stores/index.ts';
import type { Subject } from './subject-process.ts';

const dist = path.join(import.meta.dirname, '..', 'dist');
const importLibrary = (): Promise<typeof Library> => import(path.join(dist, 'index.js')) as Promise<typeof Library>;
const input = { type: 'object', properties: { i: { type: 'integer' } }, required: ['i'] };

async function createHarness(url: string, turns: number, runDir: string | null): Promise<Library.Harness> {
  const { Harness, defineTool } = await importLibrary();
  const { openProvider } = (await import(path.join(dist, 'providers.js'))) as typeof Providers;
  const provider = await openProvider({
    provider: 'openai-compatible',
    model: 'mock',
    baseUrl: `${url}/v1`,
    apiKey: 'x',
  });
  const noop = defineTool({ name: 'noop', description: 'does nothing', input, effect: 'read', run: () => 'ok' });
  return new Harness({
    provider,
    system: 'You are a test.',
    tools: [noop],
    maxTurns: turns + 2,
    limits: { stuckAfter: 0 },
    runDir,
  });
}

/** Fairlead on files or in memory. */
export function createFairleadSubject(files: boolean): Subject {
  const folder = files ? mkdtempSync(path.join(tmpdir(), 'fairlead-bench-runs-')) : null;
  if (folder) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return {
    load: importLibrary,
    async turn(url, turns) {
      const harness = await createHarness(url, turns, folder);
      const result = await harness.runResult('hi');
      if (result.status !== 'success') throw new Error(`${result.reason}: ${result.detail}`);
      return result.turns - 1;
    },
    async stream(url) {
      const harness = await createHarness(url, 2, folder);
      let length = 0;
      for await (const event of harness.runStream('hi'))
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
          length += event.delta.text.length;
      return length;
    },
    async open(file) {
      const { openJsonl } = (await import(path.join(dist, 'stores.js'))) as typeof Stores;
      const { openSessionWriter, runStateView } = await importLibrary();
      const log = await openJsonl(file);
      const { state } = await openSessionWriter(log, runStateView());
      await log.close();
      return state.seq;
    },
    async first(url, file) {
      const { openJsonl } = (await import(path.join(dist, 'stores.js'))) as typeof Stores;
      const harness = await createHarness(url, 10, null);
      await harness.open(await openJsonl(file), file);
      const result = await harness.askResult('and now?');
      if (result.status !== 'success') throw new Error(`${result.reason}: ${result.detail}`);
      return result.usage.inputTokens;
    },
  };
}
