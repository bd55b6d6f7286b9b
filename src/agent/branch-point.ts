// Where an edited conversation parts from the one in the log.
import { runStateView, type Log, type Message, type Rule } from '../core/index.ts';

/** The last event up to which the log tells the same conversation as these messages. */
export async function lastCommonEvent(log: Log, rules: readonly Rule[], messages: readonly Message[]): Promise<string> {
  const view = runStateView(rules);
  const edited = messages.map((message) => JSON.stringify(message));
  let state = view.initial;
  let agreed = 0;
  let common = '';
  for await (const events of log.read({ from: 'root' })) {
    for (const event of events) {
      const items = state.messages.items;
      state = view.on(state, event);
      if (state.messages.items !== items) agreed = 0;
      const { items: told, length } = state.messages;
      while (agreed < length && JSON.stringify(told[agreed]) === edited[agreed]) agreed++;
      if (agreed === length && state.calls.length === 0) common = event.id;
    }
  }
  return common;
}
