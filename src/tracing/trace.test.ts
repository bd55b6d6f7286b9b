// The trace of a session: a tree of runs, turns, model calls, tool calls, gates, checks and sub-agents, with the same ids in every export.
import assert from 'node:assert/strict';
import test from 'node:test';
import { agentTool, createToolRegistry, defineTool, Session } from '../agent/index.ts';
import type { Event, Fact, Gate, ModelRequest, ResolvedAgent, Tool } from '../core/index.ts';
import { memoryLog } from '../stores/index.ts';
import { calls, fails, says, scriptedProvider, type Script } from '../testing/index.ts';
import {
  arrangeSpans,
  buildTrace,
  createTracer,
  formatTrace,
  readTracingOptions,
  type Span,
  type SpanTree,
} from './index.ts';

const tool = (name: string, run: () => unknown): Tool =>
  defineTool({ name, description: `${name}.`, effect: 'read', input: { type: 'object' }, run });

const createParts = (
  script: Script<ModelRequest>,
  tools: readonly Tool[] = [],
  more: Partial<ResolvedAgent> = {},
): ResolvedAgent => ({
  system: 's',
  provider: scriptedProvider(script),
  tools: createToolRegistry(tools),
  rules: [],
  reminders: [],
  gates: [],
  stops: [],
  checks: [],
  settings: {},
  ...more,
});

/** The trees as nested names. */
const outline = (trees: readonly SpanTree[]): readonly unknown[] =>
  trees.map(({ span, children }) => {
    const label = `${span.kind} ${span.name}${span.error === undefined ? '' : ` !${span.error}`}`;
    return children.length > 0 ? [label, outline(children)] : label;
  });

test('[A23] a run is a tree of turns with model calls, tool calls, gate decisions and checks', async () => {
  const log = memoryLog();
  const gate: Gate = ({ tool: name }) =>
    name === 'danger'
      ? { type: 'deny', reason: 'no', by: { kind: 'policy', name: 'no-danger' } }
      : name === 'write'
        ? { type: 'ask', question: 'May it write?' }
        : { type: 'allow' };
  const parts = createParts(
    [calls('danger').and(calls('work')), calls('write'), calls('missing'), says('done')],
    [tool('work', () => 'ok'), tool('danger', () => 'bad'), tool('write', () => 'ok')],
    { gates: [gate], checks: [{ name: 'facts', run: () => ({ type: 'passed' }) }] },
  );
  const session = await Session.open(parts, log, 's1');
  await session.advance('go', { runId: 'r1' });
  await session.approve('c00002000', { by: 'user' });
  await session.advance(undefined);
  const spans = buildTrace({ session: 's1', events: log.events });
  assert.deepEqual(outline(arrangeSpans(spans)), [
    [
      'run fairlead',
      [
        ['turn turn 1', ['model scripted', 'gate no-danger', 'tool work']],
        ['turn turn 2', ['model scripted', 'gate permission', 'tool write']],
        ['turn turn 3', ['model scripted', 'tool missing !failed']],
        ['turn turn 4', ['model scripted']],
        'check all',
      ],
    ],
  ]);
  const gates = spans.filter(({ kind }) => kind === 'gate').map(({ details }) => details.gate);
  assert.deepEqual(gates, [
    { component: 'policy', name: 'no-danger', verdict: 'deny', action: 'block' },
    { component: 'permission', verdict: 'escalate', action: 'allow', by: 'user' },
  ]);
  assert.deepEqual(
    buildTrace({ session: 's1', events: log.events }).map(({ spanId }) => spanId),
    spans.map(({ spanId }) => spanId),
    'the ids are derived from the log',
  );
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
  assert.ok(spans.every(({ start, end }) => end !== undefined && end >= start));
});

