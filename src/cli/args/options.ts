// The table of command-line options, read by the parser, the help and the shell completions.
import type { Profile } from '../../coding-agent/settings/index.ts';

/** An option: its names, its value and its description. */
export type CliOption = {
  /** The first name is the key under which the value is stored. */
  readonly names: readonly [string, ...string[]];
  readonly short?: string;
  /** The value as the help shows it; absent for a boolean option. */
  readonly value?: string;
  /** Whether the value may be omitted. */
  readonly optional?: boolean;
  /** What a shell completes for the value. */
  readonly completion?: 'model' | 'session' | 'file' | readonly string[];
  readonly description: string;
};

/** Options under a heading of the help; at most one option of an `exclusive` group may be given. */
export type CliOptionGroup = {
  readonly title: string;
  readonly exclusive?: boolean;
  readonly options: readonly CliOption[];
};

/** All options of `fairlead`, `fairlead chat` and `fairlead run`, with the short names of `fairlead`. */
export const cliOptionGroups: readonly CliOptionGroup[] = [
  {
    title: 'Mode',
    exclusive: true,
    options: [
      { names: ['interactive'], description: 'open the prompt; the default without a prompt or other action' },
      { names: ['one-shot'], description: 'do one action and exit' },
    ],
  },
  {
    title: 'Action',
    exclusive: true,
    options: [
      { names: ['prompt', 'print'], short: 'p', value: '<text>', description: 'the prompt' },
      {
        names: ['prompt-file'],
        short: 'P',
        value: '<file>',
        completion: 'file',
        description: 'a file with the prompt',
      },
      { names: ['test-connection'], description: 'check that the provider answers' },
      { names: ['refresh-models'], description: 'fetch and save the list of models of the provider' },
    ],
  },
  {
    title: 'Model',
    options: [
      {
        names: ['model', 'model-name'],
        short: 'm',
        value: '<name>',
        completion: 'model',
        description: 'the model, <provider>/<model>, or auto; default: the last one used',
      },
      { names: ['private'], description: 'send this session only to models on your own machines' },
      { names: ['stream'], short: 's', description: 'stream the answer' },
      { names: ['no-stream'], description: 'ask the API for a complete answer instead of a stream' },
      {
        names: ['effort'],
        value: '<level>',
        completion: ['off', 'low', 'medium', 'high'],
        description: 'reasoning effort: off, low, medium or high',
      },
    ],
  },
  {
    title: 'Session',
    exclusive: true,
    options: [
      {
        names: ['resume-session', 'resume'],
        short: 'r',
        value: '<session>',
        optional: true,
        completion: 'session',
        description: 'continue a session, by name, id or the start of its id',
      },
      {
        names: ['clone-session', 'fork'],
        value: '<session>',
        completion: 'session',
        description: 'copy a session and continue the copy',
      },
      { names: ['continue'], short: 'c', description: 'continue the latest session of this folder' },
      { names: ['ephemeral', 'no-session'], description: 'do not save the session' },
    ],
  },
  {
    title: 'Folder, naming, defaults and limits',
    options: [
      {
        names: ['cwd'],
        value: '<folder>',
        completion: 'file',
        description: 'work in this folder; also where to run a session of another folder',
      },
      {
        names: ['session-name'],
        short: 'n',
        value: '<name>',
        description: 'the name of the new session; default: date and time',
      },
      {
        names: ['profile'],
        value: '<name>',
        completion: ['fairlead', 'jayjader'],
        description: 'the set of defaults: fairlead or jayjader; also before a command',
      },
      { names: ['max-turns'], value: '<n>', description: 'maximum model turns of a run' },
      { names: ['max-budget-usd'], value: '<n>', description: 'maximum cost of a run, in dollars' },
      { names: ['verify'], description: 'verify the answer claim by claim; without evidence it is no answer' },
    ],
  },
  {
    title: 'Permission',
    options: [
      {
        names: ['mode', 'permission-mode'],
        value: '<mode>',
        completion: ['read-only', 'plan', 'ask', 'accept-edits', 'auto'],
        description: 'permission mode: read-only, plan, ask, accept-edits or auto',
      },
      { names: ['plan'], description: 'the same as --mode plan: nothing is changed, and the answer is a plan' },
      { names: ['auto-approve'], description: 'approve file changes and commands automatically' },
      { names: ['no-sandbox'], description: 'run commands without a sandbox' },
      { names: ['code'], description: 'give the model only a container to run code in' },
    ],
  },
  {
    title: 'Input and output',
    options: [
      {
        names: ['output-format'],
        value: '<format>',
        completion: ['text', 'json', 'stream-json'],
        description: 'text, json (one line at the end) or stream-json (one line per event)',
      },
      { names: ['json'], description: 'the same as --output-format json' },
      {
        names: ['input-format'],
        value: '<format>',
        completion: ['text', 'stream-json'],
        description: 'text, or stream-json: one message per line',
      },
      {
        names: ['output-schema', 'json-schema'],
        value: '<file>',
        completion: 'file',
        description: 'a JSON Schema for the answer',
      },
      {
        names: ['plain'],
        description: 'plain lines instead of the full screen, for screen readers and simple terminals',
      },
    ],
  },
];

/** All options, without their groups. */
export const cliOptions: readonly CliOption[] = cliOptionGroups.flatMap(({ options }) => options);

/** The options with the short names of a profile. */
export const getOptionGroups = ({ shortOptions }: Pick<Profile, 'shortOptions'>): readonly CliOptionGroup[] =>
  Object.keys(shortOptions).length === 0
    ? cliOptionGroups
    : cliOptionGroups.map((group) => ({
        ...group,
        options: group.options.map((option) => withProfileShortName(option, shortOptions)),
      }));

function withProfileShortName({ short, ...option }: CliOption, shortOptions: Profile['shortOptions']): CliOption {
  const own = Object.entries(shortOptions).find(([, name]) => name === option.names[0])?.[0];
  if (own !== undefined) return { ...option, short: own };
  return short === undefined || short in shortOptions ? option : { ...option, short };
}
