// What a shell may suggest, as one table for all shells: at each place of a command line, its options and its words.
import { families } from '../../../providers/families.ts';
import type { CommandTable } from '../../args/command.ts';
import { cliOptions, type CliOption } from '../../args/options.ts';
import { fleetSubcommands, runStatuses, runsSubcommands as runVerbs } from '../fleet/subcommands.ts';
import { mcpSubcommands as mcpVerbs } from '../mcp/subcommand-help.ts';
import { sessionsSubcommands } from '../sessions/subcommands.ts';
import { exportFormats } from '../../../sessions/export.ts';
import { configSubcommands as configVerbs } from '../config.ts';
import { settingsSchema as settingsTable } from '../../../coding-agent/settings/schema.ts';

/** A word, and what it means. */
export type CompletionWord = { readonly word: string; readonly description: string };

/** Where words come from: a list, the program when it is asked, the disk, or the person alone. */
export type CompletionSource = readonly CompletionWord[] | 'models' | 'sessions' | 'trash' | 'files' | 'anything';

/** An option in all its spellings, dashes and all. */
export type CompletionFlag = {
  readonly spellings: readonly string[];
  readonly description: string;
  readonly value?: CompletionSource;
};

/** Where a command line stands after its command and its verb; the root's name is empty. */
export type CompletionPoint = {
  readonly name: string;
  readonly flags: readonly CompletionFlag[];
  /** What its first word may be. */
  readonly firstWord: CompletionSource;
};

const toWords = (words: readonly string[]): readonly CompletionWord[] =>
  words.map((word) => ({ word, description: '' }));

const createFlag = (name: string, about: string, takes?: CompletionSource): CompletionFlag => ({
  spellings: [`--${name}`],
  description: about,
  ...(takes === undefined ? {} : { value: takes }),
});

const jsonFlag = createFlag('json', 'as JSON');
const yesFlag = createFlag('yes', 'agree to what is shown');
const policyFlags: readonly CompletionFlag[] = [createFlag('policy', 'rules to try instead', 'files'), jsonFlag];

