// The policy of data loss prevention: an action for each way and kind, patterns and private values of the user, and other policies for tenants.
import { FairleadError, isObject } from '../../core/index.ts';
import { createPrivateValues, type PrivateValues } from './private-values.ts';
import { createDlpScanner, type DlpScanner } from './scanner.ts';
import { dlpActions, dlpWays, type DlpAction, type DlpWay } from './types.ts';
import { maxPatterns, type DlpPattern } from './user-patterns.ts';

/** Kinds without check digits: they stand in most code and documents, and few of them are private. */
const unchecked: ReadonlySet<string> = new Set(['email', 'phone']);

/** An action of a policy. `checked`, the default, redacts secrets, numbers with check digits, patterns and values of the user, and observes e-mail addresses and phone numbers, and the answers of a server. */
export type DlpPolicyAction = DlpAction | 'checked';

/** The actions that a policy can name. */
export const dlpPolicyActions: readonly DlpPolicyAction[] = [...dlpActions, 'checked'];

/** What happens on the ways out. */
export type DlpPolicy = {
  readonly scanner: DlpScanner;
  /** The action for a kind of finding on a way. */
  readonly actionFor: (way: DlpWay, kind: string) => DlpAction;
  /** Whether some finding on this way could be stopped or changed, so that a text that cannot be scanned must not leave. */
  readonly isEnforced: (way: DlpWay) => boolean;
  /** Whether some finding on this way stops the text as a whole. */
  readonly mayBlock: (way: DlpWay) => boolean;
  /** Whether nothing is scanned on this way. */
  readonly isOff: (way: DlpWay) => boolean;
};

/** Options of createDlpPolicy, which are also the fields of a policy file. */
export type DlpPolicyOptions = {
  /** The action on all ways; `checked` by default. */
  readonly action?: DlpPolicyAction;
  readonly ways?: Readonly<Partial<Record<DlpWay, DlpPolicyAction>>>;
  /** Actions for kinds, such as `email` or the name of a pattern; they count on all ways. */
  readonly kinds?: Readonly<Record<string, DlpAction>>;
  readonly patterns?: readonly DlpPattern[];
  /** Private values by their names. */
  readonly values?: Readonly<Record<string, string>>;
};

/** Creates a policy. `moreValues` are private too; values may be added to them later. */
export function createDlpPolicy(
  options: DlpPolicyOptions = {},
  scanner?: DlpScanner,
  moreValues?: PrivateValues,
): DlpPolicy {
  const { action = 'checked', ways = {}, kinds = {} } = options;
  const ignore = Object.keys(kinds).filter((kind) => kinds[kind] === 'off');
  // A client of a server may read the data of its own tenant, and held text would not be streamed: it is only counted.
  const wayAction = (way: DlpWay): DlpPolicyAction =>
    ways[way] ?? (way === 'answers' && action === 'checked' ? 'observe' : action);
  const actionFor = (way: DlpWay, kind: string): DlpAction => {
    const chosen = wayAction(way);
    const own = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    if (chosen === 'off') return chosen;
    if (own !== undefined) return own;
    if (chosen === 'checked' && unchecked.has(kind)) return 'observe';
    if (chosen !== 'checked' && (chosen !== 'redact' || ways[way] !== undefined)) return chosen;
    // A call with placeholders does something else than the user asked for: the user decides.
    return way === 'tools' ? 'ask' : 'redact';
  };
  return {
    scanner:
      scanner ??
      createDlpScanner({
        ignore,
        patterns: options.patterns ?? [],
        privateValues: createPrivateValues(Object.entries(options.values ?? {}), moreValues),
      }),
    actionFor,
    isEnforced: (way) =>
      wayAction(way) !== 'off' &&
      [wayAction(way), ...Object.values(kinds)].some((each) => each !== 'off' && each !== 'observe'),
    mayBlock: (way) =>
      wayAction(way) !== 'off' &&
      [wayAction(way), ...Object.values(kinds)].some((each) => each === 'block' || each === 'ask'),
    isOff: (way) => wayAction(way) === 'off',
  };
}

/** Parses a policy file. `tenant` selects the policy of a tenant, whose fields replace those of the file; `action` is used if neither names one. */
export function parseDlpPolicy(
  value: unknown,
  {
    tenant,
    action,
    source = 'The DLP policy',
  }: { tenant?: string | undefined; action?: DlpPolicyAction; source?: string },
): DlpPolicyOptions {
  const fail = (what: string): never => {
    throw new FairleadError('dlp/bad-policy', `${source}: ${what}.`, { blame: 'user', hint: 'See docs/dlp.md.' });
  };
  const file = value === undefined ? {} : isObject(value) ? value : fail('it must be an object');
  const tenants = file['tenants'] ?? {};
  if (!isObject(tenants)) return fail('"tenants" must be an object');
  const own = tenant !== undefined && Object.hasOwn(tenants, tenant) ? tenants[tenant] : {};
  if (!isObject(own)) return fail(`the policy of the tenant ${JSON.stringify(tenant)} must be an object`);
  const { tenants: _tenants, ...shared } = file;
  const fields: Readonly<Record<string, unknown>> = { ...(action === undefined ? {} : { action }), ...shared, ...own };
  const known = ['ways', 'kinds', 'patterns', 'values'];
  if ('action' in shared) fail('the action of all ways is the setting "dlp"; a tenant may have an "action"');
  for (const each of [shared, ...Object.values(tenants)])
    for (const key of isObject(each) ? Object.keys(each) : [])
      if (!known.includes(key) && key !== 'action') fail(`there is no field ${JSON.stringify(key)}`);
  const parseAction = <A extends string>(each: unknown, name: string, actions: readonly A[]): A =>
    actions.find((known) => known === each) ?? fail(`${name} must be one of ${actions.join(', ')}`);
  const parseActions = <A extends string>(name: 'ways' | 'kinds', actions: readonly A[]): Record<string, A> => {
    const given = fields[name] ?? {};
    if (!isObject(given)) return fail(`"${name}" must be an object`);
    return Object.fromEntries(
      Object.entries(given).map(([key, each]) => [key, parseAction(each, `${name}.${key}`, actions)]),
    );
  };
  const ways = parseActions('ways', dlpPolicyActions);
  for (const way of Object.keys(ways))
    if (!dlpWays.some((each) => each === way)) fail(`there is no way ${JSON.stringify(way)}`);
  const patterns = fields['patterns'] ?? [];
  if (!Array.isArray(patterns) || patterns.length > maxPatterns)
    return fail(`"patterns" must be a list of at most ${maxPatterns}`);
  const values = fields['values'] ?? {};
  if (!isObject(values)) return fail('"values" must be an object of names and values');
  return {
    action: fields['action'] === undefined ? 'checked' : parseAction(fields['action'], 'action', dlpPolicyActions),
    ways,
    kinds: parseActions('kinds', dlpActions),
    patterns: patterns.map((each): DlpPattern => {
      const { name, pattern } = isObject(each) ? each : {};
      return typeof name === 'string' && typeof pattern === 'string'
        ? { name, pattern }
        : fail('each pattern needs a "name" and a "pattern"');
    }),
    values: Object.fromEntries(
      Object.entries(values).map(([name, each]) => [
        name,
        typeof each === 'string' ? each : fail(`the value of ${JSON.stringify(name)} must be a text`),
      ]),
    ),
  };
}
