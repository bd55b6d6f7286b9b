// Who may come in: keys with roles, from the environment, a file, or made on the first start; none of them is ever written to a log.
import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isEqualConstantTime } from '../../bridges/proxy/auth.ts';
import { FairleadError, errorMessage } from '../../core/index.ts';

/** What a key is good for; each role may do what those before it may. */
export const roles = ['reader', 'runner', 'operator'] as const;

/** One of the roles. */
export type Role = (typeof roles)[number];

/** Somebody who brought a key: what they may do, and how the log names them. */
export type Caller = {
  readonly role: Role;
  readonly name: string;
  /** The only tenant for which they begin runs; any where it is absent. */
  readonly tenant?: string;
};

/** The keys of a server. */
export type ApiKeys = {
  /** Who has this key, told in a time that depends on no key. */
  authenticate(given: string): Caller | undefined;
  /** Why these keys are not enough where others can reach the server, if they are not. */
  readonly weaknessReason: string | undefined;
  /** The token that was made just now, on the first start. */
  readonly newToken?: string;
  /** The file of that token, on every start; absent where the person set a key. */
  readonly tokenFile?: string;
};

/** Where keys come from. */
export type ApiKeySources = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A file with a role and a key in each line. */
  readonly file?: string;
  /** Where the token that we make is kept. */
  readonly folder: string;
};

type ApiKey = { readonly role: Role; readonly key: string; readonly tenant?: string };

/** Whether a role may do what another may. */
export const hasRole = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

/** Reads the keys. The operator's is the one that the person set, or else a token that is made once and kept. */
export function loadApiKeys({ env, file, folder }: ApiKeySources): ApiKeys {
  const own = env['HARNESS_API_KEY']?.trim();
  const given = [
    ...(own ? [{ role: 'operator', key: own } as const] : []),
    ...parseApiKeys((env['HARNESS_API_KEYS'] ?? '').split(/[\s,]+/), 'HARNESS_API_KEYS'),
    ...(file === undefined ? [] : parseApiKeys(readKeyLines(file), file)),
  ];
  const token = given.some(({ role }) => role === 'operator') ? undefined : loadOrCreateToken(folder);
  const all = token ? [...given, { role: 'operator', key: token.key } as const] : given;
  return {
    authenticate(key) {
      let found: Caller | undefined;
      // Every key is compared, whichever fits: how long it takes tells nothing.
      for (const each of all) if (isEqualConstantTime(key, each.key)) found ??= toCaller(each);
      return found;
    },
    weaknessReason: findKeyWeakness(given),
    ...(token?.isNew ? { newToken: token.key } : {}),
    ...(token ? { tokenFile: token.file } : {}),
  };
}

const minKeyLength = 16;

function findKeyWeakness(given: readonly ApiKey[]): string | undefined {
  if (given.length === 0) return 'no key was set';
  return given.some(({ key }) => key.length < minKeyLength)
    ? `a key has fewer than ${minKeyLength} characters`
    : undefined;
}

const toCaller = (key: ApiKey): Caller => ({
  role: key.role,
  name: formatCallerName(key),
  ...(key.tenant === undefined ? {} : { tenant: key.tenant }),
});

/** Enough of a key's hash to tell keys apart, and nothing of the key. */
const formatCallerName = ({ role, key }: ApiKey): string => `${role} ${hash('sha256', `fairlead ${key}`).slice(0, 8)}`;

function parseApiKeys(entries: readonly string[], where: string): readonly ApiKey[] {
  return entries.filter(Boolean).map((entry, i) => {
    const [, role, tenant, key] = /^(reader|runner|operator)(?:@([\w.-]{1,200}))?(?::|\s+)(\S+)$/.exec(entry) ?? [];
    if (role !== undefined && key !== undefined)
      return { role: role as Role, key, ...(tenant === undefined ? {} : { tenant }) };
    throw new FairleadError('server/bad-key', `Entry ${i + 1} of ${where} is no role with a key.`, {
      blame: 'user',
      hint: 'Write each as reader:<key>, runner:<key>, runner@<tenant>:<key> or operator:<key>.',
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

/** The token in this folder, made if there is none. Of two servers that start at once, one makes it and the other reads it. */
function loadOrCreateToken(folder: string): { readonly key: string; readonly isNew: boolean; readonly file: string } {
  const file = path.join(folder, 'server-token');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const key = randomBytes(32).toString('base64url');
    try {
      writeFileSync(file, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
      return { key, isNew: true, file };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
      throw new Error('others may read it, so it is no secret.');
    const kept = readFileSync(file, 'utf8').trim();
    if (kept.length < minKeyLength) throw new Error('there is no token in it.');
    return { key: kept, isNew: false, file };
  } catch (cause) {
    throw new FairleadError('server/no-token', `The token in ${file} cannot be used: ${errorMessage(cause)}`, {
      blame: 'user',
      hint: 'Remove the file, and another is made; or set HARNESS_API_KEY.',
      cause,
    });
  }
}
