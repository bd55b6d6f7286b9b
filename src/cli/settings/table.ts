// What can be set: one table of keys that reading, `fairlead config` and its messages all go by.
import { FairleadError, closestMatches } from '../../core/index.ts';
import { families, familyOf } from '../../providers/families.ts';

/** A setting's value as a config file holds it. */
export type Value = string | number | boolean;

/** What a key may hold and who may set it. */
export type Entry = {
  /** The environment variable that says the same, before any file. */
  readonly variable?: string;
  /** What a project's own file may do: set it, only lower it, only switch it on, or nothing. */
  readonly project: 'sets' | 'lowers' | 'demands' | 'never';
  /** Never shown. */
  readonly secret?: boolean;
  readonly about: string;
  /** The value, made regular; or why it is none, to follow "must be". */
  read(value: unknown): { readonly value: Value } | { readonly wrong: string };
};

const text = (wrong = 'a text'): Entry['read'] => textThat((value) => value, wrong);

/** A text that this makes regular; what it makes nothing of is wrong. */
function textThat(make: (value: string) => string | undefined, wrong: string): Entry['read'] {
  return (value) => {
    const made = typeof value === 'string' && value.trim() !== '' ? make(value.trim()) : undefined;
    return made === undefined ? { wrong } : { value: made };
  };
}

const like = (pattern: RegExp, wrong: string): Entry['read'] =>
  textThat((value) => (pattern.test(value) ? value : undefined), wrong);

const numberAbove0 =
  (whole: boolean): Entry['read'] =>
  (value) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    const fits = typeof number === 'number' && Number.isFinite(number) && number > 0;
    return fits && (!whole || Number.isSafeInteger(number))
      ? { value: number }
      : { wrong: `a ${whole ? 'whole ' : ''}number above 0` };
  };

const share: Entry['read'] = (value) => {
  const read = numberAbove0(false)(value);
  return 'value' in read && Number(read.value) <= 1 ? read : { wrong: 'a number above 0 and up to 1' };
};

const yesOrNo: Entry['read'] = (value) => {
  const said = { true: true, false: false, on: true, off: false, yes: true, no: false }[String(value)];
  return said === undefined ? { wrong: 'true or false' } : { value: said };
};

