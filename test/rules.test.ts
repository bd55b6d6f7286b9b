// Guarantees of rules for any rules, tools and crashes: no note is lost, duplicated or shown before a more urgent one, and every denied call gets a result.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import {
  messageToolCalls,
  historyError,
  sortNotes,
  readView,
  openSessionWriter,
  renderRequest,
  runLoop,
  runStateView,
  SAFETY_PRIORITY,
  toArray,
  type ResolvedAgent,
  type Event,
  type NamedView,
  type Note,
  type MessagePart,
  type Provider,
} from '../src/core/index.ts';
import {
  confirm,
  defineReminder,
  exclusive,
  buildFixtureLog,
  rateLimit,
  readBeforeEdit,
  requireOrder,
  compileRuleSet,
  defineGate,
  type GateRule,
  type ExampleStep,
  type ReminderDefinition,
  type CompiledRuleSet,
  type ReminderTrigger,
} from '../src/rules/index.ts';
import { memoryLog } from '../src/stores/index.ts';
import { createEndChunk, createRunStartFacts, roomyLimits, createTestTool } from './support/core-fixture.ts';

const names = ['read_file', 'edit_file', 'a', 'b'] as const;
const propertyOptions = { numRuns: 60 };

const arbitraryReminder: fc.Arbitrary<ReminderDefinition> = fc
  .record({
    name: fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r5', 'r6'),
    on: fc.subarray<ReminderTrigger>(
      ['tool-ended', 'turn-ended', 'tool_call', 'input-received', 'run-started', 'turn-started'],
      { minLength: 1 },
    ),
    every: fc.integer({ min: 1, max: 4 }),
    length: fc.integer({ min: 1, max: 400 }),
    priority: fc.constantFrom(0, 1, 50, SAFETY_PRIORITY),
    group: fc.constantFrom(undefined, 'g', 'h'),
    cooldown: fc.constantFrom(undefined, 1, 3),
    once: fc.boolean(),
    broken: fc.boolean(),
  })
  .map(({ every, length, group, cooldown, broken, ...rest }) => ({
    ...rest,
    when: ({ event }) => {
      if (broken && event.seq % 5 === 0) throw new Error('a fault');
      return event.seq % every === 0;
    },
    message: ({ event }) => `${event.seq} ${'x'.repeat(length)}`,
    ...(group === undefined ? {} : { group }),
    ...(cooldown === undefined ? {} : { cooldown }),
  }));

const throwingGate = defineGate({
  name: 'broken',
  description: 'A fault.',
  decide: ({ tool }) => {
    if (tool === 'b') throw new Error('a fault');
    return undefined;
  },
});
const gates: readonly GateRule[] = [
  readBeforeEdit(),
  rateLimit({ tool: 'a', most: 2, per: 'run' }),
  rateLimit({ tool: 'b', most: 1, per: 'turn', count: 'retries' }),
  requireOrder(['a', 'b']),
  exclusive(['a', 'edit_file']),
  confirm({ which: ['read_file'] }),
  throwingGate,
];

const arbitraryCall = fc.record({ tool: fc.constantFrom(...names), n: fc.nat(2) });
const arbitraryScript = fc.array(fc.array(arbitraryCall, { maxLength: 4 }), { minLength: 1, maxLength: 6 });

/** A model whose answers depend on how often it has answered, so that they are the same after a crash. */
const createModel = (lines: readonly (readonly { readonly tool: string; readonly n: number }[])[]): Provider => ({
  family: 'test',
  model: 'test',
  price: { input: 1, output: 1 },
  async *stream(request) {
    const said = toArray(request.messages).filter(({ role }) => role === 'assistant').length;
    const parts = (lines[said] ?? []).map(({ tool, n }, i): MessagePart => ({
      type: 'tool-call',
      id: `w${i}`,
      tool,
      input: { path: `f${n}` },
    }));
    yield createEndChunk(parts.length ? parts : [{ type: 'text', text: 'done' }]);
  },
});

const createAgent = (parts: CompiledRuleSet, provider: Provider, noteTokens: number): ResolvedAgent => ({
  system: '',
  provider,
  tools: new Map(
    names.map((name) => [
      name,
      createTestTool(name, 'read', (input) => (name === 'b' ? Promise.reject(new Error('no')) : JSON.stringify(input))),
    ]),
  ),
  reminders: [],
  settings: {},
  maxNoteTokens: noteTokens,
  ...parts,
});

/** Runs on this log until nothing is left to do; approvals are granted. */
async function resumeFrom(agent: ResolvedAgent, events: readonly Event[]): Promise<readonly Event[]> {
  const log = memoryLog(events);
  const head = await openSessionWriter(log, runStateView(agent.rules, agent.views));
  if (events.length === 0) await head.record(createRunStartFacts(agent, { ...roomyLimits, errors: 50 }));
  for (let round = 0; round < 60; round++) {
    const state = await runLoop(agent, {
      writer: head,
      signal: new AbortController().signal,
      onChunk: () => {},
      clock: () => 0,
    });
    const open = state.calls.find(({ ask }) => ask && ask.allowed === undefined);
    if (!open) break;
    await head.record([{ type: 'approval-resolved', call: open.id, allowed: true }]);
  }
  return log.events;
}

