// Where the work of a conversation is done: one job at a time, which the person can add words to, interrupt, and leave.
import type { RunOptions } from '../../agent/index.ts';
import { hasUnreadInput } from '../../agent/late-words.ts';
import { errorMessage, type RunState } from '../../core/index.ts';
import { doing, untilJoined, waits } from '../conversation/asks.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { Face } from '../face/face.ts';
import { sentence } from '../front/sentence.ts';
import { leaving, type Desk } from '../slash/desk.ts';
import { answerAsks } from './approval.ts';
import { handleLine, mayInterrupt } from './entry.ts';
import { showOn } from './showing.ts';

/** A desk and the job that is done at it. */
export type Workbench = {
  readonly desk: Desk;
  readonly busy: boolean;
  /** Begins a job; what goes wrong with it is told. */
  readonly start: (job: () => Promise<void>) => void;
  /** Does what a line says: as a job of its own, or beside the one that goes on where that may be. */
  hear(text: string, how: 'enter' | 'follow-up'): void;
  /** Stops what goes on. */
  interrupt(): void;
  /** Stops it for good, and waits until it has stopped; what is asked then stays open for the next time. */
  leave(): Promise<void>;
};

/** A workbench for this conversation, which is shown on the face from now on. */
export function workbenchFor(talk: Conversation, face: Face, quit: () => void): Workbench {
  let work: Promise<void> | undefined;
  let stop = new AbortController();
  /** Words that are on their way into the run. */
  let joining: Promise<unknown> = Promise.resolve();
  // Idle is said only when nothing goes on: in a pipe the next line waits for that.
  const refresh = (): void => face.status({ ...talk.status(), ...(work ? { busy: doing(talk.session.state) } : {}) });
  const desk = deskFor({
    talk,
    face,
    refresh,
    quit,
    signal: () => stop.signal,
    joined: () => joining,
    live: showOn(face, talk, refresh),
  });
  const start = (job: () => Promise<void>): void => {
    stop = new AbortController();
    work = job()
      .catch((error: unknown) => desk.say(error instanceof Error ? sentence(error) : errorMessage(error), 'error'))
      .finally(() => {
        work = undefined;
        refresh();
      });
    refresh();
  };
  return {
    desk,
    get busy() {
      return work !== undefined;
    },
    start,
    hear(text, how) {
      if (!work) return start(() => handleLine(desk, text));
      if (!mayInterrupt(text, desk)) {
        face.fill(text);
        return desk.say('Wait until the run has ended, or press Esc.', 'warning');
      }
      const join = handleLine(desk, text, how);
      joining = Promise.allSettled([joining, join]);
      return void join.catch((error: unknown) => desk.say(errorMessage(error), 'error'));
    },
    interrupt() {
      stop.abort();
      talk.session.cancel();
    },
    async leave() {
      stop.abort(leaving);
      talk.session.cancel();
      await work;
    },
  };
}

/** What a desk is made of. */
type Given = Pick<Desk, 'talk' | 'face' | 'refresh' | 'quit'> & {
  readonly signal: () => AbortSignal;
  /** Settled once every word that was on its way is written down. */
  readonly joined: () => Promise<unknown>;
  readonly live: RunOptions;
};

function deskFor({ signal, joined, live, ...given }: Given): Desk {
  const { face } = given;
  let count = 0;
  let conversing = false;
  const desk: Desk = {
    ...given,
    get signal() {
      return signal();
    },
    say: (text, level = 'info') => face.put({ type: 'notice', id: `s${count++}`, level, text }),
    page: (text, title) =>
      face.put({ type: 'page', id: `p${count++}`, text, ...(title === undefined ? {} : { title }) }),
    get conversing() {
      return conversing;
    },
    async converse(words) {
      conversing = true;
      try {
        await converse(desk, live, joined, words);
      } finally {
        conversing = false;
      }
    },
  };
  return desk;
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
    await untilJoined(joined);
    if (waits(state)) await answerAsks(desk, state);
    else if (!hasUnreadInput(talk.session.state)) return;
    if (desk.signal.reason === leaving) return;
    // Whoever interrupts a question means the run.
    state = await talk.run(undefined, { ...options, signal: desk.signal });
  }
}
