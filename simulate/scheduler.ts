// The virtual time of a schedule: events in the order of their times, and between two of them all promises that can settle.

/** Runs events in virtual time. */
export type Scheduler = {
  /** Milliseconds since the start of the schedule. */
  readonly now: () => number;
  /** Calls back after a delay; returns the function that cancels the event. */
  readonly after: (ms: number, fire: () => void) => () => void;
  /** Runs events until the condition holds; false if the time limit came first. */
  readonly run: (isDone: () => boolean, untilMs: number) => Promise<boolean>;
  /** How many events were run. */
  readonly events: () => number;
};

type ScheduledEvent = { readonly time: number; readonly order: number; fire: (() => void) | undefined };

const isBefore = (a: ScheduledEvent, b: ScheduledEvent): boolean =>
  a.time < b.time || (a.time === b.time && a.order < b.order);

/** Creates a scheduler at time 0. */
export function createScheduler(): Scheduler {
  const heap: ScheduledEvent[] = [];
  let time = 0;
  let order = 0;
  let events = 0;

  function push(event: ScheduledEvent): void {
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as ScheduledEvent;
      if (!isBefore(event, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = event;
  }

  function pop(): ScheduledEvent | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right && isBefore(right, heap[child] as ScheduledEvent)) child += 1;
      const smallest = heap[child] as ScheduledEvent;
      if (!isBefore(smallest, last)) break;
      heap[at] = smallest;
      at = child;
    }
    heap[at] = last;
    return first;
  }

  return {
    now: () => time,
    events: () => events,
    after(ms, fire) {
      const event: ScheduledEvent = { time: time + Math.max(0, ms), order: order++, fire };
      push(event);
      return () => (event.fire = undefined);
    },
    async run(isDone, untilMs) {
      await settlePromises();
      while (!isDone()) {
        const event = pop();
        if (!event || event.time > untilMs) return false;
        const { fire } = event;
        if (!fire) continue;
        time = event.time;
        events += 1;
        fire();
        await settlePromises();
      }
      return true;
    },
  };
}

/** All promise callbacks run before the next turn of the event loop. */
const settlePromises = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
