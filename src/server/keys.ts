// Who may come in: keys with roles, from the environment, a file, or made on the first start; none of them is ever written to a log.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isSame } from '../bridges/proxy/door.ts';
import { FairleadError, errorMessage } from '../core/index.ts';

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
export type Keys = {
  /** Who has this key, told in a time that depends on no key. */
  callerWith(given: string): Caller | undefined;
  /** Why these keys are not enough where others can reach the server, if they are not. */
  readonly weakness: string | undefined;
  /** The token that was made just now, on the first start. */
  readonly made?: string;
  /** The file of that token, on every start; absent where the person set a key. */
  readonly kept?: string;
};

/** Where keys come from. */
export type KeySources = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A file with a role and a key in each line. */
  readonly file?: string;
  /** Where the token that we make is kept. */
  readonly folder: string;
};

type Key = { readonly role: Role; readonly key: string; readonly tenant?: string };

/** Whether a role may do what another may. */
export const mayAct = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

/** Reads the keys. The operator's is the one that the person set, or else a token that is made once and kept. */
export function readKeys({ env, file, folder }: KeySources): Keys {
  const own = env['HARNESS_API_KEY']?.trim();
  const given = [
    ...(own ? [{ role: 'operator', key: own } as const] : []),
    ...keysIn((env['HARNESS_API_KEYS'] ?? '').split(/[\s,]+/), 'HARNESS_API_KEYS'),
    ...(file === undefined ? [] : keysIn(linesOf(file), file)),
  ];
  const token = given.some(({ role }) => role === 'operator') ? undefined : tokenIn(folder);
  const all = token ? [...given, { role: 'operator', key: token.key } as const] : given;
  return {
    callerWith(key) {
      let found: Caller | undefined;
      // Every key is compared, whichever fits: how long it takes tells nothing.
      for (const each of all) if (isSame(key, each.key)) found ??= callerOf(each);
      return found;
    },
    weakness: weaknessOf(given),
    ...(token?.isNew ? { made: token.key } : {}),
    ...(token ? { kept: token.file } : {}),
  };
}

const least = 16;

function weaknessOf(given: readonly Key[]): string | undefined {
  if (given.length === 0) return 'no key was set';
  return given.some(({ key }) => key.length < least) ? `a key has fewer than ${least} characters` : undefined;
}

const callerOf = (key: Key): Caller => ({
  role: key.role,
  name: nameOf(key),
  ...(key.tenant === undefined ? {} : { tenant: key.tenant }),
});

/** Enough of a key's hash to tell keys apart, and nothing of the key. */
const nameOf = ({ role, key }: Key): string =>
  `${role} ${createHash('sha256').update(`fairlead ${key}`).digest('hex').slice(0, 8)}`;

function keysIn(entries: readonly string[], where: string): readonly Key[] {
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

function linesOf(file: string): readonly string[] {
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
function tokenIn(folder: string): { readonly key: string; readonly isNew: boolean; readonly file: string } {
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
    if (kept.length < least) throw new Error('there is no token in it.');
    return { key: kept, isNew: false, file };
  } catch (cause) {
    throw new FairleadError('server/no-token', `The token in ${file} cannot be used: ${errorMessage(cause)}`, {
      blame: 'user',
      hint: 'Remove the file, and another is made; or set HARNESS_API_KEY.',
      cause,
    });
  }
}
