// Shares the key between tabs over a BroadcastChannel: a new tab gets it from another one, and signing out applies to all.
import { forgetKeyInTab, setKey, keyState } from './connection.ts';

type TabMessage =
  | { readonly type: 'asked' }
  | { readonly type: 'given'; readonly key: string }
  | { readonly type: 'forgotten' };

/** Only pages of the same origin receive these messages. */
const channel = new BroadcastChannel('fairlead');

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel reaches its own origin alone
const broadcast = (said: TabMessage): void => channel.postMessage(said);

/** Listens to other tabs, and asks them for the key if this tab has none. */
export function startTabSync(): void {
  channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    const now = keyState.get();
    if (data.type === 'asked' && now.type === 'given') broadcast({ type: 'given', key: now.key });
    if (data.type === 'given' && now.type === 'none') setKey(data.key);
    if (data.type === 'forgotten') forgetKeyInTab();
  });
  if (keyState.get().type === 'none') broadcast({ type: 'asked' });
}

/** Removes the key in every tab. */
export function forgetKeyInAllTabs(): void {
  broadcast({ type: 'forgotten' });
  forgetKeyInTab();
}