const address: Entry['read'] = textThat((value) => {
  const url = URL.parse(/^[a-z]+:\/\//i.test(value) ? value : `http://${value}`);
  return url && /^https?:$/.test(url.protocol) && url.username === '' ? value : undefined;
}, 'an address such as http://localhost:11434, without a user name in it');

const hosts = like(
  /^(\*\.)?[a-z\d][a-z\d.-]*(:\d+)?( +(\*\.)?[a-z\d][a-z\d.-]*(:\d+)?)*$/i,
  'names of hosts, such as example.com *.example.org',
);

const searchKeys = { BRAVE: 'Brave Search', TAVILY: 'Tavily', BING_SEARCH: 'Bing', GOOGLE_SEARCH: 'Google search' };

const key = (variable: string, whose: string): readonly [string, Entry] => [
  `keys.${variable}`,
  { variable, project: 'never', secret: true, about: `a key for ${whose}`, read: like(/^\S+$/, 'a key') },
];

const providerNames = families.map(({ name }) => name).join(', ');

/** Every key there is, as it is named in a config file and by `fairlead config`. */
export const table: Readonly<Record<string, Entry>> = {
  model: {
    variable: 'HARNESS_MODEL',
    project: 'sets',
    about: 'the model to begin with, <provider>/<model>',
    read: text('the name of a model'),
  },
  provider: {
    variable: 'HARNESS_INFERENCE_PROVIDER',
    project: 'never',
    about: 'the provider whose models are used',
    read: textThat((value) => familyOf(value)?.name, `one of ${providerNames}`),
  },
  url: {
    variable: 'OLLAMA_API_URL',
    project: 'never',
    about: 'where that provider is, if it runs on a machine of yours',
    read: address,
  },
  private: { project: 'demands', about: 'keep everything to models on your own machines', read: yesOrNo },
  instructions: { project: 'sets', about: 'words that every session begins with', read: text() },
  stream: { project: 'never', about: 'show answers while they come', read: yesOrNo },
  approve: {
    project: 'never',
    about: 'ask before a tool changes something, or auto',
    read: like(/^(ask|auto)$/, 'ask or auto'),
  },
  reminders: {
    project: 'never',
    about: 'built-in reminders that are on: usual, all, none, or their names with blanks between them',
    read: like(/^[a-z-]+( +[a-z-]+)*$/, 'usual, all, none, or names of reminders'),
  },
  store: {
    variable: 'HARNESS_STORE',
    project: 'never',
    // An address of a database may hold its password.
    secret: true,
    about: 'where queued runs are kept: a file, or postgres://...',
    read: like(/^\S.*$/, 'a file or the address of a database'),
  },
  keep: { project: 'never', about: 'days that queued runs are kept once they have ended', read: numberAbove0(false) },
  secrets: {
    project: 'never',
    about: 'hide keys in what tools give before anyone sees it, or show',
    read: like(/^(hide|show)$/, 'hide or show'),
  },
  'limits.turns': { project: 'lowers', about: 'turns a run may take', read: numberAbove0(true) },
  'limits.tokens': { project: 'lowers', about: 'tokens a run may use', read: numberAbove0(true) },
  'limits.usd': { project: 'lowers', about: 'dollars a run may cost', read: numberAbove0(false) },
  'limits.ms': { project: 'lowers', about: 'milliseconds a run may work', read: numberAbove0(true) },
  'limits.calls': { project: 'lowers', about: 'tool calls a run may make', read: numberAbove0(true) },
  'slo.answered': {
    project: 'never',
    about: 'the share of a fleet’s runs that should end with an answer, from 0 to 1',
    read: share,
  },
  'slo.waitedMs': {
    project: 'never',
    about: 'milliseconds that 95 of 100 runs of a fleet should wait at most',
    read: numberAbove0(true),
  },
  'slo.tookMs': {
    project: 'never',
    about: 'milliseconds that 95 of 100 runs of a fleet should take at most',
    read: numberAbove0(true),
  },
  'sandbox.engine': {
    variable: 'SANDBOX_CONTAINER_RUNTIME_EXECUTABLE',
    project: 'never',
    about: 'the program that runs containers',
    read: like(/^[^\s-]\S*$/, 'the name or path of a program, such as podman or docker'),
  },
  'sandbox.image': {
    variable: 'SANDBOX_CONTAINER_IMAGE',
    project: 'never',
    about: 'the image commands run in',
    read: like(/^[a-z\d][\w./:@-]*$/i, 'the name of an image, such as alpine'),
  },
  'sandbox.volume': {
    variable: 'SANDBOX_CONTAINER_WORKSPACE_VOLUME_NAME',
    project: 'never',
    about: 'the named volume that holds the working files',
    // A path or a colon would mount a folder of this machine into the container.
    read: like(/^[a-z\d][\w.-]*$/i, 'the name of a volume: letters, digits, dots, dashes and underscores'),
  },
  'sandbox.hosts': {
    project: 'never',
    about: 'hosts that commands may reach, with blanks between them; none unless set',
    read: hosts,
  },
  'network.private': {
    project: 'never',
    about: 'hosts on your own machine or network that tools may reach, with blanks between them; none unless set',
    read: hosts,
  },
  'search.engine': {
    project: 'never',
    about: 'the engine that searches the web; the first that has a key or an address unless set',
    read: like(/^(brave|tavily|searxng|bing|google)$/, 'brave, tavily, searxng, bing or google'),
  },
  'search.searxng': {
    variable: 'SEARXNG_URL',
    project: 'never',
    about: 'where your SearXNG is',
    read: address,
  },
  'search.google': {
    variable: 'GOOGLE_CSE_ID',
    project: 'never',
    about: 'the id of your Google search engine',
    read: like(/^\S+$/, 'the id of a search engine'),
  },
  'search.url': {
    project: 'never',
    about: 'another address for the engine that search.engine names',
    read: address,
  },
  ...Object.fromEntries([
    ...families.flatMap(({ name, keyVariables }) => keyVariables.map((variable) => key(variable, name))),
    ...Object.entries(searchKeys).map(([name, whose]) => key(`${name}_API_KEY`, whose)),
  ]),
};

/** The entry of a key, or an error that says what may have been meant. */
export function entryOf(key: string): Entry {
  const entry = Object.hasOwn(table, key) ? table[key] : undefined;
  if (entry) return entry;
  const near = closestMatches(key, Object.keys(table));
  throw new FairleadError('settings/unknown-key', `There is no setting "${key}".`, {
    blame: 'user',
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : '"fairlead config list" shows what there is.',
  });
}

/** The value of a key made regular; what is wrong with it is said with where it was found. */
export function valueOf(key: string, entry: Entry, found: unknown, where: string): Value {
  const read = entry.read(found);
  if ('value' in read) return read.value;
  const shown = entry.secret ? '' : `, not ${JSON.stringify(found)}`;
  throw new FairleadError('settings/bad-value', `${where} must be ${read.wrong}${shown}.`, {
    blame: 'user',
    ...(where === key ? {} : { hint: 'Change it there, or take it out.' }),
  });
}
