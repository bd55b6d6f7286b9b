// Works with recorded sessions: lists them, reads one, exports it, reports its cost, copies it and moves it to the trash.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent, fileSession } from 'fairlead';
import {
  cloneSession,
  collectEvents,
  exportSession,
  findSession,
  formatCosts,
  listSessions,
  readSession,
  reportCosts,
  sessionFilePath,
  trashSession,
} from 'fairlead/sessions';
import { says, scriptedProvider } from 'fairlead/testing';

// The sessions are in `sessions/` of this directory, the deleted ones in `trash/`; the terminal uses the same layout.
const dirs = { data: mkdtempSync(path.join(tmpdir(), 'fairlead-example-')) };

const agent = new Agent({ model: scriptedProvider(() => says('A ring that guides a rope.', { usd: 0.002 })) });
const session = await agent.session({ store: fileSession(sessionFilePath(dirs, 'ropes')) });
await session.run('What is a fairlead?');
const costs = reportCosts(await collectEvents(session.log, session.state.seq));
await session.close();

for (const { name, changed, first } of listSessions(dirs)) console.log(name, changed, first);
const file = findSession(dirs, 'ropes');
const { messages } = await readSession(file.file);
console.log(await exportSession(file, 'md'));
console.log(formatCosts(costs));

const copy = await cloneSession(dirs, file, 'ropes 2');
await trashSession(dirs, copy);
assert.equal(messages.length, 2);
assert.deepEqual(
  listSessions(dirs).map(({ name }) => name),
  ['ropes'],
);
rmSync(dirs.data, { recursive: true });
