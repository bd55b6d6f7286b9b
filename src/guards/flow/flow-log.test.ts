// Tests what the flow policy keeps of a long session: events that were read are released, repeated texts are kept once, and older states stay valid.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Event } from '../../core/index.ts';
import { builtinDeclarations } from './builtin-declarations.ts';
import { createFlowLogView, listEvents, type FlowLog } from './flow-log.ts';
import { createFlowFold } from './fold-log.ts';
import { TokenIndex } from './token-index.ts';

const events = (i: number, text: string): readonly Event[] =>
  [
    {
      type: 'turn-ended',
      message: {
        role: 'assistant',
        parts: [{ type: 'tool-call', id: `c${i}`, tool: 'read_file', input: { path: 'a' } }],
      },
    },
    { type: 'tool-started', call: `c${i}`, tool: 'read_file' },
    { type: 'tool-ended', call: `c${i}`, outcome: 'ok', text },
  ] as unknown as readonly Event[];

const view = createFlowLogView();
const addAll = (log: FlowLog, list: readonly Event[]): FlowLog => list.reduce((all, event) => view.on(all, event), log);

test('[A39] events are released once they were read, and what they said stays', () => {
  const fold = createFlowFold({ declarations: builtinDeclarations });
  let log = view.initial;
  for (let i = 0; i < 2000; i++) {
    log = addAll(log, events(i, `host${i}.example`));
    if (i % 20 === 19) fold.read(log);
    assert.ok(listEvents(log).length <= 61, 'only events since the last read');
  }
  const { state } = fold.read(log);
  assert.ok(state.findUntrusted(['host0', 'example']));
  assert.ok(state.findUntrusted(['host1999', 'example']));
});

test('[A39] an older state of a session stays valid, and another fold reads what the first one has read', () => {
  const fold = createFlowFold({ declarations: builtinDeclarations });
  const first = addAll(view.initial, events(1, 'one.example'));
  const second = addAll(first, events(2, 'two.example'));
  fold.read(second);
  assert.equal(fold.read(first).state.findUntrusted(['two']), undefined);
  assert.ok(fold.read(first).state.findUntrusted(['one']));
  const other = createFlowFold({ declarations: builtinDeclarations });
  const { state } = other.read(addAll(second, events(3, 'three.example')));
  for (const word of ['one', 'two', 'three']) assert.ok(state.findUntrusted([word]), word);
});

test('[A39] a text that is read again is kept once', () => {
  const fold = createFlowFold({ declarations: builtinDeclarations });
  let log = view.initial;
  for (let i = 0; i < 50; i++) log = addAll(log, events(i, 'The same page of evil.example.'));
  assert.equal(fold.read(log).state.entries.filter(({ type }) => type === 'untrusted').length, 1);
});

test('[A39] the index finds the first text of each sequence, also after many tokens', () => {
  const index = new TokenIndex(true);
  for (let i = 0; i < 3000; i++) index.add(`common words w${i} averyveryverylongtoken${i} ${'x '.repeat(40)}end`);
  for (const i of [0, 1, 1023, 1500, 2999]) {
    assert.equal(index.find([`w${i}`, `averyveryverylongtoken${i}`], 3000), i);
    assert.equal(index.find([`w${i}`], i), undefined, 'not in the texts before');
  }
  assert.equal(index.find(['common', 'words'], 3000), 0);
  assert.equal(index.find(['words', 'common'], 3000), undefined);
  index.add('p q p');
  index.add('q p p');
  assert.equal(index.find(['p', 'p'], 3002), 3001, 'a later place of the same token');
  assert.equal(index.find(['end', 'common'], 3000), undefined, 'no match spans two texts');
});
