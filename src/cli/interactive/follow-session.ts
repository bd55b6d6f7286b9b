// Follows a session that another process writes to, read-only.
import type { Event } from '../../core/index.ts';
import {
  formatLockOwner,
  type LockedSession,
  getLockOwner,
  readSession,
  summarizeSession,
  followSessionFile,
  createTranscriptPresenter,
} from '../../sessions/index.ts';
import type { TerminalUI } from '../tui/ui.ts';

/** Interval of the check whether the other process still holds the lock. */
const lockPollMs = 500;

/** Shows a session until the user quits (false), or until the other process releases it and the user takes it over (true). */
export async function followSession(
  { sessionFile, owner }: LockedSession,
  ui: TerminalUI,
  maxMessages: number,
): Promise<boolean> {
  const stop = new AbortController();
  let quit = false;
  const stopFollowing = (): void => {
    quit = true;
    stop.abort();
  };
  const notify = (text: string): void => ui.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text });
  notify(`Following "${sessionFile.name}", which ${formatLockOwner(owner)} writes to. Esc or Ctrl+D quits.`);
  ui.onAction((action) => {
    if (action.type === 'quit' || action.type === 'interrupt' || action.type === 'rewind') return stopFollowing();
    return notify('This view is read-only. Esc or Ctrl+D quits.');
  });
  const lockPoll = setInterval(() => {
    if (getLockOwner(sessionFile.file)?.token !== owner.token) stop.abort();
  }, lockPollMs);
  const model = summarizeSession(sessionFile)?.model ?? 'a model';
  const status = { model, session: sessionFile.name, mode: 'ask', stream: false, queued: 0 } as const;
  ui.setStatus({ ...status, busy: `following process ${owner.pid}` });
  try {
    await streamSession(sessionFile.file, ui, maxMessages, stop.signal);
  } finally {
    clearInterval(lockPoll);
    ui.setStatus(status);
  }
  if (quit) return false;
  const key = await ui.askKey({
    title: `Process ${owner.pid} has released "${sessionFile.name}". Continue it here?`,
    keys: [
      { key: 'y', label: 'yes' },
      { key: 'n', label: 'no, quit' },
    ],
    defaultKey: 'n',
  });
  return key === 'y';
}

async function streamSession(file: string, ui: TerminalUI, maxMessages: number, signal: AbortSignal): Promise<void> {
  let presenter = createTranscriptPresenter(ui, () => false);
  const replay = async (): Promise<number> => {
    const { state, messages, calls, added } = await readSession(file);
    presenter = createTranscriptPresenter(ui, () => false);
    presenter.replay(messages, maxMessages, calls, added);
    return state.seq;
  };
  let seq = await replay();
  for await (const event of followSessionFile(file, signal, seq)) {
    if (event.seq <= seq) continue;
    if (isBranchSwitch(event)) {
      ui.clear();
      seq = await replay();
    } else presenter.onEvent(event);
  }
}

/** After an edit or a rewind the shown messages are on another branch. */
const isBranchSwitch = (event: Event): boolean => event.type === 'epoch-started' && event.reason === 'edited';
