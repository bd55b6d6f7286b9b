// What a shell may suggest, as one table for all shells: at each place of a command line, its options and its words.
import { families } from '../../providers/families.ts';
import type { CommandTable } from '../commands.ts';
import { allOptions, type Option } from '../front/options.ts';
import { fleetVerbs, statuses, verbs as runVerbs } from '../fleet/verbs.ts';
import { verbs as mcpVerbs } from '../mcp/verbs.ts';
import { acts } from '../sessions/acts.ts';
import { formats } from '../sessions/export.ts';
import { takes as configVerbs } from '../settings/command.ts';
import { table as settingsTable } from '../settings/table.ts';

/** A word, and what it means. */
export type Word = { readonly word: string; readonly about: string };

/** Where words come from: a list, the program when it is asked, the disk, or the person alone. */
export type Source = readonly Word[] | 'models' | 'sessions' | 'trash' | 'files' | 'anything';

/** An option in all its spellings, dashes and all. */
export type Flag = { readonly spellings: readonly string[]; readonly about: string; readonly takes?: Source };

/** Where a command line stands after its command and its verb; the root's name is empty. */
export type Place = {
  readonly name: string;
  readonly flags: readonly Flag[];
  /** What its first word may be. */
  readonly first: Source;
};

const plain = (words: readonly string[]): readonly Word[] => words.map((word) => ({ word, about: '' }));

const flag = (name: string, about: string, takes?: Source): Flag => ({
  spellings: [`--${name}`],
  about,
  ...(takes === undefined ? {} : { takes }),
});

const json = flag('json', 'as JSON');
const yes = flag('yes', 'agree to what is shown');
const policyFlags: readonly Flag[] = [flag('policy', 'rules to try instead', 'files'), json];

