// Leads through the tour: shows a screen, waits for the person where there is one, and claims nothing that it has not looked at.
import { FairleadError, isObject, type Json, type RunState } from '../../core/index.ts';
import { answerAsks } from '../chat/approval.ts';
import { narrator } from '../chat/narrator.ts';
import { openAsks, waits } from '../conversation/asks.ts';
import { Conversation } from '../conversation/conversation.ts';
import type { Face, Status } from '../face/face.ts';
import { readAsked, type Which } from '../front/asked.ts';
import type { Stage } from './stage.ts';

/** What the model of the tour is called, on the status line too. */
const name = 'SCRIPTED MODEL';

/** What stands on every screen of the tour. */
export const label: string = `${name}: what it says was written beforehand. Tools, files, processes and logs are real.`;

/** Who leads the tour. */
export type Guide = {
  readonly stage: Stage;
  readonly signal: AbortSignal;
  /** Begins a screen. */
  screen(title: string, text: string): void;
  say(text: string): void;
  /** Says what was found to be so; where it is not so, the tour ends with that as its error. */
  claim(so: boolean, text: string): void;
  /** Plays a conversation to its end and lets it be looked at before it is closed. */
  play(scene: Scene, then: (talk: Conversation) => Promise<void>): Promise<void>;
  /** Waits for Enter; whether to go on. */
  next(): Promise<boolean>;
};

/** A conversation of the tour. */
export type Scene = {
  readonly which: Which;
  /** Names its script. */
  readonly name: string;
  readonly answers: readonly Json[];
  /** What is said; without words the session goes on from where it stands. */
  readonly words?: string;
  /** What is done to the session before it goes on. */
  readonly before?: (talk: Conversation) => Promise<void>;
};

/** A guide who speaks through a face; without a person to press keys the tour runs through. */
export function guideOn(
  face: Face,
  stage: Stage,
  { person, signal }: { readonly person: boolean; readonly signal: AbortSignal },
): Guide {
  let count = 0;
  const say = (text: string, level: 'info' | 'warning' | 'error' = 'info'): void =>
    face.put({ type: 'notice', id: `d${count++}`, level, text });
  let status: Status = { model: name, session: 'demo', mode: 'ask', stream: true, queued: 0 };
  // Whatever the tour waits for can be interrupted, and that ends it.
  const show = (busy?: string): void => face.status(busy === undefined ? status : { ...status, busy });
  return {
    stage,
    signal,
    screen(title, text) {
      face.clear();
      say(label, 'warning');
      face.put({ type: 'page', id: `d${count++}`, title: `\n== ${title}`, text: `${text}\n` });
    },
    say,
    claim(so, text) {
      if (so) return say(`Checked: ${text}`);
      throw new FairleadError('cli/demo', `The demo found that this is not so: ${text}`, { blame: 'harness' });
    },
    async play(scene, then) {
      const talk = await openTalk(stage, scene, person);
      try {
        const tell = narrator(face, () => true);
        if (scene.before) await scene.before(talk);
        if (!talk.fresh) tell.replay(talk.session.messages, 20);
        talk.watch({
          session() {},
          event(event) {
            tell.event(event);
            status = talk.status();
            show('working');
          },
        });
        const run = (words: string | undefined): Promise<RunState> =>
          talk.run(words, {
            signal,
            onChunk: (chunk) => tell.chunk(chunk),
            onToolProgress: (call, text) => face.extend(call, text),
          });
        let state = await run(scene.words);
        while (waits(state) && !signal.aborted) {
          await sayUnknown(talk, state, say);
          if (person) await answerAsks({ talk, face, signal, say }, talk.session.state);
          else await sayYes(talk, talk.session.state, say);
          state = await run(undefined);
        }
        show();
        await then(talk);
      } finally {
        await talk.close();
      }
    },
    async next() {
      if (!person) return !signal.aborted;
      show('the tour');
      const key = await face.ask(
        {
          title: 'Go on?',
          keys: [
            { key: 'g', label: 'go on (or Enter)' },
            { key: 'q', label: 'leave the tour' },
          ],
          otherwise: 'g',
        },
        signal,
      );
      show();
      return key === 'g' && !signal.aborted;
    },
  };
}

async function openTalk(stage: Stage, { which, name: scene, answers }: Scene, slowly: boolean): Promise<Conversation> {
  const asked = readAsked(['--interactive', '--stream', '--no-sandbox'], { typed: true });
  if ('wrong' in asked) throw new FairleadError('cli/demo', asked.wrong, { blame: 'harness' });
  const model = stage.script(
    scene,
    answers.map((answer) => spoken(answer, slowly)),
  );
  return Conversation.open({
    settings: stage.settings,
    asked,
    which,
    chosen: { name, ref: { provider: 'scripted', model }, tools: true },
    host: { agrees: async () => false, progress() {}, say() {} },
  });
}

/** At the pace of a model, where somebody watches. */
const spoken = (answer: Json, slowly: boolean): Json =>
  slowly && isObject(answer) ? { ...answer, delayMs: 400, chunkMs: 25 } : answer;

/** What came of a call that was cut off the person on this tour cannot know: the demo says so for them. */
async function sayUnknown(talk: Conversation, state: RunState, say: (text: string) => void): Promise<void> {
  for (const call of openAsks(state).filter(({ ask }) => ask?.kind === 'unknown-outcome')) {
    say(`${call.ask?.question ?? ''}\nYou would be asked now. The demo answers for you: no, nobody knows.`);
    await talk.session.resolveApproval(call.id, false, 'demo');
  }
}

async function sayYes(talk: Conversation, state: RunState, say: (text: string) => void): Promise<void> {
  for (const call of openAsks(state)) {
    say(`Allow ${call.tool}? ${call.ask?.question ?? ''}\nNobody is asked here, so the demo answers: yes.`);
    await talk.session.resolveApproval(call.id, true, 'demo');
  }
}
