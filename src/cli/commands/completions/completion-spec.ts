// The table of shell completions for all shells: the options and the first words of each command.
import { families } from '../../../providers/index.ts';
import type { CommandTable } from '../../args/command.ts';
import { cliOptions, type CliOption } from '../../args/options.ts';
import { fleetSubcommands, runsSubcommands as runVerbs } from '../fleet/subcommands.ts';
import { mcpSubcommands as mcpVerbs } from '../mcp/subcommand-help.ts';
import {
  createFlag,
  jsonFlag,
  toWords,
  type CompletionFlag,
  type CompletionSource,
  type CompletionWord,
} from './completion-flag.ts';
import {
  auditFlags,
  scorecardFlags,
  enqueueFlags,
  factoryFlags,
  multiFlags,
  fleetFlags,
  releaseFlags,
  runVerbFlags,
  serveFlags,
  storeFlag,
  workerFlags,
} from './fleet-flags.ts';
import { releaseSubcommands } from '../release/subcommands.ts';
import { mcpVerbFlags } from './mcp-flags.ts';
import { traceFlags } from './trace-flags.ts';
import { verificationPoints } from './verification-flags.ts';
import { worktreePoints } from './worktree-points.ts';
import { sessionsSubcommands } from '../sessions/subcommands.ts';
import { exportFormats } from '../../../sessions/index.ts';
import { configSubcommands as configVerbs } from '../config.ts';
import { loginProviders } from '../../../coding-agent/models/index.ts';
import { settingsSchema } from '../../../coding-agent/settings/index.ts';

/** The completions of a command or subcommand; the name of the program itself is empty. */
export type CompletionPoint = {
  readonly name: string;
  readonly flags: readonly CompletionFlag[];
  /** The values of its first positional argument. */
  readonly firstWord: CompletionSource;
};

const yesFlag = createFlag('yes', 'confirm every question');
const permissionFlags: readonly CompletionFlag[] = [createFlag('all', 'permissions of all projects'), jsonFlag];
const policyFlags: readonly CompletionFlag[] = [createFlag('policy', 'the policy to simulate', 'files'), jsonFlag];
const replayFlags: readonly CompletionFlag[] = [
  createFlag('from', 'the turn from which a live model answers', 'anything'),
  createFlag('model', 'the live model', 'models'),
  createFlag('live-tools', 'run calls that were not recorded'),
  createFlag('markdown', 'print Markdown'),
  jsonFlag,
];
const declareFlags: readonly CompletionFlag[] = [
  createFlag('set', 'a correction, <key>=<value>', 'anything'),
  createFlag('reset', 'remove a correction'),
  createFlag('trust', 'use the declarations of this project'),
  jsonFlag,
];

