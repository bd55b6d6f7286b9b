// What the key at hand may do: what it may not is shown as such instead of failing later.
import type { CurrentUser, Role } from '../api/types.ts';
import { createAtom, useAtom, type Atom } from '../state/atom.ts';

/** Who we are to the server, once it has said so. */
export const currentUser: Atom<CurrentUser | undefined> = createAtom<CurrentUser | undefined>(undefined);

const roleOrder: readonly Role[] = ['reader', 'runner', 'operator'];

/** Whether the key may do what this role may. */
export function usePermission(needed: Role): boolean {
  const now = useAtom(currentUser);
  return now !== undefined && roleOrder.indexOf(now.role) >= roleOrder.indexOf(needed);
}
