// Reserves standard output for a protocol: all other output of the process goes to standard error.
import { Writable } from 'node:stream';

/** Returns the only stream to standard output from now on. A closed reader is an error of this stream only. */
export function reserveStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  stdout.on('error', () => undefined);
  return new Writable({ write: (chunk: Uint8Array, _, done) => void write(chunk, done) });
}
