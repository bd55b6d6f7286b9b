// What the status line says of a conversation.
import type { Provider, RunState } from '../../core/index.ts';
import type { StatusLine } from '../face/face.ts';
import { sandboxWord } from './confinement.ts';
import type { Outfit } from './outfit.ts';

/** The conversation as far as its status goes. */
export type Stated = {
  readonly model: string;
  readonly session: string;
  readonly auto: boolean;
  readonly stream: boolean;
  readonly state: RunState;
  readonly provider: Provider;
  /** What commands run in; nothing where code runs in a container, whatever else there is. */
  readonly sandbox: Outfit['sandbox'] | undefined;
};

/** The status of a conversation. */
export function statusOf({ model, session, auto, stream, state, provider, sandbox }: Stated): StatusLine {
  const { context, total, pending } = state;
  const { contextWindow: window } = provider;
  return {
    model,
    session,
    mode: auto ? 'auto' : 'ask',
    stream,
    context: { used: context, ...(window === undefined ? {} : { window }) },
    ...(total.turnsWithoutPrice === 0 ? { usd: total.usd } : {}),
    queued: pending.length,
    ...(sandbox ? { sandbox: sandboxWord(sandbox) } : {}),
  };
}
