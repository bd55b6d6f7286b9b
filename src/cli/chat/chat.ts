// The interactive prompt: a person and a model in one conversation, with the person in control of it.
import { waits } from '../conversation/asks.ts';
import { Conversation } from '../conversation/conversation.ts';
import { prepare } from '../conversation/prepare.ts';
import { openFace, type Face, type Heard } from '../face/index.ts';
import type { Asked } from '../front/asked.ts';
import { exitCodes } from '../front/exit-codes.ts';
import { endInOrder } from '../front/signals.ts';
import { addToHistory, logged, readHistory, tidyBeside } from '../known-models/index.ts';
import { readPromptFile } from '../prompts.ts';
import { readSettings, type Settings } from '../settings/index.ts';
import { modeWords } from '../slash/permission-commands.ts';
import { goOn } from '../slash/unfinished.ts';
import { completer } from './completer.ts';
import { goBackByPick } from './going-back.ts';
import { greet } from './greeting.ts';
import { shown } from './showing.ts';
import { watch } from './watching.ts';
import { workbenchFor, type Workbench } from './workbench.ts';

/** Opens the prompt and stays until the person leaves. */
export function chat(asked: Asked): Promise<number> {
  const settings = readSettings();
  return logged(settings, 'interactive', async () => {
    const face = await openFace({ plain: asked.plain });
    try {
      return await chatOn(face, asked, settings);
    } finally {
      await face.close();
    }
  });
}

async function chatOn(face: Face, asked: Asked, settings: Settings): Promise<number> {
  const prepared = await prepare(asked, settings, face);
  if (typeof prepared === 'number') return prepared;
  if (prepared.held && !(await watch(prepared.held, face, shown))) return exitCodes.answered;
  const talk = await Conversation.open(prepared);
  try {
    return await converseUntilDone(talk, face, asked);
  } finally {
    await talk.close();
  }
}

async function converseUntilDone(talk: Conversation, face: Face, asked: Asked): Promise<number> {
  const { promise: left, resolve: quit } = Promise.withResolvers<void>();
  const signals = endInOrder(['SIGTERM', 'SIGHUP'], quit);
  const bench = workbenchFor(talk, face, quit);
  face.complete(completer(talk));
  face.remember(readHistory(talk.settings));
  greet(bench.desk);
  bench.desk.refresh();
  await begin(bench, asked);
  face.listen((heard) => react(bench, heard));
  const tidying = tidyBeside(talk.settings.dirs);
  await left;
  tidying.abort();
  await bench.leave();
  signals.release();
  return signals.code ?? exitCodes.answered;
}

/** Says what the command line says, or goes on where the session was left. */
async function begin({ desk, start }: Workbench, asked: Asked): Promise<void> {
  const first = await firstWords(asked);
  // What was typed already must not find the prompt busy with nothing.
  if (first !== undefined) start(() => desk.converse(first));
  else if (waits(desk.talk.session.state)) start(() => goOn(desk));
  else await goOn(desk);
}

async function firstWords({ work }: Asked): Promise<string | undefined> {
  if (work?.type === 'prompt') return work.text;
  return work?.type === 'prompt-file' ? readPromptFile(work.path, process.cwd()) : undefined;
}

/** Does what the person did at the face. */
function react(bench: Workbench, heard: Heard): void {
  const { desk, busy } = bench;
  switch (heard.type) {
    case 'quit':
      return desk.quit();
    case 'interrupt':
      return bench.interrupt();
    case 'mode':
      return toggleMode(bench);
    case 'back':
      return busy ? undefined : bench.start(() => goBackByPick(desk));
    case 'line':
      if (heard.text.trim() === '') return undefined;
      if (desk.talk.file !== undefined) addToHistory(desk.talk.settings, heard.text);
      return bench.hear(heard.text, heard.how);
  }
}

function toggleMode({ desk: { talk, say, refresh } }: Workbench): void {
  talk.auto = !talk.auto;
  say(modeWords(talk.auto));
  refresh();
}
