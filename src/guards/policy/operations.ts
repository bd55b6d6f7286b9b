// Splits a call into operations: each simple command, each file and each host, so that each can be evaluated on its own.
import path from 'node:path';
import { unwrapDeferredCall, isObject, type ToolCall } from '../../core/index.ts';
import type { ResolvePath } from '../grants.ts';
import { parseUrlHost, readAddresses } from './addresses.ts';
import { isNetworkProgram } from './executing-programs.ts';
import { findNestedCommands, programName } from './nested-commands.ts';
import { ReadingBudget } from './reading-budget.ts';
import { parseShell, type OpenedFile, type ShellWord, type SimpleCommand } from './shell.ts';

/** A path as given and, if known, its real path. */
export type OperationPath = { readonly given: string; readonly resolved?: string };

/** Returns true for files that git executes or reads as configuration. */
export const isGitControlPath = (real: string): boolean =>
  real.split(path.sep).some((name) => /^\.git(modules)?$/i.test(name));

/** One operation of a call. */
export type Operation = {
  readonly tool: string;
  /** The words of a simple command. */
  readonly argv?: readonly ShellWord[];
  /** True if the words are one of several readings of the arguments of another command. */
  readonly isGuess?: true;
  /** The files it uses; for a command, all words that might be files. */
  readonly paths: readonly OperationPath[];
  /** The hosts it may name, in normal form. */
  readonly hosts: readonly string[];
  /** True if programs may read another host than these from its words. */
  readonly hasUncertainHost?: boolean;
  /** True if it only reads, apart from what other operations do. */
  readonly readOnly?: boolean;
  /** Why no rule may allow it, although its effect is known. */
  readonly notAllowableReason?: string;
};

/** The operations of a call, and the reasons why some are unknown. */
export type CallOperations = {
  readonly operations: readonly Operation[];
  readonly unknowns: readonly string[];
  /** True if it was too large or too deeply nested to be evaluated completely. */
  readonly isIncomplete?: boolean;
  /** The command line, if the call has one. */
  readonly commandLine?: string;
};

/** The working folder and the home folder of a call, and how its paths are resolved. */
export type PathContext = { readonly locate: ResolvePath; readonly cwd: string; readonly home: string };

/** Fields of a call that may change what its command does. */
const commandArguments = ['args', 'arguments', 'argv', 'env', 'shell', 'stdin'];
const pathArguments = ['path', 'paths', 'file', 'files', 'from', 'to', 'cwd'];

/** Splits a call into operations. */
export async function callOperations(
  call: Pick<ToolCall, 'tool' | 'input'>,
  context: PathContext,
): Promise<CallOperations> {
  const unwrapped = unwrapDeferredCall(call);
  const { tool, input } = typeof unwrapped === 'string' ? call : unwrapped;
  const fields = isObject(input) ? input : {};
  const { command } = fields;
  const stringsIn = (keys: readonly string[]): readonly string[] =>
    keys.flatMap((key) => fields[key]).filter((each) => typeof each === 'string');
  if (typeof command === 'string') {
    const reading: ShellReading = { tool, budget: new ReadingBudget(), context, resolvedPaths: new Map() };
    const { operations, unknowns } = await commandOperations(reading, command, 0);
    const { isExceeded } = reading.budget;
    const budgetUnknowns = isExceeded ? ['It contains more nested commands or files than are evaluated.'] : [];
    // Other tools than ours may take the folder or further arguments beside the command.
    const otherPaths = stringsIn(pathArguments).map((each) => resolveOperationPath(each, context));
    const otherOperations: readonly Operation[] = otherPaths.length > 0 ? [{ tool, paths: otherPaths, hosts: [] }] : [];
    const otherArgument = commandArguments.find((key) => fields[key] !== undefined);
    const otherUnknowns =
      otherArgument === undefined ? [] : [`It is not known what "${otherArgument}" adds to the command.`];
    return {
      operations: [...operations, ...otherOperations],
      unknowns: [...unknowns, ...budgetUnknowns, ...otherUnknowns],
      isIncomplete: isExceeded,
      commandLine: command,
    };
  }
  const found = stringsIn(['url', 'urls', 'uri']).map(parseUrlHost);
  const unknownReasons = found.includes(undefined) ? ['It contains a URL that cannot be parsed.'] : [];
  const hosts = found.filter((each) => each !== undefined);
  return {
    operations: [{ tool, paths: stringsIn(pathArguments).map((each) => resolveOperationPath(each, context)), hosts }],
    unknowns: unknownReasons,
  };
}

