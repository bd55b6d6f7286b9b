// Session log in memory: for tests, and for runs that need not survive the process.
import type { AppendOptions, Event, Fact, Log } from '../core/index.ts';
import { readBranch } from './read-branch.ts';
import { appendConflictError } from './store-errors.ts';

/** A log with access to its events. */
export type MemoryLog = Log & { readonly events: readonly Event[] };

/** Creates a log in memory that starts with these events. */
export function memoryLog(initial: readonly Event[] = []): MemoryLog {
  const events: Event[] = [...initial];
  const waiting = new Set<() => void>();

  return {
    events,
    async *read({ at, from = 'root' } = {}) {
      yield readBranch(events, at, from);
    },
    async append(after: number, facts: readonly Fact[], options: AppendOptions = {}) {
      if (after !== events.length) throw appendConflictError(after, events.length);
      let parent = options.parent ?? events.at(-1)?.id ?? null;
      const added = facts.map((fact, i): Event => {
        const event = {
          ...fact,
          seq: after + i + 1,
          id: (after + i + 1).toString(36),
          parent,
          time: new Date().toISOString(),
        };
        parent = event.id;
        return event;
      });
      for (const item of added) events.push(item);
      for (const wake of waiting) wake();
      return added;
    },
    async *follow(from, signal) {
      for (let i = from; !signal.aborted;) {
        const event = events[i];
        if (event) {
          i++;
          yield event;
          continue;
        }
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
        await promise;
        waiting.delete(resolve);
      }
    },
    async close() {},
  };
}
