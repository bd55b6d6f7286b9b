// Parses the command line of `fairlead`, `fairlead chat` and `fairlead run`, or returns one sentence about what is wrong.
import { parseArgs } from 'node:util';
import { closestMatches } from '../../core/index.ts';
import type { Profile } from '../../coding-agent/settings/index.ts';
import type { SessionSelector } from '../../sessions/index.ts';
import { findUnknownCommand } from './command-like.ts';
import { cliOptions, getOptionGroups, type CliOption, type CliOptionGroup } from './options.ts';

/** The action to do. */
export type CliAction =
  | {
      readonly type: 'prompt';
      readonly text: string;
      /** Whether `-` follows the prompt: standard input is read to its end, however long that takes. */
      readonly waitsForStdin?: boolean;
    }
  | { readonly type: 'prompt-file'; readonly path: string }
  /** Reads the prompt from standard input. */
  | { readonly type: 'stdin' }
  | { readonly type: 'test-connection' }
  | { readonly type: 'refresh-models' };

/** A parsed command line. */
export type CliArgs = {
  readonly mode: 'interactive' | 'one-shot';
  readonly action: CliAction | undefined;
  readonly session: SessionSelector;
  /** The folder to work in, as given; absent: the current one. */
  readonly cwd: string | undefined;
  readonly model: string | undefined;
  /** Whether only models on the user's own machines may read this session. */
  readonly private: boolean;
  /** Absent if the settings decide. */
  readonly stream: boolean | undefined;
  readonly effort: 'off' | 'low' | 'medium' | 'high' | undefined;
  readonly autoApprove: boolean;
  readonly permissionMode: PermissionMode | undefined;
  readonly sandbox: boolean;
  readonly codeOnly: boolean;
  readonly plain: boolean;
  readonly outputFormat: 'text' | 'json' | 'stream-json';
  readonly inputFormat: 'text' | 'stream-json';
  readonly outputSchema: string | undefined;
  readonly limits: { readonly turns?: number; readonly usd?: number };
  readonly verify: boolean;
};

/** The message about an invalid command line. */
export type UsageError = { readonly message: string };

/** How the program was started. */
export type Invocation = {
  readonly command?: 'chat' | 'run';
  /** Whether the user can type at it. */
  readonly isInteractive: boolean;
  /** Whether standard input is a pipe or a file. */
  readonly hasPipedText?: boolean;
  /** The names of the commands: a prompt that looks like one of them is refused. */
  readonly commands?: readonly string[];
  /** The short options that differ from those of `fairlead`. */
  readonly shortOptions?: Profile['shortOptions'];
};

type OptionValues = ReadonlyMap<string, string>;

/** Parses a command line. */
export function parseCliArgs(args: readonly string[], invocation: Invocation): CliArgs | UsageError {
  const parsed = parseOptions(args, getOptionGroups({ shortOptions: invocation.shortOptions ?? {} }));
  if ('message' in parsed) return parsed;
  const { values, positionals } = parsed;
  if (parsed.words.length > 0 && invocation.command === undefined && findAction(values) === undefined) {
    const message = findUnknownCommand(parsed.words, invocation.commands ?? [], invocation.hasPipedText);
    if (message !== undefined) return { message };
  }
  const action = parseAction(values, positionals, invocation);
  if (action && 'message' in action) return action;
  const mode = parseMode(values, action, invocation);
  if (typeof mode === 'object') return mode;
  const session = parseSessionSelector(values, mode);
  if ('message' in session) return session;
  const formats = parseFormats(values);
  if ('message' in formats) return formats;
  if (values.has('stream') && values.has('no-stream'))
    return { message: '--stream and --no-stream cannot be given together.' };
  const effort = parseEffort(values);
  if (typeof effort === 'object') return effort;
  const permissionMode = parsePermissionMode(values);
  if (typeof permissionMode === 'object') return permissionMode;
  const limits = parseLimits(values);
  if ('message' in limits) return limits;
  if (mode === 'one-shot' && !action)
    return {
      message: '--one-shot needs an action: a prompt, --prompt-file, --test-connection or --refresh-models.',
    };
  if (mode === 'interactive' && (formats.outputFormat !== 'text' || formats.inputFormat !== 'text'))
    return { message: '--output-format and --input-format are for one-shot runs.' };
  if (mode === 'interactive' && values.has('output-schema'))
    return { message: '--output-schema is for one-shot runs.' };
  if (formats.inputFormat !== 'text' && action?.type !== 'stdin')
    return { message: '--input-format stream-json reads the prompts from standard input: remove the other prompt.' };
  return {
    mode,
    action,
    session,
    cwd: values.get('cwd'),
    model: values.get('model'),
    private: values.has('private'),
    stream: values.has('stream') ? true : values.has('no-stream') ? false : undefined,
    effort,
    autoApprove: values.has('auto-approve'),
    permissionMode,
    sandbox: !values.has('no-sandbox'),
    codeOnly: values.has('code'),
    plain: values.has('plain'),
    ...formats,
    outputSchema: values.get('output-schema'),
    limits,
    verify: values.has('verify'),
  };
}

