// Whether the server answers, and the key that it is asked with.
import { createAtom, type Atom } from '../state/atom.ts';

/** `gone`: the last request did not reach it, and it is asked again until it answers. */
export type ConnectionStatus = 'here' | 'gone';

/** Where the connection stands. */
export const connectionStatus: Atom<ConnectionStatus> = createAtom<ConnectionStatus>('here');

/** The key, and whether the server refused it; `typed` is what the key field holds then. */
export type KeyState =
  | { readonly type: 'none' }
  | { readonly type: 'given'; readonly key: string }
  | { readonly type: 'refused'; readonly typed: string };

const keyStorageKey = 'fairlead-key';

/** The key of this tab: it is kept as long as the tab is, and in no address. */
export const keyState: Atom<KeyState> = createAtom<KeyState>({ type: 'none' });

/** Takes the key from the address, where it does not stay, or from before. */
export function loadKey(): void {
  const found = /(?:^#|[#&])key=([^&]*)/.exec(location.hash)?.[1];
  if (found !== undefined) {
    sessionStorage.setItem(keyStorageKey, safeDecodeUri(found));
    history.replaceState(null, '', `${location.pathname}${location.search}`);
  }
  const key = sessionStorage.getItem(keyStorageKey);
  keyState.set(key === null ? { type: 'none' } : { type: 'given', key });
}

/** What an address means; a stray per cent sign is one. */
export function safeDecodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Uses this key from now on. */
export function setKey(key: string): void {
  sessionStorage.setItem(keyStorageKey, key);
  keyState.set({ type: 'given', key });
}

/** Forgets the key and everything else that the tab holds, as who leaves wants it: what was typed, asked and seen. */
export function forgetKeyInTab(): void {
  sessionStorage.clear();
  // Another tab may ask for it before this one has begun anew.
  keyState.set({ type: 'none' });
  history.replaceState(null, '', `${location.pathname}${location.search}`);
  location.reload();
}

/** The server refused a key. Late answers to a request with another key, or with none, say nothing about the one at hand. */
export function markKeyRejected(key: string): void {
  const now = keyState.get();
  if (now.type !== 'given' || now.key !== key) return;
  sessionStorage.removeItem(keyStorageKey);
  keyState.set({ type: 'refused', typed: key });
}

/** Nothing answered: says so, and asks until something does. One asks for all. */
export function markOffline(): void {
  if (connectionStatus.get() === 'gone') return;
  connectionStatus.set('gone');
  void pollUntilOnline();
}

async function pollUntilOnline(): Promise<void> {
  for (let wait = 500; ; wait = Math.min(wait * 1.6, 5000)) {
    await new Promise((done) => setTimeout(done, wait));
    if (connectionStatus.get() === 'here') return;
    const answered = await fetch('healthz', { cache: 'no-store' }).then(
      ({ status }) => status < 500 || status === 503,
      () => false,
    );
    if (!answered) continue;
    connectionStatus.set('here');
    return;
  }
}

/** Comes back once the server answers again, or once the signal aborts. */
export function waitUntilOnline(signal: AbortSignal): Promise<void> {
  if (connectionStatus.get() === 'here' || signal.aborted) return Promise.resolve();
  return new Promise((done) => {
    const stop = connectionStatus.subscribe((now) => now === 'here' && finish());
    const finish = (): void => {
      stop();
      signal.removeEventListener('abort', finish);
      done();
    };
    signal.addEventListener('abort', finish);
  });
}
