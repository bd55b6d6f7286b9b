// Counts the requests of a verification, and refuses a request that its budget does not reach for.
import { estimateTokens, FairleadError } from '../../core/index.ts';
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

/** The tokens that a response of a judge may have; counted before a request. */
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

/** Creates the meter of a verification. */
export function createMeter(budget: VerifyBudget = {}, signal?: AbortSignal): Meter {
  const start = performance.now();
  const counts = { requests: 0, input: 0, output: 0, usd: 0, requestsWithoutPrice: 0 };
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
  const assertWithin = (tokens: number): void => {
    if (exceeded !== undefined) refuse(exceeded);
    const { requests, tokens: maxTokens, usd } = budget;
    if (timeout?.aborted || (budget.ms !== undefined && performance.now() - start >= budget.ms))
      refuse(`the time limit of ${budget.ms} ms is reached.`);
    if (requests !== undefined && counts.requests >= requests) refuse(`the limit of ${requests} requests is reached.`);
    if (maxTokens !== undefined && counts.input + counts.output + tokens > maxTokens)
      refuse(`the limit of ${maxTokens} tokens is reached.`);
    if (usd !== undefined && counts.usd >= usd) refuse(`the limit of $${usd} is reached.`);
    if (usd !== undefined && counts.requestsWithoutPrice > 0) refuse('the price of a model is not known.');
  };
  return {
    signal: signals.length === 0 ? new AbortController().signal : AbortSignal.any(signals),
    ask: (model) => async (request, requestSignal) => {
      const input = estimateTokens(request.system) + estimateTokens(request.prompt);
      assertWithin(input + expectedOutputTokens);
      counts.requests += 1;
      try {
        const response = await model.ask(request, requestSignal);
        const { spent } = response;
        counts.input += spent.input ?? input;
        counts.output += spent.output ?? estimateTokens(response.text);
        counts.usd += spent.usd ?? 0;
        counts.requestsWithoutPrice += spent.usd === undefined || (spent.turnsWithoutPrice ?? 0) > 0 ? 1 : 0;
        return response;
      } catch (error) {
        counts.input += input;
        if (timeout?.aborted) refuse(`the time limit of ${budget.ms} ms is reached.`);
        throw error;
      }
    },
    spent: () => ({ ...counts, ms: Math.round(performance.now() - start) }),
    exceeded: () => exceeded,
  };
}

/** Whether an error says that the budget did not reach. */
export const isBudgetError = (error: unknown): boolean =>
  error instanceof FairleadError && error.code === 'verify/budget';
