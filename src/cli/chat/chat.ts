// The interactive prompt: a person and a model in one conversation, with the person in control of it.
import type { RunOptions } from '../../agent/index.ts';
import { messageOf, type RunState } from '../../core/index.ts';
import { doing, waits } from '../conversation/asks.ts';
import { Conversation } from '../conversation/conversation.ts';
import { prepare } from '../conversation/prepare.ts';
import { openFace, type Face, type Heard } from '../face/index.ts';
import type { Asked } from '../front/asked.ts';
import { exitCodes } from '../front/exit-codes.ts';
import { endInOrder } from '../front/signals.ts';
import { sentence } from '../front/sentence.ts';
import { addToHistory, logged, readHistory } from '../known-models/index.ts';
import { readPromptFile } from '../prompts.ts';
import { readSettings, type Settings } from '../settings/index.ts';
import { modeWords } from '../slash/permission-commands.ts';
import { leaving, type Desk } from '../slash/desk.ts';
import { goOn } from '../slash/unfinished.ts';
import { answerAsks } from './approval.ts';
import { completer } from './completer.ts';
import { handleLine, mayInterrupt } from './entry.ts';
import { goBackByPick } from './going-back.ts';
import { greet } from './greeting.ts';
import { narrator } from './narrator.ts';
import { watch } from './watching.ts';

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

/** How much of a resumed conversation is shown. */
const shown = 40;

async function converseUntilDone(talk: Conversation, face: Face, asked: Asked): Promise<number> {
  const { promise: left, resolve: quit } = Promise.withResolvers<void>();
  const signals = endInOrder(['SIGTERM', 'SIGHUP'], quit);
  let work: Promise<void> | undefined;
  // Idle is said only when nothing goes on: in a pipe the next line waits for that.
  const refresh = (): void => face.status({ ...talk.status(), ...(work ? { busy: doing(talk.session.state) } : {}) });
  const live = attach(talk, face, refresh);
  let count = 0;
  let conversing = false;
  /** Words that are on their way into the run. */
  let joining: Promise<unknown> = Promise.resolve();
  let stop = new AbortController();
  const desk: Desk = {
    talk,
    face,
    get signal() {
      return stop.signal;
    },
    say: (text, level = 'info') => face.put({ type: 'notice', id: `s${count++}`, level, text }),
    page: (text, title) =>
      face.put({ type: 'page', id: `p${count++}`, text, ...(title === undefined ? {} : { title }) }),
    refresh,
    get conversing() {
      return conversing;
    },
    async converse(words) {
      conversing = true;
      try {
        await converse(desk, live, () => joining, words);
      } finally {
        conversing = false;
      }
    },
    quit,
  };
  const busy = (job: () => Promise<void>): void => {
    stop = new AbortController();
    work = job()
      .catch((error: unknown) => desk.say(error instanceof Error ? sentence(error) : messageOf(error), 'error'))
      .finally(() => {
        work = undefined;
        refresh();
      });
    refresh();
  };
  const toggleMode = (): void => {
    talk.auto = !talk.auto;
    desk.say(modeWords(talk.auto));
    refresh();
  };
  face.complete(completer(talk));
  face.remember(readHistory(talk.settings));
  greet(desk);
  refresh();
  const first = await firstWords(asked);
  // What was typed already must not find the prompt busy with nothing.
  if (first !== undefined) busy(() => desk.converse(first));
  else if (waits(talk.session.state)) busy(() => goOn(desk));
  else await goOn(desk);
  face.listen((heard: Heard) => {
    if (heard.type === 'quit') return quit();
    if (heard.type === 'interrupt') {
      stop.abort();
      return talk.session.cancel();
    }
    if (heard.type === 'mode') return toggleMode();
    if (heard.type === 'back') return work ? undefined : busy(() => goBackByPick(desk));
    if (heard.text.trim() === '') return undefined;
    if (talk.file !== undefined) addToHistory(talk.settings, heard.text);
    if (!work) return busy(() => handleLine(desk, heard.text));
    if (!mayInterrupt(heard.text, desk)) {
      face.fill(heard.text);
      return desk.say('Wait until the run has ended, or press Esc.', 'warning');
    }
    const join = handleLine(desk, heard.text, heard.how);
    joining = Promise.allSettled([joining, join]);
    void join.catch((error: unknown) => desk.say(messageOf(error), 'error'));
  });
  await left;
  stop.abort(leaving);
  talk.session.cancel();
  await work;
  signals.release();
  return signals.code ?? exitCodes.answered;
}

/** Shows the conversation on the face, and each one that takes its place. */
function attach(talk: Conversation, face: Face, refresh: () => void): RunOptions {
  let teller = narrator(face, () => talk.stream);
  const show = (fresh: boolean): void => {
    teller = narrator(face, () => talk.stream);
    if (!fresh) teller.replay(talk.session.messages, shown);
    for (const text of talk.problems) face.put({ type: 'notice', id: crypto.randomUUID(), level: 'warning', text });
    refresh();
  };
  talk.watch({
    session(fresh) {
      face.clear();
      show(fresh);
    },
    event(event) {
      teller.event(event);
      refresh();
    },
  });
  show(talk.fresh);
  return { live: (chunk) => teller.chunk(chunk), progress: (call, text) => face.extend(call, text) };
}

/** Runs the model; whenever it waits for the person, asks and goes on. Words that came in as it ended are not left lying. */
async function converse(
  desk: Desk,
  options: RunOptions,
  joined: () => Promise<unknown>,
  words?: string,
): Promise<void> {
  const { talk } = desk;
  let state: RunState =
    words === undefined && waits(talk.session.state) ? talk.session.state : await talk.run(words, options);
  for (;;) {
    await joined();
    if (waits(state)) await answerAsks(desk, state);
    else if (talk.session.state.pending.length === 0 || state.ended?.reason === 'cancelled') return;
    if (desk.signal.reason === leaving) return;
    // Whoever interrupts a question means the run.
    state = await talk.run(undefined, { ...options, signal: desk.signal });
  }
}

async function firstWords({ work }: Asked): Promise<string | undefined> {
  if (work?.type === 'prompt') return work.text;
  return work?.type === 'prompt-file' ? readPromptFile(work.path, process.cwd()) : undefined;
}
