// Standard output kept for a protocol: whatever else would be written there goes to standard error.
import { Writable } from 'node:stream';

/** The only way to standard output from now on. A reader that goes away is an error of this stream and of nothing else. */
export function reserveStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  stdout.on('error', () => undefined);
  return new Writable({ write: (chunk: Uint8Array, _, done) => void write(chunk, done) });
}
