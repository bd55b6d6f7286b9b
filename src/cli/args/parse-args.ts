// What a command line asks for, or the one sentence that says what is wrong with it.
import { parseArgs } from 'node:util';
import { closestMatches } from '../../core/index.ts';
import type { SessionSelector } from '../../sessions/index.ts';
import { cliOptions, cliOptionGroups, type CliOption } from './options.ts';

/** What is to be done at once. */
export type CliAction =
  | { readonly type: 'prompt'; readonly text: string }
  | { readonly type: 'prompt-file'; readonly path: string }
  /** The prompt comes on standard input. */
  | { readonly type: 'stdin' }
  | { readonly type: 'test-connection' }
  | { readonly type: 'refresh-models' };

/** A command line that was understood. */
export type CliArgs = {
  readonly mode: 'interactive' | 'one-shot';
  readonly action: CliAction | undefined;
  readonly session: SessionSelector;
  readonly model: string | undefined;
  /** Only models on the person's own machines may read this session. */
  readonly private: boolean;
  readonly stream: boolean;
  readonly autoApprove: boolean;
  readonly sandbox: boolean;
  readonly codeOnly: boolean;
  readonly plain: boolean;
  readonly outputFormat: 'text' | 'json' | 'stream-json';
  readonly inputFormat: 'text' | 'stream-json';
  readonly outputSchema: string | undefined;
  readonly limits: { readonly turns?: number; readonly usd?: number };
};

/** What is wrong with a command line. */
export type UsageError = { readonly message: string };

/** How the program was called: by which command, and whether a person can type at it. */
export type Invocation = { readonly command?: 'chat' | 'run'; readonly isInteractive: boolean };

type OptionValues = ReadonlyMap<string, string>;

/** Reads a command line. */
export function parseCliArgs(args: readonly string[], called: Invocation): CliArgs | UsageError {
  const parsed = parseOptions(args);
  if ('message' in parsed) return parsed;
  const { values, words } = parsed;
  const work = parseAction(values, words, called);
  if (work && 'message' in work) return work;
  const mode = parseMode(values, work, called);
  if (typeof mode === 'object') return mode;
  const which = parseSessionSelector(values, mode);
  if ('message' in which) return which;
  const formats = parseFormats(values);
  if ('message' in formats) return formats;
  const limits = parseLimits(values);
  if ('message' in limits) return limits;
  if (mode === 'one-shot' && !work)
    return {
      message: 'One-shot needs something to do: a prompt, --prompt-file, --test-connection or --refresh-models.',
    };
  if (mode === 'interactive' && (formats.outputFormat !== 'text' || formats.inputFormat !== 'text'))
    return { message: '--output-format and --input-format are for one-shot runs.' };
  if (mode === 'interactive' && values.has('output-schema'))
    return { message: '--output-schema is for one-shot runs.' };
  if (formats.inputFormat !== 'text' && work?.type !== 'stdin')
    return { message: '--input-format stream-json reads the prompts from standard input: give no other.' };
  return {
    mode,
    action: work,
    session: which,
    model: values.get('model'),
    private: values.has('private'),
    stream: values.has('stream'),
    autoApprove: values.has('auto-approve'),
    sandbox: !values.has('no-sandbox'),
    codeOnly: values.has('code'),
    plain: values.has('plain'),
    ...formats,
    outputSchema: values.get('output-schema'),
    limits,
  };
}

/** The options that were given, under their first names, and the other words. */
function parseOptions(
  args: readonly string[],
): { readonly values: OptionValues; readonly words: readonly string[] } | UsageError {
  const kinds = Object.fromEntries(
    cliOptions.flatMap((option) =>
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
      args: fillOptionalValues(args),
      options: kinds,
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
    return findExclusiveConflict(values) ?? { values, words: positionals };
  } catch (error) {
    return { message: formatOptionError(error) };
  }
}

const findOption = (name: string): CliOption | undefined => cliOptions.find(({ names }) => names.includes(name));

/** An option whose value may be left out gets an empty one where the next word is an option or missing. */
function fillOptionalValues(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.map((arg, i) => {
    if (end >= 0 && i > end) return arg;
    const option = arg.startsWith('--')
      ? findOption(arg.slice(2))
      : cliOptions.find(({ short }) => short !== undefined && arg === `-${short}`);
    if (!option?.optional) return arg;
    const next = args[i + 1];
    return next === undefined || next.startsWith('-') ? `--${option.names[0]}=` : arg;
  });
}

function findExclusiveConflict(values: OptionValues): UsageError | undefined {
  for (const { exclusive, options } of cliOptionGroups) {
    const given = options.filter(({ names }) => values.has(names[0]));
    if (exclusive && given.length > 1)
      return { message: `${given.map(({ names }) => `--${names[0]}`).join(' and ')} cannot be given together.` };
  }
  return undefined;
}

/** What Node says about a wrong option, in one sentence, with what may have been meant. */
function formatOptionError(error: unknown): string {
  const said = (error as Error).message.split('\n')[0] ?? '';
  const unknown = /^Unknown option '(-[^']*)'/.exec(said)?.[1];
  if (unknown === undefined) return said.replace(/\. (Did you|To specify).*$/, '.');
  const names = cliOptions.flatMap(({ names }) => names);
  const [near] = unknown.startsWith('--') ? closestMatches(unknown.slice(2), names) : [];
  return `There is no option "${unknown}"${near === undefined ? '' : `; did you mean --${near}?`}`;
}

function parseAction(
  values: OptionValues,
  words: readonly string[],
  called: Invocation,
): CliAction | undefined | UsageError {
  const text = words.join(' ');
  const named = ['prompt', 'prompt-file', 'test-connection', 'refresh-models'].find((name) => values.has(name));
  if (named !== undefined && text !== '') return { message: `The words "${text}" are one too many beside --${named}.` };
  if (named === 'prompt') return { type: 'prompt', text: values.get('prompt') ?? '' };
  if (named === 'prompt-file') return { type: 'prompt-file', path: values.get('prompt-file') ?? '' };
  if (named === 'test-connection' || named === 'refresh-models') return { type: named };
  if (text === '-') return { type: 'stdin' };
  if (text !== '') return { type: 'prompt', text };
  if (called.command === 'chat' || values.has('interactive') || called.isInteractive) return undefined;
  return { type: 'stdin' };
}

function parseMode(
  values: OptionValues,
  work: CliAction | undefined,
  { command }: Invocation,
): CliArgs['mode'] | UsageError {
  if (values.has('one-shot') && command === 'chat')
    return { message: '"fairlead chat" is interactive: leave --one-shot away.' };
  if (values.has('interactive') && command === 'run')
    return { message: '"fairlead run" runs once: leave --interactive away.' };
  if (values.has('one-shot') || command === 'run') return 'one-shot';
  if (values.has('interactive') || command === 'chat') return 'interactive';
  // A connection test or a new list of models goes on into the prompt; words are answered once.
  return work?.type === 'prompt' || work?.type === 'prompt-file' || work?.type === 'stdin' ? 'one-shot' : 'interactive';
}

function parseSessionSelector(values: OptionValues, mode: CliArgs['mode']): SessionSelector | UsageError {
  const name = values.get('session-name');
  const named = name === undefined ? {} : { name };
  const clone = values.get('clone-session');
  if (clone !== undefined) return { type: 'clone', session: clone, ...named };
  const other = ['resume-session', 'continue', 'ephemeral'].find((each) => values.has(each));
  if (other === undefined) return { type: 'new', ...named };
  if (name !== undefined)
    return { message: `--session-name names a new session and has no meaning beside --${other}.` };
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
