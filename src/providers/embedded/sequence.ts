// Token sequence in the context of a model: reuses the shared prefix of the previous prompt, and can be aborted.
import { maxOf } from '../../core/index.ts';
import { raceWithAbort } from './model-pool.ts';
import type {
  RuntimeContext,
  RuntimeModel,
  RuntimeLogitQuery,
  RuntimeSampling,
  RuntimeSequence,
  Token,
} from './runtime.ts';
import { abortError } from '../http/http.ts';

/** A token sequence in a context. */
export interface TokenSequence {
  /** Evaluates these tokens except the last, with which `generate` starts; returns how many were cached. */
  load(tokens: readonly Token[], signal: AbortSignal): Promise<number>;
  /** Yields the generated tokens, until the model ends or the consumer stops. */
  generate(last: Token, sampling: RuntimeSampling, signal: AbortSignal): AsyncGenerator<Token>;
  /** Returns the log probability of the second text after the first. */
  logProbability(first: readonly Token[], second: readonly Token[], signal: AbortSignal): Promise<number>;
  /** Resolves when no native work is active, which is slightly after an abort. */
  whenIdle(): Promise<unknown>;
  dispose(): Promise<void>;
}

const maxBatch = 64;
const minBatch = 16;
/** The target duration of a slice: native work cannot be interrupted, so slices bound the wait of other callers. */
const sliceMs = 1000;

/** Creates a sequence with a context of this many tokens. */
export async function createTokenSequence(
  model: RuntimeModel,
  tokens: number,
  threads: number,
): Promise<TokenSequence> {
  const context: RuntimeContext = await model.createContext({ contextSize: tokens, batchSize: maxBatch, threads });
  const sequence: RuntimeSequence = context.getSequence();
  let size = minBatch;
  let busy: Promise<unknown> = Promise.resolve();

  /** Rejects at once on an abort; native work that was started still finishes. */
  function native<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    busy = work.catch(() => {});
    return raceWithAbort(work, signal);
  }

  /** Evaluates items in slices, each well below a second. */
  async function feed<T, R>(items: readonly T[], signal: AbortSignal, work: (slice: T[]) => Promise<R>): Promise<R[]> {
    const results: R[] = [];
    for (let at = 0; at < items.length;) {
      if (signal.aborted) throw abortError(signal);
      const slice = items.slice(at, at + size);
      const since = performance.now();
      results.push(await native(work(slice), signal));
      at += slice.length;
      if (slice.length === size) size = nextBatchSize(size, performance.now() - since);
    }
    return results;
  }

  return {
    async load(tokens, signal) {
      const wanted = tokens.slice(0, -1);
      await native(sequence.adaptStateToTokens(wanted, false), signal);
      const reused = sequence.nextTokenIndex;
      await feed(wanted.slice(reused), signal, (slice) => sequence.evaluateWithoutGeneratingNewTokens(slice));
      return reused;
    },
    async *generate(last, sampling, signal) {
      if (signal.aborted) throw abortError(signal);
      const tokens = sequence.evaluate([last], sampling);
      try {
        for (;;) {
          const { done, value } = await native(tokens.next(), signal);
          if (done) return;
          yield value;
        }
      } finally {
        busy = Promise.all([busy, tokens.return()]).catch(() => {});
      }
    },
    async logProbability(first, second, signal) {
      const all = [...first, ...second];
      await native(sequence.adaptStateToTokens(all.slice(0, first.length - 1), false), signal);
      const from = sequence.nextTokenIndex;
      const items = all.slice(from, -1).map((token, i) => {
        const next = from + i + 1;
        return next < first.length ? token : ([token, createLogitQuery(all[next] as Token)] as const);
      });
      const answers = await feed(items, signal, async (slice) => {
        const found = await sequence.controlledEvaluate(slice);
        return slice.map((_, i) => found[i]);
      });
      let sum = 0;
      for (const [i, answer] of answers.flat().entries()) {
        const { logits, totalLogitWeight } = answer?.next ?? {};
        if (!logits || totalLogitWeight === undefined) continue;
        const logit = logits.get(all[from + i + 1] as Token) ?? Number.NEGATIVE_INFINITY;
        sum += logit - maxOf(logits.values()) - Math.log(totalLogitWeight);
      }
      return sum;
    },
    whenIdle: () => busy,
    async dispose() {
      await busy;
      await context.dispose();
    },
  };
}

const createLogitQuery = (token: Token): RuntimeLogitQuery => ({
  generateNext: { logits: { filter: { tokens: [token], includeTop: 1 } }, totalLogitWeight: true },
});

const nextBatchSize = (size: number, ms: number): number =>
  Math.min(maxBatch, Math.max(minBatch, Math.round((size * sliceMs) / Math.max(ms, 1))));
