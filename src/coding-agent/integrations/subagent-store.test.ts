// Tests of the store of sub-agent logs: beside the parent session, and found only by it.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { createProgramDirs } from '../../../test/support/program-dirs.ts';
import { SUBAGENT_ANNOTATION } from '../../agent/subagents/metadata.ts';
import { resolveAgent, Session } from '../../agent/index.ts';
import { openJsonl } from '../../stores/index.ts';
import { says, scriptedProvider } from '../../testing/index.ts';
import { subagentSessionsDir, listSessions, findLatestSession, createSessionFile } from '../../sessions/index.ts';
import { createSubagentStore } from './subagent-store.ts';

const parts = (system: string) => resolveAgent({ provider: scriptedProvider([says('done')]), system });

/** Creates a session directory with one session. */
async function shelfFor(t: TestContext) {
  const shelf = { data: createProgramDirs(t).data() };
  const log = await openJsonl(createSessionFile(shelf, 'parent').file);
  const session = await Session.open(parts('s'), log, log.session);
  await session.close();
  return { shelf, parent: log.session };
}

test('[P23] the log of a sub-agent is stored beside that of its parent, is in no session list, and is found only by its parent, for instructions of any length', async (t) => {
  const { shelf, parent } = await shelfFor(t);
  const keeping = createSubagentStore(shelf);
  const about = { task: 'x', parent, key: 'k' };
  for (const [id, system] of [
    ['agent-1', 'short'],
    ['agent-2', 'long '.repeat(50_000)],
  ] as const) {
    const { log, session } = await keeping.open(id, parent);
    const child = await Session.open(parts(system), log, session);
    await child.annotate(SUBAGENT_ANNOTATION, about);
    await child.advance('go');
    if (id === 'agent-1') {
      const [seen] = await createSubagentStore(shelf).list(parent);
      assert.equal(seen?.running, 'elsewhere', 'another process has it open');
    }
    await child.close();
  }
  const kept = await createSubagentStore(shelf).list(parent);
  assert.deepEqual(
    kept
      .map(({ id, running, state }) => `${id} ${running} ${state.ended?.reason}`)
      .toSorted((a, b) => a.localeCompare(b)),
    ['agent-1 false answered', 'agent-2 false answered'],
  );
  assert.deepEqual(await keeping.list('another'), []);
  assert.deepEqual(
    listSessions(shelf).map(({ name }) => name),
    ['parent'],
  );
  assert.equal(findLatestSession(shelf)?.name, 'parent', 'a sub-agent is never the latest session');
});

test('[P23] the sub-agents of a session that is not saved are not saved either', async (t) => {
  const { shelf } = await shelfFor(t);
  const keeping = createSubagentStore(shelf);
  const { log } = await keeping.open('agent-1', 'unknown');
  const child = await Session.open(parts('s'), log);
  await child.annotate(SUBAGENT_ANNOTATION, { task: 'x', parent: 'unknown', key: 'k' });
  assert.deepEqual(
    (await keeping.list('unknown')).map(({ id }) => id),
    ['agent-1'],
  );
  assert.throws(() => readdirSync(subagentSessionsDir(shelf)), { code: 'ENOENT' });
});
