// Copies of a conversation: forks to another log, and where an edited conversation leaves the one in the log.
import {
  FairleadError,
  epochStartedFact,
  openSessionWriter,
  runStateView,
  closeOpenCalls,
  toArray,
  type Log,
  type Message,
  type ResolvedAgent,
} from '../core/index.ts';
import { createNonce } from './session-facts.ts';

/** Begins the session `id` on an empty log with the conversation of another log, at its end or at an event. Open calls get a result that says so. */
export async function copyConversation(
  agent: ResolvedAgent,
  source: Log,
  target: Log,
  { at, id }: { readonly at: string | undefined; readonly id: string },
): Promise<void> {
  const view = runStateView(agent.rules, agent.views);
  const { state } = await openSessionWriter(
    { ...source, read: (options) => source.read(at === undefined ? options : { at }) },
    view,
  );
  const writer = await openSessionWriter(target, view);
  if (writer.state.seq > 0)
    throw new FairleadError('session/not-empty', 'A session can be forked into an empty log only.', { blame: 'user' });
  const nonce = createNonce();
  const { messages } = closeOpenCalls(state, 'The conversation was forked before this call had a result.');
  await writer.record(
    [
      { type: 'session-started', session: id, nonce, from: { session: state.session, event: state.head ?? '' } },
      epochStartedFact({ ...state, session: id, nonce }, 'started', toArray(messages)),
    ],
    { durable: true },
  );
}

/** The id of the last event at which the conversation in the log is a prefix of these messages. */
export async function lastCommonEvent(
  log: Log,
  { rules }: Pick<ResolvedAgent, 'rules'>,
  messages: readonly Message[],
): Promise<string> {
  const view = runStateView(rules);
  const edited = messages.map((message) => JSON.stringify(message));
  let state = view.initial;
  let matching = 0;
  let common = '';
  for await (const events of log.read({ from: 'root' })) {
    for (const event of events) {
      const before = state.messages.items;
      state = view.on(state, event);
      // A new list of items is a new epoch: compare it from its first message.
      if (state.messages.items !== before) matching = 0;
      const { items, length } = state.messages;
      while (matching < length && JSON.stringify(items[matching]) === edited[matching]) matching++;
      if (matching === length && state.calls.length === 0) common = event.id;
    }
  }
  return common;
}
