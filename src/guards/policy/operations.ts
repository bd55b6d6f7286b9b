// Splits a call into operations: each simple command, each file and each host, so that each can be evaluated on its own.
import path from 'node:path';
import { unwrapDeferredCall, isObject, type ToolCall } from '../../core/index.ts';
import type { ResolvePath } from '../grants.ts';
import { findNestedCommands, programName } from './nested-commands.ts';
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
  /** The files it uses; for a command, all words that might be files. */
  readonly paths: readonly OperationPath[];
  /** The hosts it names, in normal form. */
  readonly hosts: readonly string[];
  /** True if it only reads, apart from what other operations do. */
  readonly readOnly?: boolean;
  /** Why no rule may allow it, although its effect is known. */
  readonly notAllowableReason?: string;
};

/** The operations of a call, and the reasons why some are unknown. */
export type CallOperations = { readonly operations: readonly Operation[]; readonly unknowns: readonly string[] };

/** The working folder and the home folder of a call, and how its paths are resolved. */
export type PathContext = { readonly locate: ResolvePath; readonly cwd: string; readonly home: string };

const maxNesting = 5;
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
  if (typeof command === 'string') return commandOperations(tool, command, context, 0);
  const stringsIn = (keys: readonly string[]): readonly string[] =>
    keys.flatMap((key) => fields[key]).filter((each) => typeof each === 'string');
  const found = stringsIn(['url', 'urls', 'uri']).map(parseUrlHost);
  const unknownReasons = found.includes(undefined) ? ['It contains a URL that cannot be parsed.'] : [];
  const hosts = found.filter((each) => each !== undefined);
  return {
    operations: [{ tool, paths: stringsIn(pathArguments).map((each) => resolveOperationPath(each, context)), hosts }],
    unknowns: unknownReasons,
  };
}

async function commandOperations(
  tool: string,
  source: string,
  context: PathContext,
  depth: number,
): Promise<CallOperations> {
  if (depth > maxNesting) return { operations: [], unknowns: ['Its commands are nested too deeply.'] };
  const { commands, unknowns } = await parseShell(source);
  const isNoOpCd = ({ argv: [name, to], openedFiles, assignments }: SimpleCommand): boolean =>
    name?.text === 'cd' &&
    to?.known === true &&
    resolveOperationPath(to.text, context).resolved === context.cwd &&
    !openedFiles.length &&
    !assignments.length;
  const effectiveCommands = commands.filter((each) => !isNoOpCd(each));
  // After a change of folder, relative paths no longer resolve against the working folder.
  const changesDirectory = effectiveCommands.some(({ argv: [name] }) =>
    ['cd', 'pushd', 'popd'].includes(programName(name)),
  );
  const parts = await Promise.all(
    effectiveCommands.map((each) => simpleCommandOperations(tool, each, { ...context, changesDirectory }, depth)),
  );
  const directoryUnknowns = changesDirectory ? ['It changes the folder.'] : [];
  return {
    operations: parts.flatMap(({ operations }) => operations),
    unknowns: [...unknowns, ...directoryUnknowns, ...parts.flatMap((part) => part.unknowns)],
  };
}

type ShellContext = PathContext & { readonly changesDirectory: boolean };

/** Variables that decide which programs run, or what they execute. */
const sensitiveVariables =
  /^(PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|LD_.*|DYLD_.*|GIT_.*|.*PAGER|.*EDITOR|VISUAL|BROWSER|NODE_.*|PYTHON.*|PERL.*|RUBY.*|JAVA_TOOL_OPTIONS|HOME|SHELL|XDG_.*|LESS.*|RIPGREP_CONFIG_PATH|\w+_OPTIONS|\w*FLAGS|npm_config_.*|CARGO_.*|RUSTC?_?.*|\w+_WRAPPER|GCONV_PATH|LOCPATH|SSH_.*|SUDO_.*|CC|CXX|DOCKER_.*|KUBECONFIG|BASH_FUNC.*)$/i;

