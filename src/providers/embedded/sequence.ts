// A text in a model's working memory: what it shares with the text before it is not read again, and reading can be stopped.
import { unlessAborted } from './engine.ts';
import type {
  RuntimeContext,
  RuntimeModel,
  RuntimeQuestion,
  RuntimeSampling,
  RuntimeSequence,
  Token,
} from './runtime.ts';
import { abortFault } from '../wire/http.ts';

/** A text in working memory. */
export interface Sequence {
  /** Makes these tokens the text, all but the last, which `write` begins with; returns how many of them were there already. */
  read(tokens: readonly Token[], signal: AbortSignal): Promise<number>;
  /** The tokens that the model goes on with, until it ends by itself or nobody asks for more. */
  write(last: Token, sampling: RuntimeSampling, signal: AbortSignal): AsyncGenerator<Token>;
  /** How likely the model holds the second text after the first: the logarithm of its probability. */
  weigh(first: readonly Token[], second: readonly Token[], signal: AbortSignal): Promise<number>;
  /** Resolves when nothing native is at work: after an abort, that is a little later. */
  settled(): Promise<unknown>;
  dispose(): Promise<void>;
}

const largest = 64;
const smallest = 16;
/** Native work cannot be interrupted, so it is done in slices of about this length: nobody waits much longer for the next turn. */
const sliceMs = 1000;

/** Makes room for a text of this many tokens. */
export async function openSequence(model: RuntimeModel, tokens: number, threads: number): Promise<Sequence> {
  const context: RuntimeContext = await model.createContext({ contextSize: tokens, batchSize: largest, threads });
  const sequence: RuntimeSequence = context.getSequence();
  let size = smallest;
  let busy: Promise<unknown> = Promise.resolve();

  /** An abort is answered at once; the native work that was begun still comes to its end. */
  function native<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    busy = work.catch(() => {});
    return unlessAborted(work, signal);
  }

  /** Feeds items in slices, as long as the machine takes well under a second for each. */
  async function feed<T, R>(items: readonly T[], signal: AbortSignal, work: (slice: T[]) => Promise<R>): Promise<R[]> {
    const results: R[] = [];
    for (let at = 0; at < items.length;) {
      if (signal.aborted) throw abortFault(signal);
      const slice = items.slice(at, at + size);
      const since = performance.now();
      results.push(await native(work(slice), signal));
      at += slice.length;
      if (slice.length === size) size = fitting(size, performance.now() - since);
    }
    return results;
  }

  return {
    async read(tokens, signal) {
      const wanted = tokens.slice(0, -1);
      await native(sequence.adaptStateToTokens(wanted, false), signal);
      const reused = sequence.nextTokenIndex;
      await feed(wanted.slice(reused), signal, (slice) => sequence.evaluateWithoutGeneratingNewTokens(slice));
      return reused;
    },
    async *write(last, sampling, signal) {
      if (signal.aborted) throw abortFault(signal);
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
    async weigh(first, second, signal) {
      const all = [...first, ...second];
      await native(sequence.adaptStateToTokens(all.slice(0, first.length - 1), false), signal);
      const from = sequence.nextTokenIndex;
      const items = all.slice(from, -1).map((token, i) => {
        const next = from + i + 1;
        return next < first.length ? token : ([token, asking(all[next] as Token)] as const);
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
        sum += logit - Math.max(...logits.values()) - Math.log(totalLogitWeight);
      }
      return sum;
    },
    settled: () => busy,
    async dispose() {
      await busy;
      await context.dispose();
    },
  };
}

const asking = (token: Token): RuntimeQuestion => ({
  generateNext: { logits: { filter: { tokens: [token], includeTop: 1 } }, totalLogitWeight: true },
});

const fitting = (size: number, ms: number): number =>
  Math.min(largest, Math.max(smallest, Math.round((size * sliceMs) / Math.max(ms, 1))));
