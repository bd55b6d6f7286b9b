// A scope for what several tests of a file use: its cleanups run after the last test.
import { after, type TestContext } from 'node:test';

/** Creates the scope; a file calls it at its top level. */
export function createFileScope(): Pick<TestContext, 'after'> {
  const cleanups: (() => unknown)[] = [];
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });
  return { after: (cleanup) => void cleanups.push(cleanup as () => unknown) };
}
