// Invariants of a session file after any crash: it opens, has everything it acknowledged, and makes a valid request.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {
  messageToolCalls,
  fold,
  renderRequest,
  runStateView,
  toArray,
  type Event,
  type Log,
  type Message,
  type RunState,
} from '../../src/core/index.ts';
import { openJsonl, type JsonlLog, type JsonlOptions } from '../../src/stores/index.ts';
import { readEffects, getCallNumber } from './agent.ts';

/** A session as it was read from disk. */
export type InspectedSession = { readonly events: readonly Event[]; readonly state: RunState; readonly log: JsonlLog };

/** Every event on the path to the last one, or to another one. */
export async function readLogEvents(log: Log, options?: Parameters<Log['read']>[0]): Promise<readonly Event[]> {
  const all: Event[] = [];
  for await (const events of log.read(options)) all.push(...events);
  return all;
}

/** Opens a session, reads it, checks it, and closes it again. */
export async function inspectSession(file: string, options?: JsonlOptions): Promise<InspectedSession> {
  const log = await openJsonl(file, options);
  try {
    const events = await readLogEvents(log);
    const state = fold(runStateView(), events);
    assertLegal(state);
    return { events, state, log };
  } finally {
    await log.close();
  }
}

/** Asserts that the request of a state has one result per call, in order, and that its roles alternate as every wire format requires. */
export function assertLegal(state: RunState): void {
  const messages = toArray(renderRequest(state, { settings: {} }).messages);
  assert.equal(messages[0]?.role ?? 'user', 'user', "the first message is the user's");
  messages.forEach((message, i) => {
    const asked = messageToolCalls(message).map(({ id }) => id);
    const next: Message | undefined = messages[i + 1];
    const answered =
      next?.role === 'tool' ? next.parts.map((part) => (part.type === 'tool-result' ? part.id : '')) : [];
    assert.deepEqual(answered, asked, `every call of message ${i} has a result, in order`);
    if (next) assert.notEqual(next.role, message.role, `message ${i + 1} has another role than the previous one`);
  });
}

/** Asserts that effects that must not be repeated happened at most once, and that each effect recorded as done did happen. */
export function assertEffects(events: readonly Event[], ledger: string): void {
  const effects = readEffects(ledger);
  const once = effects.filter((effect) => !effect.startsWith('put'));
  assert.deepEqual([...new Set(once)], once, 'no effect happened twice');
  const calls = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'turn-ended')
      for (const { id, tool, input } of messageToolCalls(event.message))
        calls.set(id, `${tool} ${getCallNumber(input)}`);
    if (event.type === 'tool-ended' && event.outcome === 'ok') {
      const call = calls.get(event.call) ?? '';
      if (!call.startsWith('look')) assert.ok(effects.includes(call), `${call} was acknowledged and happened`);
    }
  }
}

/** Asserts that there are no other files next to the session than the named ones. */
export function assertNoLeftovers(file: string, expected: readonly string[] = []): void {
  const base = path.basename(file);
  const beside = fs.readdirSync(path.dirname(file)).filter((name) => name !== base && name.startsWith(base));
  assert.deepEqual(beside.toSorted(), expected.map((name) => base + name).toSorted());
}
