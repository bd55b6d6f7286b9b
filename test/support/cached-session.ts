// Test fixture: a session of the terminal that reads from the prompt cache, and whose prefix breaks once.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createToolRegistry, defineTool, Session } from '../../src/agent/index.ts';
import type { ResolvedAgent, Tool } from '../../src/core/index.ts';
import { openJsonl } from '../../src/stores/index.ts';
import { says, scriptedProvider } from '../../src/testing/index.ts';

const tool = (name: string): Tool =>
  defineTool({ name, description: name, effect: 'read', input: { type: 'object' }, run: () => 'ok' });

/** Writes a session of four turns whose tools change before the third one, and returns its id; `answerMs` is the time of each answer. */
export async function writeCachedSession(file: string, answerMs = 0): Promise<string> {
  mkdirSync(path.dirname(file), { recursive: true });
  const usages = [
    { input: 4000, output: 50, cacheRead: 0, cacheWrite: 4000 },
    { input: 4200, output: 50, cacheRead: 4000, cacheWrite: 200 },
    { input: 4500, output: 50, cacheRead: 0, cacheWrite: 4500 },
    { input: 4700, output: 50, cacheRead: 4500, cacheWrite: 200 },
  ];
  const provider = scriptedProvider(
    usages.map((usage, i) => ({ ...says(`Answer ${i + 1}.`), usage, delayMs: answerMs, model: 'claude-sonnet-4-5' })),
    { price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
  );
  const agent = (tools: readonly Tool[]): ResolvedAgent => ({
    system: 'You help.',
    provider: {
      ...provider,
      model: 'claude-sonnet-4-5',
      stream: (request, signal) => provider.stream(request, signal),
    },
    modelProvider: 'anthropic',
    tools: createToolRegistry(tools),
    rules: [],
    reminders: [],
    gates: [],
    stops: [],
    checks: [],
    settings: {},
  });
  const log = await openJsonl(file);
  const session = await Session.open(agent([tool('tide')]), log, log.session);
  await session.advance('Read the tide table of the harbour');
  await session.advance('and the next day');
  await session.setAgent(agent([tool('tide'), tool('weather')]));
  await session.advance('and the weather');
  await session.advance('and the day after');
  await session.close();
  return log.session;
}