/** Every place there is. */
export function placesOf(commands: CommandTable): readonly Place[] {
  const top = Object.entries(commands).map(([word, { summary }]) => ({ word, about: summary }));
  const mainFlags = allOptions.map(flagOf);
  const rootFlags = [...mainFlags, flag('help', 'show how it is used'), flag('version', 'show the version')];
  const places: readonly Place[] = [
    { name: '', flags: rootFlags, first: top },
    ...['chat', 'run'].map((name): Place => ({ name, flags: mainFlags, first: 'anything' })),
    { name: 'sessions', flags: ['json', 'fleet', 'store'].map(sessionFlag), first: verbs(acts) },
    ...Object.entries(acts).map(([verb, { usage, options }]): Place => ({
      name: `sessions ${verb}`,
      flags: options.map(sessionFlag),
      first: verb === 'restore' ? 'trash' : /^[<[]session/.test(usage) ? 'sessions' : [],
    })),
    { name: 'config', flags: [json], first: plain(Object.keys(configVerbs)) },
    ...Object.keys(configVerbs).map((verb): Place => ({
      name: `config ${verb}`,
      flags: verb === 'list' ? [json] : [],
      first: configVerbs[verb] ? settingWords : [],
    })),
    { name: 'models', flags: modelFlags, first: plain([...families.map(({ name }) => name), 'route', 'savings']) },
    { name: 'models route', flags: routeFlags, first: 'anything' },
    {
      name: 'models savings',
      flags: [flag('against', 'the model to hold it against', 'anything'), json],
      first: 'sessions',
    },
    { name: 'completions', flags: [], first: plain(['bash', 'zsh', 'fish']) },
    { name: 'policy', flags: policyFlags, first: plain(['check', 'try']) },
    { name: 'policy check', flags: [], first: 'files' },
    { name: 'policy try', flags: policyFlags, first: 'sessions' },
    { name: 'rules', flags: [json], first: plain(['list', 'test', 'backtest', 'report']) },
    { name: 'rules list', flags: [], first: [] },
    { name: 'rules test', flags: [], first: 'files' },
    { name: 'rules backtest', flags: [json], first: 'files' },
    { name: 'rules report', flags: [json], first: 'sessions' },
    { name: 'eval', flags: evalFlags, first: 'files' },
    { name: 'why', flags: [json], first: 'sessions' },
    { name: 'doctor', flags: doctorFlags, first: [] },
    { name: 'demo', flags: [flag('fast', 'without waiting'), flag('plain', 'lines instead of a screen')], first: [] },
    {
      name: 'acp',
      flags: some('model', 'private', 'auto-approve', 'no-sandbox', 'max-turns', 'max-budget-usd'),
      first: [],
    },
    { name: 'mcp', flags: [...mcpFlags, json, yes], first: [...plain(['serve']), ...verbs(mcpVerbs)] },
    ...Object.entries(mcpVerbs).map(([verb, { usage, options }]): Place => ({
      name: `mcp ${verb}`,
      flags: options.map((name) => (name === 'json' ? json : yes)),
      first: usage.startsWith('<') ? 'anything' : [],
    })),
    { name: 'mcp serve', flags: mcpFlags, first: [] },
    { name: 'proxy', flags: proxyFlags, first: [] },
    { name: 'serve', flags: serveFlags, first: [] },
    { name: 'worker', flags: workerFlags, first: [] },
    { name: 'enqueue', flags: enqueueFlags, first: 'anything' },
    { name: 'factory', flags: factoryFlags, first: 'anything' },
    { name: 'runs', flags: [...allOf(runVerbFlags), store], first: verbs(runVerbs) },
    ...Object.keys(runVerbs).map((verb): Place => ({
      name: `runs ${verb}`,
      flags: [...(runVerbFlags[verb] ?? []), store],
      first: verb === 'list' ? [] : 'anything',
    })),
    { name: 'fleet', flags: [...allOf(fleetFlags), store], first: verbs(fleetVerbs) },
    ...Object.keys(fleetVerbs).map((verb): Place => ({
      name: `fleet ${verb}`,
      flags: [...(fleetFlags[verb] ?? []), store],
      first: verb === 'budget' || verb === 'stop' ? 'anything' : [],
    })),
  ];
  const told = new Set(places.map(({ name }) => name));
  const others = Object.keys(commands).filter((name) => !told.has(name));
  return [...places, ...others.map((name): Place => ({ name, flags: [], first: [] }))];
}

/** Some of the program's own options, as other commands take them. */
const some = (...names: readonly string[]): readonly Flag[] =>
  allOptions
    .filter((option) => names.includes(option.names[0]))
    .map((option) => ({ ...flagOf(option), spellings: [`--${option.names[0]}`] }));

const mcpFlags: readonly Flag[] = [
  flag('allow-write', 'allow unasked what changes something'),
  flag('http', 'serve on this port', 'anything'),
  ...some('model', 'no-sandbox', 'max-turns', 'max-budget-usd'),
];

const proxyFlags: readonly Flag[] = [
  flag('target', 'the model server behind it', 'anything'),
  flag('rules', 'a file or a folder of rules', 'files'),
  flag('port', 'where it listens', 'anything'),
  flag('host', 'the address it listens on', 'anything'),
  flag('sessions', 'the folder for its sessions', 'files'),
  flag('memory', 'keep nothing'),
];

const store = flag('store', 'where the runs are kept', 'files');

const serveFlags: readonly Flag[] = [
  flag('host', 'the address it listens on', 'anything'),
  flag('port', 'where it listens', 'anything'),
  flag('no-worker', 'leave the runs to workers'),
  flag('concurrency', 'runs at a time', 'anything'),
  flag('model', 'the model of runs that name none', 'models'),
  flag('folder', 'another folder in which runs may work', 'files'),
  flag('any-version', 'also runs that another version began'),
  flag('key-file', 'a file of keys', 'files'),
  flag('allowed-host', 'another name it answers to', 'anything'),
  store,
];

const workerFlags: readonly Flag[] = [
  flag('concurrency', 'runs at a time', 'anything'),
  flag('model', 'the model of runs that name none', 'models'),
  flag('drain', 'end once there is nothing left'),
  flag('name', 'what it is called', 'anything'),
  flag('grace', 'seconds to hand over in', 'anything'),
  flag('any-version', 'also runs that another version began'),
  json,
  store,
];

const taskFlags: readonly Flag[] = [
  flag('file', 'a file with a task a line', 'files'),
  flag('id', 'the id of the run, or what the ids begin with', 'anything'),
  flag('model', 'the model that works', 'models'),
  flag('auto', 'do not ask before changes'),
  flag('tenant', 'whose money it is', 'anything'),
  store,
];

const enqueueFlags: readonly Flag[] = [
  ...taskFlags,
  flag('priority', 'the higher, the sooner', 'anything'),
  flag('session', 'the session to go on with', 'anything'),
  flag('not-before', 'the earliest time', 'anything'),
  flag('every', 'minute hour day month weekday, in UTC', 'anything'),
  flag('name', 'the name of the schedule', 'anything'),
  json,
];

const factoryFlags: readonly Flag[] = [
  ...taskFlags,
  flag('workers', 'worker processes', 'anything'),
  flag('concurrency', 'runs at a time in each', 'anything'),
  flag('output-format', 'text or json', plain(['text', 'json'])),
];

/** The flags of all verbs, each once: one may come before the verb. */
const allOf = (table: Readonly<Record<string, readonly Flag[]>>): readonly Flag[] => [
  ...new Set(Object.values(table).flat()),
];

const runFlags: readonly Flag[] = [
  flag('status', 'where they stand', plain(statuses)),
  flag('tenant', 'whose they are', 'anything'),
  flag('session', 'the session they are in', 'anything'),
  flag('most', 'how many', 'anything'),
];

const runVerbFlags: Readonly<Record<string, readonly Flag[]>> = {
  list: [...runFlags, json],
  show: [json],
  answer: [flag('call', 'the call that it is about', 'anything')],
  steer: [flag('follow-up', 'once it has its answer')],
};

const remove = flag('remove', 'the name of one that ends', 'anything');

const fleetFlags: Readonly<Record<string, readonly Flag[]>> = {
  status: [json],
  budget: [
    flag('usd', 'dollars', 'anything'),
    flag('tokens', 'tokens', 'anything'),
    flag('period', 'for how long', plain(['day', 'month', 'ever'])),
    remove,
    json,
  ],
  schedules: [remove, json],
};

const modelFlags: readonly Flag[] = [
  flag('url', 'where the provider is', 'anything'),
  flag('tools', 'only those that can call tools'),
  flag('cost', 'what so many tokens a month would cost', 'anything'),
  flag('local-share', 'the part of them that a local model answers', 'anything'),
  json,
];

const routeFlags: readonly Flag[] = [
  flag('router', 'the router that chooses', 'anything'),
  flag('private', 'as if it were private'),
  flag('context', 'tokens that were said before', 'anything'),
  flag('budget', 'dollars that are left', 'anything'),
  json,
];

const doctorFlags: readonly Flag[] = [
  json,
  flag('offline', 'leave the model away'),
  flag('model', 'the model to try', 'models'),
];

const evalFlags: readonly Flag[] = [
  ...some('model', 'auto-approve'),
  flag('tag', 'only the cases with this tag', 'anything'),
  flag('at-least', 'the rate of right answers that is good enough', 'anything'),
  flag('baseline', 'an earlier report, to compare with', 'files'),
  flag('output-format', 'text or json', plain(['text', 'json'])),
  flag('show', 'the cases it has of its own'),
];

function flagOf({ names, short, value, of, about }: Option): Flag {
  const source: Source = of === undefined ? 'anything' : typeof of === 'string' ? `${of}s` : plain(of);
  return {
    spellings: [...names.map((name) => `--${name}`), ...(short === undefined ? [] : [`-${short}`])],
    about,
    ...(value === undefined ? {} : { takes: source }),
  };
}

const verbs = (table: Readonly<Record<string, { readonly about: string }>>): readonly Word[] =>
  Object.entries(table).map(([word, { about }]) => ({ word, about }));

function sessionFlag(name: string): Flag {
  if (name === 'format') return flag(name, 'how it is written', plain(formats));
  if (name === 'output') return { spellings: ['--output', '-o'], about: 'the file to write', takes: 'files' };
  if (name === 'fleet') return flag(name, 'those of queued runs');
  if (name === 'store') return store;
  return name === 'json' ? json : flag(name, acts['trash']?.about ?? '');
}

const settingWords: readonly Word[] = Object.entries(settingsTable).map(([word, { about }]) => ({ word, about }));