/** Returns the completions of every command. */
export function createCompletionSpec(commands: CommandTable): readonly CompletionPoint[] {
  const top = Object.entries(commands).map(([word, { summary }]) => ({ word, description: summary }));
  const mainFlags = cliOptions.map(toCompletionFlag);
  const rootFlags = [...mainFlags, createFlag('help', 'show the help'), createFlag('version', 'show the version')];
  const points: readonly CompletionPoint[] = [
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
      name: 'login',
      flags: [createFlag('url', 'the URL of a server of yours', 'anything')],
      firstWord: toWords(loginProviders.map(({ name }) => name)),
    },
    { name: 'logout', flags: [], firstWord: toWords(loginProviders.map(({ name }) => name)) },
    {
      name: 'models',
      flags: modelFlags,
      firstWord: toWords([...families.map(({ name }) => name), 'route', 'savings']),
    },
    { name: 'models route', flags: routeFlags, firstWord: 'anything' },
    {
      name: 'models savings',
      flags: [createFlag('against', 'the model to compare with', 'anything'), jsonFlag],
      firstWord: 'sessions',
    },
    { name: 'completions', flags: [], firstWord: toWords(['bash', 'zsh', 'fish']) },
    { name: 'trust', flags: [yesFlag, createFlag('revoke', 'no longer use them')], firstWord: [] },
    { name: 'permissions', flags: permissionFlags, firstWord: toWords(['list', 'revoke']) },
    { name: 'permissions list', flags: permissionFlags, firstWord: [] },
    {
      name: 'permissions revoke',
      flags: [createFlag('all', 'permissions of all projects')],
      firstWord: toWords(['all']),
    },
    {
      name: 'policy',
      flags: [...policyFlags, ...declareFlags.slice(0, 2)],
      firstWord: toWords(['check', 'try', 'declare', 'explain']),
    },
    { name: 'policy check', flags: [], firstWord: 'files' },
    { name: 'policy try', flags: policyFlags, firstWord: 'sessions' },
    { name: 'policy declare', flags: declareFlags, firstWord: 'anything' },
    { name: 'policy explain', flags: [jsonFlag], firstWord: 'sessions' },
    { name: 'rules', flags: [jsonFlag], firstWord: toWords(['list', 'test', 'backtest', 'report']) },
    { name: 'rules list', flags: [], firstWord: [] },
    { name: 'rules test', flags: [], firstWord: 'files' },
    { name: 'rules backtest', flags: [jsonFlag], firstWord: 'files' },
    { name: 'rules report', flags: [jsonFlag], firstWord: 'sessions' },
    { name: 'evals', flags: evalFlags, firstWord: 'files' },
    { name: 'evals compare', flags: [jsonFlag], firstWord: 'files' },
    { name: 'evals from-session', flags: sessionCaseFlags, firstWord: 'sessions' },
    { name: 'evals drift', flags: [...driftFlags, jsonFlag], firstWord: 'files' },
    { name: 'eval', flags: evalFlags, firstWord: 'files' },
    { name: 'why', flags: [jsonFlag], firstWord: 'sessions' },
    { name: 'trace', flags: traceFlags, firstWord: 'sessions' },
    { name: 'trace export', flags: traceFlags, firstWord: 'sessions' },
    { name: 'replay', flags: replayFlags, firstWord: 'sessions' },
    { name: 'doctor', flags: doctorFlags, firstWord: 'files' },
    {
      name: 'demo',
      flags: [createFlag('fast', 'do not wait for keys'), createFlag('plain', 'lines instead of a screen')],
      firstWord: [],
    },
    {
      name: 'acp',
      flags: pickCliFlags('model', 'private', 'auto-approve', 'no-sandbox', 'max-turns', 'max-budget-usd'),
      firstWord: [],
    },
    {
      name: 'mcp',
      flags: [...mcpFlags, ...Object.values(mcpVerbFlags), yesFlag],
      firstWord: [...toWords(['serve']), ...toSubcommandWords(mcpVerbs)],
    },
    ...Object.entries(mcpVerbs).map(([verb, { usage, options }]): CompletionPoint => ({
      name: `mcp ${verb}`,
      flags: options.map((name) => mcpVerbFlags[name] ?? yesFlag),
      firstWord: usage.startsWith('<') ? 'anything' : [],
    })),
    { name: 'mcp serve', flags: mcpFlags, firstWord: [] },
    { name: 'proxy', flags: proxyFlags, firstWord: [] },
    ...verificationPoints,
    ...worktreePoints,
    { name: 'serve', flags: serveFlags, firstWord: [] },
    { name: 'worker', flags: workerFlags, firstWord: [] },
    { name: 'enqueue', flags: enqueueFlags, firstWord: 'anything' },
    { name: 'factory', flags: factoryFlags, firstWord: 'anything' },
    { name: 'multi', flags: multiFlags, firstWord: 'anything' },
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
    { name: 'audit', flags: auditFlags, firstWord: [] },
    { name: 'scorecard', flags: [...scorecardFlags, ...pickCliFlags('model')], firstWord: toWords(['show', 'run']) },
    { name: 'release', flags: releaseFlags, firstWord: toSubcommandWords(releaseSubcommands) },
    ...Object.keys(releaseSubcommands).map((verb): CompletionPoint => ({
      name: `release ${verb}`,
      flags: releaseFlags,
      firstWord: verb === 'create' ? 'files' : 'anything',
    })),
  ];
  const specified = new Set(points.map(({ name }) => name));
  const others = Object.keys(commands).filter((name) => !specified.has(name));
  return [...points, ...others.map((name): CompletionPoint => ({ name, flags: [], firstWord: [] }))];
}

/** Some options of the program that other commands share. */
const pickCliFlags = (...names: readonly string[]): readonly CompletionFlag[] =>
  cliOptions
    .filter((option) => names.includes(option.names[0]))
    .map((option) => ({ ...toCompletionFlag(option), spellings: [`--${option.names[0]}`] }));

const mcpFlags: readonly CompletionFlag[] = [
  createFlag('allow-write', 'approve calls that change something'),
  createFlag('http', 'serve on this port', 'anything'),
  ...pickCliFlags('model', 'no-sandbox', 'max-turns', 'max-budget-usd'),
];

const proxyFlags: readonly CompletionFlag[] = [
  createFlag('target', 'the URL of the model server', 'anything'),
  createFlag('rules', 'a file or directory of rules', 'files'),
  createFlag('port', 'the port to listen on', 'anything'),
  createFlag('host', 'the address to listen on', 'anything'),
  createFlag('sessions', 'the directory for its sessions', 'files'),
  createFlag('memory', 'save no sessions'),
  createFlag('flow', 'what the flow policy does: ask, deny, observe or off', 'anything'),
  createFlag('read-only', 'tools of the client that change nothing', 'anything'),
  createFlag('strict', 'refuse requests to which the rules cannot be applied'),
];

