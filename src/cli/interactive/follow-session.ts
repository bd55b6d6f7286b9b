// Watches a session that another process writes to: everything it writes is shown, nothing is written from here.
import type { Event } from '../../core/index.ts';
import { formatLockOwner, type LockedSession } from '../../sessions/resolve-session.ts';
import type { TerminalUI } from '../tui/ui.ts';
import { getLockOwner, readSession, summarizeSession, followSessionFile } from '../../sessions/index.ts';
import { createTranscriptPresenter } from '../../sessions/transcript-presenter.ts';

/** How often it is looked whether the other process still holds the session. */
const lockPollMs = 500;

/** Shows a session until the person leaves, or until the other process lets go of it and the person takes it over, which it then says. */
export async function followSession(
  { sessionFile, owner }: LockedSession,
  face: TerminalUI,
  shown: number,
): Promise<boolean> {
  const stop = new AbortController();
  let left = false;
  const leave = (): void => {
    left = true;
    stop.abort();
  };
  const say = (text: string): void => face.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text });
  say(`Watching "${sessionFile.name}", which ${formatLockOwner(owner)} writes to. Esc or Ctrl+D leaves.`);
  face.onAction((heard) => {
    if (heard.type === 'quit' || heard.type === 'interrupt' || heard.type === 'rewind') return leave();
    return say('This is only a view: nothing can be said here. Esc or Ctrl+D leaves.');
  });
  const looking = setInterval(() => {
    if (getLockOwner(sessionFile.file)?.token !== owner.token) stop.abort();
  }, lockPollMs);
  const model = summarizeSession(sessionFile)?.model ?? 'a model';
  const status = { model, session: sessionFile.name, mode: 'ask', stream: false, queued: 0 } as const;
  face.setStatus({ ...status, busy: `watching process ${owner.pid}` });
  try {
    await streamSession(sessionFile.file, face, shown, stop.signal);
  } finally {
    clearInterval(looking);
    face.setStatus(status);
  }
  if (left) return false;
  const key = await face.askKey({
    title: `Process ${owner.pid} has let go of "${sessionFile.name}". Go on with it here?`,
    keys: [
      { key: 'y', label: 'yes' },
      { key: 'n', label: 'no, leave' },
    ],
    defaultKey: 'n',
  });
  return key === 'y';
}

async function streamSession(file: string, face: TerminalUI, shown: number, signal: AbortSignal): Promise<void> {
  let teller = createTranscriptPresenter(face, () => false);
  const tellAll = async (): Promise<number> => {
    const { state, messages } = await readSession(file);
    teller = createTranscriptPresenter(face, () => false);
    teller.replay(messages, shown);
    return state.seq;
  };
  let seq = await tellAll();
  for await (const event of followSessionFile(file, signal, seq)) {
    if (event.seq <= seq) continue;
    if (isBranchSwitch(event)) {
      face.clear();
      seq = await tellAll();
    } else teller.onEvent(event);
  }
}

/** After an edit or a step back the session stands elsewhere than what was shown. */
const isBranchSwitch = (event: Event): boolean => event.type === 'epoch-started' && event.reason === 'edited';
