// The tabs of one browser: a new one is handed the key by one that has it, and what one forgets, all forget. Nothing is stored for this.
import { forgetHere, giveKey, keyState } from './connection.ts';

type Said =
  | { readonly type: 'asked' }
  | { readonly type: 'given'; readonly key: string }
  | { readonly type: 'forgotten' };

/** Only pages of this very server, by its name and port, hear each other. */
const line = new BroadcastChannel('fairlead');

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel reaches its own origin alone
const say = (said: Said): void => line.postMessage(said);

/** Hears the other tabs, and asks them for the key where this one has none. */
export function joinTabs(): void {
  line.addEventListener('message', ({ data }: MessageEvent<Said>) => {
    const now = keyState.get();
    if (data.type === 'asked' && now.type === 'given') say({ type: 'given', key: now.key });
    if (data.type === 'given' && now.type === 'none') giveKey(data.key);
    if (data.type === 'forgotten') forgetHere();
  });
  if (keyState.get().type === 'none') say({ type: 'asked' });
}

/** Forgets the key in every tab. */
export function forgetKey(): void {
  say({ type: 'forgotten' });
  forgetHere();
}