/** The flags of all subcommands without duplicates: a flag may come before the subcommand. */
const uniqueFlags = (table: Readonly<Record<string, readonly CompletionFlag[]>>): readonly CompletionFlag[] => [
  ...new Set(Object.values(table).flat()),
];

const modelFlags: readonly CompletionFlag[] = [
  createFlag('url', 'the URL of the provider', 'anything'),
  createFlag('tools', 'only models that can call tools'),
  createFlag('cost', 'show the cost of this many tokens per month', 'anything'),
  createFlag('local-share', 'the share of tokens of a local model', 'anything'),
  createFlag('output-share', 'the share of tokens that the model writes', 'anything'),
  createFlag('against', 'the model to compare with', 'anything'),
  createFlag('price', 'dollars per million tokens', 'anything'),
  createFlag('kwh', 'dollars per kilowatt-hour', 'anything'),
  createFlag('watts', 'the power of the hardware', 'anything'),
  createFlag('hours', 'hours of use a day', 'anything'),
  createFlag('hardware', 'the price of the hardware in dollars', 'anything'),
  jsonFlag,
];

const routeFlags: readonly CompletionFlag[] = [
  createFlag('router', 'the router', 'anything'),
  createFlag('private', 'as a private session'),
  createFlag('context', 'tokens of the conversation so far', 'anything'),
  createFlag('budget', 'remaining dollars', 'anything'),
  jsonFlag,
];

const doctorFlags: readonly CompletionFlag[] = [
  jsonFlag,
  createFlag('offline', 'skip the model'),
  createFlag('flows', 'what an injected text could do with the tools'),
  createFlag('model', 'the model to test', 'models'),
];

const sessionCaseFlags: readonly CompletionFlag[] = [
  createFlag('at', 'the turn that is run again', 'anything'),
  createFlag('output', 'the file of the case', 'files'),
  createFlag('id', 'the id of the case', 'anything'),
  createFlag('expect', 'what is expected, as JSON', 'anything'),
  createFlag('file', 'a file of the directory of the case', 'files'),
  createFlag('tag', 'a tag of the case', 'anything'),
  createFlag('recorded', 'the model and the tools answer as recorded'),
];

const driftFlags: readonly CompletionFlag[] = [
  ...pickCliFlags('model'),
  createFlag('trials', 'how often each case is run', 'anything'),
  createFlag('parallel', 'how many trials run at a time', 'anything'),
  createFlag('accept', 'make this run the new baseline'),
  createFlag('every', 'run on a cron schedule', 'anything'),
  createFlag('name', 'the name of the schedule', 'anything'),
  createFlag('store', 'the store of the fleet', 'files'),
];

const evalFlags: readonly CompletionFlag[] = [
  ...pickCliFlags('model', 'auto-approve'),
  createFlag('against', 'a second model to compare with', 'models'),
  createFlag('tag', 'only the cases with this tag', 'anything'),
  createFlag('trials', 'how often each case is run', 'anything'),
  createFlag('parallel', 'how many trials run at a time', 'anything'),
  createFlag('judge', 'a model of another family that judges', 'models'),
  createFlag('allow-same-family', 'allow judges of the family of the model'),
  createFlag('results', 'the file of the results, to continue later', 'files'),
  createFlag('resume', 'continue an evaluation that was not finished'),
  createFlag('report', 'write a report .json, .md, .xml or .html', 'files'),
  createFlag('at-least-lower', 'the minimum of the lower end of the interval', 'anything'),
  createFlag('max-cost', 'the maximum cost in dollars', 'anything'),
  createFlag('max-time', 'the maximum 95th percentile of the time in seconds', 'anything'),
  createFlag('at-least', 'the minimum rate of right answers', 'anything'),
  createFlag('baseline', 'an earlier report to compare with', 'files'),
  createFlag('output-format', 'text or json', toWords(['text', 'json'])),
  createFlag('show', 'print the built-in cases'),
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
  if (name === 'format') return createFlag(name, 'the format', toWords(exportFormats));
  if (name === 'output') return { spellings: ['--output', '-o'], description: 'the file to write', value: 'files' };
  if (name === 'fleet') return createFlag(name, 'sessions of queued runs');
  if (name === 'store') return storeFlag;
  return name === 'json' ? jsonFlag : createFlag(name, sessionsSubcommands['trash']?.description ?? '');
}

const settingWords: readonly CompletionWord[] = toSubcommandWords(settingsSchema);