test('[A23] a failed turn is an error with its code, and the run names why it ended', async () => {
  const log = memoryLog();
  const session = await Session.open(createParts([fails(400)]), log, 's1');
  await session.advance('go', { runId: 'r1' });
  const spans = buildTrace({ session: 's1', events: log.events });
  const model = spans.find(({ kind }) => kind === 'model');
  assert.match(model?.error ?? '', /^provider\//);
  const run = spans.find(({ kind }) => kind === 'run');
  assert.equal(run?.details.stopReason, 'provider-error');
  assert.match(run.error ?? '', /^provider\//);
});

const helper = agentTool({ name: 'helper', description: 'Does a part of it.', system: 'You help.' });
const withHelper = (more: Partial<ResolvedAgent> = {}): ResolvedAgent =>
  createParts(
    (asked) => {
      if (asked.body.system === 'You help.') return asked.results.length ? says('child done') : calls('work');
      return asked.results.length ? says('all done') : calls('helper', { task: 'do it' });
    },
    [helper, tool('work', () => 'ok')],
    more,
  );

/** A tracer whose spans are collected instead of sent. */
function createCollectingTracer(
  env: Record<string, string> = {},
): ReturnType<typeof createTracer> & { readonly spans: Span[] } {
  const spans: Span[] = [];
  const options = readTracingOptions({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', ...env });
  assert.ok(options);
  const { traces: _, metrics: __, ...rest } = options;
  const tracer = createTracer({ options: rest, version: '0', onSpan: (span) => spans.push(span) });
  return Object.assign(tracer, { spans });
}

test('[A23, A50] a sub-agent is a child of the tool call that started it, live and after the fact, with the same ids', async () => {
  const tracer = createCollectingTracer();
  const log = memoryLog();
  const session = await Session.open(withHelper({ trace: tracer }), log, 's1');
  await session.advance('go', { runId: 'r1' });
  const live = tracer.spans.toSorted((a, b) => a.start - b.start);
  const [root, ...more] = arrangeSpans(live);
  assert.equal(more.length, 0, 'one tree');
  assert.ok(root);
  const flat = JSON.stringify(outline([root]));
  assert.match(flat, /"tool helper",\["?.*run subagent/);
  assert.equal(new Set(live.map(({ traceId }) => traceId)).size, 1);
  const recorded = buildTrace({ session: 's1', events: log.events });
  const ids = new Set(live.map(({ spanId }) => spanId));
  assert.ok(
    recorded.every(({ spanId }) => ids.has(spanId)),
    'the spans of the parent have the same ids live',
  );
});

test('[A50] the request of the caller becomes the parent, and requests to the model carry the span of the model call', async () => {
  const tracer = createCollectingTracer();
  const log = memoryLog();
  const parts = createParts([says('done')], [], { trace: tracer });
  const session = await Session.open(parts, log, 's1');
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const trace = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'a=1' };
  await session.advance('go', { runId: 'r1', trace });
  const run = tracer.spans.find(({ kind }) => kind === 'run');
  assert.deepEqual([run?.traceId, run?.parentId, run?.hasRemoteParent], [traceId, 'b7ad6b7169203331', true]);
  const model = tracer.spans.find(({ kind }) => kind === 'model');
  const { requests } = parts.provider as unknown as { readonly requests: readonly ModelRequest[] };
  assert.deepEqual(requests[0]?.trace, { traceparent: `00-${traceId}-${model?.spanId}-01`, tracestate: 'a=1' });
  const [again] = buildTrace({ session: 's1', events: log.events });
  assert.deepEqual([again?.traceId, again?.spanId], [run?.traceId, run?.spanId], 'the log keeps the parent');
});

test('[A50] a run that its caller does not record is not exported, and its requests say so', async () => {
  const tracer = createCollectingTracer();
  const parts = createParts([says('done')], [], { trace: tracer });
  const session = await Session.open(parts, memoryLog(), 's1');
  await session.advance('go', { trace: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' } });
  assert.deepEqual(tracer.spans, []);
  const { requests } = parts.provider as unknown as { readonly requests: readonly ModelRequest[] };
  assert.match(requests[0]?.trace?.traceparent ?? '', /-00$/);
});

/** A tracer without a listener: the events wait. */
function createWaitingTracer(): ReturnType<typeof createTracer> {
  const options = readTracingOptions({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  assert.ok(options);
  const { traces: _, metrics: __, ...rest } = options;
  return createTracer({ options: rest, version: '0' });
}

test('[A50] the requests of a sub-agent whose spans are not built yet belong to the trace of its parent', async () => {
  const parts = withHelper({ trace: createWaitingTracer() });
  const session = await Session.open(parts, memoryLog(), 's1');
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  await session.advance('go', { trace: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } });
  const { requests } = parts.provider as unknown as { readonly requests: readonly ModelRequest[] };
  assert.equal(requests.length, 4);
  for (const { trace } of requests) assert.match(trace?.traceparent ?? '', new RegExp(`^00-${traceId}-`));
});

test('[A50] the requests of runs whose spans are not built yet carry the ids that the trace has later', async () => {
  const trace = createWaitingTracer();
  const opened = await Promise.all(
    ['s1', 's2'].map(async (name) => {
      const log = memoryLog();
      const script = Array.from({ length: 4 }, () => [calls('work'), calls('work'), says('done')]).flat();
      const parts = createParts(script, [tool('work', () => 'ok')], { trace });
      return { name, log, parts, session: await Session.open(parts, log, name) };
    }),
  );
  let callerCount = 0;
  const advance = (at: number, runId: string): Promise<unknown> | undefined => {
    const traceparent = `00-${String(++callerCount).padStart(32, 'a')}-b7ad6b7169203331-01`;
    return opened[at]?.session.advance('go', { runId, trace: { traceparent } });
  };
  // A run starts again with another caller, and the sessions have runs with the same id, at last at the same time.
  for (const [at, runId] of [
    [0, 'r1'],
    [0, 'r1'],
    [1, 'r1'],
    [0, 'r2'],
    [1, 'r1'],
    [1, 'r2'],
  ] as const)
    await advance(at, runId);
  await Promise.all([advance(0, 'r9'), advance(1, 'r9')]);
  for (const { name, log, parts } of opened) {
    const { requests } = parts.provider as unknown as { readonly requests: readonly ModelRequest[] };
    const models = buildTrace({ session: name, events: log.events }).filter(({ kind }) => kind === 'model');
    assert.deepEqual([models.length, requests.length], [12, 12]);
    assert.deepEqual(
      new Set(requests.map((request) => request.trace?.traceparent)),
      new Set(models.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)),
    );
  }
});

const event = (seq: number, fact: Fact): Event => ({
  ...fact,
  seq,
  id: `e${seq}`,
  parent: seq === 1 ? null : `e${seq - 1}`,
  time: new Date(Date.UTC(2026, 0, 1, 0, 0, seq)).toISOString(),
});

test('[A23] a plan is a workflow with its steps, and the runs of the steps belong to it', () => {
  const step = (status: string): Fact => ({
    type: 'annotation-added',
    key: 'plan',
    value: { steps: [{ id: 'a', words: 'x', after: [], status }] },
  });
  const plan = buildTrace({
    session: 'p',
    events: [
      event(1, { type: 'session-started', session: 'p' }),
      event(2, step('waiting')),
      event(3, step('under-way')),
      event(4, step('done')),
    ],
  });
  assert.deepEqual(outline(arrangeSpans(plan)), [['workflow plan', ['step a']]]);
  const revision = (...statuses: readonly string[]): Fact => ({
    type: 'annotation-added',
    key: 'plan',
    value: { steps: statuses.map((status, i) => ({ id: 'abc'.charAt(i), status })) },
  });
  const facts = [
    revision(),
    revision('under-way', 'waiting'),
    revision('verifying', 'replaced', 'waiting'),
    revision('done', 'replaced', 'failed'),
  ];
  const revised = buildTrace({ session: 'p', events: facts.map((fact, i) => event(i + 1, fact)) });
  assert.deepEqual(outline(arrangeSpans(revised)), [['workflow plan', ['step a', 'step c !failed']]]);
  const at = (seq: number): number => Date.UTC(2026, 0, 1, 0, 0, seq);
  assert.deepEqual(
    new Map(revised.map(({ name, start, end }) => [name, [start, end]])),
    new Map([
      ['a', [at(2), at(4)]],
      ['c', [at(4), at(4)]],
      ['plan', [at(1), at(4)]],
    ]),
  );
  const limits = { turns: 1, errors: 1, maxRetriesPerAnswer: 0, stuckAfter: 0, outputChars: 1 };
  const child = buildTrace({
    session: 'p/step-a-1',
    events: [
      event(1, { type: 'run-started', run: 'p/step-a-1', limits }),
      event(2, { type: 'run-ended', reason: 'answered' }),
    ],
  });
  assert.equal(child[0]?.parentId, plan.find(({ kind }) => kind === 'step')?.spanId);
  assert.equal(child[0]?.traceId, plan[0]?.traceId);
});

test('[A23] a trace in a terminal keeps its width and shows text from outside escaped', async () => {
  const log = memoryLog();
  const session = await Session.open(
    createParts([calls('work'), says('done')], [{ ...tool('work', () => 'ok'), name: 'work' }]),
    log,
    's1',
  );
  await session.advance('go', { runId: 'r1' });
  const events = log.events.map((each) =>
    each.type === 'tool-started' ? { ...each, tool: `\u001B[31m${'evil\n'.repeat(30)}` } : each,
  );
  const trees = arrangeSpans(buildTrace({ session: 's1', events }));
  for (const width of [40, 60, 100]) {
    const text = formatTrace(trees, { width });
    assert.ok(
      text.split('\n').every((line) => line.length <= width),
      `${width}`,
    );
    assert.ok(!text.includes('\u001B'));
    assert.match(text, /├ turn 1[^]*│ ├ model scripted[^]*│ └ tool ␛\[31mevil␊/);
  }
});
