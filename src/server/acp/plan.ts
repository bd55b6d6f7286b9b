// The model's list of what is to be done, told to an editor as its plan whenever it changes.
import type { PlanEntry } from '@agentclientprotocol/sdk';
import type { Event } from '../../core/index.ts';
import { todoView, type TodoItem } from '../../tools/index.ts';

const planStatuses = { open: 'pending', doing: 'in_progress', done: 'completed' } as const;

/** The list in the protocol's words; ours knows no priorities. */
const toPlanEntries = (items: readonly TodoItem[]): PlanEntry[] =>
  items.map(({ text, status }) => ({ content: text, priority: 'medium', status: planStatuses[status] }));

/** Hears a session's events and tells the plan each time it is another. */
export function createPlanListener(tell: (plan: PlanEntry[]) => void): (event: Event) => void {
  let now = todoView.initial;
  return (event) => {
    const next = todoView.on(now, event);
    if (next.items !== now.items) tell(toPlanEntries(next.items));
    now = next;
  };
}
