// Deferred tools in a real loop: they cannot run before they are loaded, and loading does not change the request prefix.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  openSessionWriter,
  runLoop,
  runStateView,
  toArray,
  type ResolvedAgent,
  type ToolCall,
  type Chunk,
  type Gate,
  type Json,
  type Limits,
  type Message,
  type ModelRequest,
  type Tool,
} from '../core/index.ts';
import { memoryLog } from '../stores/index.ts';
import { defineTool } from './define-tool.ts';
import { visibleToolSpecs, createToolRegistry } from './tool-registry.ts';

type ScriptedCall = readonly [tool: string, input: Json];

const limits: Limits = { turns: 20, errors: 9, maxRetriesPerAnswer: 1, stuckAfter: 9, outputChars: 100_000 };
const load = (...names: string[]): ScriptedCall => ['load_tools', { names }];
const use = (tool: string, input: Json): ScriptedCall => ['use_tool', { tool, input }];

/** Runs the answers in order, each a turn of calls, and returns their outcomes. */
async function runScript(
  tools: readonly Tool[],
  rounds: readonly (readonly ScriptedCall[])[],
  gates: readonly Gate[] = [],
) {
  const requests: ModelRequest[] = [];
  const parts: ResolvedAgent = {
    system: 's',
    tools: createToolRegistry(tools),
    rules: [],
    reminders: [],
    gates,
    stops: [],
    checks: [],
    settings: {},
    provider: {
      family: 'test',
      model: 'm',
      async *stream(request): AsyncIterable<Chunk> {
        const round = rounds[requests.push(request) - 1];
        const message: Message = {
          role: 'assistant',
          parts: round?.map(([tool, input], i) => ({ type: 'tool-call', id: `x${i}`, tool, input })) ?? [
            { type: 'text', text: 'done' },
          ],
        };
        yield {
          type: 'end',
          message,
          finishReason: round ? 'tool-calls' : 'stop',
          usage: { input: 1, output: 1 },
          model: 'm',
        };
      },
    },
  };
  const log = memoryLog();
  const head = await openSessionWriter(log, runStateView());
  await head.record([
    { type: 'session-started', session: 's1' },
    {
      type: 'epoch-started',
      epoch: 1,
      reason: 'started',
      system: 's',
      tools: visibleToolSpecs(parts.tools),
      model: 'm',
    },
    { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'go' }] },
    { type: 'run-started', run: 'r1', limits },
  ]);
  const signal = new AbortController().signal;
  const state = await runLoop(parts, { writer: head, signal, onChunk: () => {}, clock: () => performance.now() });
  assert.equal(state.ended?.reason, 'answered');
  const results = toArray(state.messages).flatMap(({ parts: each }) =>
    each.filter((part) => part.type === 'tool-result'),
  );
  return { requests, results, events: log.events };
}

/** A visible tool and two deferred ones of one group, and the inputs they got. */
function createTools() {
  const ran: Json[] = [];
  const note = (name: string) => (input: Json) => {
    ran.push([name, input]);
    return `${name} ran`;
  };
  const input = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
  const tools = [
    defineTool({
      name: 'look',
      description: 'Looks around.',
      input: { type: 'object' },
      effect: 'read',
      run: note('look'),
    }),
    defineTool({ name: 'db__drop', description: 'Drops a table. Forever!', input, hidden: true, run: note('drop') }),
    defineTool({
      name: 'db__count',
      description: 'Counts rows',
      input,
      hidden: true,
      effect: 'read',
      run: note('count'),
    }),
  ];
  return { ran, tools };
}

test('[D6] a deferred tool that was not loaded does not run, directly or through use_tool', async () => {
  const { ran, tools } = createTools();
  const { results, events } = await runScript(tools, [[['db__drop', { n: 1 }]], [use('db__drop', { n: 1 })]]);
  assert.deepEqual(ran, []);
  assert.deepEqual(
    results.map((result) => [result.failed, result.text]),
    [
      [true, 'The tool db__drop is not loaded, so nothing was run. Load it first.'],
      [true, 'The tool db__drop is not loaded, so nothing was run. Load it first.'],
    ],
  );
  assert.equal(events.filter((event) => event.type === 'tool-started').length, 0);
});

