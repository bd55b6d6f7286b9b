// What a command line asks for, or the one sentence that says what is wrong with it.
import { parseArgs } from 'node:util';
import { closestMatches } from '../../core/index.ts';
import { allOptions, optionGroups, type Option } from './options.ts';

/** What is to be done at once. */
export type Work =
  | { readonly type: 'prompt'; readonly text: string }
  | { readonly type: 'prompt-file'; readonly path: string }
  /** The prompt comes on standard input. */
  | { readonly type: 'input' }
  | { readonly type: 'test-connection' }
  | { readonly type: 'refresh-models' };

/** Which session to work in. */
export type Which =
  | { readonly type: 'new'; readonly name?: string }
  /** Without a name, the person chooses. */
  | { readonly type: 'resume'; readonly session?: string }
  | { readonly type: 'clone'; readonly session: string; readonly name?: string }
  | { readonly type: 'latest' }
  | { readonly type: 'ephemeral' };

/** A command line that was understood. */
export type Asked = {
  readonly mode: 'interactive' | 'one-shot';
  readonly work: Work | undefined;
  readonly which: Which;
  readonly model: string | undefined;
  /** Only models on the person's own machines may read this session. */
  readonly private: boolean;
  readonly stream: boolean;
  readonly auto: boolean;
  readonly sandbox: boolean;
  readonly code: boolean;
  readonly plain: boolean;
  readonly output: 'text' | 'json' | 'stream-json';
  readonly input: 'text' | 'stream-json';
  readonly schema: string | undefined;
  readonly limits: { readonly turns?: number; readonly usd?: number };
};

/** What is wrong with a command line. */
export type Misused = { readonly wrong: string };

/** How the program was called: by which command, and whether a person can type at it. */
export type Called = { readonly as?: 'chat' | 'run'; readonly typed: boolean };

type Values = ReadonlyMap<string, string>;

/** Reads a command line. */
export function readAsked(args: readonly string[], called: Called): Asked | Misused {
  const parsed = parse(args);
  if ('wrong' in parsed) return parsed;
  const { values, words } = parsed;
  const work = workOf(values, words, called);
  if (work && 'wrong' in work) return work;
  const mode = modeOf(values, work, called);
  if (typeof mode === 'object') return mode;
  const which = whichOf(values, mode);
  if ('wrong' in which) return which;
  const formats = formatsOf(values);
  if ('wrong' in formats) return formats;
  const limits = limitsOf(values);
  if ('wrong' in limits) return limits;
  if (mode === 'one-shot' && !work)
    return { wrong: 'One-shot needs something to do: a prompt, --prompt-file, --test-connection or --refresh-models.' };
  if (mode === 'interactive' && (formats.output !== 'text' || formats.input !== 'text'))
    return { wrong: '--output-format and --input-format are for one-shot runs.' };
  if (mode === 'interactive' && values.has('output-schema')) return { wrong: '--output-schema is for one-shot runs.' };
  if (formats.input !== 'text' && work?.type !== 'input')
    return { wrong: '--input-format stream-json reads the prompts from standard input: give no other.' };
  return {
    mode,
    work,
    which,
    model: values.get('model'),
    private: values.has('private'),
    stream: values.has('stream'),
    auto: values.has('auto-approve'),
    sandbox: !values.has('no-sandbox'),
    code: values.has('code'),
    plain: values.has('plain'),
    ...formats,
    schema: values.get('output-schema'),
    limits,
  };
}

/** The options that were given, under their first names, and the other words. */
function parse(args: readonly string[]): { readonly values: Values; readonly words: readonly string[] } | Misused {
  const kinds = Object.fromEntries(
    allOptions.flatMap((option) =>
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
      args: filled(args),
      options: kinds,
      allowPositionals: true,
      tokens: true,
    });
    for (const token of tokens) {
      if (token.kind !== 'option') continue;
      const option = optionNamed(token.name) as Option;
      if (option.value === undefined && token.value !== undefined) return { wrong: `--${token.name} takes no value.` };
      if (option.value !== undefined && !option.optional && !token.value)
        return { wrong: `--${token.name} needs a value: ${option.value}.` };
      values.set(option.names[0], token.value ?? '');
    }
    return clash(values) ?? { values, words: positionals };
  } catch (error) {
    return { wrong: reason(error) };
  }
}

const optionNamed = (name: string): Option | undefined => allOptions.find(({ names }) => names.includes(name));

/** An option whose value may be left out gets an empty one where the next word is an option or missing. */
function filled(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.map((arg, i) => {
    if (end >= 0 && i > end) return arg;
    const option = arg.startsWith('--')
      ? optionNamed(arg.slice(2))
      : allOptions.find(({ short }) => short !== undefined && arg === `-${short}`);
    if (!option?.optional) return arg;
    const next = args[i + 1];
    return next === undefined || next.startsWith('-') ? `--${option.names[0]}=` : arg;
  });
}

