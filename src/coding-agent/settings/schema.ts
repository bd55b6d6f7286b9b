// The schema of the settings: every key with its variable, parser and description.
import { FairleadError, closestMatches } from '../../core/index.ts';
import { families, findFamily } from '../../providers/index.ts';
import {
  textParser,
  textParserWith,
  patternParser,
  positiveNumberParser,
  ratioParser,
  booleanParser,
  urlParser,
  hostsParser,
} from './parsers.ts';
import { findNamedEntries, getNamedEntry } from './named-settings.ts';
import { profiles, profileVariable } from './profiles.ts';
import { agentEntries } from './agent-settings.ts';
import { guardEntries } from './guard-settings.ts';
import { terminalEntries } from './terminal-settings.ts';
import { tracingEntries } from './tracing-settings.ts';
import { verifyEntries } from './verify-settings.ts';
import { worktreeEntries } from './worktree-settings.ts';

/** The value of a setting in a config file. */
export type SettingValue = string | number | boolean;

/** The definition of one setting. */
export type SettingEntry = {
  /** The environment variable, which overrides the files. */
  readonly variable?: string;
  /** What the config file of a project may do: suggest it to a user who has set none, add to it, only lower it, only switch it on, or nothing. */
  readonly project: 'suggests' | 'adds' | 'lowers' | 'demands' | 'never';
  /** The value is never shown. */
  readonly secret?: boolean;
  readonly description: string;
  /** The normalised value, or what it must be, as the end of the sentence "must be ...". */
  parse(value: unknown): { readonly value: SettingValue } | { readonly wrong: string };
};

const searchKeys = { BRAVE: 'Brave Search', TAVILY: 'Tavily', BING_SEARCH: 'Bing', GOOGLE_SEARCH: 'Google search' };

const toKeyEntry = (variable: string, service: string): readonly [string, SettingEntry] => [
  `keys.${variable}`,
  {
    variable,
    project: 'never',
    secret: true,
    description: `a key for ${service}`,
    parse: patternParser(/^\S+$/, 'a key'),
  },
];

const profileNames = Object.keys(profiles).join(' or ');

const providerNames = families.map(({ name }) => name).join(', ');

