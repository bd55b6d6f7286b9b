// Batches calls that are made at the same time into one statement: one round trip and one commit.
import { FairleadError } from '../../core/index.ts';

/** Sends a batch, and returns the results in the order of the requests. */
type SendBatch<Request, Result> = (requests: readonly Request[]) => Promise<readonly Result[]>;

type PendingRequest<Request, Result> = {
  readonly request: Request;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

/** The total weight of the requests in one statement. */
const maxBatchWeight = 100;
/** How many statements may be in flight: one that waits for a lock does not delay the requests of the next. */
const maxBatchesInFlight = 2;

/**
 * Creates a function that takes single requests and sends them in batches: requests that come while others are in flight go together, and a
 * lone request does not wait. If a batch fails, each of its requests is sent alone, so that none fails because of another; requests must
 * therefore be idempotent.
 */
export function createBatcher<Request, Result>(
  send: SendBatch<Request, Result>,
  weigh: (request: Request) => number = () => 1,
): (request: Request) => Promise<Result> {
  let waiting: PendingRequest<Request, Result>[] = [];
  let inFlight = 0;
  let isScheduled = false;

  function takeBatch(): readonly PendingRequest<Request, Result>[] {
    let weight = 0;
    const end = waiting.findIndex(({ request }, i) => (weight += weigh(request)) > maxBatchWeight && i > 0);
    const batch = end < 0 ? waiting : waiting.slice(0, end);
    waiting = waiting.slice(batch.length);
    return batch;
  }

  async function sendBatch(batch: readonly PendingRequest<Request, Result>[]): Promise<void> {
    try {
      const results = await send(batch.map(({ request }) => request));
      batch.forEach(({ resolve }, i) => resolve(results[i] as Result));
    } catch (error) {
      const failsAll = error instanceof FairleadError && (error.retry || error.code !== 'store/failed');
      if (failsAll || batch.length === 1) for (const { reject } of batch) reject(error);
      else for (const each of batch) await sendBatch([each]);
    }
  }

  async function start(batch: readonly PendingRequest<Request, Result>[]): Promise<void> {
    await sendBatch(batch);
    inFlight -= 1;
    schedule();
  }

  function flush(): void {
    isScheduled = false;
    while (inFlight < maxBatchesInFlight && waiting.length > 0) {
      inFlight += 1;
      void start(takeBatch());
    }
  }

  /** In the next turn of the event loop: callers that got their results together also send their next requests together. */
  function schedule(): void {
    if (isScheduled || waiting.length === 0 || inFlight >= maxBatchesInFlight) return;
    isScheduled = true;
    setImmediate(flush);
  }

  return (request) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    waiting.push({ request, resolve, reject });
    schedule();
    return promise;
  };
}
