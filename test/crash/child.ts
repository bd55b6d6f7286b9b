// A process that runs a session and says which events are saved, to be killed at any moment.
// Arguments: the session file, the ledger and, to have it kill itself, after how many changes to the disk.
import fs from 'node:fs';
import type { Log } from '../../src/core/index.ts';
import { openJsonl, realDisk, type Disk } from '../../src/stores/index.ts';
import { resume } from './session.ts';

const [file = '', ledger = '', last = 'never'] = process.argv.slice(2);
const say = (line: string): void => void fs.writeSync(1, `${line}\n`);

let changes = 0;
function count(): void {
  if (++changes === Number(last)) process.kill(process.pid, 'SIGKILL');
}
const mortal: Disk = {
  ...realDisk,
  write(...given) {
    const taken = realDisk.write(...given);
    count();
    return taken;
  },
  async sync(fd) {
    await realDisk.sync(fd);
    count();
  },
  link(from, to) {
    realDisk.link(from, to);
    count();
  },
  rename(from, to) {
    realDisk.rename(from, to);
    count();
  },
  remove(name) {
    realDisk.remove(name);
    count();
  },
};

say('awake');
const log = await openJsonl(file, { session: 's1', disk: mortal });
const telling: Log = {
  ...log,
  async append(after, facts, options) {
    const events = await log.append(after, facts, options);
    say(`saved ${events.at(-1)?.seq}`);
    return events;
  },
};
const state = await resume(telling, ledger);
await log.close();
say(`ended ${state.ended?.reason} after ${changes} changes`);
