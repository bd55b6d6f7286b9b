// Leads through the tour: shows a screen, waits for the person where there is one, and claims nothing that it has not looked at.
import { FairleadError, isObject, type Json, type RunState } from '../../../core/index.ts';
import { askForApprovals } from '../../interactive/approval.ts';
import { createTranscriptPresenter } from '../../../sessions/transcript-presenter.ts';
import { listPendingApprovals, isAwaitingApproval } from '../../../coding-agent/approvals.ts';
import { Conversation } from '../../../coding-agent/conversation.ts';
import type { TerminalUI } from '../../tui/ui.ts';
import { parseCliArgs } from '../../args/parse-args.ts';
import type { DemoWorkspace } from './workspace.ts';
import type { ConversationStatus } from '../../../coding-agent/index.ts';
import type { SessionSelector } from '../../../sessions/index.ts';

/** What the model of the tour is called, on the status line too. */
const demoModelName = 'SCRIPTED MODEL';

/** What stands on every screen of the tour. */
export const demoModelNotice: string = `${demoModelName}: what it says was written beforehand. Tools, files, processes and logs are real.`;

/** Who leads the tour. */
export type Tour = {
  readonly workspace: DemoWorkspace;
  readonly signal: AbortSignal;
  /** Begins a screen. */
  showScreen(title: string, text: string): void;
  notify(text: string): void;
  /** Says what was found to be so; where it is not so, the tour ends with that as its error. */
  assertTrue(so: boolean, text: string): void;
  /** Plays a conversation to its end and lets it be looked at before it is closed. */
  runScene(scene: TourScene, then: (talk: Conversation) => Promise<void>): Promise<void>;
  /** Waits for Enter; whether to go on. */
  waitForNext(): Promise<boolean>;
};

/** A conversation of the tour. */
export type TourScene = {
  readonly session: SessionSelector;
  /** Names its script. */
  readonly name: string;
  readonly replies: readonly Json[];
  /** What is said; without words the session goes on from where it stands. */
  readonly prompt?: string;
  /** What is done to the session before it goes on. */
  readonly prepare?: (talk: Conversation) => Promise<void>;
};

/** A guide who speaks through a face; without a person to press keys the tour runs through. */
export function createTour(
  face: TerminalUI,
  stage: DemoWorkspace,
  { person, signal }: { readonly person: boolean; readonly signal: AbortSignal },
): Tour {
  let count = 0;
  const say = (text: string, level: 'info' | 'warning' | 'error' = 'info'): void =>
    face.putBlock({ type: 'notice', id: `d${count++}`, level, text });
  let status: ConversationStatus = { model: demoModelName, session: 'demo', mode: 'ask', stream: true, queued: 0 };
  // Whatever the tour waits for can be interrupted, and that ends it.
  const show = (busy?: string): void => face.setStatus(busy === undefined ? status : { ...status, busy });
  return {
    workspace: stage,
    signal,
    showScreen(title, text) {
      face.clear();
      say(demoModelNotice, 'warning');
      face.putBlock({ type: 'page', id: `d${count++}`, title: `\n== ${title}`, text: `${text}\n` });
    },
    notify: say,
    assertTrue(so, text) {
      if (so) return say(`Checked: ${text}`);
      throw new FairleadError('cli/demo', `The demo found that this is not so: ${text}`, { blame: 'harness' });
    },
    async runScene(scene, then) {
      const talk = await openTourConversation(stage, scene, person);
      try {
        const tell = createTranscriptPresenter(face, () => true);
        if (scene.prepare) await scene.prepare(talk);
        if (!talk.isNew) tell.replay(talk.session.messages, 20);
        talk.subscribe({
          session() {},
          event(event) {
            tell.onEvent(event);
            status = talk.status();
            show('working');
          },
        });
        const run = (words: string | undefined): Promise<RunState> =>
          talk.run(words, {
            signal,
            onChunk: (chunk) => tell.onChunk(chunk),
            onToolProgress: (call, text) => face.appendText(call, text),
          });
        let state = await run(scene.prompt);
        while (isAwaitingApproval(state) && !signal.aborted) {
          await answerUnknownOutcomes(talk, state, say);
          if (person) await askForApprovals({ conversation: talk, ui: face, signal, notify: say }, talk.session.state);
          else await approveAll(talk, talk.session.state, say);
          state = await run(undefined);
        }
        show();
        await then(talk);
      } finally {
        await talk.close();
      }
    },
    async waitForNext() {
      if (!person) return !signal.aborted;
      show('the tour');
      const key = await face.askKey(
        {
          title: 'Go on?',
          keys: [
            { key: 'g', label: 'go on (or Enter)' },
            { key: 'q', label: 'leave the tour' },
          ],
          defaultKey: 'g',
        },
        signal,
      );
      show();
      return key === 'g' && !signal.aborted;
    },
  };
}

async function openTourConversation(
  stage: DemoWorkspace,
  { session, name: scene, replies }: TourScene,
  slowly: boolean,
): Promise<Conversation> {
  const asked = parseCliArgs(['--interactive', '--stream', '--no-sandbox'], { isInteractive: true });
  if ('message' in asked) throw new FairleadError('cli/demo', asked.message, { blame: 'harness' });
  const model = stage.writeScript(
    scene,
    replies.map((answer) => withPacing(answer, slowly)),
  );
  return Conversation.open({
    settings: stage.settings,
    flags: asked,
    selector: session,
    model: { name: demoModelName, ref: { provider: 'scripted', model }, tools: true },
    host: { confirm: async () => false, progress() {}, notify() {} },
  });
}

/** At the pace of a model, where somebody watches. */
const withPacing = (answer: Json, slowly: boolean): Json =>
  slowly && isObject(answer) ? { ...answer, delayMs: 400, chunkMs: 25 } : answer;

/** What came of a call that was cut off the person on this tour cannot know: the demo says so for them. */
async function answerUnknownOutcomes(talk: Conversation, state: RunState, say: (text: string) => void): Promise<void> {
  for (const call of listPendingApprovals(state).filter(({ ask }) => ask?.kind === 'unknown-outcome')) {
    say(`${call.ask?.question ?? ''}\nYou would be asked now. The demo answers for you: no, nobody knows.`);
    await talk.session.reject(call.id, undefined, { by: 'demo' });
  }
}

async function approveAll(talk: Conversation, state: RunState, say: (text: string) => void): Promise<void> {
  for (const call of listPendingApprovals(state)) {
    say(`Allow ${call.tool}? ${call.ask?.question ?? ''}\nNobody is asked here, so the demo answers: yes.`);
    await talk.session.approve(call.id, { by: 'demo' });
  }
}
