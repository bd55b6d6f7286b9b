// The role of the current key, so that actions it does not allow are disabled.
import type { CurrentUser, Role } from '../api/types.ts';
import { createAtom, useAtom, type Atom } from '../state/atom.ts';

/** The role and server of the key, when known. */
export const currentUser: Atom<CurrentUser | undefined> = createAtom<CurrentUser | undefined>(undefined);

const roleOrder: readonly Role[] = ['reader', 'runner', 'operator'];

/** Whether the key has at least this role. */
export function usePermission(needed: Role): boolean {
  const now = useAtom(currentUser);
  return now !== undefined && roleOrder.indexOf(now.role) >= roleOrder.indexOf(needed);
}