/** Returns the notes that the rules added at each event, separate from the queue. */
function collectNotes(agent: ResolvedAgent, events: readonly Event[]): ReadonlyMap<number, readonly Note[]> {
  const found = new Map<number, Note[]>();
  const listening = agent.rules.map((rule): ResolvedAgent['rules'][number] => (event, state) => {
    const notes = rule(event, state);
    found.set(event.seq, [...(found.get(event.seq) ?? []), ...notes]);
    return notes;
  });
  let state = runStateView(listening, agent.views).initial;
  for (const event of events) state = runStateView(listening, agent.views).on(state, event);
  return found;
}

/** Replays a log with its own queue, and checks what happened to every note. */
function checkNotes(agent: ResolvedAgent, events: readonly Event[], finalQueue: readonly Note[]): void {
  const made = collectNotes(agent, events);
  const waiting = new Map<string, Note>();
  for (const event of events) {
    if (event.type === 'turn-started') {
      for (const note of event.notes) {
        assert.equal(
          waiting.get(note.key)?.text,
          note.text,
          `${note.key} is shown because it was waiting, and only once`,
        );
        waiting.delete(note.key);
      }
      assert.deepEqual(event.notes, sortNotes(event.notes), 'the more urgent first, groups together');
      for (const left of waiting.values()) assert.ok((left.priority ?? 0) < SAFETY_PRIORITY, 'safety never waits');
    }
    for (const note of made.get(event.seq) ?? []) waiting.set(note.key, note);
  }
  assert.deepEqual(
    finalQueue.map(({ key, text }) => `${key} ${text}`).toSorted(),
    [...waiting.values()].map(({ key, text }) => `${key} ${text}`).toSorted(),
    'a note that was not shown still waits',
  );
}

test('[M31, M32, M33, M34, M35] under any rules, tools and crashes no note is lost, duplicated or out of order, and every denied call gets a result', async () => {
  const cases = fc.tuple(
    fc.array(arbitraryReminder, { maxLength: 6 }),
    fc.subarray([...gates]),
    arbitraryScript,
    fc.nat(200),
    fc.array(fc.nat(60), { maxLength: 2 }),
  );
  await fc.assert(
    fc.asyncProperty(cases, async ([reminders, chosen, lines, allowance, cuts]) => {
      const parts = compileRuleSet({ name: 'any', reminders: reminders.map(defineReminder), gates: chosen });
      const agent = createAgent(parts, createModel(lines), allowance);
      let events = await resumeFrom(agent, []);
      for (const cut of cuts)
        events = await resumeFrom(agent, events.slice(0, 4 + (cut % Math.max(1, events.length - 4))));
      const { state } = await openSessionWriter(memoryLog(events), runStateView(agent.rules, agent.views));
      checkNotes(agent, events, state.queue);
      assert.equal(historyError(toArray(renderRequest(state, agent).messages)), undefined);
      const asked = events.flatMap((event) =>
        event.type === 'turn-ended' ? messageToolCalls(event.message).map(({ id }) => id) : [],
      );
      const ended = events.flatMap((event) => (event.type === 'tool-ended' ? [event.call] : []));
      assert.deepEqual(ended.toSorted(), asked.toSorted(), 'each call has one result');
      assert.ok(state.ended, 'the run ended');
    }),
    propertyOptions,
  );
});

const arbitraryStep: fc.Arbitrary<ExampleStep> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      called: fc.constantFrom(...names),
      input: fc.record({ path: fc.constantFrom('x', './x', 'y') }),
      outcome: fc.constantFrom('ok', 'failed', 'denied'),
      result: fc.constantFrom('same', 'other'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ said: fc.constantFrom('go', 'see src/a.ts and #12', 'mail a@b.org') }) },
  fc.record({ said: fc.constant('hm'), how: fc.constantFrom('steer', 'follow-up') }),
  fc.record({ answered: fc.constantFrom('ok', 'look at `main`') }),
  fc.constant({ compacted: true } as const),
  fc.record({ pausedMinutes: fc.nat(90) }),
  fc.record({ model: fc.constantFrom('m1', 'm2') }),
);

/** Converts the state of a view to plain data, with maps as sorted lists, because their order is irrelevant. */
const toPlain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== 'object' || value === null) return value;
  if ('buckets' in value && 'size' in value)
    return {
      size: value.size,
      entries: (value.buckets as unknown[][])
        .flat()
        .map((entry) => JSON.stringify(toPlain(entry)))
        .toSorted(),
    };
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toPlain(each)]));
};

test('[M11, M16] every built-in view is the same folded from an epoch as from the root', async () => {
  const views: readonly NamedView<unknown>[] = compileRuleSet({
    name: 'all',
    reminders: [
      { name: 'r', on: 'tool-ended', message: 'x', cooldown: 2 },
      { name: 'o', tool: 'a', message: 'x', once: true },
    ],
    gates: [
      ...gates,
      rateLimit({ tool: 'a', most: 2, per: { minutes: 30 } }),
      rateLimit({ tool: 'b', most: 2, per: { minutes: 30 }, count: 'retries' }),
    ],
  }).views;
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryStep, { maxLength: 40 }),
      fc.array(arbitraryStep, { maxLength: 6 }),
      async (before, after) => {
        const { events } = buildFixtureLog([{ said: 'go' }, ...before, { compacted: true }, ...after], { views });
        const view = runStateView([], views);
        const root = await openSessionWriter(memoryLog(events), view, 'root');
        const epoch = await openSessionWriter(memoryLog(events), view, 'epoch');
        for (const each of views)
          assert.deepEqual(toPlain(readView(epoch.state, each)), toPlain(readView(root.state, each)), each.name);
      },
    ),
    propertyOptions,
  );
});
