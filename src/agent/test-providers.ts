// Test providers opened by name: `scripted/<file of answers>` and `replay/<session file>`.
import { readFileSync } from 'node:fs';
import { FairleadError, type Event, type Provider } from '../core/index.ts';
import type { ProviderFactory } from '../providers/index.ts';

/** The test providers by name. Their code is loaded when one is opened. */
export const testProviders: Readonly<Record<string, ProviderFactory>> = {
  scripted: async ({ model }) => {
    const { scriptedProvider } = await import('../testing/index.ts');
    return scriptedProvider(readScript(model));
  },
  replay: ({ model }) => openReplayProvider(model),
};

async function openReplayProvider(file: string): Promise<Provider> {
  const { replayProvider } = await import('../testing/index.ts');
  const { openJsonl } = await import('../stores/index.ts');
  const log = await openJsonl(file, { mode: 'read' });
  try {
    const events: Event[] = [];
    for await (const batch of log.read()) for (const item of batch) events.push(item);
    return replayProvider(events);
  } finally {
    await log.close();
  }
}

/** A script as JSON: a list of answers, each a text or an object such as `{"calls": [{"tool": "read", "input": {}}]}`. */
function readScript(file: string): readonly string[] {
  const hint = 'Name a JSON file with a list of answers: scripted/answers.json.';
  try {
    const answers: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (Array.isArray(answers)) return answers as readonly string[];
  } catch (cause) {
    throw new FairleadError('provider/no-script', `The script ${file} cannot be read.`, { blame: 'user', hint, cause });
  }
  throw new FairleadError('provider/no-script', `The script ${file} has no list of answers.`, {
    blame: 'user',
    hint,
  });
}
