// API keys with roles, from the environment, a file, or a token that is created on the first start. No key is ever logged.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isEqualConstantTime } from '../../bridges/proxy/index.ts';
import { FairleadError, errorMessage } from '../../core/index.ts';
import { loadOrCreateToken, minKeyLength } from '../token-file.ts';
import { withKeyList } from './key-lists.ts';

/** The roles, weakest first: each includes the rights of those before it. */
export const roles = ['reader', 'runner', 'operator'] as const;

/** One of the roles. */
export type Role = (typeof roles)[number];

/** The client of a request, as its key identifies it; `name` is what logs show. */
export type Caller = {
  readonly role: Role;
  readonly name: string;
  /** The only tenant whose runs, sessions, schedules and budgets the client sees and may change; all tenants if it is absent. */
  readonly tenant?: string;
  /** Whether it is the key of the user who started the server, and not one that the user gave to others. */
  readonly isOwner?: true;
};

/** The keys of a server. */
export type ApiKeys = {
  /** Returns the client of a key, in a time that does not depend on the keys. */
  authenticate(key: string): Caller | undefined;
  /** Why the keys are too weak for a server that other machines can reach; undefined if they are not. */
  readonly weaknessReason: string | undefined;
  /** The token, if it was created just now. */
  readonly newToken?: string;
  /** The file of the token; absent if a key was configured. */
  readonly tokenFile?: string;
};

/** The sources of keys. */
export type ApiKeySources = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A file with one role and key per line. */
  readonly file?: string;
  /** The directory of the token file. */
  readonly folder: string;
};

/** A key, its role, and the only tenant that it gives access to. */
export type ApiKey = {
  readonly role: Role;
  readonly key: string;
  readonly tenant?: string;
  /** Whether it is the key of the user who started the server: `HARNESS_API_KEY`, or the generated token. */
  readonly isOwner?: true;
};

/** Whether a role includes the rights of another. */
export const hasRole = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

/** Loads the keys. Without a configured operator key of all tenants, a token is created once and kept in a file. */
export function loadApiKeys({ env, file, folder }: ApiKeySources): ApiKeys {
  const own = env['HARNESS_API_KEY']?.trim();
  const configured = [
    ...(own ? [{ role: 'operator', key: own, isOwner: true } as const] : []),
    ...parseApiKeys((env['HARNESS_API_KEYS'] ?? '').split(/[\s,]+/), 'HARNESS_API_KEYS'),
    ...(file === undefined ? [] : parseApiKeys(readKeyLines(file), file)),
  ];
  // An operator of one tenant cannot operate the fleet.
  const token = configured.some(({ role, tenant }) => role === 'operator' && tenant === undefined)
    ? undefined
    : loadOrCreateToken(folder, 'server-token', 'HARNESS_API_KEY');
  const list: readonly ApiKey[] = token
    ? [...configured, { role: 'operator', key: token.key, isOwner: true }]
    : configured;
  return withKeyList(list, {
    ...createApiKeys(list),
    weaknessReason: findKeyWeakness(configured),
    ...(token?.isNew ? { newToken: token.key } : {}),
    ...(token ? { tokenFile: token.file } : {}),
  });
}

/** Creates the keys of a server from a list. */
export const createApiKeys = (list: readonly ApiKey[]): ApiKeys =>
  withKeyList(list, {
    authenticate(key) {
      let caller: Caller | undefined;
      // Compares with every key, so that the time does not tell which one matched.
      for (const each of list) if (isEqualConstantTime(key, each.key)) caller ??= toCaller(each);
      return caller;
    },
    weaknessReason: findKeyWeakness(list),
  });

function findKeyWeakness(keys: readonly ApiKey[]): string | undefined {
  if (keys.length === 0) return 'no key is configured';
  return keys.some(({ key }) => key.length < minKeyLength)
    ? `a key has fewer than ${minKeyLength} characters`
    : undefined;
}

const toCaller = (key: ApiKey): Caller => ({
  role: key.role,
  name: formatCallerName(key),
  ...(key.tenant === undefined ? {} : { tenant: key.tenant }),
  ...(key.isOwner && key.tenant === undefined ? { isOwner: true } : {}),
});

/** The role and a part of the key's hash: enough to tell keys apart. */
const formatCallerName = ({ role, key }: ApiKey): string => `${role} ${hash('sha256', `fairlead ${key}`).slice(0, 8)}`;

function parseApiKeys(entries: readonly string[], source: string): readonly ApiKey[] {
  return entries.filter(Boolean).map((entry, i) => {
    const [, role, tenant, key] = /^(reader|runner|operator)(?:@([\w.-]{1,200}))?(?::|\s+)(\S+)$/.exec(entry) ?? [];
    if (role !== undefined && key !== undefined)
      return { role: role as Role, key, ...(tenant === undefined ? {} : { tenant }) };
    throw new FairleadError('server/bad-key', `Invalid entry ${i + 1} of ${source}: expected a role and a key.`, {
      blame: 'user',
      hint: 'Write each entry as <role>:<key>, or as <role>@<tenant>:<key> for one tenant; a role is reader, runner or operator.',
    });
  });
}

function readKeyLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.replace(/(^|\s)#.*/, '').trim());
  } catch (cause) {
    throw new FairleadError('server/no-key-file', `The key file cannot be read: ${errorMessage(cause)}`, {
      blame: 'user',
      cause,
    });
  }
}
