// A process that executes commands from standard input on a session: `open`, `append`, `close`, or `stop`, which appends an event
// and stops the process between its lock check and its write. Arguments: file, heartbeat timeout in ms.
import fs from 'node:fs';
import { createInterface } from 'node:readline';
import { openJsonl, realDisk, type Disk, type JsonlLog } from '../../src/stores/index.ts';

const [file = '', lockTimeoutMs = '30000'] = process.argv.slice(2);
const printLine = (line: string): void => void fs.writeSync(1, `${line}\n`);
let log: JsonlLog | undefined;
let seq = 0;
let shouldStop = false;

const disk: Disk = {
  ...realDisk,
  write(...given) {
    if (shouldStop) process.kill(process.pid, 'SIGSTOP');
    shouldStop = false;
    return realDisk.write(...given);
  },
};

async function executeCommand(command: string): Promise<string> {
  if (command === 'open') {
    log = await openJsonl(file, { lockTimeoutMs: Number(lockTimeoutMs), disk });
    for await (const events of log.read()) seq = events.at(-1)?.seq ?? seq;
    return 'opened';
  }
  if (command === 'close') {
    await log?.close();
    return 'closed';
  }
  shouldStop = command === 'stop';
  const fact = { type: 'annotation-added', key: 'from', value: process.pid } as const;
  const [event] = (await log?.append(seq, [fact], { durable: true })) ?? [];
  seq = event?.seq ?? seq;
  return `saved ${seq}`;
}

printLine('awake');
for await (const command of createInterface({ input: process.stdin }))
  printLine(await executeCommand(command).catch((error: { code?: string }) => error.code ?? String(error)));
