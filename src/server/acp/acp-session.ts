// One session that an editor drives: a conversation on a session file, told to the editor as it happens, with one run at a time.
import type { PlanEntry } from '@agentclientprotocol/sdk';
import type { AdvanceOptions, UserCommand, UserInput } from '../../agent/index.ts';
import { hasUnreadInput } from '../../agent/approvals.ts';
import {
  FairleadError,
  isObject,
  escapeInvisibleLine,
  type ToolCall,
  type Event,
  type RunState,
} from '../../core/index.ts';
import { modelChosenKey } from '../../providers/routing/remark-keys.ts';
import { getBranchPath } from '../../sessions/reports/branch-path.ts';
import { createTranscriptPresenter } from '../../sessions/transcript-presenter.ts';
import { resolvePendingApprovals, waitForJoiningInput, isAwaitingApproval } from '../../coding-agent/approvals.ts';
import type { ApprovalChoice, ApprovalAnswer } from '../../coding-agent/approval-choices.ts';
import { runPromptHooks, type Conversation } from '../../coding-agent/conversation.ts';
import type { TranscriptSink } from '../../sessions/index.ts';
import { toAcpStopReason } from './errors.ts';
import { createPlanListener } from './plan.ts';
import type { ConversationStatus } from '../../coding-agent/index.ts';

/** The editor as one session knows it, whichever version of the protocol it speaks. */
export type AcpClient = {
  readonly transcript: TranscriptSink;
  /** Whether it wants to be told what its own person said. */
  readonly echoesInput: boolean;
  /** Asks the person about a call; nothing if they left the question. */
  ask(call: ToolCall, choices: readonly ApprovalChoice[], signal: AbortSignal): Promise<ApprovalAnswer | undefined>;
  /** Asks the person about anything else, word for word; whatever is no clear yes is a no. */
  confirm(question: string, detail: string, signal: AbortSignal): Promise<boolean>;
  /** Tells how the session stands after each turn. */
  sendStatus(status: ConversationStatus): void;
  /** Tells what the model means to do. */
  sendPlan(plan: PlanEntry[]): void;
  /** Tells which commands of the person a prompt may begin with. */
  sendCommands(commands: readonly UserCommand[]): void;
};

/** A session that an editor has open. It owns the conversation: close it when done. */
export type AcpSession = {
  readonly conversation: Conversation;
  readonly isRunning: boolean;
  /** Says something and runs until the run ends; the person is asked on the way. */
  prompt(words: UserInput): Promise<RunState>;
  /** Says something to the run that is going on; if that ends meanwhile, another reads it before `prompt` is done. */
  steer(words: UserInput): Promise<void>;
  /** Ends the run that is going on, also where it waits for an answer. */
  cancel(): void;
  /** Tells what the editor may know once it knows of the session: its commands, what is wrong with its file, and that commands run unconfined where they do. */
  announce(): void;
  /** Tells the editor everything that was said before. */
  replay(): Promise<void>;
  close(): Promise<void>;
};

/** Seats an editor at a conversation; `ready` is done before it first says something, and gives sentences for the person. */
export function createAcpSession(
  talk: Conversation,
  editor: AcpClient,
  ready: () => Promise<readonly string[]> = async () => [],
): AcpSession {
  // Editors show answers while they come, whatever the terminal is set to.
  const teller = createTranscriptPresenter(editor.transcript, () => true);
  const plan = createPlanListener((entries) => editor.sendPlan(entries));
  let work: Promise<RunState> | undefined;
  let running = false;
  /** Words that are on their way into the run. */
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
    const { signal } = stop;
    const options: AdvanceOptions = {
      signal,
      onChunk: (chunk) => teller.onChunk(chunk),
      onToolProgress: (call, text) => editor.transcript.appendText(call, text),
    };
    try {
      warn(await ready());
      let state = await talk.run(words, options);
      for (;;) {
        await waitForJoiningInput(() => joining);
        if (isAwaitingApproval(state)) {
          await resolvePendingApprovals(talk, state, (call, _kind, choices) => editor.ask(call, choices, signal));
          // A question that was left is the end of its run: the protocol has no other way to leave one.
          if (isAwaitingApproval(talk.session.state)) stop.abort();
        } else if (!hasUnreadInput(talk.session.state)) return state;
        state = await talk.run(undefined, options);
      }
    } finally {
      // At once, and not when somebody hears of it: whatever is said from here on begins another run.
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
      // What a person rewrote stands in no event: then the conversation is told as the model reads it.
      if (events.some(isRewrite)) teller.replay(talk.session.messages, Number.POSITIVE_INFINITY);
      else for (const event of events) if (replayedEventTypes.has(event.type)) teller.onEvent(event);
    },
    async close() {
      cancel();
      // How the run came out is told to whoever began it.
      await work?.catch(() => undefined);
      await talk.close();
    },
  };
}

/** What an editor is told of the past; how it was asked for and judged is past. */
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

/** Which model a router chose, in words. */
function formatRouterChoice(event: Event): string | undefined {
  if (event.type !== 'annotation-added' || event.key !== modelChosenKey || !isObject(event.value)) return undefined;
  return escapeInvisibleLine(`Using ${String(event.value['model'])}. ${String(event.value['why'])}`);
}

/** Whether the editor would not know it anyway: it knows what its person typed, and the answer to a prompt says how the run ended. */
function shouldSendEvent(event: Event, state: RunState, { echoesInput }: AcpClient): boolean {
  if (event.type === 'input-received') return echoesInput;
  if (event.type !== 'run-ended') return true;
  const stop = toAcpStopReason(state);
  return typeof stop === 'string' && stop !== 'cancelled';
}
