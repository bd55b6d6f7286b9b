// Where the work of a conversation is done: one job at a time, which the person can add words to, interrupt, and leave.
import type { RunOptions } from '../../agent/index.ts';
import { hasUnreadInput } from '../../agent/unread-input.ts';
import { errorMessage, type RunState, formatError } from '../../core/index.ts';
import { formatActivity, waitForJoiningInput, isAwaitingApproval } from '../../coding-agent/approvals.ts';
import type { Conversation } from '../../coding-agent/conversation.ts';
import type { TerminalUI } from '../tui/ui.ts';
import { quitReason, type CommandContext } from '../slash-commands/context.ts';
import { askForApprovals } from './approval.ts';
import { dispatchInput, isAllowedDuringRun } from './dispatch-input.ts';
import { bindConversationToUi } from './bind-ui.ts';

/** A desk and the job that is done at it. */
export type RunController = {
  readonly context: CommandContext;
  readonly busy: boolean;
  /** Begins a job; what goes wrong with it is told. */
  readonly start: (job: () => Promise<void>) => void;
  /** Does what a line says: as a job of its own, or beside the one that goes on where that may be. */
  handleInput(text: string, how: 'enter' | 'follow-up'): void;
  /** Stops what goes on. */
  interrupt(): void;
  /** Stops it for good, and waits until it has stopped; what is asked then stays open for the next time. */
  shutdown(): Promise<void>;
};

/** A workbench for this conversation, which is shown on the face from now on. */
export function createRunController(talk: Conversation, face: TerminalUI, quit: () => void): RunController {
  let work: Promise<void> | undefined;
  let stop = new AbortController();
  /** Words that are on their way into the run. */
  let joining: Promise<unknown> = Promise.resolve();
  // Idle is said only when nothing goes on: in a pipe the next line waits for that.
  const refresh = (): void =>
    face.setStatus({ ...talk.status(), ...(work ? { busy: formatActivity(talk.session.state) } : {}) });
  const desk = createCommandContext({
    conversation: talk,
    ui: face,
    refreshStatus: refresh,
    quit,
    signal: () => stop.signal,
    pendingInputs: () => joining,
    runOptions: bindConversationToUi(face, talk, refresh),
  });
  const start = (job: () => Promise<void>): void => {
    stop = new AbortController();
    work = job()
      .catch((error: unknown) =>
        desk.notify(error instanceof Error ? formatError(error) : errorMessage(error), 'error'),
      )
      .finally(() => {
        work = undefined;
        refresh();
      });
    refresh();
  };
  return {
    context: desk,
    get busy() {
      return work !== undefined;
    },
    start,
    handleInput(text, how) {
      if (!work) return start(() => dispatchInput(desk, text));
      if (!isAllowedDuringRun(text, desk)) {
        face.setInput(text);
        return desk.notify('Wait until the run has ended, or press Esc.', 'warning');
      }
      const join = dispatchInput(desk, text, how);
      joining = Promise.allSettled([joining, join]);
      return void join.catch((error: unknown) => desk.notify(errorMessage(error), 'error'));
    },
    interrupt() {
      stop.abort();
      talk.session.cancel();
    },
    async shutdown() {
      stop.abort(quitReason);
      talk.session.cancel();
      await work;
    },
  };
}

/** What a desk is made of. */
type ContextOptions = Pick<CommandContext, 'conversation' | 'ui' | 'refreshStatus' | 'quit'> & {
  readonly signal: () => AbortSignal;
  /** Settled once every word that was on its way is written down. */
  readonly pendingInputs: () => Promise<unknown>;
  readonly runOptions: RunOptions;
};

function createCommandContext({ signal, pendingInputs, runOptions, ...given }: ContextOptions): CommandContext {
  const { ui } = given;
  let count = 0;
  let conversing = false;
  const desk: CommandContext = {
    ...given,
    get signal() {
      return signal();
    },
    notify: (text, level = 'info') => ui.putBlock({ type: 'notice', id: `s${count++}`, level, text }),
    showPage: (text, title) =>
      ui.putBlock({ type: 'page', id: `p${count++}`, text, ...(title === undefined ? {} : { title }) }),
    get isRunning() {
      return conversing;
    },
    async runAgent(words) {
      conversing = true;
      try {
        await runUntilIdle(desk, runOptions, pendingInputs, words);
      } finally {
        conversing = false;
      }
    },
  };
  return desk;
}

/** Runs the model; whenever it waits for the person, asks and goes on. Words that came in as it ended are not left lying. */
async function runUntilIdle(
  desk: CommandContext,
  options: RunOptions,
  joined: () => Promise<unknown>,
  words?: string,
): Promise<void> {
  const { conversation } = desk;
  let state: RunState =
    words === undefined && isAwaitingApproval(conversation.session.state)
      ? conversation.session.state
      : await conversation.run(words, options);
  for (;;) {
    await waitForJoiningInput(joined);
    if (isAwaitingApproval(state)) await askForApprovals(desk, state);
    else if (!hasUnreadInput(conversation.session.state)) return;
    if (desk.signal.reason === quitReason) return;
    // Whoever interrupts a question means the run.
    state = await conversation.run(undefined, { ...options, signal: desk.signal });
  }
}