type ParsedOptions = {
  readonly values: OptionValues;
  readonly positionals: readonly string[];
  /** The positional arguments if no `--` marks them as a prompt. */
  readonly words: readonly string[];
};

/** Parses the options, stored under their first names, and the positional arguments. */
function parseOptions(args: readonly string[], groups: readonly CliOptionGroup[]): ParsedOptions | UsageError {
  const options = groups.flatMap((group) => group.options);
  const optionTypes = Object.fromEntries(
    options.flatMap((option) =>
      option.names.map((name, i) => [
        name,
        {
          type: option.value === undefined ? ('boolean' as const) : ('string' as const),
          ...(i === 0 && option.short !== undefined ? { short: option.short } : {}),
        },
      ]),
    ),
  );
  const values = new Map<string, string>();
  try {
    const { tokens, positionals } = parseArgs({
      args: fillOptionalValues(args, options),
      options: optionTypes,
      allowPositionals: true,
      tokens: true,
    });
    for (const token of tokens) {
      if (token.kind !== 'option') continue;
      const option = findOption(token.name) as CliOption;
      if (option.value === undefined && token.value !== undefined)
        return { message: `--${token.name} takes no value.` };
      if (option.value !== undefined && !option.optional && !token.value)
        return { message: `--${token.name} needs a value: ${option.value}.` };
      values.set(option.names[0], token.value ?? '');
    }
    const isMarked = tokens.some(({ kind }) => kind === 'option-terminator');
    return findExclusiveConflict(values, groups) ?? { values, positionals, words: isMarked ? [] : positionals };
  } catch (error) {
    return { message: formatOptionError(error) };
  }
}

const findOption = (name: string): CliOption | undefined => cliOptions.find(({ names }) => names.includes(name));

/** Gives an option with an optional value an empty value if the next argument is an option or missing. */
function fillOptionalValues(args: readonly string[], options: readonly CliOption[]): string[] {
  const end = args.indexOf('--');
  return args.map((arg, i) => {
    if (end >= 0 && i > end) return arg;
    const option = arg.startsWith('--')
      ? findOption(arg.slice(2))
      : options.find(({ short }) => short !== undefined && arg === `-${short}`);
    if (!option?.optional) return arg;
    const next = args[i + 1];
    return next === undefined || next.startsWith('-') ? `--${option.names[0]}=` : arg;
  });
}

function findExclusiveConflict(values: OptionValues, groups: readonly CliOptionGroup[]): UsageError | undefined {
  for (const { exclusive, options } of groups) {
    const given = options.filter(({ names }) => values.has(names[0]));
    if (exclusive && given.length > 1)
      return { message: `${given.map(({ names }) => `--${names[0]}`).join(' and ')} cannot be given together.` };
  }
  return undefined;
}

/** Formats an error of Node's option parser as one sentence, with a similar option name. */
function formatOptionError(error: unknown): string {
  const message = (error as Error).message.split('\n')[0] ?? '';
  const missing = /^Option '(?:-\w, )?--([\w-]+) <value>' argument missing/.exec(message)?.[1];
  const needed = missing === undefined ? undefined : findOption(missing)?.value;
  if (needed !== undefined) return `--${missing} needs a value: ${needed}.`;
  const unknown = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
  if (unknown === undefined) return message.replace(/\. (Did you|To specify).*$/, '.');
  const names = cliOptions.flatMap(({ names }) => names);
  const [similar] = unknown.startsWith('--') ? closestMatches(unknown.slice(2), names) : [];
  return `There is no option "${unknown}"${similar === undefined ? '' : `; did you mean --${similar}?`}`;
}

function parseAction(
  values: OptionValues,
  positionals: readonly string[],
  invocation: Invocation,
): CliAction | undefined | UsageError {
  const named = findAction(values);
  const waitsForStdin = positionals.at(-1) === '-' && (positionals.length > 1 || named === 'prompt');
  const text = positionals.slice(0, waitsForStdin ? -1 : undefined).join(' ');
  const stdin = waitsForStdin ? { waitsForStdin } : {};
  if (named !== undefined && text !== '') return { message: `Unexpected argument "${text}" with --${named}.` };
  if (named === 'prompt') return { type: 'prompt', text: values.get('prompt') ?? '', ...stdin };
  if (named === 'prompt-file') return { type: 'prompt-file', path: values.get('prompt-file') ?? '' };
  if (named === 'test-connection' || named === 'refresh-models') return { type: named };
  if (text === '-') return { type: 'stdin' };
  if (text !== '') return { type: 'prompt', text, ...stdin };
  if (invocation.command === 'chat' || values.has('interactive') || invocation.isInteractive) return undefined;
  return { type: 'stdin' };
}