/** All settings by their key in a config file and in `fairlead config`. */
export const settingsSchema: Readonly<Record<string, SettingEntry>> = {
  profile: {
    variable: profileVariable,
    project: 'never',
    description: `the set of defaults: ${profileNames}`,
    parse: textParserWith((value) => (Object.hasOwn(profiles, value) ? value : undefined), profileNames),
  },
  model: {
    variable: 'HARNESS_MODEL',
    project: 'suggests',
    description: 'the default model, <provider>/<model>',
    parse: textParser('the name of a model'),
  },
  provider: {
    variable: 'HARNESS_INFERENCE_PROVIDER',
    project: 'never',
    description: 'the provider whose models are used',
    parse: textParserWith((value) => findFamily(value)?.name, `one of ${providerNames}`),
  },
  url: {
    variable: 'OLLAMA_API_URL',
    project: 'never',
    description: 'the URL of that provider, if it runs on a machine of yours',
    parse: urlParser,
  },
  refresh: {
    project: 'never',
    description: 'fetch a missing list of models of the configured provider: auto, or ask first',
    parse: patternParser(/^(auto|ask)$/, 'auto or ask'),
  },
  remember: {
    project: 'never',
    description: 'which starts save their model as the last one: interactive or always',
    parse: patternParser(/^(interactive|always)$/, 'interactive or always'),
  },
  private: { project: 'demands', description: 'use only models on your own machines', parse: booleanParser },
  instructions: {
    project: 'adds',
    description: 'text added to the system prompt of every session',
    parse: textParser(),
  },
  stream: {
    project: 'never',
    description: 'stream answers; false asks the API for complete answers',
    parse: booleanParser,
  },
  effort: {
    project: 'never',
    description: 'reasoning effort of models that can reason: off, low, medium or high',
    parse: patternParser(/^(off|low|medium|high)$/, 'off, low, medium or high'),
  },
  ...terminalEntries,
  approve: {
    project: 'never',
    description: 'permission mode: read-only, plan, ask, accept-edits or auto',
    parse: patternParser(/^(read-only|plan|ask|accept-edits|auto)$/, 'read-only, plan, ask, accept-edits or auto'),
  },
  ...guardEntries,
  ...agentEntries,
  reminders: {
    project: 'never',
    description: 'built-in reminders that are on: usual, all, none, or their names separated by spaces',
    parse: patternParser(/^[a-z-]+( +[a-z-]+)*$/, 'usual, all, none, or names of reminders'),
  },
  store: {
    variable: 'HARNESS_STORE',
    project: 'never',
    // The URL of a database may contain its password.
    secret: true,
    description: 'where queued runs are stored: a file, or postgres://...',
    parse: patternParser(/^\S.*$/, 'a file or the address of a database'),
  },
  keep: {
    project: 'never',
    description: 'days that queued runs are stored after they have ended',
    parse: positiveNumberParser(false),
  },
  watchdog: {
    project: 'never',
    description: 'seconds after which a server or worker that does not answer is ended; 0 for never',
    parse: (value) => (String(value).trim() === '0' ? { value: 0 } : positiveNumberParser(true)(value)),
  },
  secrets: {
    project: 'never',
    description: 'hide keys in the output of tools, or show them',
    parse: patternParser(/^(hide|show)$/, 'hide or show'),
  },
  'limits.turns': {
    project: 'lowers',
    description: 'maximum number of turns of a run',
    parse: positiveNumberParser(true),
  },
  'limits.tokens': {
    project: 'lowers',
    description: 'maximum number of tokens of a run',
    parse: positiveNumberParser(true),
  },
  'limits.usd': {
    project: 'lowers',
    description: 'maximum cost of a run in dollars',
    parse: positiveNumberParser(false),
  },
  'limits.ms': {
    project: 'lowers',
    description: 'maximum duration of a run in milliseconds',
    parse: positiveNumberParser(true),
  },
  'limits.calls': {
    project: 'lowers',
    description: 'maximum number of tool calls of a run',
    parse: positiveNumberParser(true),
  },
  'slo.answered': {
    project: 'never',
    description: 'the share of a fleet’s runs that should end with an answer, from 0 to 1',
    parse: ratioParser,
  },
  'slo.waitedMs': {
    project: 'never',
    description: 'the 95th percentile of the queue time of a fleet, in milliseconds, that should not be exceeded',
    parse: positiveNumberParser(true),
  },
  'slo.tookMs': {
    project: 'never',
    description:
      'the 95th percentile of the duration of the runs of a fleet, in milliseconds, that should not be exceeded',
    parse: positiveNumberParser(true),
  },
  ...verifyEntries,
  ...tracingEntries,
  ...worktreeEntries,
  'session.title': {
    project: 'never',
    description: 'titles of sessions: message (the first message) or model (one small request after the first answer)',
    parse: patternParser(/^(message|model)$/, 'message or model'),
  },
  'session.edit': {
    project: 'never',
    description: 'what /session edit opens: messages (as text) or log (the session file)',
    parse: patternParser(/^(messages|log)$/, 'messages or log'),
  },
  'session.continue': {
    project: 'never',
    description: 'what /continue sends after a complete answer: message ("Go on.") or state (no new message)',
    parse: patternParser(/^(message|state)$/, 'message or state'),
  },
  'sandbox.commands': {
    project: 'never',
    description: 'where commands run: local (run_command) or container (execute_sandboxed_command)',
    parse: patternParser(/^(local|container)$/, 'local or container'),
  },
  'sandbox.engine': {
    variable: 'SANDBOX_CONTAINER_RUNTIME_EXECUTABLE',
    project: 'never',
    description: 'the program that runs containers',
    parse: patternParser(/^[^\s-]\S*$/, 'the name or path of a program, such as podman or docker'),
  },
  'sandbox.image': {
    variable: 'SANDBOX_CONTAINER_IMAGE',
    project: 'never',
    description: 'the image commands run in',
    parse: patternParser(/^[a-z\d][\w./:@-]*$/i, 'the name of an image, such as alpine'),
  },
  'sandbox.volume': {
    variable: 'SANDBOX_CONTAINER_WORKSPACE_VOLUME_NAME',
    project: 'never',
    description: 'the named volume with the working files',
    // A path or a colon would mount a directory of this machine into the container.
    parse: patternParser(/^[a-z\d][\w.-]*$/i, 'the name of a volume: letters, digits, dots, dashes and underscores'),
  },
  'sandbox.hosts': {
    project: 'never',
    description: 'hosts that commands may reach, separated by spaces; none by default',
    parse: hostsParser,
  },
  'network.private': {
    project: 'never',
    description: 'hosts on your own machine or network that tools may reach, separated by spaces; none by default',
    parse: hostsParser,
  },
  'search.engine': {
    project: 'never',
    description: 'the web search engine; by default the first one with a key or a URL',
    parse: patternParser(/^(brave|tavily|searxng|bing|google)$/, 'brave, tavily, searxng, bing or google'),
  },
  'search.searxng': {
    variable: 'SEARXNG_URL',
    project: 'never',
    description: 'the URL of your SearXNG',
    parse: urlParser,
  },
  'search.google': {
    variable: 'GOOGLE_CSE_ID',
    project: 'never',
    description: 'the id of your Google search engine',
    parse: patternParser(/^\S+$/, 'the id of a search engine'),
  },
  'search.url': {
    project: 'never',
    description: 'another URL for the engine of search.engine',
    parse: urlParser,
  },
  ...Object.fromEntries([
    // Only the file of the user: a key is sent to this URL.
    ...families.flatMap(({ name, baseUrl }): readonly (readonly [string, SettingEntry])[] =>
      baseUrl === ''
        ? []
        : [
            [
              `urls.${name}`,
              { project: 'never', description: `the URL of ${name}, if it is not ${baseUrl}`, parse: urlParser },
            ],
          ],
    ),
    ...families.flatMap(({ name, keyVariables }) => keyVariables.map((variable) => toKeyEntry(variable, name))),
    ...Object.entries(searchKeys).map(([name, service]) => toKeyEntry(`${name}_API_KEY`, service)),
  ]),
};

