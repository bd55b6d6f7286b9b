// Decides whether a command line only reads: every word is known, every program is outside the workspace, and git runs no program of the repository.
import path from 'node:path';
import { FairleadError, isSecretFile, type ToolCall, type Workspace } from '../core/index.ts';
import type { PathContext } from './policy/operations.ts';
import { isExecutable } from './sandbox/trusted-program.ts';

/** What the modes without changes need to know before a command runs. */
export type ReadingContext = {
  readonly workspace: Pick<Workspace, 'cwd' | 'locate'>;
  /** Returns why git could run a program of this repository or write, in one sentence; undefined if it only reads. Without it, git is denied. */
  readonly findGitProgram?: () => Promise<string | undefined>;
  /** The environment of commands; by default that of this process. */
  readonly env?: NodeJS.ProcessEnv;
};

/** Builtins of the shell: no file on PATH replaces them. */
const builtins: ReadonlySet<string> = new Set('true false : echo printf pwd test'.split(' '));

/** Reading programs of the policy that still write: npm writes a cache and logs where the `.npmrc` of the project says. */
const writingPrograms: ReadonlySet<string> = new Set(['npm']);

/** Variables that make a shell or a program load code from a file or a folder that they name. */
const redirectingVariable = /^(?:ENV|BASH_ENV|LD_\w+|DYLD_\w+|GCONV_PATH)$/;
/** Of these, the lists of folders: an empty entry is the working folder. */
const folderList = /^(?:LD|DYLD)_\w*PATH$/;

/** Variables by which git runs programs, or reads another repository or configuration. */
const gitVariable =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|EXTERNAL_DIFF|CONFIG.*|EXEC_PATH|TRACE.*|PAGER|SSH.*|PROXY_COMMAND)$/;

/** Returns why a command line may change something, in a part of a sentence; undefined if it is certain that it only reads. */
export async function findChange(line: string, context: ReadingContext): Promise<string | undefined> {
  const [{ isReadingCommand }, { provePlainLine }] = await Promise.all([
    import('./policy/describe-command.ts'),
    import('./policy/plain-tree.ts'),
  ]);
  const reading = await provePlainLine(line);
  if ('notPlain' in reading) return reading.notPlain;
  const { env = process.env, workspace } = context;
  const hook = Object.entries(env).find(
    ([name, value = '']) =>
      value !== '' &&
      redirectingVariable.test(name) &&
      value
        .split(/[:;\s]/)
        .some((each) => isInside(each === '' && folderList.test(name) ? workspace.cwd : each, workspace)),
  );
  if (hook) return `${hook[0]} names a file of this folder`;
  let usesGit = false;
  for (const { words: parsed, redirections } of reading.line.commands) {
    const words = parsed.map(({ text, isPattern }) => ({ text, pattern: isPattern }));
    const program = words[0]?.text ?? '';
    const file = redirections.find(
      ({ operator, target }) =>
        operator !== '>&' && target !== '/dev/null' && (operator !== '<' || isInsideDevice(target)),
    );
    if (file) return `it opens ${file.target}`;
    if (writingPrograms.has(program) || !isReadingCommand(words)) return `it is not known that ${program} only reads`;
    if (env[`BASH_FUNC_${program}%%`] !== undefined) return `${program} is a function of the shell`;
    if (program === 'rg' && env['RIPGREP_CONFIG_PATH']) return 'rg reads options from RIPGREP_CONFIG_PATH';
    if (!builtins.has(program)) {
      const problem = findProgramProblem(program, env['PATH'] ?? '', workspace);
      if (problem !== undefined) return problem;
    }
    if (program !== 'git') continue;
    usesGit = true;
    if (words.some(({ text }) => /%[-+ ]?G|%\(signature/.test(text)))
      return 'git runs a program that verifies signatures';
  }
  if (!usesGit) return undefined;
  const variable = Object.keys(env).find((name) => gitVariable.test(name));
  if (variable !== undefined) return `${variable} decides what git runs`;
  return context.findGitProgram ? context.findGitProgram() : 'it is not known what git runs in this folder';
}

const isInsideDevice = (target: string): boolean => path.posix.normalize(target).startsWith('/dev/');

/** Returns why the program that a shell would start is not certain to be one of the machine. */
function findProgramProblem(name: string, search: string, workspace: ReadingContext['workspace']): string | undefined {
  for (const folder of search.split(path.delimiter)) {
    if (!path.isAbsolute(folder)) return 'PATH has a relative folder';
    const file = path.join(folder, name);
    if (!isExecutable(file)) continue;
    return isInside(file, workspace) || isInside(folder, workspace) ? `${name} is a program of this folder` : undefined;
  }
  return `${name} is not installed`;
}

/** Returns false only if the workspace refuses the path as outside. */
function isInside(file: string, { locate }: ReadingContext['workspace']): boolean {
  if (file === '') return false;
  try {
    locate(file);
    return true;
  } catch (error) {
    return !(error instanceof FairleadError && error.code === 'workspace/outside');
  }
}

/** Whether a command that only reads names files of the working folder alone, and none that may hold secrets: it then needs no approval in a mode without changes. */
export async function readsOnlyFolder(call: Pick<ToolCall, 'tool' | 'input'>, context: PathContext): Promise<boolean> {
  const { callOperations } = await import('./policy/operations.ts');
  const { operations, unknowns } = await callOperations(call, context);
  return (
    unknowns.length === 0 &&
    operations.every(
      ({ argv = [], paths, hosts, isGuess }) =>
        isGuess !== true &&
        hosts.length === 0 &&
        argv.every(({ known, pattern }) => known && !pattern) &&
        paths.every(({ given, resolved }) => resolved !== undefined && !isSecretFile(given) && !isSecretFile(resolved)),
    )
  );
}
