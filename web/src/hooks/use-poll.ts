// Polls the server while it is reachable and, by default, while the tab is visible; polls at once when either is back.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api/client.ts';
import { connectionStatus } from '../api/connection.ts';
import { useAtom } from '../state/atom.ts';

/** The last value, the error since then, and a function that loads again. */
export type PollResult<T> = {
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  readonly refresh: () => void;
};

/** Loads every `ms` milliseconds; a change of `of` starts over. The last value stays if a later load fails. In a hidden tab it loads only with `whileHidden`. */
export function usePoll<T>(
  load: (signal: AbortSignal) => Promise<T>,
  ms: number,
  of = '',
  whileHidden = false,
): PollResult<T> {
  const [value, setValue] = useState<{ readonly of: string; readonly value: T } | undefined>(undefined);
  const [failed, setFailed] = useState<ApiError | undefined>(undefined);
  const [asked, setAsked] = useState(0);
  const here = useAtom(connectionStatus);
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function once(): Promise<void> {
      clearTimeout(timer);
      if ((whileHidden || !document.hidden) && connectionStatus.get() === 'here')
        try {
          const next = await load(stop.signal);
          setValue({ of, value: next });
          setFailed(undefined);
        } catch (error) {
          if (stop.signal.aborted) return;
          if (error instanceof ApiError && error.status !== 0) setFailed(error);
        }
      if (!stop.signal.aborted) timer = setTimeout(() => void once(), ms);
    }
    const onShow = (): void => void (document.hidden || once());
    document.addEventListener('visibilitychange', onShow);
    void once();
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onShow);
    };
    // `load` is a new function at each render; `of` identifies what it loads.
  }, [of, ms, asked, here]);
  const again = useCallback(() => setAsked((before) => before + 1), []);
  return { value: value?.of === of ? value.value : undefined, error: failed, refresh: again };
}

/** The current time, updated every `ms` milliseconds. */
export function useNow(ms = 1000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), ms);
    return () => clearInterval(timer);
  }, [ms]);
  return now;
}

/** The state of a submit action. */
export type Submission = {
  readonly busy: boolean;
  readonly error: ApiError | undefined;
  readonly submit: (work: () => Promise<unknown>) => void;
};

/** Runs one submit at a time, and keeps its error until the next. */
export function useSubmit(): Submission {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<ApiError | undefined>(undefined);
  const send = useCallback((work: () => Promise<unknown>): void => {
    setBusy(true);
    setFailed(undefined);
    work()
      .catch((error: unknown) =>
        setFailed(error instanceof ApiError ? error : new ApiError(0, 'web/unexpected', String(error))),
      )
      .finally(() => setBusy(false));
  }, []);
  return { busy, error: failed, submit: send };
}
