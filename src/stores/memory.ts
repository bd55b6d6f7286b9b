// A log in memory: for tests, for runs that need not outlive the process, and as the plainest statement of the contract.
import { FairleadError, type AppendOptions, type Event, type Fact, type Log } from '../core/index.ts';

/** A log whose events can be looked at. */
export type MemoryLog = Log & { readonly events: readonly Event[] };

/** A log in memory, starting with these events. */
export function memoryLog(given: readonly Event[] = []): MemoryLog {
  const events: Event[] = [...given];
  const waiting = new Set<() => void>();

  function path(at: string | undefined): readonly Event[] {
    const straight = at === undefined && events.every((event, i) => event.parent === (events[i - 1]?.id ?? null));
    if (straight) return [...events];
    const byId = new Map(events.map((event) => [event.id, event]));
    const found: Event[] = [];
    for (let id = at ?? events.at(-1)?.id ?? null; id !== null;) {
      const event = byId.get(id);
      if (!event)
        throw new FairleadError('store/unknown-event', `There is no event ${id} in this session.`, { blame: 'user' });
      found.push(event);
      id = event.parent;
    }
    return found.toReversed();
  }

  return {
    events,
    async *read({ at, from = 'root' } = {}) {
      const all = path(at);
      const start =
        from === 'epoch' ? all.findLastIndex((event) => event.type === 'epoch-started' && event.baseline) : 0;
      yield start > 0 ? all.slice(start) : all;
    },
    async append(after: number, facts: readonly Fact[], options: AppendOptions = {}) {
      if (after !== events.length) {
        throw new FairleadError(
          'store/conflict',
          `Another writer has added to this session: expected event ${after} to be the last, found ${events.length}.`,
          { blame: 'store' },
        );
      }
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
      events.push(...added);
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