test('[D5] [D6] a loaded tool runs through use_tool and by its own name', async () => {
  const { ran, tools } = createTools();
  const { results } = await runScript(tools, [
    [load('db__drop')],
    [use('db__drop', { n: 1 })],
    [['db__drop', { n: 2 }]],
  ]);
  assert.deepEqual(ran, [
    ['drop', { n: 1 }],
    ['drop', { n: 2 }],
  ]);
  assert.deepEqual(
    results.slice(1).map((result) => result.text),
    ['drop ran', 'drop ran'],
  );
  assert.match(
    results[0]?.text ?? '',
    /^db__drop: Drops a table\. Forever!\nInput schema: \{"type":"object".*use_tool with \{"tool": "db__drop"/s,
  );
});

test('[D6] loading one tool does not let another run', async () => {
  const { ran, tools } = createTools();
  await runScript(tools, [[load('db__count')], [use('db__drop', { n: 1 }), ['db__drop', { n: 1 }]]]);
  assert.deepEqual(ran, []);
});

test('[D6] a tool may be loaded and used in one answer, in that order only', async () => {
  const { ran, tools } = createTools();
  await runScript(tools, [[use('db__drop', { n: 1 }), load('db__drop'), use('db__drop', { n: 2 })]]);
  assert.deepEqual(ran, [['drop', { n: 2 }]]);
});

test('[D5] [D15] the tool list of requests never changes, whatever is loaded, and has no deferred tool', async () => {
  const { tools } = createTools();
  const { requests } = await runScript(tools, [[load('db')], [use('db__count', { n: 1 })], [['look', {}]]]);
  const lists = requests.map((request) => JSON.stringify(request.tools));
  assert.equal(lists.length, 4);
  assert.equal(new Set(lists).size, 1);
  assert.deepEqual(
    requests[0]?.tools.map((tool) => tool.name),
    ['look', 'load_tools', 'use_tool'],
  );
  assert.deepEqual(Object.keys(requests[0]?.tools[0] ?? {}), ['name', 'description', 'input']);
});

test('gates see the tool behind use_tool with its own name and input, and a denial holds', async () => {
  const { ran, tools } = createTools();
  const judged: (readonly [string, Json])[] = [];
  const gate: Gate = (call: ToolCall) => {
    judged.push([call.tool, call.input]);
    return call.tool === 'db__drop' ? { type: 'deny', reason: 'No dropping.' } : { type: 'allow' };
  };
  const { results } = await runScript(
    tools,
    [[load('db')], [use('db__drop', { n: 7 }), use('db__count', { n: 8 })]],
    [gate],
  );
  assert.deepEqual(judged, [
    ['load_tools', { names: ['db'] }],
    ['db__drop', { n: 7 }],
    ['db__count', { n: 8 }],
  ]);
  assert.deepEqual(ran, [['count', { n: 8 }]]);
  assert.deepEqual(
    results.slice(1).map((result) => result.text),
    ['No dropping.', 'count ran'],
  );
});

test('input given through use_tool is checked against the schema of the tool behind it', async () => {
  const { ran, tools } = createTools();
  const { results } = await runScript(tools, [
    [load('db')],
    [use('db__drop', { n: 'x' }), use('use_tool', {}), ['use_tool', {}]],
  ]);
  assert.deepEqual(ran, []);
  assert.match(
    results[1]?.text ?? '',
    /schema of db__drop, so nothing was run: At \/n: expected number, found string\./,
  );
  assert.ok(results.every((result, i) => i === 0 || result.failed));
});

test('[D6] an unknown name loads nothing, not even known ones in the same call, and the result lists the available tools', async () => {
  const { ran, tools } = createTools();
  const { results } = await runScript(tools, [[load('db__drop', 'db__drpo')], [use('db__drop', { n: 1 })], [load()]]);
  assert.deepEqual(ran, []);
  assert.equal(
    results[0]?.text,
    'Nothing was loaded: there is no tool to load named db__drpo. There are: db__drop, db__count.',
  );
  assert.equal(results[2]?.text, 'db__drop: Drops a table.\ndb__count: Counts rows');
});

test('load_tools lists each deferred tool with its first sentence, by group', () => {
  const { tools } = createTools();
  const lone = defineTool({
    name: 'sing',
    description: 'Sings.',
    input: { type: 'object' },
    hidden: true,
    run: () => '',
  });
  const description = createToolRegistry([...tools, lone]).get('load_tools')?.description ?? '';
  assert.ok(
    description.endsWith(':\nsing: Sings.\n[db]\ndb__drop: Drops a table.\ndb__count: Counts rows'),
    description,
  );
});

test('the list of a thousand deferred tools is bounded', () => {
  const many = Array.from({ length: 1000 }, (_, i) =>
    defineTool({
      name: `group${i % 7}__tool_number_${i}`,
      description: 'x'.repeat(500),
      input: { type: 'object' },
      hidden: true,
      run: () => '',
    }),
  );
  const description = createToolRegistry(many).get('load_tools')?.description ?? '';
  assert.ok(description.length < 8100);
  assert.match(description, /Call this with no names to see them all\.$/);
});

test('[D5] without deferred tools nothing is added, and the order is kept', () => {
  const [look] = createTools().tools as [Tool];
  assert.deepEqual(
    [
      ...createToolRegistry([
        { ...look, name: 'b' },
        { ...look, name: 'a' },
      ]).keys(),
    ],
    ['b', 'a'],
  );
});

test('[P71] two tools of one name, a tool that cannot be called and a reserved name are refused', () => {
  const [look] = createTools().tools as [Tool];
  assert.throws(() => createToolRegistry([look, look]), {
    code: 'tool/bad-definition',
    message: /"look" cannot be used: there are two tools of this name/,
  });
  assert.throws(() => createToolRegistry([{ ...look, execute: undefined as never }]), /no execute function/);
  assert.throws(() => createToolRegistry([{ ...look, name: 'load_tools' }]), /reserved for loading/);
});

test('use_tool itself never runs', () => {
  const tool = createToolRegistry(createTools().tools).get('use_tool');
  assert.throws(() => tool?.execute({ tool: 'db__drop', input: {} }, {} as never), /never runs itself/);
});

test('a tool without a validator is validated against its schema', async () => {
  const input: Tool['input'] = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  const plain: Tool = { name: 'plain', description: 'Plain.', input, effect: 'read', execute: () => 'ran' };
  const checked = createToolRegistry([plain]).get('plain');
  assert.match(checked?.validate?.({ path: 1 }) ?? '', /path/);
  assert.equal(checked?.validate?.({ path: 'a' }), undefined);
  const own: Tool = { ...plain, validate: () => undefined };
  assert.equal(createToolRegistry([own]).get('plain'), own);
  assert.throws(() => createToolRegistry([{ ...plain, input: { type: 'nonsense' } }]), { code: 'schema/broken' });
});
