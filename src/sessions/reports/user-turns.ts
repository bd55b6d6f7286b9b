// Lists the user messages on the current branch and rewinds to before one of them.
import {
  runStateView,
  messageText,
  type Event,
  type Message,
  type MessagePart,
  type RunState,
} from '../../core/index.ts';
import type { Session } from '../../agent/index.ts';
import { getBranchPath, withoutAttachedText } from './branch-path.ts';

/** A user message. */
export type UserTurn = {
  readonly text: string;
  readonly how: 'prompt' | 'steer' | 'follow-up';
  readonly time: string;
  /** How to rewind to before it: an event or, in an edited or copied conversation, the messages before it. */
  readonly before:
    | { readonly type: 'event'; readonly event: string }
    | { readonly type: 'messages'; readonly messages: readonly Message[] };
};

/** Returns the user messages on the current branch, oldest first. */
export function listUserTurns(events: readonly Event[]): readonly UserTurn[] {
  const view = runStateView();
  const turns = new Map<string, UserTurn>();
  let state = view.initial;
  for (const event of getBranchPath(events)) {
    // An edit starts after the input it replaces: undelivered inputs are not part of this branch.
    if (event.type === 'branch-started') for (const { input } of state.pending) turns.delete(input);
    if (event.type === 'input-received' && event.how !== 'continue' && event.by === undefined && event.parent !== null)
      turns.set(event.input, toUserTurn(event.parts, event.how, event.time, { type: 'event', event: event.parent }));
    if (event.type === 'epoch-started' && event.baseline && event.reason !== 'compacted')
      for (const [i, each] of findEditedTurns(event.baseline.messages, state, event.time))
        turns.set(`${event.id}/${i}`, each);
    state = view.on(state, event);
  }
  return [...turns.values()];
}

const toUserTurn = (
  parts: readonly MessagePart[],
  how: UserTurn['how'],
  time: string,
  before: UserTurn['before'],
): UserTurn => ({
  text: messageText({ role: 'user', parts: withoutAttachedText(parts) }),
  how,
  time,
  before,
});

/** A compaction summarizes messages that are still on the path; an edit or copy adds messages that are nowhere else. */
function findEditedTurns(
  messages: readonly Message[],
  { messages: previous }: RunState,
  time: string,
): readonly (readonly [number, UserTurn])[] {
  const isSame = (i: number): boolean =>
    i < previous.length && JSON.stringify(previous.items[i]) === JSON.stringify(messages[i]);
  let common = 0;
  while (common < messages.length && isSame(common)) common++;
  return messages.flatMap((message, i): readonly (readonly [number, UserTurn])[] =>
    i < common || message.role !== 'user'
      ? []
      : [[i, toUserTurn(message.parts, 'prompt', time, { type: 'messages', messages: messages.slice(0, i) })]],
  );
}

/** Rewinds to before a message: starts a new branch and keeps the old one. */
export async function rewindBefore(session: Pick<Session, 'rewind' | 'edit'>, { before }: UserTurn): Promise<void> {
  await (before.type === 'event'
    ? session.rewind(before.event)
    : session.edit(before.messages, 'back to before an earlier message'));
}