/** What all parts of one evaluation share. */
type ShellReading = {
  readonly tool: string;
  readonly context: PathContext;
  readonly budget: ReadingBudget;
  readonly resolvedPaths: Map<string, OperationPath>;
};

async function commandOperations(reading: ShellReading, source: string, depth: number): Promise<CallOperations> {
  const { commands, unknowns, isIncomplete } = await parseShell(source);
  const { context, budget } = reading;
  if (isIncomplete) budget.exceed();
  const isNoOpCd = ({ argv: [name, to, ...more], openedFiles, assignments }: SimpleCommand): boolean =>
    name?.text === 'cd' &&
    to?.known === true &&
    more.length === 0 &&
    resolveOperationPath(to.text, context).resolved === context.cwd &&
    !openedFiles.length &&
    !assignments.length;
  const effectiveCommands = commands.filter((each) => !isNoOpCd(each));
  // After a change of folder, relative paths no longer resolve against the working folder.
  const changesDirectory = effectiveCommands.some(({ argv: [name] }) =>
    ['cd', 'pushd', 'popd'].includes(programName(name)),
  );
  const operations: Operation[] = [];
  const unknownReasons = [...unknowns, ...(changesDirectory ? ['It changes the folder.'] : [])];
  for (const each of effectiveCommands) {
    const part = await simpleCommandOperations(reading, each, changesDirectory, depth);
    for (const operation of part.operations) operations.push(operation);
    for (const reason of part.unknowns) unknownReasons.push(reason);
  }
  return { operations, unknowns: unknownReasons };
}

/** Variables that decide which programs run, or what they execute. */
const sensitiveVariables =
  /^(PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|LD_.*|DYLD_.*|GIT_.*|.*PAGER|.*EDITOR|VISUAL|BROWSER|NODE_.*|PYTHON.*|PERL.*|RUBY.*|JAVA_TOOL_OPTIONS|HOME|SHELL|XDG_.*|LESS.*|RIPGREP_CONFIG_PATH|\w+_OPTIONS|\w*FLAGS|npm_config_.*|CARGO_.*|RUSTC?_?.*|\w+_WRAPPER|GCONV_PATH|LOCPATH|SSH_.*|SUDO_.*|CC|CXX|DOCKER_.*|KUBECONFIG|BASH_FUNC.*)$/i;

