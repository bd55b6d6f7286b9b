// Connection state and the API key of the tab.
import { createAtom, type Atom } from '../state/atom.ts';

/** `gone`: the last request failed; the server is polled until it responds. */
export type ConnectionStatus = 'here' | 'gone';

/** The connection state. */
export const connectionStatus: Atom<ConnectionStatus> = createAtom<ConnectionStatus>('here');

/** The key, and whether the server refused it; `typed` is then the content of the key field. */
export type KeyState =
  | { readonly type: 'none' }
  | { readonly type: 'given'; readonly key: string }
  | { readonly type: 'refused'; readonly typed: string };

const keyStorageKey = 'fairlead-key';

/** The key of this tab: kept while the tab is open, and never in the URL. */
export const keyState: Atom<KeyState> = createAtom<KeyState>({ type: 'none' });

/** Reads the key from the URL, and removes it there, or from the session storage. */
export function loadKey(): void {
  const found = /(?:^#|[#&])key=([^&]*)/.exec(location.hash)?.[1];
  if (found !== undefined) {
    sessionStorage.setItem(keyStorageKey, safeDecodeUri(found));
    history.replaceState(null, '', `${location.pathname}${location.search}`);
  }
  const key = sessionStorage.getItem(keyStorageKey);
  keyState.set(key === null ? { type: 'none' } : { type: 'given', key });
}

/** Decodes a URL part; a stray percent sign is kept. */
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

/** The place of the saved views in the local storage. */
export const viewsStorageKey = 'fairlead-views';

/** Signs out: removes the key, drafts and everything else that the tab stores, and the saved views, which may contain searched text. */
export function forgetKeyInTab(): void {
  sessionStorage.clear();
  localStorage.removeItem(viewsStorageKey);
  // Another tab may request the key before this one has reloaded.
  keyState.set({ type: 'none' });
  history.replaceState(null, '', `${location.pathname}${location.search}`);
  location.reload();
}

/** Marks the key as refused, unless the response belongs to a request with another key. */
export function markKeyRejected(key: string): void {
  const now = keyState.get();
  if (now.type !== 'given' || now.key !== key) return;
  sessionStorage.removeItem(keyStorageKey);
  keyState.set({ type: 'refused', typed: key });
}

/** Marks the server as unreachable, and polls until it responds; there is one poll for all callers. */
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

/** Resolves when the server responds again, or when the signal aborts. */
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
