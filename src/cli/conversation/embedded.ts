// The embedded model from the terminal: says what it is, asks before it fetches, and shows how far it is.
import { createInterface } from 'node:readline/promises';
import type { ProviderMaker } from '../providers/index.ts';

/** Opens the embedded model. A person is asked; in a pipe, where nobody can answer, naming it or having nothing else is the answer. */
export const openEmbedded: ProviderMaker = async ({ model }) => {
  const { embeddedProvider } = await import('../providers/embedded/embedded.ts');
  let shown = -1;
  const provider = await embeddedProvider({
    ...(model ? { model } : {}),
    consent: ({ question }) => agrees(question),
    progress(progress) {
      if (progress.step === 'waiting') say('Waiting for another process that is fetching it …\n');
      if (progress.step === 'runtime' && !progress.done) say('Fetching the runtime …\n');
      if (progress.step !== 'weights') return;
      const percent = Math.floor((100 * progress.done) / progress.total);
      if (percent > shown) say(`\rFetching the model … ${(shown = percent)} %${percent === 100 ? '\n' : ''}`);
    },
  });
  say(`${provider.about}\n`);
  return provider;
};

async function agrees(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || process.env['CI']) {
    say(`${question} Nobody is here to answer, so: yes.\n`);
    return true;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y/i.test(await terminal.question(`${question} [y/N] `));
  } finally {
    terminal.close();
  }
}

const say = (text: string): boolean => process.stderr.write(text);
