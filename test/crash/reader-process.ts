// A process with little memory that reads a session through. Arguments: the file, and `root` or `epoch`.
import { openJsonl } from '../../src/stores/index.ts';

const [file = '', from = 'root'] = process.argv.slice(2);
const log = await openJsonl(file, { mode: 'read' });
let eventCount = 0;
let maxBatch = 0;
for await (const events of log.read({ from: from === 'epoch' ? 'epoch' : 'root' })) {
  eventCount += events.length;
  maxBatch = Math.max(maxBatch, events.length);
}
await log.close();
console.log(JSON.stringify({ found: eventCount, most: maxBatch, ...log.opened }));