async function simpleCommandOperations(
  reading: ShellReading,
  command: SimpleCommand,
  changesDirectory: boolean,
  depth: number,
): Promise<CallOperations> {
  const { argv, assignments, openedFiles } = command;
  const unknownReasons: string[] = [];
  const operations: Operation[] = openedFiles
    .map((each) => redirectionOperation(each, reading, changesDirectory))
    .filter((each) => each !== undefined);
  const sensitiveAssignment = assignments.find((name) => sensitiveVariables.test(name));
  if (sensitiveAssignment !== undefined)
    unknownReasons.push(`It sets ${sensitiveAssignment}, which decides what runs.`);
  if (argv[0]?.known === false || argv[0]?.pattern) unknownReasons.push(`It is not known what ${argv[0].text} runs.`);
  const nestedCommands = findNestedCommands(command);
  for (const each of nestedCommands) {
    if (!each.isComplete) unknownReasons.push(`${programName(argv[0])} runs other commands.`);
    if (!reading.budget.spendNested(each.source?.length ?? each.argv?.length ?? 0, depth + 1)) break;
    const nested: SimpleCommand = { argv: each.argv ?? [], assignments: [], openedFiles: [], stdinTexts: [] };
    const nestedOperations =
      each.source === undefined
        ? await simpleCommandOperations(reading, nested, changesDirectory, depth + 1)
        : await commandOperations(reading, each.source, depth + 1);
    const isGuess = each.argv !== undefined && !each.isComplete;
    for (const operation of nestedOperations.operations)
      operations.push(isGuess ? { ...operation, isGuess } : operation);
    for (const reason of nestedOperations.unknowns) unknownReasons.push(reason);
  }
  if (argv.length === 0 || (nestedCommands.length > 0 && nestedCommands.every(({ isComplete }) => isComplete)))
    return { operations, unknowns: unknownReasons };
  const isNetwork = isNetworkProgram(programName(argv[0]));
  const addresses = argv.slice(1).map(({ text }) => readAddresses(text, isNetwork));
  operations.push({
    tool: reading.tool,
    argv,
    paths: [...new Set(argv.slice(1).flatMap(({ text }) => [text, ...text.split('=').slice(1)]))].flatMap((each) =>
      resolveOnce(each, reading),
    ),
    hosts: [...new Set(addresses.flatMap(({ hosts }) => hosts))],
    hasUncertainHost: addresses.some(({ isUncertain }) => isUncertain),
    ...(assignments.length > 0 ? { notAllowableReason: `it sets ${assignments.join(', ')}` } : {}),
  });
  return { operations, unknowns: unknownReasons };
}

/** A file that the shell opens counts as read or written by a tool. A path that cannot be resolved is ignored. */
function redirectionOperation(
  { path: word, mode }: OpenedFile,
  { context }: ShellReading,
  changesDirectory: boolean,
): Operation | undefined {
  if (/^\/dev\/(null|stdout|stderr|stdin|tty|fd\/\d+)$/.test(word.text)) return undefined;
  const homePath = word.text.replace(/^["']?\$(?:HOME|\{HOME\})["']?(?=\/)/, '~').replace(/["']$/, '');
  const isHome = !word.known && homePath.startsWith('~/') && !/[$`]/.test(homePath);
  const isOtherHome = isUserHome(word.text);
  const isUnresolvable = !isHome && !isOtherHome && (!word.known || (changesDirectory && !/^[/~]/.test(word.text)));
  // Bash opens a network connection by such a name.
  const networkHost = /^\/+dev\/+(?:tcp|udp)\/+([^/]{1,253})/.exec(word.text)?.[1];
  const host = networkHost === undefined ? undefined : parseUrlHost(`http://${networkHost}`);
  return {
    tool: mode === 'read' ? 'read_file' : 'write_file',
    paths: [isUnresolvable ? { given: word.text } : resolveOperationPath(isHome ? homePath : word.text, context)],
    hosts: host === undefined ? [] : [host],
    ...(mode === 'read' ? { readOnly: true } : {}),
    ...(isUnresolvable ? { notAllowableReason: `it is not known which file ${word.text} is` } : {}),
  };
}

const maxPathLength = 4096;

/** Resolves the path of a word, unless it was resolved before. A longer text is not a path. */
function resolveOnce(given: string, { resolvedPaths, budget, context }: ShellReading): readonly OperationPath[] {
  if (given.length > maxPathLength) return [];
  const known = resolvedPaths.get(given);
  if (known) return [known];
  if (!budget.spendPath()) return [];
  const resolved = resolveOperationPath(given, context);
  resolvedPaths.set(given, resolved);
  return [resolved];
}

/** Returns true for `~name`, the home folder of another user. */
const isUserHome = (text: string): boolean => /^~[^/]/.test(text);

/** Resolves a path as a shell and a program do. The home folder of another user is not resolved. */
export function resolveOperationPath(given: string, { locate, cwd, home }: PathContext): OperationPath {
  if (isUserHome(given)) return { given };
  const full = path.resolve(cwd, given === '~' || given.startsWith('~/') ? path.join(home, given.slice(1)) : given);
  try {
    return { given: full, resolved: locate(full) };
  } catch {
    return { given: full };
  }
}
