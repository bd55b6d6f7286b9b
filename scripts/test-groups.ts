// Groups of test files that share one process: to start a process and to load the same modules costs more than most unit tests.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** A file that imports test files, so that they run in its process. */
export type TestGroup = { readonly file: string; readonly members: readonly string[] };

const maxGroupFiles = 32;
// Files outside src take longer, and a long group that begins last would be waited for alone.
const maxPromiseFiles = 8;

// Anything that changes the process, or a hook that would run for the tests of every file of the group; an `after` runs when all have ended.
const changesProcess =
  /process\.env(?:\[[^\]]*\]|\.\w+)?\s*(?:\?\?|\|\|)?=[^=>]|Object\.assign\(process\.env|delete process\.env|chdir|mock\.|^(?:test\.)?(?:before|beforeEach|afterEach)\(|worker_threads|process\.(?:exit|on|umask)|globalThis\.\w+ =|inspector|gc\(/m;

// The runner reports a test by the file that calls it: a file whose tests are all in helpers would seem to have run no test.
const callsTest = /^\s*(?:test|describe)\(/m;

/** Whether the tests of a file need the browser, which the files of a process start once. */
export const isBrowserTest = (file: string): boolean => /^test\/web[^/]*$/.test(file);

/** Splits unit tests into groups of neighbours, which load the same modules, tests in the browser into one group, and other tests of folder test into small ones; a file that changes its process runs alone. */
export function groupTestFiles(
  files: readonly string[],
  root: string,
): { readonly groups: readonly TestGroup[]; readonly alone: readonly string[] } {
  const canShare = (file: string): boolean => {
    if (isBrowserTest(file)) return true;
    const isPromise = /^test\/[^/]+$/.test(file);
    if (!isPromise && !/^(?:src|web)\//.test(file)) return false;
    const text = readFileSync(path.join(root, file), 'utf8');
    return !changesProcess.test(text) && (!isPromise || callsTest.test(text));
  };
  const byKind = Map.groupBy(files.filter(canShare), (file) =>
    isBrowserTest(file) ? 'browser' : file.startsWith('test/') ? 'promises' : (file.split('/')[0] ?? ''),
  );
  const lists = [...byKind].flatMap(([kind, members]) => {
    const size = kind === 'promises' ? maxPromiseFiles : maxGroupFiles;
    return Array.from({ length: Math.ceil(members.length / size) }, (_, index) => ({
      name: `${kind}-${index + 1}`,
      members: members.slice(index * size, (index + 1) * size),
    }));
  });
  const shared = lists.filter(({ members }) => members.length > 1);
  if (shared.length === 0) return { groups: [], alone: files };
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-test-groups-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const groups = shared.map(({ name, members }) => {
    const file = path.join(folder, `${name}.test.mjs`);
    const imports = members.map((member) => `await import(${JSON.stringify(pathToFileURL(path.join(root, member)))});`);
    writeFileSync(file, imports.join('\n'));
    return { file, members };
  });
  const grouped = new Set(groups.flatMap(({ members }) => members));
  return { groups, alone: files.filter((file) => !grouped.has(file)) };
}