async function simpleCommandOperations(
  tool: string,
  command: SimpleCommand,
  context: ShellContext,
  depth: number,
): Promise<CallOperations> {
  const { argv, assignments, openedFiles } = command;
  const unknownReasons: string[] = [];
  const operations: Operation[] = openedFiles
    .map((each) => redirectionOperation(each, context))
    .filter((each) => each !== undefined);
  const sensitiveAssignment = assignments.find((name) => sensitiveVariables.test(name));
  if (sensitiveAssignment !== undefined)
    unknownReasons.push(`It sets ${sensitiveAssignment}, which decides what runs.`);
  if (argv[0]?.known === false || argv[0]?.pattern) unknownReasons.push(`It is not known what ${argv[0].text} runs.`);
  const nestedCommands = findNestedCommands(command);
  for (const each of nestedCommands) {
    if (!each.isComplete) unknownReasons.push(`${programName(argv[0])} runs other commands.`);
    const nestedOperations =
      each.source === undefined
        ? await simpleCommandOperations(
            tool,
            { argv: each.argv ?? [], assignments: [], openedFiles: [], stdinTexts: [] },
            context,
            depth + 1,
          )
        : await commandOperations(tool, each.source, context, depth + 1);
    operations.push(...nestedOperations.operations);
    unknownReasons.push(...nestedOperations.unknowns);
  }
  if (argv.length === 0 || (nestedCommands.length > 0 && nestedCommands.every(({ isComplete }) => isComplete)))
    return { operations, unknowns: unknownReasons };
  const addresses = argv.slice(1).flatMap(({ text }) => text.match(/[a-z][a-z0-9+.-]*:\/\/[^\s'"]*/gi) ?? []);
  const found = addresses.map(parseUrlHost);
  if (found.includes(undefined)) unknownReasons.push('It contains a URL that cannot be parsed.');
  operations.push({
    tool,
    argv,
    paths: argv
      .slice(1)
      .flatMap(({ text }) => [text, ...text.split('=').slice(1)].map((each) => resolveOperationPath(each, context))),
    hosts: found.filter((each) => each !== undefined),
    ...(assignments.length > 0 ? { notAllowableReason: `it sets ${assignments.join(', ')}` } : {}),
  });
  return { operations, unknowns: unknownReasons };
}

/** A file that the shell opens counts as read or written by a tool. A path that cannot be resolved is ignored. */
function redirectionOperation({ path: word, mode }: OpenedFile, context: ShellContext): Operation | undefined {
  if (/^\/dev\/(null|stdout|stderr|stdin|tty|fd\/\d+)$/.test(word.text)) return undefined;
  const homePath = word.text.replace(/^["']?\$(?:HOME|\{HOME\})["']?(?=\/)/, '~').replace(/["']$/, '');
  const isHome = !word.known && homePath.startsWith('~/') && !/[$`]/.test(homePath);
  const isUnresolvable = !isHome && (!word.known || (context.changesDirectory && !/^[/~]/.test(word.text)));
  return {
    tool: mode === 'read' ? 'read_file' : 'write_file',
    paths: [isUnresolvable ? { given: word.text } : resolveOperationPath(isHome ? homePath : word.text, context)],
    hosts: [],
    ...(mode === 'read' ? { readOnly: true } : {}),
    ...(isUnresolvable ? { notAllowableReason: `it is not known which file ${word.text} is` } : {}),
  };
}

function resolveOperationPath(given: string, { locate, cwd, home }: PathContext): OperationPath {
  const full = path.resolve(cwd, given === '~' || given.startsWith('~/') ? path.join(home, given.slice(1)) : given);
  try {
    return { given: full, resolved: locate(full) };
  } catch {
    return { given: full };
  }
}

/** Returns the host of a URL in normal form, as clients parse it; undefined if it has none. */
export function parseUrlHost(address: string): string | undefined {
  try {
    return new URL(address).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '') || undefined;
  } catch {
    return undefined;
  }
}
