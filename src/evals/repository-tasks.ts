// Repository tasks: a repository, a statement and a test command, read as eval cases with tests that the agent does not see.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { errorMessage, FairleadError, isObject } from '../core/index.ts';
import { createCaseCollector, parseCaseObject, type CaseCollector, type EvalCase } from './dataset.ts';

/** An eval case of a repository task, and the files of a known solution if the task has them. */
export type RepositoryTask = { readonly evalCase: EvalCase; readonly solution?: EvalCase['files'] };

/** The maximum number of files of a repository. */
export const maxRepositoryFiles = 5000;
/** The maximum number of bytes of all files of a repository. */
export const maxRepositoryBytes = 50_000_000;

const hint =
  'A line is {"id":"leap-year","repository":"leap-year/repository","statement":"Fix isLeapYear.","test":"node check.mjs","testFiles":"leap-year/tests"}.';

/** Parses repository tasks, one JSON object per line; folders and git bundles are relative to `folder`. */
export async function parseRepositoryTasks(
  text: string,
  name: string,
  folder: string,
): Promise<readonly RepositoryTask[]> {
  const cases = createCaseCollector(name, text.length, hint);
  const solutions = new Map<string, EvalCase['files']>();
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const { read, solution } = await parseTaskLine(line, i + 1, folder, cases);
    cases.add(i + 1, read);
    if (typeof read !== 'string' && solution) solutions.set(read.id, solution);
  }
  return cases.end().map((evalCase) => {
    const solution = solutions.get(evalCase.id);
    return solution ? { evalCase, solution } : { evalCase };
  });
}

type ParsedTask = { readonly read: EvalCase | string; readonly solution?: EvalCase['files'] };

async function parseTaskLine(line: string, number: number, folder: string, cases: CaseCollector): Promise<ParsedTask> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return { read: `it is not JSON (${errorMessage(error)})` };
  }
  if (!isObject(value)) return { read: 'it is not an object' };
  const { id, repository, commit, statement, test, testFiles, solution, timeoutSeconds, ...more } = value;
  const { tags, must, expect, ...unknown } = more;
  const [wrong] = Object.keys(unknown);
  if (wrong !== undefined) return { read: `there is no field ${JSON.stringify(wrong)}` };
  if (expect !== undefined && !isObject(expect)) return { read: 'expect is not an object' };
  if (typeof test !== 'string') return { read: 'it has no test command' };
  if (commit !== undefined && !(typeof commit === 'string' && /^[\da-f]{7,64}$/.test(commit)))
    return { read: 'its commit is not a hash' };
  const readPart = async (part: unknown, what: string): Promise<EvalCase['files']> => {
    try {
      return await readFiles(part, folder, commit);
    } catch (error) {
      return cases.refuse(number, `its ${what} cannot be read: ${errorMessage(error)}`);
    }
  };
  const files = await readPart(repository, 'repository');
  const hidden = testFiles === undefined ? undefined : await readPart(testFiles, 'testFiles');
  const solved = solution === undefined ? undefined : await readPart(solution, 'solution');
  const code = {
    command: test,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(hidden ? { files: hidden } : {}),
  };
  const read = parseCaseObject({
    id,
    prompt: statement,
    tools: true,
    files,
    expect: { ...expect, code },
    ...(tags === undefined ? {} : { tags }),
    ...(must === undefined ? {} : { must }),
  });
  return solved ? { read, solution: solved } : { read };
}

/** Reads the files of a folder, of a git bundle, or of an object with a text for each path. */
async function readFiles(value: unknown, folder: string, commit: string | undefined): Promise<EvalCase['files']> {
  if (isObject(value)) return value as EvalCase['files'];
  if (typeof value !== 'string' || value === '') throw new Error('it is neither a path nor an object of files.');
  const source = path.resolve(folder, value);
  return statSync(source).isDirectory() ? readFolder(source) : readBundle(source, commit);
}

function readFolder(folder: string): EvalCase['files'] {
  const files: Record<string, string> = {};
  let bytes = 0;
  let count = 0;
  const visit = (at: string): void => {
    for (const entry of readdirSync(path.join(folder, at), { withFileTypes: true })) {
      const name = at === '' ? entry.name : `${at}/${entry.name}`;
      // History and links are left out: a link could name a file outside the repository.
      if (entry.name === '.git' || entry.isSymbolicLink()) continue;
      if (entry.isDirectory()) {
        visit(name);
        continue;
      }
      const file = path.join(folder, name);
      bytes += statSync(file).size;
      if (++count > maxRepositoryFiles || bytes > maxRepositoryBytes)
        throw new Error(`it has more than ${maxRepositoryFiles} files or ${maxRepositoryBytes} bytes.`);
      const text = decodeText(readFileSync(file));
      if (text !== undefined) files[name] = text;
    }
  };
  visit('');
  if (Object.keys(files).length === 0) throw new Error(`${folder} has no text file.`);
  return files;
}

/** Returns undefined for a file that is not text; a case has text files only. */
function decodeText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const runFile = promisify(execFile);
const gitTimeoutMs = 120_000;

/** Checks a git bundle out in a temporary folder, without the settings of the user and without hooks. */
async function readBundle(bundle: string, commit: string | undefined): Promise<EvalCase['files']> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-bundle-'));
  const { PATH = '' } = process.env;
  const env = {
    PATH,
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
  };
  const git = (...args: readonly string[]) =>
    runFile('git', ['-c', 'core.hooksPath=/dev/null', '-c', 'core.symlinks=false', ...args], {
      cwd: folder,
      env,
      timeout: gitTimeoutMs,
    });
  try {
    await git('clone', '--quiet', '--no-checkout', '--', bundle, 'clone');
    await git('-C', 'clone', 'checkout', '--quiet', '--detach', commit ?? 'HEAD');
    return readFolder(path.join(folder, 'clone'));
  } catch (error) {
    throw new FairleadError('eval/bad-repository', `${bundle} is not a git bundle: ${errorMessage(error)}`, {
      blame: 'user',
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
