// The tabs of one browser: a new one is handed the key by one that has it, and what one forgets, all forget. Nothing is stored for this.
import { forgetKeyInTab, setKey, keyState } from './connection.ts';

type TabMessage =
  | { readonly type: 'asked' }
  | { readonly type: 'given'; readonly key: string }
  | { readonly type: 'forgotten' };

/** Only pages of this very server, by its name and port, hear each other. */
const channel = new BroadcastChannel('fairlead');

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel reaches its own origin alone
const broadcast = (said: TabMessage): void => channel.postMessage(said);

/** Hears the other tabs, and asks them for the key where this one has none. */
export function startTabSync(): void {
  channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    const now = keyState.get();
    if (data.type === 'asked' && now.type === 'given') broadcast({ type: 'given', key: now.key });
    if (data.type === 'given' && now.type === 'none') setKey(data.key);
    if (data.type === 'forgotten') forgetKeyInTab();
  });
  if (keyState.get().type === 'none') broadcast({ type: 'asked' });
}

/** Forgets the key in every tab. */
export function forgetKeyInAllTabs(): void {
  broadcast({ type: 'forgotten' });
  forgetKeyInTab();
}
