// Run controller of an interactive conversation: runs each submitted line as a slash command, a shell command or a prompt, one job at a time.
import { formatCliError } from '../args/program-name.ts';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdvanceOptions } from '../../agent/index.ts';
import {
  attachToPrompt,
  formatActivity,
  waitForJoiningInput,
  runPromptHooks,
  type Conversation,
  createApprovalHandler,
  createSpeedMeter,
  type ConversationStatus,
} from '../../coding-agent/index.ts';
import { errorMessage, parseRetryNotice, type ApprovalHandler, type Event, type RunState } from '../../core/index.ts';
import { createTranscriptPresenter, formatCommandNote } from '../../sessions/index.ts';
import type { CommandContext } from '../slash-commands/slash-command.ts';
import { formatUnknownCommand, parseSlashCommand } from '../slash-commands/registry.ts';
import { askApprovalOnUi } from '../tui/approval-question.ts';
import type { TerminalUI } from '../tui/ui.ts';

/** How many messages of a resumed conversation are shown. */
export const replayedMessages = 40;

/** Runs at most one job of a conversation at a time. */
export type RunController = {
  readonly context: CommandContext;
  readonly busy: boolean;
  /** Starts a job; an error of the job is shown to the user. */
  readonly start: (job: () => Promise<void>) => void;
  /** Handles a submitted line: as a new job, or during the active job if the line allows that. */
  handleInput(text: string, how: 'enter' | 'follow-up'): void;
  /** Cancels the active job. */
  interrupt(): void;
  /** Cancels the active job and waits until it has ended; open approval questions stay open for the next resume. */
  shutdown(): Promise<void>;
};

/** Creates the controller of a conversation and shows the conversation on the UI from now on. */
export function createRunController(conversation: Conversation, ui: TerminalUI, quit: () => void): RunController {
  let job: Promise<void> | undefined;
  let cancel = new AbortController();
  const shutdown = new AbortController();
  /** Inputs that are being added to the active run. */
  let pendingInputs: Promise<unknown> = Promise.resolve();
  let running = false;
  let blockCount = 0;
  let retry: ConversationStatus['retry'];
  const meter = createSpeedMeter();
  const onEvent = (event: Event): void => {
    meter.onEvent(event);
    const notice = parseRetryNotice(event);
    if (notice) retry = { notice, at: Date.now() + (notice.waitMs ?? 0) };
    if (event.type === 'turn-ended' || event.type === 'turn-failed' || event.type === 'run-ended') retry = undefined;
    refreshStatus();
  };
  // `busy` is set while a job is active; piped input waits until it is cleared.
  const refreshStatus = (): void =>
    ui.setStatus({
      ...conversation.status(),
      ...meter.speed(),
      ...(job ? { busy: formatActivity(conversation.session.state), ...(retry ? { retry } : {}) } : {}),
    });
  const runOptions = bindConversationToUi(conversation, ui, {
    refreshStatus,
    onEvent,
    onChunk: (chunk) => meter.onChunk(chunk),
  });
  const context: CommandContext = {
    conversation,
    ui,
    refreshStatus,
    quit,
    get signal() {
      return cancel.signal;
    },
    notify: (text, level = 'info') => ui.putBlock({ type: 'notice', id: `s${blockCount++}`, level, text }),
    showPage: (text, title) =>
      ui.putBlock({ type: 'output', id: `p${blockCount++}`, text, ...(title === undefined ? {} : { title }) }),
    get isRunning() {
      return running;
    },
    async runAgent(prompt) {
      let state: RunState | undefined;
      running = true;
      try {
        state = await conversation.run(prompt, {
          ...runOptions,
          signal: cancel.signal,
          waitSignal: shutdown.signal,
          beforeDecision: () => waitForJoiningInput(() => pendingInputs),
          onApproval: createTerminalApproval(context),
        });
      } finally {
        running = false;
      }
      if (conversation.mode === 'plan' && state.ended?.reason === 'answered')
        await (await import('../slash-commands/plan-approval.ts')).offerPlan(context);
    },
  };
  const start = (work: () => Promise<void>): void => {
    cancel = new AbortController();
    // Set before the work begins: a command may refresh the status at once, and a pipe sends the next line as soon as it shows no job.
    const { promise, resolve } = Promise.withResolvers<void>();
    job = promise;
    void work()
      .catch((error: unknown) =>
        context.notify(error instanceof Error ? formatCliError(error) : errorMessage(error), 'error'),
      )
      .finally(() => {
        job = undefined;
        resolve();
        refreshStatus();
      });
    refreshStatus();
  };
  /** Handles a line that cannot be handled during a job. An answer is on the screen a moment before its run has ended, so the end is awaited shortly. */
  const handleAfterJob = async (text: string): Promise<void> => {
    await Promise.race([job, sleep(endOfJobMs)]);
    if (!job) return start(() => dispatchInput(context, text));
    ui.setInput(text);
    return context.notify('Wait until the run has ended, or press Esc.', 'warning');
  };
  return {
    context,
    get busy() {
      return job !== undefined;
    },
    start,
    handleInput(text, how) {
      if (!job) return start(() => dispatchInput(context, text));
      if (!isAllowedDuringRun(text, context)) return void handleAfterJob(text);
      const join = dispatchInput(context, text, how);
      pendingInputs = Promise.allSettled([pendingInputs, join]);
      return void join.catch((error: unknown) => context.notify(errorMessage(error), 'error'));
    },
    interrupt() {
      cancel.abort();
      conversation.session.cancel();
    },
    async shutdown() {
      shutdown.abort();
      cancel.abort();
      conversation.session.cancel();
      await job;
    },
  };
}

