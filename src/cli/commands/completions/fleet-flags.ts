// The flags of the commands of the fleet and the server, for shell completions.
import { runStatuses } from '../fleet/subcommands.ts';
import { createFlag, jsonFlag, toWords, type CompletionFlag } from './completion-flag.ts';

/** The flag of the store that all commands of the fleet have. */
export const storeFlag: CompletionFlag = createFlag('store', 'the store of the fleet', 'files');

const watchdogFlag = createFlag('watchdog', 'seconds without an answer until the process is ended', 'anything');

/** The flag of the folder of releases. */
const releasesFlag = createFlag('releases', 'the folder of releases', 'files');

/** The flags of `serve`. */
export const serveFlags: readonly CompletionFlag[] = [
  createFlag('host', 'the address to listen on', 'anything'),
  createFlag('port', 'the port to listen on', 'anything'),
  createFlag('no-worker', 'do not execute runs in this process'),
  createFlag('concurrency', 'concurrent runs', 'anything'),
  createFlag('model', 'the model of runs without a model', 'models'),
  createFlag('folder', 'another directory for runs', 'files'),
  createFlag('any-version', 'also runs that another version started'),
  createFlag('key-file', 'a file with API keys', 'files'),
  createFlag('allowed-host', 'another allowed Host header', 'anything'),
  createFlag('control-port', 'the port of the control thread', 'anything'),
  watchdogFlag,
  releasesFlag,
  storeFlag,
];

/** The flags of `audit`. */
export const auditFlags: readonly CompletionFlag[] = [
  createFlag('from', 'the first day or time', 'anything'),
  createFlag('to', 'the day or time of the end', 'anything'),
  createFlag('format', 'markdown or jsonl', toWords(['markdown', 'jsonl'])),
  createFlag('output', 'the file to write', 'files'),
  createFlag('fleet', 'also sessions of queued runs'),
  createFlag('check', 'an exported file to verify', 'files'),
  storeFlag,
];

/** The flags of `scorecard`. */
export const scorecardFlags: readonly CompletionFlag[] = [
  createFlag('only', 'the claims to measure', 'anything'),
  createFlag('runs', 'how many runs are killed', 'anything'),
  jsonFlag,
];

/** The flags of `release`. */
export const releaseFlags: readonly CompletionFlag[] = [
  createFlag('name', 'the name of the release', 'anything'),
  createFlag('folder', 'the folder of the agent', 'files'),
  createFlag('gate', 'the cases that the release must pass', 'files'),
  createFlag('no-gate', 'promote without cases'),
  createFlag('at-least', 'the minimum rate of right trials', 'anything'),
  createFlag('trials', 'how often each case is run', 'anything'),
  createFlag('share', 'the share of the runs that use the release first', 'anything'),
  jsonFlag,
  releasesFlag,
  storeFlag,
];

/** The flags of `worker`. */
export const workerFlags: readonly CompletionFlag[] = [
  createFlag('concurrency', 'concurrent runs', 'anything'),
  createFlag('model', 'the model of runs without a model', 'models'),
  createFlag('drain', 'exit when no run can start'),
  createFlag('name', 'the name of the worker', 'anything'),
  createFlag('grace', 'seconds for the shutdown', 'anything'),
  watchdogFlag,
  createFlag('any-version', 'also runs that another version started'),
  jsonFlag,
  releasesFlag,
  storeFlag,
];

const taskFlags: readonly CompletionFlag[] = [
  createFlag('file', 'a file with one task per line', 'files'),
  createFlag('id', 'the id of the run, or the prefix of the ids', 'anything'),
  createFlag('model', 'the model of the runs', 'models'),
  createFlag('auto', 'approve changes automatically'),
  createFlag('tenant', 'the tenant that pays', 'anything'),
  storeFlag,
];

/** The flags of `enqueue`. */
export const enqueueFlags: readonly CompletionFlag[] = [
  ...taskFlags,
  createFlag('priority', 'higher starts earlier', 'anything'),
  createFlag('session', 'the session to continue', 'anything'),
  createFlag('not-before', 'the earliest start time', 'anything'),
  createFlag('every', 'minute hour day month weekday, in UTC', 'anything'),
  createFlag('name', 'the name of the schedule', 'anything'),
  jsonFlag,
  createFlag('verify', 'verify the answer'),
  createFlag('worktree', 'work in a git worktree of its own'),
];

/** The flags of `factory`. */
export const factoryFlags: readonly CompletionFlag[] = [
  ...taskFlags,
  createFlag('workers', 'worker processes', 'anything'),
  createFlag('concurrency', 'concurrent runs per worker', 'anything'),
  createFlag('output-format', 'text or json', toWords(['text', 'json'])),
];

/** The flags of `multi`. */
export const multiFlags: readonly CompletionFlag[] = [
  createFlag('model', 'the model that plans and does the steps', 'models'),
  createFlag('verifier', 'the model that verifies results', 'models'),
  createFlag('yes', 'start without asking'),
  jsonFlag,
  createFlag('auto', 'approve changes automatically'),
  createFlag('id', 'the id of the run', 'anything'),
  createFlag('resume', 'the run to continue', 'anything'),
  createFlag('max-steps', 'the most steps', 'anything'),
  createFlag('max-depth', 'the most steps in a chain', 'anything'),
  createFlag('parallel', 'the most steps at a time', 'anything'),
  createFlag('max-usd', 'the most dollars', 'anything'),
  createFlag('attempts', 'attempts at each step', 'anything'),
  createFlag('replans', 'new plans after failures', 'anything'),
  createFlag('tenant', 'the tenant that pays', 'anything'),
  storeFlag,
];

const runFlags: readonly CompletionFlag[] = [
  createFlag('status', 'the status of the runs', toWords(runStatuses)),
  createFlag('tenant', 'the tenant of the runs', 'anything'),
  createFlag('session', 'the session of the runs', 'anything'),
  createFlag('limit', 'the maximum number of runs', 'anything'),
];

const stepFlag = createFlag('step', 'the step of a plan', 'anything');

/** The flags of the subcommands of `runs`. */
export const runVerbFlags: Readonly<Record<string, readonly CompletionFlag[]>> = {
  list: [...runFlags, jsonFlag],
  show: [jsonFlag],
  answer: [createFlag('call', 'the tool call of the question', 'anything')],
  cancel: [stepFlag],
  steer: [createFlag('follow-up', 'deliver it after the answer'), stepFlag],
};

const removeFlag = createFlag('remove', 'the name of the entry to remove', 'anything');

/** The flags of the subcommands of `fleet`. */
export const fleetFlags: Readonly<Record<string, readonly CompletionFlag[]>> = {
  status: [jsonFlag],
  budget: [
    createFlag('usd', 'dollars', 'anything'),
    createFlag('tokens', 'tokens', 'anything'),
    createFlag('period', 'the period of the budget', toWords(['day', 'month', 'ever'])),
    removeFlag,
    jsonFlag,
  ],
  schedules: [removeFlag, jsonFlag],
};
