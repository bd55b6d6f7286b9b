// The state of the main thread as another thread sees it: a counter that does not change means that the event loop is blocked.

/** Milliseconds between two increments by the main thread, and between two reads by the control thread. */
export const beatMs = 250;

/** The main thread counts as blocked if it did not answer for so many milliseconds. */
export const blockedAfterMs = 2000;

/** The exit code of a process that its control thread has ended. */
export const blockedExitCode = 9;

/** How long the main thread has not answered. */
export type MainThreadState = { readonly blocked: boolean; readonly blockedMs: number };

/** Creates a function that reads the counter and returns the state; it must be called every `beatMs`. */
export function createMainThreadObserver(
  beats: Int32Array,
  now: () => number = () => performance.now(),
): () => MainThreadState {
  let last = Atomics.load(beats, 0);
  let lastReadAt = now();
  let blockedMs = 0;
  return () => {
    const beat = Atomics.load(beats, 0);
    const at = now();
    // If the whole process was suspended, this thread could not read either: that time does not count.
    blockedMs = beat === last ? blockedMs + Math.min(at - lastReadAt, 2 * beatMs) : 0;
    last = beat;
    lastReadAt = at;
    return { blocked: blockedMs >= blockedAfterMs, blockedMs: Math.round(blockedMs) };
  };
}

/** Returns the sentence that the main thread is blocked. */
export const formatBlocked = ({ blockedMs }: Pick<MainThreadState, 'blockedMs'>): string =>
  `The main thread has not answered for ${Math.round(blockedMs / 1000)} s.`;
