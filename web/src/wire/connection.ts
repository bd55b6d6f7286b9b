// Whether the server answers, and the key that it is asked with.
import { cell, type Cell } from '../cell.ts';

/** `gone`: the last request did not reach it, and it is asked again until it answers. */
export type Connection = 'here' | 'gone';

/** Where the connection stands. */
export const connection: Cell<Connection> = cell<Connection>('here');

/** The key, and whether the server refused it; `typed` is what the key field holds then. */
export type KeyState =
  | { readonly type: 'none' }
  | { readonly type: 'given'; readonly key: string }
  | { readonly type: 'refused'; readonly typed: string };

const place = 'fairlead-key';

/** The key of this tab: it is kept as long as the tab is, and in no address. */
export const keyState: Cell<KeyState> = cell<KeyState>({ type: 'none' });

/** Takes the key from the address, where it does not stay, or from before. */
export function findKey(): void {
  const found = /(?:^#|[#&])key=([^&]*)/.exec(location.hash)?.[1];
  if (found !== undefined) {
    sessionStorage.setItem(place, decoded(found));
    history.replaceState(null, '', `${location.pathname}${location.search}`);
  }
  const key = sessionStorage.getItem(place);
  keyState.set(key === null ? { type: 'none' } : { type: 'given', key });
}

/** What an address means; a stray per cent sign is one. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Uses this key from now on. */
export function giveKey(key: string): void {
  sessionStorage.setItem(place, key);
  keyState.set({ type: 'given', key });
}

/** Forgets the key and everything else that the tab holds, as who leaves wants it: what was typed, asked and seen. */
export function forgetHere(): void {
  sessionStorage.clear();
  // Another tab may ask for it before this one has begun anew.
  keyState.set({ type: 'none' });
  history.replaceState(null, '', `${location.pathname}${location.search}`);
  location.reload();
}

/** The server refused a key. Late answers to a request with another key, or with none, say nothing about the one at hand. */
export function refuseKey(key: string): void {
  const now = keyState.get();
  if (now.type !== 'given' || now.key !== key) return;
  sessionStorage.removeItem(place);
  keyState.set({ type: 'refused', typed: key });
}

/** Nothing answered: says so, and asks until something does. One asks for all. */
export function lost(): void {
  if (connection.get() === 'gone') return;
  connection.set('gone');
  void askUntilBack();
}

async function askUntilBack(): Promise<void> {
  for (let wait = 500; ; wait = Math.min(wait * 1.6, 5000)) {
    await new Promise((done) => setTimeout(done, wait));
    if (connection.get() === 'here') return;
    const answered = await fetch('healthz', { cache: 'no-store' }).then(
      ({ status }) => status < 500 || status === 503,
      () => false,
    );
    if (!answered) continue;
    connection.set('here');
    return;
  }
}

/** Comes back once the server answers again, or once the signal aborts. */
export function untilBack(signal: AbortSignal): Promise<void> {
  if (connection.get() === 'here' || signal.aborted) return Promise.resolve();
  return new Promise((done) => {
    const stop = connection.watch((now) => now === 'here' && finish());
    const finish = (): void => {
      stop();
      signal.removeEventListener('abort', finish);
      done();
    };
    signal.addEventListener('abort', finish);
  });
}
