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
import { planProgressView, type PlanProgress } from '../../coding-agent/plans/index.ts';
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
  prompt(input: UserInput): Promise<RunState>;
  /** Steers the active run; if it ends first, another run handles the input before `prompt` returns. */
  steer(input: UserInput): Promise<void>;
  /** Cancels the active run, also while it waits for an approval. */
  cancel(): void;
  /** Sends the initial notifications: user commands, problems of the session file, and a warning if commands run without a sandbox. */
  announce(): void;
  /** Replays the history to the editor. */
  replay(): Promise<void>;
  close(): Promise<void>;
};

/** Creates an ACP session; `beforeFirstPrompt` runs before the first prompt and returns messages for the user. */
export function createAcpSession(
  conversation: Conversation,
  editor: AcpClient,
  beforeFirstPrompt: () => Promise<readonly string[]> = async () => [],
): AcpSession {
  // Editors always get streamed responses, whatever the terminal setting.
  const presenter = createTranscriptPresenter(editor.transcript, () => true);
  const plan = createPlanListener((entries) => editor.sendPlan(entries));
  let work: Promise<RunState> | undefined;
  let running = false;
  /** Inputs that are being added to the active run. */
  let pendingInputs: Promise<unknown> = Promise.resolve();
  let stop = new AbortController();
  conversation.subscribe({
    session() {},
    event(event, state) {
      plan(event);
      const choice = formatRouterChoice(event);
      if (choice !== undefined)
        editor.transcript.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text: choice });
      if (shouldSendEvent(event, state, editor)) presenter.onEvent(event);
      if (event.type === 'turn-ended') editor.sendStatus(conversation.status());
    },
  });

  const warn = (texts: readonly string[]): void => {
    for (const text of texts)
      editor.transcript.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'warning', text });
  };

  async function runPrompt(input: UserInput): Promise<RunState> {
    const cancelled = stop;
    const onApproval = createApprovalHandler(conversation, async (prompt, signal) => {
      const answer = await editor.ask(prompt, signal);
      // A dismissed question ends its run: the protocol has no other way to dismiss one.
      if (answer === undefined) cancelled.abort();
      return answer;
    });
    try {
      warn(await beforeFirstPrompt());
      return await conversation.run(input, {
        signal: cancelled.signal,
        onChunk: (chunk) => presenter.onChunk(chunk),
        onToolProgress: (call, text) => editor.transcript.appendText(call, text),
        beforeDecision: () => waitForJoiningInput(() => pendingInputs),
        onApproval,
      });
    } finally {
      // Set synchronously: any later input starts another run.
      running = false;
    }
  }

  const cancel = (): void => {
    stop.abort();
    conversation.session.cancel();
  };
  return {
    conversation,
    get isRunning() {
      return running;
    },
    async prompt(input) {
      if (running)
        throw new FairleadError('session/running', 'A run is in progress in this session.', {
          blame: 'user',
          hint: 'Wait for it to end, or cancel it first.',
        });
      stop = new AbortController();
      running = true;
      work = runPrompt(input);
      return work;
    },
    async steer(input) {
      const join = conversation.agent.hooks
        ? runPromptHooks(conversation, input).then(() => conversation.session.steer(input))
        : conversation.session.steer(input);
      pendingInputs = Promise.allSettled([pendingInputs, join]);
      await join;
    },
    cancel,
    announce() {
      editor.sendCommands(conversation.agent.commands);
      const { name, description } = conversation.agent.sandbox;
      warn([...(name === 'none' ? [`No sandbox: ${description}`] : []), ...conversation.problems]);
    },
    async replay() {
      const events = getBranchPath(await conversation.events());
      for (const event of events) plan(event);
      // Edited messages are in no event, so the conversation is replayed from the messages.
      const { calls, added } = conversation.records;
      if (events.some(isRewrite))
        presenter.replay(conversation.session.messages, Number.POSITIVE_INFINITY, calls, added);
      else for (const event of events) if (replayedEventTypes.has(event.type)) presenter.onEvent(event);
    },
    async close() {
      cancel();
      // The caller of the run gets its result.
      await work?.catch(() => undefined);
      await conversation.close();
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

const stepStatuses = {
  pending: 'pending',
  active: 'in_progress',
  done: 'completed',
  failed: 'completed',
  skipped: 'completed',
} as const;

/** Converts the steps of an approved plan to plan entries. The protocol has no state for a step that failed or was skipped, so the text says it. */
const toStepEntries = ({ steps }: PlanProgress): PlanEntry[] =>
  steps.map(({ text, state }) => ({
    content: state === 'failed' || state === 'skipped' ? `${text} (${state})` : text,
    priority: 'medium',
    status: stepStatuses[state],
  }));

/** Creates an event listener that sends each changed plan: the list of tasks, and the steps of an approved plan. */
export function createPlanListener(sendPlan: (plan: PlanEntry[]) => void): (event: Event) => void {
  let now = todoView.initial;
  let progress = planProgressView.initial;
  return (event) => {
    const next = todoView.on(now, event);
    if (next.items !== now.items) sendPlan(toPlanEntries(next.items));
    now = next;
    const steps = planProgressView.on(progress, event);
    if (steps && steps !== progress) sendPlan(toStepEntries(steps));
    progress = steps;
  };
}
