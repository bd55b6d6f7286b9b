// Puts what many ask for at the same time into one statement: one round trip and one commit for all of them.
import { FairleadError } from '../../core/index.ts';

/** Answers many at once, in the order they asked. */
type SendBatch<Ask, Answer> = (asks: readonly Ask[]) => Promise<readonly Answer[]>;

type PendingRequest<Ask, Answer> = {
  readonly request: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

/** So much is put into one statement. */
const maxBatchWeight = 100;
/** So many statements of a kind are under way: one that has to wait for a lock keeps only its own from going on. */
const maxBatchesInFlight = 2;

/**
 * Asks one by one, answered in batches: what comes while others are under way goes together. Who asks alone does not wait. Where a batch is refused,
 * each of it is asked for by itself, so that nobody fails for another; so what is sent must do no harm when it is done twice.
 */
export function createBatcher<Ask, Answer>(
  send: SendBatch<Ask, Answer>,
  weigh: (ask: Ask) => number = () => 1,
): (ask: Ask) => Promise<Answer> {
  let waiting: PendingRequest<Ask, Answer>[] = [];
  let flying = 0;
  let isDue = false;

  function next(): readonly PendingRequest<Ask, Answer>[] {
    let weight = 0;
    const end = waiting.findIndex(({ request }, i) => (weight += weigh(request)) > maxBatchWeight && i > 0);
    const batch = end < 0 ? waiting : waiting.slice(0, end);
    waiting = waiting.slice(batch.length);
    return batch;
  }

  async function answer(batch: readonly PendingRequest<Ask, Answer>[]): Promise<void> {
    try {
      const answers = await send(batch.map(({ request }) => request));
      batch.forEach(({ resolve }, i) => resolve(answers[i] as Answer));
    } catch (error) {
      const isForAll = error instanceof FairleadError && (error.retry || error.code !== 'store/failed');
      if (isForAll || batch.length === 1) for (const { reject } of batch) reject(error);
      else for (const each of batch) await answer([each]);
    }
  }

  async function fly(batch: readonly PendingRequest<Ask, Answer>[]): Promise<void> {
    await answer(batch);
    flying -= 1;
    soon();
  }

  function go(): void {
    isDue = false;
    while (flying < maxBatchesInFlight && waiting.length > 0) {
      flying += 1;
      void fly(next());
    }
  }

  /** Not at once: those who were answered together ask together again. */
  function soon(): void {
    if (isDue || waiting.length === 0 || flying >= maxBatchesInFlight) return;
    isDue = true;
    setImmediate(go);
  }

  return (ask) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    waiting.push({ request: ask, resolve, reject });
    soon();
    return promise;
  };
}