/** The settings of a config file: those of the schema, and the named ones of the file. A router with more options is an object, which is parsed when it is used. */
export function getConfigSchema(config: Readonly<Record<string, unknown>>): Readonly<Record<string, SettingEntry>> {
  const named = findNamedEntries(config);
  return named.length === 0 ? settingsSchema : { ...settingsSchema, ...Object.fromEntries(named) };
}

/** The definition of a key; throws an error with similar keys if there is none. */
export function getSettingEntry(key: string): SettingEntry {
  const entry = Object.hasOwn(settingsSchema, key) ? settingsSchema[key] : undefined;
  if (entry) return entry;
  const named = getNamedEntry(key);
  if (named) return named;
  const near = closestMatches(key, Object.keys(settingsSchema));
  throw new FairleadError('settings/unknown-key', `There is no setting "${key}".`, {
    blame: 'user',
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : '"fairlead config list" shows all settings.',
  });
}

/** Parses the value of a key; the error names where the value was found. */
export function parseSettingValue(key: string, entry: SettingEntry, value: unknown, where: string): SettingValue {
  const parsed = entry.parse(value);
  if ('value' in parsed) return parsed.value;
  const shown = entry.secret ? '' : `, not ${JSON.stringify(value)}`;
  throw new FairleadError('settings/bad-value', `${where} must be ${parsed.wrong}${shown}.`, {
    blame: 'user',
    ...(where === key ? {} : { hint: 'Change it there, or remove it.' }),
  });
}
