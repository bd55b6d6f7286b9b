// Runs the tour: shows screens, waits for the user, and asserts every statement it makes about the result.
import { FairleadError, isObject, type ApprovalHandler, type Json } from '../../../core/index.ts';
import { createTerminalApproval } from '../../interactive/run-controller.ts';
import { createTranscriptPresenter, type SessionSelector } from '../../../sessions/index.ts';
import { Conversation, formatPreview, type ConversationStatus } from '../../../coding-agent/index.ts';
import type { TerminalUI } from '../../tui/ui.ts';
import { parseCliArgs } from '../../args/parse-args.ts';
import type { DemoWorkspace } from './workspace.ts';

/** The name of the scripted model, also on the status line. */
const demoModelName = 'SCRIPTED MODEL';

/** The notice on every screen of the tour. */
export const demoModelNotice: string = `${demoModelName}: its answers were written in advance. Tools, files, processes and logs are real.`;

/** What the steps of the tour use. */
export type Tour = {
  readonly workspace: DemoWorkspace;
  readonly signal: AbortSignal;
  /** Starts a new screen. */
  showScreen(title: string, text: string): void;
  notify(text: string): void;
  /** Shows a statement that was checked; throws if it is false. */
  assertTrue(condition: boolean, text: string): void;
  /** Runs a conversation to its end, then `inspect`, and closes it. */
  runScene(scene: TourScene, inspect: (conversation: Conversation) => Promise<void>): Promise<void>;
  /** Waits for Enter; returns whether to continue. */
  waitForNext(): Promise<boolean>;
};

/** A conversation of the tour. */
export type TourScene = {
  readonly session: SessionSelector;
  /** The name of its script file. */
  readonly name: string;
  readonly replies: readonly Json[];
  /** The prompt; without one the session is continued. */
  readonly prompt?: string;
  /** Changes the session before the run. */
  readonly prepare?: (conversation: Conversation) => Promise<void>;
};

/** Creates a tour on a UI; if it is not interactive, it does not wait for keys. */
export function createTour(
  ui: TerminalUI,
  workspace: DemoWorkspace,
  { interactive, signal }: { readonly interactive: boolean; readonly signal: AbortSignal },
): Tour {
  let count = 0;
  const notify = (text: string, level: 'info' | 'warning' | 'error' = 'info'): void =>
    ui.putBlock({ type: 'notice', id: `d${count++}`, level, text });
  let status: ConversationStatus = { model: demoModelName, session: 'demo', mode: 'ask', stream: true, queued: 0 };
  // Every wait of the tour is shown as busy, so that Esc interrupts it and ends the tour.
  const showStatus = (busy?: string): void => ui.setStatus(busy === undefined ? status : { ...status, busy });
  return {
    workspace,
    signal,
    showScreen(title, text) {
      ui.clear();
      notify(demoModelNotice, 'warning');
      ui.putBlock({ type: 'output', id: `d${count++}`, title: `\n== ${title}`, text: `${text}\n` });
    },
    notify,
    assertTrue(condition, text) {
      if (condition) return notify(`Checked: ${text}`);
      throw new FairleadError('cli/demo', `The demo found that this is false: ${text}`, { blame: 'harness' });
    },
    async runScene(scene, inspect) {
      const conversation = await openTourConversation(workspace, scene, interactive);
      try {
        const presenter = createTranscriptPresenter(ui, () => true);
        if (scene.prepare) await scene.prepare(conversation);
        const { calls, added } = conversation.records;
        if (!conversation.isNew) presenter.replay(conversation.session.messages, 20, calls, added);
        conversation.subscribe({
          session() {},
          event(event) {
            presenter.onEvent(event);
            status = conversation.status();
            showStatus('working');
          },
        });
        const askUser = interactive ? createTerminalApproval({ conversation, ui, notify }) : undefined;
        await conversation.run(scene.prompt, {
          signal,
          onChunk: (chunk) => presenter.onChunk(chunk),
          onToolProgress: (call, text) => ui.appendText(call, text),
          onApproval: createTourApproval(notify, askUser),
        });
        showStatus();
        await inspect(conversation);
      } finally {
        await conversation.close();
      }
    },
    async waitForNext() {
      if (!interactive) return !signal.aborted;
      showStatus('the tour');
      const key = await ui.askKey(
        {
          title: 'Continue?',
          keys: [
            { key: 'g', label: 'continue (or Enter)' },
            { key: 'q', label: 'quit the tour' },
          ],
          defaultKey: 'g',
        },
        signal,
      );
      showStatus();
      return key === 'g' && !signal.aborted;
    },
  };
}

async function openTourConversation(
  workspace: DemoWorkspace,
  { session, name, replies }: TourScene,
  paced: boolean,
): Promise<Conversation> {
  const flags = parseCliArgs(['--interactive', '--stream', '--no-sandbox'], { isInteractive: true });
  if ('message' in flags) throw new FairleadError('cli/demo', flags.message, { blame: 'harness' });
  const model = workspace.writeScript(
    name,
    replies.map((reply) => withPacing(reply, paced)),
  );
  return Conversation.open({
    settings: workspace.settings,
    flags,
    selector: session,
    model: { name: demoModelName, ref: { provider: 'scripted', model }, tools: true },
    host: { confirm: async () => false, progress() {}, notify() {} },
  });
}

/** Adds the delays of a real model if the user is watching. */
const withPacing = (reply: Json, paced: boolean): Json =>
  paced && isObject(reply) ? { ...reply, delayMs: 400, chunkMs: 25 } : reply;

/** Asks the user, or approves each call. The user of the tour cannot know the outcome of the interrupted call, so the demo answers that. */
const createTourApproval =
  (notify: (text: string) => void, askUser: ApprovalHandler | undefined): ApprovalHandler =>
  (pending, signal) => {
    const { kind, tool, question, preview } = pending;
    if (kind === 'unknown-outcome') {
      notify(`${question}\nYou would be asked now. The demo answers for you: no, the outcome is unknown.`);
      return { approved: false, by: 'demo' };
    }
    if (askUser) return askUser(pending, signal);
    const shown = preview ? [preview.title, ...formatPreview(preview)] : [`Call ${tool}?`, question];
    notify([...shown, 'The demo is not interactive, so it answers: yes.'].join('\n'));
    return { approved: true, by: 'demo' };
  };
