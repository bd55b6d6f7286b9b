// Matches calls with grant rules: which rules are offered for a call, and whether a rule covers another call. They never cover what a policy denies or asks about.
import { isObject, isSecretFile, unwrapDeferredCall, type ToolCall } from '../../core/index.ts';
import type { GrantRule, ResolvePath } from '../grant-rule.ts';
import type { PolicyContext } from './evaluate.ts';

/** A call, as gates and views see it. */
type Call = Pick<ToolCall, 'tool' | 'input'>;

const commandTools: ReadonlySet<string> = new Set(['run_command', 'execute_sandboxed_command']);
const editTools: ReadonlySet<string> = new Set(['edit_file', 'write_file', 'apply_patch', 'edit_notebook']);

/** Programs for which a prefix would cover too much: they delete, change or send what their other words name. */
const broadPrograms: ReadonlySet<string> = new Set(
  'rm rmdir unlink shred cp mv tee touch ln mkdir chmod chown truncate dd install kill pkill killall reboot shutdown mount umount tar zip unzip patch'.split(
    ' ',
  ),
);

/** The subcommands of git that only read: every other one changes the repository, and is asked about. */
const gitReadingCommands: ReadonlySet<string> = new Set(
  'status log diff show blame rev-parse ls-files describe shortlog grep'.split(' '),
);

const subcommandPattern = /^[a-z][a-z0-9:_-]*$/i;

/** Returns the broader rules that may be offered for a call, besides this exact call. */
export async function findGrantRules(call: Call, context: PolicyContext): Promise<readonly GrantRule[]> {
  const { tool, input } = unwrap(call);
  if (isWorkspaceEdit({ tool, input }, context.locate)) return [{ type: 'edits' }];
  if (tool.startsWith('mcp__')) return [{ type: 'tool', tool }];
  const { command } = isObject(input) ? input : {};
  if (!commandTools.has(tool) || typeof command !== 'string') return [];
  const words = await findCommandPrefix(command);
  const rule = words && ({ type: 'command', tool, words } as const);
  // A rule that does not cover the call itself would not be what the user asked for.
  return rule && (await grantCovers(rule, { tool, input }, context)) ? [rule] : [];
}

/** Whether a rule covers a call. The exact kind of a call is compared by its key, which is not known here. */
export async function grantCovers(rule: GrantRule, call: Call, context: PolicyContext): Promise<boolean> {
  const target = unwrap(call);
  if (rule.type === 'edits') return isWorkspaceEdit(target, context.locate);
  if (rule.type === 'tool') return target.tool === rule.tool && rule.tool.startsWith('mcp__');
  return rule.type === 'command' && target.tool === rule.tool && commandBeginsWith(rule, target, context);
}

function unwrap(call: Call): Call {
  const unwrapped = unwrapDeferredCall(call);
  return typeof unwrapped === 'string' ? call : unwrapped;
}

/** Whether a call only edits files in the allowed folders that hold no secrets. */
export function isWorkspaceEdit({ tool, input }: Call, locate: ResolvePath): boolean {
  const { path, paths } = isObject(input) ? input : {};
  const files = [path, ...(Array.isArray(paths) ? paths : [])].filter((each) => each !== undefined);
  if (!editTools.has(tool) || files.length === 0) return false;
  try {
    return files.every((file) => typeof file === 'string' && !isSecretFile(file) && !isSecretFile(locate(file)));
  } catch {
    // A path is outside the allowed folders.
    return false;
  }
}

/** Returns the words that a grant for this command may begin with; undefined if no prefix of it says what runs. */
async function findCommandPrefix(command: string): Promise<readonly string[] | undefined> {
  const words = await readSingleCommand(command);
  if (words === undefined) return undefined;
  const [program = '', subcommand, third] = words;
  const { isExecutingProgram, isNetworkProgram, isSubcommandProgram } = await import('./executing-programs.ts');
  if (program.includes('/') || broadPrograms.has(program) || isNetworkProgram(program)) return undefined;
  const { findKnownProgram } = await import('./known-programs.ts');
  if (isSubcommandProgram(program)) {
    if (subcommand === undefined || findKnownProgram(program, subcommand) === undefined) return undefined;
    if (program === 'git') return gitReadingCommands.has(subcommand) ? [program, subcommand] : undefined;
    // "npm run" alone would cover every script.
    if (program === 'npm' && ['run', 'run-script'].includes(subcommand))
      return third !== undefined && subcommandPattern.test(third) ? [program, subcommand, third] : undefined;
    return program === 'npm' && ['install', 'i', 'ci', 'start'].includes(subcommand)
      ? undefined
      : [program, subcommand];
  }
  // The arguments of these programs are commands or code, so a prefix proves nothing.
  if (isExecutingProgram(program)) return undefined;
  // "make" alone would cover every target.
  if (findKnownProgram(program, subcommand) !== undefined && program !== 'make') return [program];
  return subcommand !== undefined && subcommandPattern.test(subcommand) ? [program, subcommand] : undefined;
}

/** Returns the words of a line that is one plain command: no other command, no variable, no pattern, no redirection but of one output to another. */
async function readSingleCommand(command: string): Promise<readonly string[] | undefined> {
  const { provePlainLine } = await import('./plain-tree.ts');
  const reading = await provePlainLine(command);
  if ('notPlain' in reading || reading.line.commands.length !== 1) return undefined;
  const [only] = reading.line.commands;
  const isPlain =
    only?.words.every(({ isPattern }) => !isPattern) && only.redirections.every(({ operator }) => operator === '>&');
  return only && isPlain ? only.words.map(({ text }) => text) : undefined;
}

/** Whether a call is one plain command that begins with these words, and the rest of it is known to be harmless. */
async function commandBeginsWith(
  { words, tool }: GrantRule & { readonly type: 'command' },
  { input }: Call,
  context: PolicyContext,
): Promise<boolean> {
  const { command, ...others } = isObject(input) ? input : {};
  // A grant covers neither the background nor other options.
  if (typeof command !== 'string' || Object.keys(others).some((name) => name !== 'timeout_s')) return false;
  const given = await readSingleCommand(command);
  if (given === undefined || !words.every((word, at) => given[at] === word)) return false;
  const { evaluatePolicy } = await import('./evaluate.ts');
  const on = { tool: [tool], command: [words] };
  const { effect } = await evaluatePolicy(
    { rules: [{ effect: 'allow', on, source: 'a grant', match: [], noMatch: [] }] },
    { tool, input },
    context,
  );
  return effect === 'allow';
}