/** Every place there is. */
export function createCompletionSpec(commands: CommandTable): readonly CompletionPoint[] {
  const top = Object.entries(commands).map(([word, { summary }]) => ({ word, description: summary }));
  const mainFlags = cliOptions.map(toCompletionFlag);
  const rootFlags = [
    ...mainFlags,
    createFlag('help', 'show how it is used'),
    createFlag('version', 'show the version'),
  ];
  const places: readonly CompletionPoint[] = [
    { name: '', flags: rootFlags, firstWord: top },
    ...['chat', 'run'].map((name): CompletionPoint => ({ name, flags: mainFlags, firstWord: 'anything' })),
    {
      name: 'sessions',
      flags: ['json', 'fleet', 'store'].map(sessionFlag),
      firstWord: toSubcommandWords(sessionsSubcommands),
    },
    ...Object.entries(sessionsSubcommands).map(([verb, { usage, options }]): CompletionPoint => ({
      name: `sessions ${verb}`,
      flags: options.map(sessionFlag),
      firstWord: verb === 'restore' ? 'trash' : /^[<[]session/.test(usage) ? 'sessions' : [],
    })),
    { name: 'config', flags: [jsonFlag], firstWord: toWords(Object.keys(configVerbs)) },
    ...Object.keys(configVerbs).map((verb): CompletionPoint => ({
      name: `config ${verb}`,
      flags: verb === 'list' ? [jsonFlag] : [],
      firstWord: configVerbs[verb] ? settingWords : [],
    })),
    {
      name: 'models',
      flags: modelFlags,
      firstWord: toWords([...families.map(({ name }) => name), 'route', 'savings']),
    },
    { name: 'models route', flags: routeFlags, firstWord: 'anything' },
    {
      name: 'models savings',
      flags: [createFlag('against', 'the model to hold it against', 'anything'), jsonFlag],
      firstWord: 'sessions',
    },
    { name: 'completions', flags: [], firstWord: toWords(['bash', 'zsh', 'fish']) },
    { name: 'policy', flags: policyFlags, firstWord: toWords(['check', 'try']) },
    { name: 'policy check', flags: [], firstWord: 'files' },
    { name: 'policy try', flags: policyFlags, firstWord: 'sessions' },
    { name: 'rules', flags: [jsonFlag], firstWord: toWords(['list', 'test', 'backtest', 'report']) },
    { name: 'rules list', flags: [], firstWord: [] },
    { name: 'rules test', flags: [], firstWord: 'files' },
    { name: 'rules backtest', flags: [jsonFlag], firstWord: 'files' },
    { name: 'rules report', flags: [jsonFlag], firstWord: 'sessions' },
    { name: 'eval', flags: evalFlags, firstWord: 'files' },
    { name: 'why', flags: [jsonFlag], firstWord: 'sessions' },
    { name: 'doctor', flags: doctorFlags, firstWord: [] },
    {
      name: 'demo',
      flags: [createFlag('fast', 'without waiting'), createFlag('plain', 'lines instead of a screen')],
      firstWord: [],
    },
    {
      name: 'acp',
      flags: pickCliFlags('model', 'private', 'auto-approve', 'no-sandbox', 'max-turns', 'max-budget-usd'),
      firstWord: [],
    },
    {
      name: 'mcp',
      flags: [...mcpFlags, jsonFlag, yesFlag],
      firstWord: [...toWords(['serve']), ...toSubcommandWords(mcpVerbs)],
    },
    ...Object.entries(mcpVerbs).map(([verb, { usage, options }]): CompletionPoint => ({
      name: `mcp ${verb}`,
      flags: options.map((name) => (name === 'json' ? jsonFlag : yesFlag)),
      firstWord: usage.startsWith('<') ? 'anything' : [],
    })),
    { name: 'mcp serve', flags: mcpFlags, firstWord: [] },
    { name: 'proxy', flags: proxyFlags, firstWord: [] },
    { name: 'serve', flags: serveFlags, firstWord: [] },
    { name: 'worker', flags: workerFlags, firstWord: [] },
    { name: 'enqueue', flags: enqueueFlags, firstWord: 'anything' },
    { name: 'factory', flags: factoryFlags, firstWord: 'anything' },
    { name: 'runs', flags: [...uniqueFlags(runVerbFlags), storeFlag], firstWord: toSubcommandWords(runVerbs) },
    ...Object.keys(runVerbs).map((verb): CompletionPoint => ({
      name: `runs ${verb}`,
      flags: [...(runVerbFlags[verb] ?? []), storeFlag],
      firstWord: verb === 'list' ? [] : 'anything',
    })),
    { name: 'fleet', flags: [...uniqueFlags(fleetFlags), storeFlag], firstWord: toSubcommandWords(fleetSubcommands) },
    ...Object.keys(fleetSubcommands).map((verb): CompletionPoint => ({
      name: `fleet ${verb}`,
      flags: [...(fleetFlags[verb] ?? []), storeFlag],
      firstWord: verb === 'budget' || verb === 'stop' ? 'anything' : [],
    })),
  ];
  const told = new Set(places.map(({ name }) => name));
  const others = Object.keys(commands).filter((name) => !told.has(name));
  return [...places, ...others.map((name): CompletionPoint => ({ name, flags: [], firstWord: [] }))];
}

/** Some of the program's own options, as other commands take them. */
const pickCliFlags = (...names: readonly string[]): readonly CompletionFlag[] =>
  cliOptions
    .filter((option) => names.includes(option.names[0]))
    .map((option) => ({ ...toCompletionFlag(option), spellings: [`--${option.names[0]}`] }));

const mcpFlags: readonly CompletionFlag[] = [
  createFlag('allow-write', 'allow unasked what changes something'),
  createFlag('http', 'serve on this port', 'anything'),
  ...pickCliFlags('model', 'no-sandbox', 'max-turns', 'max-budget-usd'),
];

const proxyFlags: readonly CompletionFlag[] = [
  createFlag('target', 'the model server behind it', 'anything'),
  createFlag('rules', 'a file or a folder of rules', 'files'),
  createFlag('port', 'where it listens', 'anything'),
  createFlag('host', 'the address it listens on', 'anything'),
  createFlag('sessions', 'the folder for its sessions', 'files'),
  createFlag('memory', 'keep nothing'),
];

const storeFlag = createFlag('store', 'where the runs are kept', 'files');

const serveFlags: readonly CompletionFlag[] = [
  createFlag('host', 'the address it listens on', 'anything'),
  createFlag('port', 'where it listens', 'anything'),
  createFlag('no-worker', 'leave the runs to workers'),
  createFlag('concurrency', 'runs at a time', 'anything'),
  createFlag('model', 'the model of runs that name none', 'models'),
  createFlag('folder', 'another folder in which runs may work', 'files'),
  createFlag('any-version', 'also runs that another version began'),
  createFlag('key-file', 'a file of keys', 'files'),
  createFlag('allowed-host', 'another name it answers to', 'anything'),
  storeFlag,
];

const workerFlags: readonly CompletionFlag[] = [
  createFlag('concurrency', 'runs at a time', 'anything'),
  createFlag('model', 'the model of runs that name none', 'models'),
  createFlag('drain', 'end once there is nothing left'),
  createFlag('name', 'what it is called', 'anything'),
  createFlag('grace', 'seconds to hand over in', 'anything'),
  createFlag('any-version', 'also runs that another version began'),
  jsonFlag,
  storeFlag,
];

const taskFlags: readonly CompletionFlag[] = [
  createFlag('file', 'a file with a task a line', 'files'),
  createFlag('id', 'the id of the run, or what the ids begin with', 'anything'),
  createFlag('model', 'the model that works', 'models'),
  createFlag('auto', 'do not ask before changes'),
  createFlag('tenant', 'whose money it is', 'anything'),
  storeFlag,
];

const enqueueFlags: readonly CompletionFlag[] = [
  ...taskFlags,
  createFlag('priority', 'the higher, the sooner', 'anything'),
  createFlag('session', 'the session to go on with', 'anything'),
  createFlag('not-before', 'the earliest time', 'anything'),
  createFlag('every', 'minute hour day month weekday, in UTC', 'anything'),
  createFlag('name', 'the name of the schedule', 'anything'),
  jsonFlag,
];

const factoryFlags: readonly CompletionFlag[] = [
  ...taskFlags,
  createFlag('workers', 'worker processes', 'anything'),
  createFlag('concurrency', 'runs at a time in each', 'anything'),
  createFlag('output-format', 'text or json', toWords(['text', 'json'])),
];

/** The flags of all verbs, each once: one may come before the verb. */
const uniqueFlags = (table: Readonly<Record<string, readonly CompletionFlag[]>>): readonly CompletionFlag[] => [
  ...new Set(Object.values(table).flat()),
];

const runFlags: readonly CompletionFlag[] = [
  createFlag('status', 'where they stand', toWords(runStatuses)),
  createFlag('tenant', 'whose they are', 'anything'),
  createFlag('session', 'the session they are in', 'anything'),
  createFlag('most', 'how many', 'anything'),
];

const runVerbFlags: Readonly<Record<string, readonly CompletionFlag[]>> = {
  list: [...runFlags, jsonFlag],
  show: [jsonFlag],
  answer: [createFlag('call', 'the call that it is about', 'anything')],
  steer: [createFlag('follow-up', 'once it has its answer')],
};

const removeFlag = createFlag('remove', 'the name of one that ends', 'anything');

const fleetFlags: Readonly<Record<string, readonly CompletionFlag[]>> = {
  status: [jsonFlag],
  budget: [
    createFlag('usd', 'dollars', 'anything'),
    createFlag('tokens', 'tokens', 'anything'),
    createFlag('period', 'for how long', toWords(['day', 'month', 'ever'])),
    removeFlag,
    jsonFlag,
  ],
  schedules: [removeFlag, jsonFlag],
};

const modelFlags: readonly CompletionFlag[] = [
  createFlag('url', 'where the provider is', 'anything'),
  createFlag('tools', 'only those that can call tools'),
  createFlag('cost', 'what so many tokens a month would cost', 'anything'),
  createFlag('local-share', 'the part of them that a local model answers', 'anything'),
  jsonFlag,
];

const routeFlags: readonly CompletionFlag[] = [
  createFlag('router', 'the router that chooses', 'anything'),
  createFlag('private', 'as if it were private'),
  createFlag('context', 'tokens that were said before', 'anything'),
  createFlag('budget', 'dollars that are left', 'anything'),
  jsonFlag,
];

const doctorFlags: readonly CompletionFlag[] = [
  jsonFlag,
  createFlag('offline', 'leave the model away'),
  createFlag('model', 'the model to try', 'models'),
];

const evalFlags: readonly CompletionFlag[] = [
  ...pickCliFlags('model', 'auto-approve'),
  createFlag('tag', 'only the cases with this tag', 'anything'),
  createFlag('at-least', 'the rate of right answers that is good enough', 'anything'),
  createFlag('baseline', 'an earlier report, to compare with', 'files'),
  createFlag('output-format', 'text or json', toWords(['text', 'json'])),
  createFlag('show', 'the cases it has of its own'),
];

function toCompletionFlag({ names, short, value, completion, description }: CliOption): CompletionFlag {
  const source: CompletionSource =
    completion === undefined ? 'anything' : typeof completion === 'string' ? `${completion}s` : toWords(completion);
  return {
    spellings: [...names.map((name) => `--${name}`), ...(short === undefined ? [] : [`-${short}`])],
    description,
    ...(value === undefined ? {} : { value: source }),
  };
}

const toSubcommandWords = (
  table: Readonly<Record<string, { readonly description: string }>>,
): readonly CompletionWord[] => Object.entries(table).map(([word, { description }]) => ({ word, description }));

function sessionFlag(name: string): CompletionFlag {
  if (name === 'format') return createFlag(name, 'how it is written', toWords(exportFormats));
  if (name === 'output') return { spellings: ['--output', '-o'], description: 'the file to write', value: 'files' };
  if (name === 'fleet') return createFlag(name, 'those of queued runs');
  if (name === 'store') return storeFlag;
  return name === 'json' ? jsonFlag : createFlag(name, sessionsSubcommands['trash']?.description ?? '');
}

const settingWords: readonly CompletionWord[] = Object.entries(settingsTable).map(([word, { description }]) => ({
  word,
  description,
}));