/** How long a line that cannot be handled during a job waits for its end before it is refused. */
const endOfJobMs = 300;

/** Whether a line may be handled during a job: prompts join a run, and some slash commands are read-only. */
function isAllowedDuringRun(text: string, { conversation, isRunning }: CommandContext): boolean {
  if (text.startsWith('!')) return false;
  return text.startsWith('/')
    ? (parseSlashCommand(text, conversation.agent.commands)?.command.allowedDuringRun ?? false)
    : isRunning;
}

/** Runs a submitted line. A prompt during a run joins it: at the next turn, or after the answer for a follow-up. */
async function dispatchInput(
  context: CommandContext,
  text: string,
  how: 'enter' | 'follow-up' = 'enter',
): Promise<void> {
  const { conversation } = context;
  if (text.startsWith('/')) {
    const parsed = parseSlashCommand(text, conversation.agent.commands);
    // The path of an image that was dropped on the terminal starts with a slash too.
    if (!parsed && startsWithFile(text)) return sendPrompt(context, text, how);
    if (!parsed) return context.notify(formatUnknownCommand(text, conversation.agent.commands), 'warning');
    await parsed.command.run(parsed.args, context);
    return undefined;
  }
  if (text.startsWith('!')) return runUserShellCommand(context, text);
  return sendPrompt(context, text, how);
}

/** Sends a prompt with the files that it names. */
async function sendPrompt(context: CommandContext, text: string, how: 'enter' | 'follow-up'): Promise<void> {
  const { conversation } = context;
  const { input, notices } = attachToPrompt(conversation, text);
  for (const notice of notices) context.notify(notice, 'warning');
  if (!context.isRunning) return context.runAgent(input);
  // Awaited only if there are hooks: without them the input keeps its order in the run.
  if (conversation.agent.hooks) await runPromptHooks(conversation, input);
  await (how === 'enter' ? conversation.session.steer(input) : conversation.session.followUp(input));
}

const startsWithFile = (text: string): boolean =>
  existsSync(/^\S+/.exec(text)?.[0] ?? '') && /\.(png|jpe?g|gif|webp)(\s|$)/i.test(text);

/** What the controller does about a run besides showing it. */
type RunListener = {
  readonly refreshStatus: () => void;
  readonly onEvent: (event: Event) => void;
  readonly onChunk: NonNullable<AdvanceOptions['onChunk']>;
};

/** Shows the conversation, and each session it switches to; returns the run options that show a run while it streams. */
function bindConversationToUi(
  conversation: Conversation,
  ui: TerminalUI,
  { refreshStatus, onEvent, onChunk }: RunListener,
): AdvanceOptions {
  let presenter = createTranscriptPresenter(ui, () => conversation.stream);
  const show = (isNew: boolean): void => {
    presenter = createTranscriptPresenter(ui, () => conversation.stream);
    const { calls, added } = conversation.records;
    if (!isNew) presenter.replay(conversation.session.messages, replayedMessages, calls, added);
    for (const text of conversation.problems)
      ui.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'warning', text });
    refreshStatus();
  };
  conversation.subscribe({
    session(isNew) {
      ui.clear();
      show(isNew);
    },
    event(event) {
      presenter.onEvent(event);
      onEvent(event);
    },
  });
  show(conversation.isNew);
  return {
    onChunk(chunk) {
      onChunk(chunk);
      presenter.onChunk(chunk);
    },
    onToolProgress: (call, text) => ui.appendText(call, text),
  };
}

/** How many characters of the output are shown to the model. */
const maxShownChars = 20_000;

/** Runs the command after the exclamation marks, as the user. */
async function runUserShellCommand({ conversation, ui, signal, notify }: CommandContext, line: string): Promise<void> {
  const hidden = line.startsWith('!!');
  const command = line.slice(hidden ? 2 : 1).trim();
  if (command === '') return notify('Write a command after the exclamation mark, such as !ls.', 'warning');
  const id = `sh${crypto.randomUUID().slice(0, 8)}`;
  const block = {
    type: 'call',
    id,
    tool: hidden ? 'shell, not shown to the model' : 'shell',
    input: { command },
  } as const;
  ui.putBlock({ ...block, status: 'running' });
  const { code, text } = await conversation.agent.workspace.exec(command, {
    signal,
    writesGit: true,
    onOutput: (chunk) => ui.appendText(id, chunk),
  });
  ui.putBlock({ ...block, status: code === 0 ? 'ok' : 'failed', output: text });
  if (!hidden)
    await conversation.addNote(
      formatCommandNote(command, conversation.agent.redactor.redact(text).slice(0, maxShownChars), code ?? undefined),
    );
  return undefined;
}

/** Creates the approval handler of the terminal. An interrupted question counts as not answered. */
export const createTerminalApproval = ({
  conversation,
  ui,
  notify,
}: Pick<CommandContext, 'conversation' | 'ui' | 'notify'>): ApprovalHandler =>
  createApprovalHandler(conversation, (prompt, signal) => askApprovalOnUi(ui, prompt, signal, notify));
