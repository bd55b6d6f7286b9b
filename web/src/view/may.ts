// What the key at hand may do: what it may not is shown as such instead of failing later.
import type { Me, Role } from '../wire/shapes.ts';
import { cell, useCell, type Cell } from '../cell.ts';

/** Who we are to the server, once it has said so. */
export const me: Cell<Me | undefined> = cell<Me | undefined>(undefined);

const roles: readonly Role[] = ['reader', 'runner', 'operator'];

/** Whether the key may do what this role may. */
export function useMay(needed: Role): boolean {
  const now = useCell(me);
  return now !== undefined && roles.indexOf(now.role) >= roles.indexOf(needed);
}
