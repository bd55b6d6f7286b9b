// Conformance tests of stores for partial text.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { FleetStore, PartialTextChannel, PartialText } from '../../src/core/index.ts';

type RegisterPartialTextTest = (
  title: string,
  work: (open: () => Promise<FleetStore>, t: TestContext) => Promise<void>,
) => void;

/** A subscriber: its current text, and all chunks that it got. */
type TextListener = { readonly pieces: PartialText[]; text: string; leave: () => void };

function createListener(channel: PartialTextChannel, session: string): TextListener {
  const listener: TextListener = { pieces: [], text: '', leave: () => {} };
  listener.leave = channel.subscribe(session, (chunk) => {
    const isSameTurn = listener.pieces.at(-1)?.since === chunk.since && !chunk.restarted;
    listener.text = (isSameTurn ? listener.text : '') + chunk.text;
    listener.pieces.push(chunk);
  });
  return listener;
}

async function waitUntilReceived(description: string, holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; !holds(); await pause(5))
    if (Date.now() > end) assert.fail(`Not received: ${description}`);
}

const partialText = (since: number, text: string): PartialText => ({ turn: since, since, text });

/** Registers the tests. */
export function partialTextConformance(register: RegisterPartialTextTest): void {
  register(
    '[A93] partial text reaches subscribers in this process and in others, also those that subscribe late',
    async (open) => {
      const [here, there] = [await open(), await open()];
      const first = createListener(there.partialText, 's');
      here.partialText.publish('s', partialText(1, 'one '));
      await waitUntilReceived('the first word', () => first.text === 'one ');
      const near = createListener(here.partialText, 's');
      here.partialText.publish('s', partialText(1, 'two '));
      assert.equal(near.text, 'one two ');
      const late = createListener((await open()).partialText, 's');
      const second = createListener(there.partialText, 's');
      here.partialText.publish('s', partialText(1, 'three'));
      for (const each of [first, near, late, second])
        await waitUntilReceived('all of it', () => each.text === 'one two three');
      for (const each of [first, near, late, second]) assert.ok(each.pieces.every(({ restarted }) => !restarted));
      const other = createListener(there.partialText, 'other');
      here.partialText.publish('other', partialText(1, 'x'));
      await waitUntilReceived('the other session', () => other.text === 'x');
      assert.equal(first.text, 'one two three');
    },
  );

  register(
    '[A93] restarted or discarded text is retracted everywhere; committed text is not sent any more',
    async (open) => {
      const [here, there] = [await open(), await open()];
      const far = createListener(there.partialText, 's');
      here.partialText.publish('s', partialText(1, 'wrong'));
      await waitUntilReceived('what is wrong', () => far.text === 'wrong');
      here.partialText.publish('s', { ...partialText(1, ''), restarted: true });
      await waitUntilReceived('that it is begun again', () => far.text === '');
      here.partialText.publish('s', partialText(1, 'right'));
      await waitUntilReceived('what is right', () => far.text === 'right');
      here.partialText.discard('s');
      await waitUntilReceived('that it is given up', () => far.text === '');
      assert.deepEqual(far.pieces.at(-1), { turn: 1, since: 1, text: '', restarted: true });
      here.partialText.publish('s', partialText(2, 'next'));
      await waitUntilReceived('the next turn', () => far.text === 'next');
      here.partialText.publish('s', partialText(2, ' never told'));
      here.partialText.commit('s');
      const after = createListener(there.partialText, 'end');
      here.partialText.publish('end', partialText(1, 'end'));
      await waitUntilReceived('what comes after it', () => after.text === 'end');
      assert.equal(far.text, 'next');
      const late = createListener((await open()).partialText, 's');
      const lateToo = createListener(here.partialText, 's');
      here.partialText.publish('end', partialText(1, '.'));
      await waitUntilReceived('still more', () => after.text === 'end.');
      assert.deepEqual([late.text, lateToo.text], ['', '']);
    },
  );

  register('[A93] much text arrives complete, in few chunks, and is limited', async (open) => {
    const [here, there] = [await open(), await open()];
    const far = createListener(there.partialText, 's');
    here.partialText.publish('s', partialText(1, '>'));
    await waitUntilReceived('the beginning', () => far.text === '>');
    const parts = Array.from({ length: 20_000 }, (_, i) => `${i} \u{1F600}\n`);
    for (const [i, part] of parts.entries()) {
      here.partialText.publish('s', partialText(1, part));
      if (i % 1000 === 0) await pause(1);
    }
    const all = `>${parts.join('')}`;
    await waitUntilReceived('all of it', () => far.text.length >= all.length);
    assert.equal(far.text, all);
    assert.ok(far.pieces.length < 1000, `${far.pieces.length} pieces`);
    const near = createListener(here.partialText, 's');
    for (let i = 0; i < 200; i++) here.partialText.publish('s', partialText(2, 'x'.repeat(10_000)));
    assert.equal(near.text.length, 262_144);
    await waitUntilReceived('as much as is told', () => far.text.length === near.text.length);
    here.partialText.publish('s', partialText(3, 'short'));
    await waitUntilReceived('the turn after it', () => far.text === 'short');
  });

  register(
    '[A93] after unsubscribing a listener gets nothing, and many may subscribe and unsubscribe',
    async (open) => {
      const [here, there] = [await open(), await open()];
      const gone = createListener(there.partialText, 's');
      here.partialText.publish('s', partialText(1, 'a'));
      await waitUntilReceived('a', () => gone.text === 'a');
      gone.leave();
      gone.leave();
      const names = Array.from({ length: 300 }, (_, i) => `session-${'n'.repeat(100)}-${i}`);
      const many = names.map((name) => createListener(there.partialText, name));
      for (const name of names) here.partialText.publish(name, partialText(1, name));
      for (const [i, each] of many.entries()) await waitUntilReceived(`${i}`, () => each.text === names[i]);
      here.partialText.publish('s', partialText(1, 'b'));
      const back = createListener(there.partialText, 's');
      await waitUntilReceived('all that was said meanwhile', () => back.text === 'ab');
      assert.equal(gone.text, 'a');
    },
  );
}
