// One ACP session: a conversation on a session file, streamed to the editor, with one run at a time.
import type { PlanEntry } from '@agentclientprotocol/sdk';
import type { UserCommand, UserInput } from '../../agent/index.ts';
import { FairleadError, isObject, escapeInvisibleLine, type Event, type RunState } from '../../core/index.ts';
import { modelChosenKey } from '../../providers/routing/index.ts';
import { getBranchPath } from '../../sessions/reports/index.ts';
import { createTranscriptPresenter, type TranscriptSink } from '../../sessions/index.ts';
import {
  createApprovalHandler,
  waitForJoiningInput,
  type ApprovalPrompt,
  type ApprovalAnswer,
  runPromptHooks,
  type Conversation,
  type ConversationStatus,
} from '../../coding-agent/index.ts';
import { todoView, type TodoItem } from '../../tools/index.ts';
import { toAcpStopReason } from './errors.ts';

/** The ACP client of one session, independent of the protocol version. */
export type AcpClient = {
  readonly transcript: TranscriptSink;
  /** Whether it wants user messages echoed. */
  readonly echoesInput: boolean;
  /** Asks the user to approve a call; undefined if the user dismissed the question. */
  ask(prompt: ApprovalPrompt, signal: AbortSignal): Promise<ApprovalAnswer | undefined>;
  /** Asks the user a yes/no question; anything but a clear yes is a no. */
  confirm(question: string, detail: string, signal: AbortSignal): Promise<boolean>;
  /** Sends the status after each turn. */
  sendStatus(status: ConversationStatus): void;
  /** Sends the plan of the model. */
  sendPlan(plan: PlanEntry[]): void;
  /** Sends the user commands that a prompt may start with. */
  sendCommands(commands: readonly UserCommand[]): void;
};

/** An open ACP session. It owns the conversation: close it when done. */
export type AcpSession = {
  readonly conversation: Conversation;
  readonly isRunning: boolean;
  /** Sends a prompt and runs until the run ends; asks the user for approvals. */
  prompt(words: UserInput): Promise<RunState>;
  /** Steers the active run; if it ends first, another run handles the input before `prompt` returns. */
  steer(words: UserInput): Promise<void>;
  /** Cancels the active run, also while it waits for an approval. */
  cancel(): void;
  /** Sends the initial notifications: user commands, problems of the session file, and a warning if commands run without a sandbox. */
  announce(): void;
  /** Replays the history to the editor. */
  replay(): Promise<void>;
  close(): Promise<void>;
};

/** Creates an ACP session; `ready` runs before the first prompt and returns messages for the user. */
export function createAcpSession(
  talk: Conversation,
  editor: AcpClient,
  ready: () => Promise<readonly string[]> = async () => [],
): AcpSession {
  // Editors always get streamed responses, whatever the terminal setting.
  const teller = createTranscriptPresenter(editor.transcript, () => true);
  const plan = createPlanListener((entries) => editor.sendPlan(entries));
  let work: Promise<RunState> | undefined;
  let running = false;
  /** Inputs on their way into the run. */
  let joining: Promise<unknown> = Promise.resolve();
  let stop = new AbortController();
  talk.subscribe({
    session() {},
    event(event, state) {
      plan(event);
      const choice = formatRouterChoice(event);
      if (choice !== undefined)
        editor.transcript.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text: choice });
      if (shouldSendEvent(event, state, editor)) teller.onEvent(event);
      if (event.type === 'turn-ended') editor.sendStatus(talk.status());
    },
  });

  const warn = (texts: readonly string[]): void => {
    for (const text of texts)
      editor.transcript.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'warning', text });
  };

  async function converse(words: UserInput): Promise<RunState> {
    const cancelled = stop;
    const onApproval = createApprovalHandler(talk, async (prompt, signal) => {
      const answer = await editor.ask(prompt, signal);
      // A dismissed question ends its run: the protocol has no other way to dismiss one.
      if (answer === undefined) cancelled.abort();
      return answer;
    });
    try {
      warn(await ready());
      return await talk.run(words, {
        signal: cancelled.signal,
        onChunk: (chunk) => teller.onChunk(chunk),
        onToolProgress: (call, text) => editor.transcript.appendText(call, text),
        beforeDecision: () => waitForJoiningInput(() => joining),
        onApproval,
      });
    } finally {
      // Set synchronously: any later input starts another run.
      running = false;
    }
  }

  const cancel = (): void => {
    stop.abort();
    talk.session.cancel();
  };
  return {
    conversation: talk,
    get isRunning() {
      return running;
    },
    async prompt(words) {
      if (running)
        throw new FairleadError('session/running', 'A run is going on in this session.', {
          blame: 'user',
          hint: 'Wait for it to end, or cancel it first.',
        });
      stop = new AbortController();
      running = true;
      work = converse(words);
      return work;
    },
    async steer(words) {
      const join = talk.agent.hooks
        ? runPromptHooks(talk, words).then(() => talk.session.steer(words))
        : talk.session.steer(words);
      joining = Promise.allSettled([joining, join]);
      await join;
    },
    cancel,
    announce() {
      editor.sendCommands(talk.agent.commands);
      const { name, description } = talk.agent.sandbox;
      warn([...(name === 'none' ? [`No sandbox: ${description}`] : []), ...talk.problems]);
    },
    async replay() {
      const events = getBranchPath(await talk.events());
      for (const event of events) plan(event);
      // Edited messages are in no event, so the conversation is replayed from the messages.
      if (events.some(isRewrite)) teller.replay(talk.session.messages, Number.POSITIVE_INFINITY);
      else for (const event of events) if (replayedEventTypes.has(event.type)) teller.onEvent(event);
    },
    async close() {
      cancel();
      // The caller of the run gets its result.
      await work?.catch(() => undefined);
      await talk.close();
    },
  };
}

/** The part of the history that an editor gets: without approvals. */
const replayedEventTypes: ReadonlySet<Event['type']> = new Set([
  'input-received',
  'turn-started',
  'turn-ended',
  'approval-requested',
  'tool-started',
  'tool-ended',
]);

const isRewrite = (event: Event): boolean =>
  event.type === 'epoch-started' && event.baseline !== undefined && event.reason !== 'compacted';

/** Formats the model a router chose. */
function formatRouterChoice(event: Event): string | undefined {
  if (event.type !== 'annotation-added' || event.key !== modelChosenKey || !isObject(event.value)) return undefined;
  return escapeInvisibleLine(`Using ${String(event.value['model'])}. ${String(event.value['why'])}`);
}

/** Returns true if the editor needs this block: it already knows typed prompts, and the prompt response states how the run ended. */
function shouldSendEvent(event: Event, state: RunState, { echoesInput }: AcpClient): boolean {
  if (event.type === 'input-received') return echoesInput;
  if (event.type !== 'run-ended') return true;
  const stop = toAcpStopReason(state);
  return typeof stop === 'string' && stop !== 'cancelled';
}

const planStatuses = { open: 'pending', doing: 'in_progress', done: 'completed' } as const;

/** Converts the todo list to plan entries; it has no priorities. */
const toPlanEntries = (items: readonly TodoItem[]): PlanEntry[] =>
  items.map(({ text, status }) => ({ content: text, priority: 'medium', status: planStatuses[status] }));

/** Creates an event listener that sends each changed plan. */
export function createPlanListener(tell: (plan: PlanEntry[]) => void): (event: Event) => void {
  let now = todoView.initial;
  return (event) => {
    const next = todoView.on(now, event);
    if (next.items !== now.items) tell(toPlanEntries(next.items));
    now = next;
  };
}
