// Counts the requests of a verification, and refuses a request that its budget does not reach for.
import { estimateTokens, FairleadError, usageCost } from '../../core/index.ts';
import type { AskModel, VerifyModel } from '../types.ts';
import type { VerifySpent } from './report.ts';

/** The limits of a verification. If one is reached before everything is verified, the result is an abstention. */
export type VerifyBudget = {
  readonly requests?: number;
  /** Input and output tokens together. */
  readonly tokens?: number;
  /** US dollars. A model without a known price cannot be asked if this is set. */
  readonly usd?: number;
  readonly ms?: number;
};

/** The tokens that a response is expected to have at least; counted before a request. */
const expectedOutputTokens = 300;

/** Counts and limits the requests of one verification. */
export type Meter = {
  /** The signal of the caller together with the time limit. */
  readonly signal: AbortSignal;
  /** Returns how a model is asked within the budget. */
  ask(model: VerifyModel): AskModel;
  spent(): VerifySpent;
  /** Why the budget did not reach; undefined as long as it does. */
  exceeded(): string | undefined;
};

/** What a request may use; it is counted from the time that it is sent until its response says what it used. */
type Reservation = { readonly tokens: number; readonly usd: number };

/** Creates the meter of a verification. Requests that run at the same time share the budget: each reserves what it may use, and waits for others if the rest does not reach. */
export function createMeter(budget: VerifyBudget = {}, signal?: AbortSignal): Meter {
  const start = performance.now();
  const counts = { requests: 0, input: 0, output: 0, usd: 0, requestsWithoutPrice: 0 };
  const reserved = new Set<Reservation>();
  /** The largest response of each model so far. */
  const largest = new Map<string, { readonly output: number; readonly usd: number }>();
  let wake = Promise.withResolvers<void>();
  let exceeded: string | undefined;
  const timeout =
    budget.ms === undefined ? undefined : AbortSignal.timeout(Math.min(Math.max(0, budget.ms), 2 ** 31 - 1));
  const signals = [signal, timeout].filter((each) => each !== undefined);
  const refuse = (why: string): never => {
    exceeded ??= why;
    throw new FairleadError('verify/budget', `The budget does not reach for the verification: ${exceeded}`, {
      blame: 'user',
      hint: 'Raise the budget, or verify a shorter answer.',
    });
  };
  /** Why a request does not fit into the budget. */
  const findMissing = (request: Reservation): string | undefined => {
    const { tokens: maxTokens, usd: maxUsd } = budget;
    const open = [request, ...reserved];
    const tokens = counts.input + counts.output + open.reduce((sum, each) => sum + each.tokens, 0);
    if (maxTokens !== undefined && tokens > maxTokens) return `the limit of ${maxTokens} tokens is reached.`;
    if (maxUsd === undefined) return undefined;
    const usd = counts.usd + open.reduce((sum, each) => sum + each.usd, 0);
    if (counts.usd >= maxUsd || usd > maxUsd + roundingUsd) return `the limit of $${maxUsd} is reached.`;
    return counts.requestsWithoutPrice > 0 ? 'the price of a model is not known.' : undefined;
  };
  const assertWithin = (): void => {
    if (exceeded !== undefined) refuse(exceeded);
    if (timeout?.aborted || (budget.ms !== undefined && performance.now() - start >= budget.ms))
      refuse(`the time limit of ${budget.ms} ms is reached.`);
    if (budget.requests !== undefined && counts.requests >= budget.requests)
      refuse(`the limit of ${budget.requests} requests is reached.`);
  };
  const estimate = ({ name, price }: VerifyModel, input: number): Reservation => {
    const known = largest.get(name);
    const output = Math.max(expectedOutputTokens, known?.output ?? 0);
    const usd = Math.max((price && usageCost(price, { input, output })) ?? 0, known?.usd ?? 0);
    return { tokens: input + output, usd };
  };
  /** Waits until a request fits into the budget, and reserves what it may use. */
  const reserve = async (model: VerifyModel, input: number, requestSignal: AbortSignal): Promise<Reservation> => {
    for (;;) {
      requestSignal.throwIfAborted();
      assertWithin();
      const request = estimate(model, input);
      const missing = findMissing(request);
      const isAlone = budget.usd !== undefined && model.price === undefined;
      if (missing === undefined && !(isAlone && reserved.size > 0)) {
        reserved.add(request);
        counts.requests += 1;
        return request;
      }
      if (reserved.size === 0) refuse(missing ?? '');
      await wake.promise;
    }
  };
  return {
    signal: signals.length === 0 ? new AbortController().signal : AbortSignal.any(signals),
    ask: (model) => async (request, requestSignal) => {
      const input = estimateTokens(request.system) + estimateTokens(request.prompt);
      const reservation = await reserve(model, input, requestSignal);
      try {
        const response = await model.ask(request, requestSignal);
        const { spent } = response;
        const output = spent.output ?? estimateTokens(response.text);
        const known = largest.get(model.name);
        largest.set(model.name, {
          output: Math.max(output, known?.output ?? 0),
          usd: Math.max(spent.usd ?? 0, known?.usd ?? 0),
        });
        counts.input += spent.input ?? input;
        counts.output += output;
        counts.usd += spent.usd ?? 0;
        counts.requestsWithoutPrice += spent.usd === undefined || (spent.turnsWithoutPrice ?? 0) > 0 ? 1 : 0;
        return response;
      } catch (error) {
        counts.input += input;
        if (timeout?.aborted) refuse(`the time limit of ${budget.ms} ms is reached.`);
        throw error;
      } finally {
        reserved.delete(reservation);
        wake.resolve();
        wake = Promise.withResolvers();
      }
    },
    spent: () => ({ ...counts, ms: Math.round(performance.now() - start) }),
    exceeded: () => exceeded,
  };
}

/** Sums of dollars are not exact. */
const roundingUsd = 1e-9;

/** Whether an error says that the budget did not reach. */
export const isBudgetError = (error: unknown): boolean =>
  error instanceof FairleadError && error.code === 'verify/budget';
