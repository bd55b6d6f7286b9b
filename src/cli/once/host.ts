// The person beside a single run, if there is one: asked on the terminal, otherwise nothing that needs a yes is done.
import { visible, type RunState } from '../../core/index.ts';
import { answerOpen } from '../conversation/asks.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { Host } from '../conversation/open-model.ts';

type Tell = (text: string) => void;

/** Whether somebody can be asked. */
const isSomebodyThere = (): boolean => process.stdin.isTTY && process.stderr.isTTY && !process.env['CI'];

async function ask(question: string): Promise<string> {
  // Loaded when somebody is asked: most runs ask nobody.
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim().toLowerCase();
  } finally {
    terminal.close();
  }
}

/** Asks and tells on the terminal while a model is made ready. In a pipe, having nothing else is the answer. */
export const hostInTerminal = (tell: Tell): Host => ({
  async agrees(question) {
    if (isSomebodyThere()) return (await ask(`${question} [y/N] `)).startsWith('y');
    tell(`${question} Nobody is here to answer, so: yes.\n`);
    return true;
  },
  progress: (text) => tell(`\r${text}${text.endsWith('100 %') ? '\n' : ''}`),
  say: (text) => tell(`${text}\n`),
});

/** Puts a run's open questions to the person; whether there was one. */
export async function askInTerminal(talk: Conversation, state: RunState, tell: Tell): Promise<boolean> {
  if (!isSomebodyThere()) return false;
  await answerOpen(talk, state, async (call) => {
    tell(`${visible(call.ask?.question ?? '')}\n`);
    const said = await ask(`Allow ${call.tool}? [y/N/a] `);
    return said === 'a' ? 'always' : said === 'y' ? 'once' : 'no';
  });
  return true;
}
