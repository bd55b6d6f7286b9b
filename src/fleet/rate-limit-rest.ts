// Lets a queued run rest while its provider accepts no requests for more than a minute: no worker is held, and the run continues by itself.
import {
  FairleadError,
  providerTraits,
  systemPort,
  type Chunk,
  type FleetRun,
  type ProcessPort,
  type Provider,
} from '../core/index.ts';

/** A shorter delay is waited for by the gateway, within the run. */
const minRestMs = 60_000;

/** A run whose provider asks for a longer delay ends with the error. */
const maxRestMs = 8 * 24 * 60 * 60 * 1000;

/** A run that was claimed so often ends with the error instead of another rest. */
const maxAttempts = 200;

/** Returns the time at which a run can continue after this error; undefined if the run should not rest. */
export function findRestEnd(
  error: unknown,
  { attempts }: Pick<FleetRun, 'attempts'>,
  { now }: Pick<ProcessPort, 'now'> = systemPort,
): string | undefined {
  if (!(error instanceof FairleadError) || error.code !== 'provider/rate-limited') return undefined;
  const { afterMs } = error;
  if (afterMs === undefined || !(afterMs > minRestMs && afterMs <= maxRestMs) || attempts >= maxAttempts)
    return undefined;
  return new Date(now() + afterMs).toISOString();
}

/** Whether a run rests: it was started, and continues by itself at the time `notBefore`. */
export const isResting = ({ status, started, notBefore }: FleetRun, now: number = Date.now()): boolean =>
  status === 'queued' && started !== undefined && notBefore !== undefined && Date.parse(notBefore) > now;

/** Watches the model of a run for long rate limits. */
export type RestWatcher = {
  /** Aborts with `run/left` when the run should rest. */
  readonly signal: AbortSignal;
  /** The time at which the run continues, if it rests. */
  readonly notBefore: () => string | undefined;
  readonly watch: (provider: Provider) => Provider;
};

/** Creates the watcher of a run. */
export function createRestWatcher(
  run: Pick<FleetRun, 'attempts'>,
  port: Pick<ProcessPort, 'now'> = systemPort,
): RestWatcher {
  const control = new AbortController();
  let restEnd: string | undefined;
  async function* stream(provider: Provider, ...args: Parameters<Provider['stream']>): AsyncGenerator<Chunk> {
    try {
      yield* provider.stream(...args);
    } catch (error) {
      const found = findRestEnd(error, run, port);
      if (found === undefined || !(error instanceof FairleadError)) throw error;
      const { code, afterMs = 0 } = error;
      const why = `${provider.family} accepts no request before ${found}`;
      yield { type: 'restarted', attempt: 1, held: true, waitMs: afterMs, code, provider: provider.family, why };
      restEnd = found;
      control.abort(
        new FairleadError('run/left', 'The run rests until its rate limit is reset.', {
          blame: 'provider',
          retry: true,
        }),
      );
      throw error;
    }
  }
  return {
    signal: control.signal,
    notBefore: () => restEnd,
    watch: (provider) => ({
      ...providerTraits(provider),
      stream: (request, signal) => stream(provider, request, signal),
    }),
  };
}
