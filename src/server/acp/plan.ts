// Sends the todo list of the model as an ACP plan whenever it changes.
import type { PlanEntry } from '@agentclientprotocol/sdk';
import type { Event } from '../../core/index.ts';
import { todoView, type TodoItem } from '../../tools/index.ts';

const planStatuses = { open: 'pending', doing: 'in_progress', done: 'completed' } as const;

/** Converts the todo list to plan entries; it has no priorities. */
const toPlanEntries = (items: readonly TodoItem[]): PlanEntry[] =>
  items.map(({ text, status }) => ({ content: text, priority: 'medium', status: planStatuses[status] }));

/** Creates an event listener that sends each changed plan. */
export function createPlanListener(tell: (plan: PlanEntry[]) => void): (event: Event) => void {
  let now = todoView.initial;
  return (event) => {
    const next = todoView.on(now, event);
    if (next.items !== now.items) tell(toPlanEntries(next.items));
    now = next;
  };
}