function clash(values: Values): Misused | undefined {
  for (const { exclusive, options } of optionGroups) {
    const given = options.filter(({ names }) => values.has(names[0]));
    if (exclusive && given.length > 1)
      return { wrong: `${given.map(({ names }) => `--${names[0]}`).join(' and ')} cannot be given together.` };
  }
  return undefined;
}

/** What Node says about a wrong option, in one sentence, with what may have been meant. */
function reason(error: unknown): string {
  const said = (error as Error).message.split('\n')[0] ?? '';
  const unknown = /^Unknown option '(-[^']*)'/.exec(said)?.[1];
  if (unknown === undefined) return said.replace(/\. (Did you|To specify).*$/, '.');
  const names = allOptions.flatMap(({ names }) => names);
  const [near] = unknown.startsWith('--') ? closestMatches(unknown.slice(2), names) : [];
  return `There is no option "${unknown}"${near === undefined ? '' : `; did you mean --${near}?`}`;
}

function workOf(values: Values, words: readonly string[], called: Called): Work | undefined | Misused {
  const text = words.join(' ');
  const named = ['prompt', 'prompt-file', 'test-connection', 'refresh-models'].find((name) => values.has(name));
  if (named !== undefined && text !== '') return { wrong: `The words "${text}" are one too many beside --${named}.` };
  if (named === 'prompt') return { type: 'prompt', text: values.get('prompt') ?? '' };
  if (named === 'prompt-file') return { type: 'prompt-file', path: values.get('prompt-file') ?? '' };
  if (named === 'test-connection' || named === 'refresh-models') return { type: named };
  if (text === '-') return { type: 'input' };
  if (text !== '') return { type: 'prompt', text };
  if (called.as === 'chat' || values.has('interactive') || called.typed) return undefined;
  return { type: 'input' };
}

function modeOf(values: Values, work: Work | undefined, { as }: Called): Asked['mode'] | Misused {
  if (values.has('one-shot') && as === 'chat')
    return { wrong: '"fairlead chat" is interactive: leave --one-shot away.' };
  if (values.has('interactive') && as === 'run')
    return { wrong: '"fairlead run" runs once: leave --interactive away.' };
  if (values.has('one-shot') || as === 'run') return 'one-shot';
  if (values.has('interactive') || as === 'chat') return 'interactive';
  // A connection test or a new list of models goes on into the prompt; words are answered once.
  return work?.type === 'prompt' || work?.type === 'prompt-file' || work?.type === 'input' ? 'one-shot' : 'interactive';
}

function whichOf(values: Values, mode: Asked['mode']): Which | Misused {
  const name = values.get('session-name');
  const named = name === undefined ? {} : { name };
  const clone = values.get('clone-session');
  if (clone !== undefined) return { type: 'clone', session: clone, ...named };
  const other = ['resume-session', 'continue', 'ephemeral'].find((each) => values.has(each));
  if (other === undefined) return { type: 'new', ...named };
  if (name !== undefined) return { wrong: `--session-name names a new session and has no meaning beside --${other}.` };
  if (other === 'continue') return { type: 'latest' };
  if (other === 'ephemeral') return { type: 'ephemeral' };
  const session = values.get('resume-session');
  if (session) return { type: 'resume', session };
  return mode === 'interactive' ? { type: 'resume' } : { wrong: '--resume-session needs the name or id of a session.' };
}

function formatsOf(values: Values): Pick<Asked, 'output' | 'input'> | Misused {
  const output = values.get('output-format') ?? (values.has('json') ? 'json' : 'text');
  const input = values.get('input-format') ?? 'text';
  if (output !== 'text' && output !== 'json' && output !== 'stream-json')
    return { wrong: `--output-format is text, json or stream-json, not "${output}".` };
  if (input !== 'text' && input !== 'stream-json')
    return { wrong: `--input-format is text or stream-json, not "${input}".` };
  return { output, input };
}

function limitsOf(values: Values): Asked['limits'] | Misused {
  const [turns, usd] = [values.get('max-turns'), values.get('max-budget-usd')];
  if (turns !== undefined && !/^[1-9]\d{0,8}$/.test(turns))
    return { wrong: `--max-turns must be a whole number above 0, not "${turns}".` };
  if (usd !== undefined && !(Number(usd) > 0))
    return { wrong: `--max-budget-usd must be a number above 0, not "${usd}".` };
  return {
    ...(turns === undefined ? {} : { turns: Number(turns) }),
    ...(usd === undefined ? {} : { usd: Number(usd) }),
  };
}
