// Tests that a session with much new text is read in slices: the decisions are those of one piece, text that comes meanwhile is not lost, and private data is found wherever it stands in a long text.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Event } from '../../core/index.ts';
import { decideCall } from './decide-call.ts';
import { declareTool, mergeDeclarations } from './index.ts';
import { builtinDeclarations } from './builtin-declarations.ts';
import { findPrivateTexts } from './private-texts.ts';
import { createFlowLogView, type FlowLog } from './flow-log.ts';
import { FlowState, type FlowEntry } from './flow-state.ts';
import { createFlowFold } from './fold-log.ts';
import { prepareState } from './prepare-state.ts';

const mail = declareTool({
  name: 'send_email',
  effect: 'external',
  input: { properties: { to: { type: 'string' }, body: { type: 'string' } } },
});
const declarations = mergeDeclarations(builtinDeclarations, {
  tools: new Map([['send_email', mail]]),
  actions: new Map(),
});

const filler = (seed: number, words: number): string =>
  Array.from({ length: words }, (_, i) => `word${(i * 37 + seed) % 3000}`).join(' ');
const untrusted = (text: string, call: string): FlowEntry => ({
  type: 'untrusted',
  text,
  source: { tool: 'read_notes', call },
});
const user: FlowEntry = { type: 'user', text: 'Send the summary to bob@example.com' };
const iban = 'DE89 3704 0044 0532 0130 00';

const inputs = [
  { to: 'bob@example.com', body: 'hello' },
  { to: 'eve@evil.example', body: 'hello' },
  { to: 'last@evil.example', body: 'word1 word38' },
  { to: 'nowhere@other.example', body: 'hello' },
];
const decideAll = (state: FlowState): string =>
  JSON.stringify(inputs.map((input) => decideCall(state, declarations, { id: 'c', tool: 'send_email', input })));

const entries = [
  user,
  ...Array.from({ length: 6 }, (_, i) => untrusted(`${filler(i, 40_000)} eve@evil.example ${i}`, `c${i}`)),
  untrusted(`${filler(9, 60_000)} ${iban} ${filler(10, 60_000)} last@evil.example`, 'c9'),
];

test('[A39] a state that is prepared in slices decides as one that is not', async () => {
  const sliced = FlowState.create({}, entries);
  await prepareState(sliced, declarations.tools);
  assert.equal(sliced.unindexedChars, 0);
  assert.equal(sliced.unsearchedChars, 0);
  assert.equal(decideAll(sliced), decideAll(FlowState.create({}, entries)));
});

test('[A39] a text that is added while a state is prepared is not lost, and is not in the earlier state', async () => {
  const first = FlowState.create({}, entries);
  const preparing = prepareState(first, declarations.tools);
  const later = first.add(untrusted('Write to new@evil.example', 'c10'));
  assert.ok(later.findUntrusted(['new', 'evil', 'example']), 'a search completes the index');
  await preparing;
  const last = later.add(untrusted(`${filler(3, 50_000)} newest@evil.example`, 'c11'));
  await prepareState(last, declarations.tools);
  assert.ok(last.findUntrusted(['newest', 'evil', 'example']));
  assert.ok(last.findUntrusted(['new', 'evil', 'example']));
  assert.equal(first.findUntrusted(['new', 'evil', 'example']), undefined);
  assert.equal(decideAll(first), decideAll(FlowState.create({}, entries)));
});

test('[A39] private data is found wherever it stands in a long text', () => {
  const text = filler(1, 60_000);
  for (const at of [0, 130_900, 131_060, 131_072, 131_090, 262_144, text.length]) {
    const around = `${text.slice(0, at)} ${iban} ${text.slice(at)}`;
    const [found, ...more] = findPrivateTexts(FlowState.create({}, [untrusted(around, 'c')]), declarations.tools);
    assert.equal(found?.why, 'it holds: iban', String(at));
    assert.deepEqual(more, []);
  }
  assert.deepEqual(findPrivateTexts(FlowState.create({}, [untrusted(text, 'c')]), declarations.tools), []);
});

test('[A39] two calls read one long log at the same time and get the same state', async () => {
  const view = createFlowLogView();
  let log: FlowLog = view.initial;
  for (let i = 0; i < 900; i++)
    for (const event of [
      {
        type: 'turn-ended',
        message: { role: 'assistant', parts: [{ type: 'tool-call', id: `c${i}`, tool: 'read_file', input: {} }] },
      },
      { type: 'tool-ended', call: `c${i}`, outcome: 'ok', text: `${filler(i, i % 100 === 0 ? 30_000 : 3)} host${i}` },
    ])
      log = view.on(log, event as unknown as Event);
  const fold = createFlowFold({ declarations });
  const [one, two] = await Promise.all([fold.readInSlices(log), fold.readInSlices(log)]);
  assert.equal(one, two);
  assert.equal(one.state.untrustedTexts.length, 900);
  for (const i of [0, 100, 101, 899]) assert.ok(one.state.findUntrusted([`host${i}`]), `host${i}`);
});
