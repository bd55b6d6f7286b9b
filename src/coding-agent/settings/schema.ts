// What can be set: one table of keys that reading, `fairlead config` and its messages all go by.
import { FairleadError, closestMatches } from '../../core/index.ts';
import { families, findFamily } from '../../providers/families.ts';

/** A setting's value as a config file holds it. */
export type SettingValue = string | number | boolean;

/** What a key may hold and who may set it. */
export type SettingEntry = {
  /** The environment variable that says the same, before any file. */
  readonly variable?: string;
  /** What a project's own file may do: set it, only lower it, only switch it on, or nothing. */
  readonly project: 'sets' | 'lowers' | 'demands' | 'never';
  /** Never shown. */
  readonly secret?: boolean;
  readonly description: string;
  /** The value, made regular; or why it is none, to follow "must be". */
  parse(value: unknown): { readonly value: SettingValue } | { readonly wrong: string };
};

const textParser = (wrong = 'a text'): SettingEntry['parse'] => textParserWith((value) => value, wrong);

/** A text that this makes regular; what it makes nothing of is wrong. */
function textParserWith(make: (value: string) => string | undefined, wrong: string): SettingEntry['parse'] {
  return (value) => {
    const made = typeof value === 'string' && value.trim() !== '' ? make(value.trim()) : undefined;
    return made === undefined ? { wrong } : { value: made };
  };
}

const patternParser = (pattern: RegExp, wrong: string): SettingEntry['parse'] =>
  textParserWith((value) => (pattern.test(value) ? value : undefined), wrong);

const positiveNumberParser =
  (whole: boolean): SettingEntry['parse'] =>
  (value) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    const fits = typeof number === 'number' && Number.isFinite(number) && number > 0;
    return fits && (!whole || Number.isSafeInteger(number))
      ? { value: number }
      : { wrong: `a ${whole ? 'whole ' : ''}number above 0` };
  };

const ratioParser: SettingEntry['parse'] = (value) => {
  const read = positiveNumberParser(false)(value);
  return 'value' in read && Number(read.value) <= 1 ? read : { wrong: 'a number above 0 and up to 1' };
};

const booleanParser: SettingEntry['parse'] = (value) => {
  const said = { true: true, false: false, on: true, off: false, yes: true, no: false }[String(value)];
  return said === undefined ? { wrong: 'true or false' } : { value: said };
};

