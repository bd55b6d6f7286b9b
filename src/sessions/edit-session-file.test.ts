// An edit of a session file: what is used, what is rejected and kept, and that the session is restored.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { resolveAgent } from '../agent/index.ts';
import { messageText } from '../core/index.ts';
import { says, scriptedProvider } from '../testing/index.ts';
import { editSessionFile } from './edit-session-file.ts';
import { closeSession, openSession, type OpenSession } from './open-session.ts';

const agent = () => resolveAgent({ provider: scriptedProvider([says('An answer.')]), system: 's' });

async function openUsed(t: TestContext) {
  const data = mkdtempSync(path.join(tmpdir(), 'fairlead-edit-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const open = await openSession({ data }, { type: 'new', name: 'work' }, agent());
  await open.session.advance('A question.');
  return { dirs: { data }, open, file: open.sessionFile?.file ?? '' };
}

const texts = ({ session }: OpenSession): readonly string[] => session.messages.map(messageText);

test('a changed file is the session, and an untouched one changes nothing', async (t) => {
  const { dirs, open, file } = await openUsed(t);
  const unchanged = await editSessionFile(open, dirs, agent(), async () => {});
  assert.deepEqual(unchanged.result, { type: 'unchanged' });
  const edited = await editSessionFile(unchanged.open, dirs, agent(), async (opened) => {
    assert.equal(opened, file);
    writeFileSync(file, readFileSync(file, 'utf8').replace('A question.', 'Another question.'));
  });
  t.after(() => closeSession(edited.open));
  assert.deepEqual(edited.result, { type: 'edited' });
  assert.deepEqual(texts(edited.open), ['Another question.', 'An answer.']);
});

for (const [what, edit] of [
  ['emptied', (file: string) => writeFileSync(file, '')],
  ['removed', (file: string) => rmSync(file)],
] as const)
  test(`a file that was ${what} is restored byte for byte, and the session continues`, async (t) => {
    const { dirs, open, file } = await openUsed(t);
    let before: Buffer | undefined;
    const { open: again, result } = await editSessionFile(open, dirs, agent(), async () => {
      before = readFileSync(file);
      edit(file);
    });
    assert.deepEqual(result, {
      type: 'rejected',
      message: 'The file was empty or missing after the edit, so the session is as before.',
    });
    assert.deepEqual(texts(again), ['A question.', 'An answer.']);
    await closeSession(again);
    assert.ok(before && readFileSync(file).subarray(0, before.length).equals(before));
    assert.ok(!existsSync(`${file}.rejected`));
  });

test('a file that is no session log is kept beside the session, which is restored', async (t) => {
  const { dirs, open, file } = await openUsed(t);
  const { open: again, result } = await editSessionFile(open, dirs, agent(), async () =>
    writeFileSync(file, 'not a log\n'),
  );
  t.after(() => closeSession(again));
  assert.equal(result.type, 'rejected');
  assert.match(
    result.type === 'rejected' ? result.message : '',
    /^The edited file cannot be used: .* It is kept as .*\.rejected; the session is as before\.$/,
  );
  assert.equal(readFileSync(`${file}.rejected`, 'utf8'), 'not a log\n');
  assert.deepEqual(texts(again), ['A question.', 'An answer.']);
});

test('a session that another process opened during the edit is left to it, and a new one is opened', async (t) => {
  const { dirs, open } = await openUsed(t);
  let other: OpenSession | undefined;
  const { open: fresh, result } = await editSessionFile(open, dirs, agent(), async () => {
    other = await openSession(dirs, { type: 'resume', session: 'work' }, agent());
  });
  t.after(() => Promise.all([closeSession(fresh), other && closeSession(other)]));
  assert.equal(result.type, 'rejected');
  assert.match(
    result.type === 'rejected' ? result.message : '',
    /is open in another process .* This is a new session\.$/,
  );
  assert.deepEqual(texts(fresh), []);
});

test('a session without messages has nothing to edit', async (t) => {
  const data = mkdtempSync(path.join(tmpdir(), 'fairlead-edit-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const open = await openSession({ data }, { type: 'new' }, agent());
  t.after(() => closeSession(open));
  const edit = (): Promise<never> => assert.fail('not called');
  assert.deepEqual(await editSessionFile(open, { data }, agent(), edit), { open, result: { type: 'empty' } });
});
