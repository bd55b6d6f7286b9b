// The lists that the keys of servers were created from. They are not members of the keys, so that printing the keys of a server prints no key.
import type { ApiKey, ApiKeys } from './keys.ts';

const keyLists = new WeakMap<ApiKeys, readonly ApiKey[]>();

/** Remembers the list of keys, and returns the keys. */
export function withKeyList(list: readonly ApiKey[], keys: ApiKeys): ApiKeys {
  keyLists.set(keys, list);
  return keys;
}

/** Returns the list that keys were created from; undefined if `authenticate` is a function of the caller's own. */
export const getKeyList = (keys: ApiKeys): readonly ApiKey[] | undefined => keyLists.get(keys);