const urlParser: SettingEntry['parse'] = textParserWith((value) => {
  const url = URL.parse(/^[a-z]+:\/\//i.test(value) ? value : `http://${value}`);
  return url && /^https?:$/.test(url.protocol) && url.username === '' ? value : undefined;
}, 'an address such as http://localhost:11434, without a user name in it');

const hostsParser = patternParser(
  /^(\*\.)?[a-z\d][a-z\d.-]*(:\d+)?( +(\*\.)?[a-z\d][a-z\d.-]*(:\d+)?)*$/i,
  'names of hosts, such as example.com *.example.org',
);

const searchKeys = { BRAVE: 'Brave Search', TAVILY: 'Tavily', BING_SEARCH: 'Bing', GOOGLE_SEARCH: 'Google search' };

const toKeyEntry = (variable: string, whose: string): readonly [string, SettingEntry] => [
  `keys.${variable}`,
  {
    variable,
    project: 'never',
    secret: true,
    description: `a key for ${whose}`,
    parse: patternParser(/^\S+$/, 'a key'),
  },
];

const providerNames = families.map(({ name }) => name).join(', ');

/** Every key there is, as it is named in a config file and by `fairlead config`. */
export const settingsSchema: Readonly<Record<string, SettingEntry>> = {
  model: {
    variable: 'HARNESS_MODEL',
    project: 'sets',
    description: 'the model to begin with, <provider>/<model>',
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
    description: 'where that provider is, if it runs on a machine of yours',
    parse: urlParser,
  },
  private: { project: 'demands', description: 'keep everything to models on your own machines', parse: booleanParser },
  instructions: { project: 'sets', description: 'words that every session begins with', parse: textParser() },
  stream: { project: 'never', description: 'show answers while they come', parse: booleanParser },
  approve: {
    project: 'never',
    description: 'ask before a tool changes something, or auto',
    parse: patternParser(/^(ask|auto)$/, 'ask or auto'),
  },
  reminders: {
    project: 'never',
    description: 'built-in reminders that are on: usual, all, none, or their names with blanks between them',
    parse: patternParser(/^[a-z-]+( +[a-z-]+)*$/, 'usual, all, none, or names of reminders'),
  },
  store: {
    variable: 'HARNESS_STORE',
    project: 'never',
    // An address of a database may hold its password.
    secret: true,
    description: 'where queued runs are kept: a file, or postgres://...',
    parse: patternParser(/^\S.*$/, 'a file or the address of a database'),
  },
  keep: {
    project: 'never',
    description: 'days that queued runs are kept once they have ended',
    parse: positiveNumberParser(false),
  },
  secrets: {
    project: 'never',
    description: 'hide keys in what tools give before anyone sees it, or show',
    parse: patternParser(/^(hide|show)$/, 'hide or show'),
  },
  'limits.turns': { project: 'lowers', description: 'turns a run may take', parse: positiveNumberParser(true) },
  'limits.tokens': { project: 'lowers', description: 'tokens a run may use', parse: positiveNumberParser(true) },
  'limits.usd': { project: 'lowers', description: 'dollars a run may cost', parse: positiveNumberParser(false) },
  'limits.ms': { project: 'lowers', description: 'milliseconds a run may work', parse: positiveNumberParser(true) },
  'limits.calls': { project: 'lowers', description: 'tool calls a run may make', parse: positiveNumberParser(true) },
  'slo.answered': {
    project: 'never',
    description: 'the share of a fleet’s runs that should end with an answer, from 0 to 1',
    parse: ratioParser,
  },
  'slo.waitedMs': {
    project: 'never',
    description: 'milliseconds that 95 of 100 runs of a fleet should wait at most',
    parse: positiveNumberParser(true),
  },
  'slo.tookMs': {
    project: 'never',
    description: 'milliseconds that 95 of 100 runs of a fleet should take at most',
    parse: positiveNumberParser(true),
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
    description: 'the named volume that holds the working files',
    // A path or a colon would mount a folder of this machine into the container.
    parse: patternParser(/^[a-z\d][\w.-]*$/i, 'the name of a volume: letters, digits, dots, dashes and underscores'),
  },
  'sandbox.hosts': {
    project: 'never',
    description: 'hosts that commands may reach, with blanks between them; none unless set',
    parse: hostsParser,
  },
  'network.private': {
    project: 'never',
    description: 'hosts on your own machine or network that tools may reach, with blanks between them; none unless set',
    parse: hostsParser,
  },
  'search.engine': {
    project: 'never',
    description: 'the engine that searches the web; the first that has a key or an address unless set',
    parse: patternParser(/^(brave|tavily|searxng|bing|google)$/, 'brave, tavily, searxng, bing or google'),
  },
  'search.searxng': {
    variable: 'SEARXNG_URL',
    project: 'never',
    description: 'where your SearXNG is',
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
    description: 'another address for the engine that search.engine names',
    parse: urlParser,
  },
  ...Object.fromEntries([
    ...families.flatMap(({ name, keyVariables }) => keyVariables.map((variable) => toKeyEntry(variable, name))),
    ...Object.entries(searchKeys).map(([name, whose]) => toKeyEntry(`${name}_API_KEY`, whose)),
  ]),
};

/** The entry of a key, or an error that says what may have been meant. */
export function getSettingEntry(key: string): SettingEntry {
  const entry = Object.hasOwn(settingsSchema, key) ? settingsSchema[key] : undefined;
  if (entry) return entry;
  const near = closestMatches(key, Object.keys(settingsSchema));
  throw new FairleadError('settings/unknown-key', `There is no setting "${key}".`, {
    blame: 'user',
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : '"fairlead config list" shows what there is.',
  });
}

/** The value of a key made regular; what is wrong with it is said with where it was found. */
export function parseSettingValue(key: string, entry: SettingEntry, found: unknown, where: string): SettingValue {
  const read = entry.parse(found);
  if ('value' in read) return read.value;
  const shown = entry.secret ? '' : `, not ${JSON.stringify(found)}`;
  throw new FairleadError('settings/bad-value', `${where} must be ${read.wrong}${shown}.`, {
    blame: 'user',
    ...(where === key ? {} : { hint: 'Change it there, or take it out.' }),
  });
}
