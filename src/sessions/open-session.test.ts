// Which files of a session stay after it is closed.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { resolveAgent } from '../agent/index.ts';
import { says, scriptedProvider } from '../testing/index.ts';
import { collectEvents, rewindBefore, listUserTurns } from './reports/index.ts';
import { closeSession, openSession } from './open-session.ts';

function createDirs(t: test.TestContext): { readonly data: string } {
  const data = mkdtempSync(path.join(tmpdir(), 'fairlead-opening-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  return { data };
}
const parts = () => resolveAgent({ provider: scriptedProvider([says('one')]), system: 's' });

test('a session without messages leaves no files', async (t) => {
  const open = await openSession(createDirs(t), { type: 'new', name: 'empty' }, parts());
  const file = open.sessionFile?.file ?? '';
  assert.ok(existsSync(file));
  await closeSession(open);
  assert.ok(!existsSync(file));
});

test('[J3] a session that was rewound to before its first message is empty, and is kept with its other branch', async (t) => {
  const dirs = createDirs(t);
  const open = await openSession(dirs, { type: 'new', name: 'precious' }, parts());
  await open.session.advance('precious words');
  const [first] = listUserTurns(await collectEvents(open.session.log, open.session.state.seq));
  assert.ok(first);
  await rewindBefore(open.session, first);
  assert.equal(open.session.messages.length, 0);
  await closeSession(open);
  const again = await openSession(dirs, { type: 'resume', session: 'precious' }, parts());
  t.after(() => again.session.close());
  const words = JSON.stringify(await collectEvents(again.session.log, again.session.state.seq));
  assert.match(words, /precious words/);
});