/** The option that names the action, if there is one. */
const findAction = (values: OptionValues): string | undefined =>
  ['prompt', 'prompt-file', 'test-connection', 'refresh-models'].find((name) => values.has(name));

function parseMode(
  values: OptionValues,
  action: CliAction | undefined,
  { command }: Invocation,
): CliArgs['mode'] | UsageError {
  if (values.has('one-shot') && command === 'chat')
    return { message: '"fairlead chat" is interactive: remove --one-shot.' };
  if (values.has('interactive') && command === 'run')
    return { message: '"fairlead run" runs once: remove --interactive.' };
  if (values.has('one-shot') || command === 'run') return 'one-shot';
  if (values.has('interactive') || command === 'chat') return 'interactive';
  // A connection test or a list of models opens the prompt afterwards; a prompt is answered once.
  return action && ['prompt', 'prompt-file', 'stdin'].includes(action.type) ? 'one-shot' : 'interactive';
}

function parseSessionSelector(values: OptionValues, mode: CliArgs['mode']): SessionSelector | UsageError {
  const name = values.get('session-name');
  const named = name === undefined ? {} : { name };
  const clone = values.get('clone-session');
  if (clone !== undefined) return { type: 'clone', session: clone, ...named };
  const other = ['resume-session', 'continue', 'ephemeral'].find((each) => values.has(each));
  if (other === undefined) return { type: 'new', ...named };
  if (name !== undefined) return { message: `--session-name is for a new session and cannot be used with --${other}.` };
  if (other === 'continue') return { type: 'latest' };
  if (other === 'ephemeral') return { type: 'ephemeral' };
  const session = values.get('resume-session');
  if (session) return { type: 'resume', session };
  return mode === 'interactive'
    ? { type: 'resume' }
    : { message: '--resume-session needs the name or id of a session.' };
}

function parseFormats(values: OptionValues): Pick<CliArgs, 'outputFormat' | 'inputFormat'> | UsageError {
  const output = values.get('output-format') ?? (values.has('json') ? 'json' : 'text');
  const input = values.get('input-format') ?? 'text';
  if (output !== 'text' && output !== 'json' && output !== 'stream-json')
    return { message: `--output-format is text, json or stream-json, not "${output}".` };
  if (input !== 'text' && input !== 'stream-json')
    return { message: `--input-format is text or stream-json, not "${input}".` };
  return { outputFormat: output, inputFormat: input };
}

function parseEffort(values: OptionValues): CliArgs['effort'] | UsageError {
  const effort = values.get('effort');
  return effort === undefined || effort === 'off' || effort === 'low' || effort === 'medium' || effort === 'high'
    ? effort
    : { message: `--effort is off, low, medium or high, not "${effort}".` };
}

type PermissionMode = 'read-only' | 'plan' | 'ask' | 'accept-edits' | 'auto';

const permissionModes: readonly PermissionMode[] = ['read-only', 'plan', 'ask', 'accept-edits', 'auto'];

function parsePermissionMode(values: OptionValues): PermissionMode | undefined | UsageError {
  const given = values.get('mode');
  if (values.has('plan') && given !== undefined && given !== 'plan')
    return { message: `--plan and --mode ${given} cannot be given together.` };
  const mode = values.has('plan') ? 'plan' : given;
  if (mode === undefined) return undefined;
  if (mode !== 'auto' && values.has('auto-approve'))
    return { message: `--${values.has('plan') ? 'plan' : 'mode'} and --auto-approve cannot be given together.` };
  return (
    permissionModes.find((each) => each === mode) ?? {
      message: `--mode is read-only, plan, ask, accept-edits or auto, not "${mode}".`,
    }
  );
}

function parseLimits(values: OptionValues): CliArgs['limits'] | UsageError {
  const [turns, usd] = [values.get('max-turns'), values.get('max-budget-usd')];
  if (turns !== undefined && !/^[1-9]\d{0,8}$/.test(turns))
    return { message: `--max-turns must be a whole number above 0, not "${turns}".` };
  if (usd !== undefined && !(Number(usd) > 0))
    return { message: `--max-budget-usd must be a number above 0, not "${usd}".` };
  return {
    ...(turns === undefined ? {} : { turns: Number(turns) }),
    ...(usd === undefined ? {} : { usd: Number(usd) }),
  };
}
