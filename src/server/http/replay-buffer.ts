// What a lookout has seen lately, in order: watchers take from it at their own pace, and what nobody can be late for is let go.

/** One thing to show; `seq` is an event's place. */
export type BufferItem = { readonly frame: string; readonly seq?: number; readonly provisional?: true };

/** How much is kept for those who are a little behind; who is further behind reads the log. */
export type BufferLimits = { readonly items: number; readonly chars: number };

/** The latest items of a lookout. */
export type ReplayBuffer = {
  /** Every event after this one is here, or still to come. */
  coveredAfter: number;
  append(item: BufferItem): void;
  /** Whether somebody at this place has missed what was let go. */
  isEvicted(place: number): boolean;
  /** Where somebody begins who has seen up to this event. */
  positionAfter(seq: number): number;
  /** What comes from a place on, as much as one write takes, without events up to a seq, and without what is provisional unless wanted; and where and what comes next. */
  read(
    place: number,
    seq: number,
    provisional: boolean,
  ): { readonly text: string; readonly position: number; readonly seq: number };
  /** Wakes everybody who waits. */
  readonly wake: () => void;
  /** Waits until something comes, or the returned function is called. */
  wait(): { readonly promise: Promise<void>; readonly resolve: () => void };
};

/** Characters that one write takes. */
const maxReadChars = 65_536;

/** An empty shelf for events after a seq. */
export function createReplayBuffer(begin: number, keeping: BufferLimits): ReplayBuffer {
  const items: BufferItem[] = [];
  const waiting = new Set<() => void>();
  let base = 0;
  let chars = 0;
  let waking = false;
  const shelf: ReplayBuffer = {
    coveredAfter: begin,
    append(item) {
      items.push(item);
      chars += item.frame.length;
      while (items.length > keeping.items || (chars > keeping.chars && items.length > 1)) {
        const old = items.shift();
        base++;
        chars -= old?.frame.length ?? 0;
        shelf.coveredAfter = old?.seq ?? shelf.coveredAfter;
      }
      // What comes at once is taken at once: each write to each of many watchers costs a call of the system.
      if (!waking) setImmediate(shelf.wake);
      waking = true;
    },
    isEvicted: (place) => place < base,
    positionAfter(seq) {
      const at = items.findIndex((item) => item.seq !== undefined && item.seq > seq);
      return base + (at >= 0 ? at : items.findLastIndex((item) => item.seq !== undefined) + 1);
    },
    read(place, seq, provisional) {
      let text = '';
      let at = place;
      let last = seq;
      for (; at < base + items.length && text.length < maxReadChars; at++) {
        const item = items[at - base];
        // A watcher may have seen more than a lookout that began earlier has read.
        if (!item || (item.seq ?? last + 1) <= last || (item.provisional && !provisional)) continue;
        text += item.frame;
        last = item.seq ?? last;
      }
      return { text, position: at, seq: last };
    },
    wake: () => {
      waking = false;
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    wait() {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      const leave = (): void => {
        waiting.delete(resolve);
        resolve();
      };
      return { promise, resolve: leave };
    },
  };
  return shelf;
}
