// Runs example files one after the other in one process, and writes one JSON line about each to file descriptor 3.
import { writeSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

for (const file of process.argv.slice(2)) {
  let error: string | undefined;
  try {
    await import(pathToFileURL(path.resolve(file)).href);
  } catch (thrown) {
    error = inspect(thrown);
  }
  writeSync(3, `${JSON.stringify({ file, error })}\n`);
}
