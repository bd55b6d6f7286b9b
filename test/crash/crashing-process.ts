// A process that runs a session and prints which events are saved, and can be killed at any moment.
// Arguments: the session file, the ledger and, if it should kill itself, after how many disk operations; or a directory for a copy of the files after each operation.
import fs from 'node:fs';
import path from 'node:path';
import type { Log } from '../../src/core/index.ts';
import { openJsonl, realDisk, type Disk } from '../../src/stores/index.ts';
import { resumeScriptedSession } from './session.ts';

const [file = '', ledger = '', last = 'never'] = process.argv.slice(2);
const printLine = (line: string): void => void fs.writeSync(1, `${line}\n`);

let changes = 0;
let saved = 0;
function countChange(): void {
  if (++changes === Number(last)) process.kill(process.pid, 'SIGKILL');
  if (!path.isAbsolute(last)) return;
  const copy = path.join(last, String(changes));
  fs.cpSync(path.dirname(file), copy, { recursive: true, preserveTimestamps: true });
  fs.writeFileSync(path.join(copy, 'saved'), String(saved));
}
const crashingDisk: Disk = {
  ...realDisk,
  write(...given) {
    const taken = realDisk.write(...given);
    countChange();
    return taken;
  },
  async sync(fd) {
    // A killed process loses nothing that it wrote; a sync only takes time, in which another process can kill or copy.
    if (last === 'never') await realDisk.sync(fd);
    countChange();
  },
  link(from, to) {
    realDisk.link(from, to);
    countChange();
  },
  rename(from, to) {
    realDisk.rename(from, to);
    countChange();
  },
  remove(name) {
    realDisk.remove(name);
    countChange();
  },
};

printLine('awake');
const log = await openJsonl(file, { session: 's1', disk: crashingDisk });
const reportingLog: Log = {
  ...log,
  async append(after, facts, options) {
    const events = await log.append(after, facts, options);
    saved = events.at(-1)?.seq ?? saved;
    printLine(`saved ${saved}`);
    return events;
  },
};
const state = await resumeScriptedSession(reportingLog, ledger);
await log.close();
printLine(`ended ${state.ended?.reason} after ${changes} changes`);
