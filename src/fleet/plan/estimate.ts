// Estimates the requests, tokens and cost of a plan before it starts.
import type { Price } from '../../core/index.ts';
import type { PlanStep } from './plan.ts';

/** What a plan is expected to take. It is a rough figure: nothing has run yet. */
export type PlanEstimate = {
  readonly requests: number;
  readonly tokens: number;
  /** In dollars; absent if the price of a model is unknown. */
  readonly usd?: number;
  /** In dollars, if every step needs all of its attempts; absent if the price of a model is unknown. */
  readonly maxUsd?: number;
};

/** What the estimate depends on besides the steps. */
export type EstimateOptions = {
  readonly prompt: string;
  /** Whether steps without a list of tools have tools. */
  readonly hasTools: boolean;
  readonly price?: Price;
  /** The price of the verifier, if a model verifies the results; `unknown` if it has none. */
  readonly verifierPrice?: Price | 'unknown';
  readonly attempts: number;
  readonly isVerified: (step: PlanStep) => boolean;
};

type Tokens = { readonly requests: number; readonly input: number; readonly output: number };

/** Tokens that a request starts with: the system prompt, and the specifications of tools. */
const baseTokens = { withTools: 3000, withoutTools: 300 };
/** Requests of a step that calls tools. */
const requestsWithTools = 4;
const outputPerRequest = 500;
/** Tokens that a request adds to the next one: its answer and the results of its calls. */
const growthPerRequest = 1000;
const charsPerToken = 4;

/** Estimates a plan. */
export function estimatePlan(steps: readonly PlanStep[], options: EstimateOptions): PlanEstimate {
  const { prompt, hasTools, price, verifierPrice, attempts, isVerified } = options;
  const work = sum(steps.map((step) => estimateStep(step, hasTools)));
  const verified = steps.filter(isVerified);
  const checks = sum(
    verified.map(({ task }): Tokens => ({
      requests: 1,
      input: baseTokens.withoutTools + toTokens(task) + outputPerRequest,
      output: 200,
    })),
  );
  const answer: Tokens = {
    requests: 1,
    input: baseTokens.withoutTools + toTokens(prompt) + outputPerRequest * steps.length,
    output: outputPerRequest,
  };
  const all = sum([work, checks, answer]);
  const total = { requests: all.requests, tokens: all.input + all.output };
  const checkPrice = verified.length === 0 ? { input: 0, output: 0 } : (verifierPrice ?? price);
  if (!price || !checkPrice || checkPrice === 'unknown') return total;
  const stepUsd = toUsd(work, price) + toUsd(checks, checkPrice);
  const answerUsd = toUsd(answer, price);
  return { ...total, usd: stepUsd + answerUsd, maxUsd: stepUsd * attempts + answerUsd };
}

function estimateStep({ task, after, tools }: PlanStep, hasTools: boolean): Tokens {
  const callsTools = tools === undefined ? hasTools : tools.length > 0;
  const requests = callsTools ? requestsWithTools : 1;
  const first =
    (callsTools ? baseTokens.withTools : baseTokens.withoutTools) + toTokens(task) + outputPerRequest * after.length;
  const input = requests * first + (growthPerRequest * requests * (requests - 1)) / 2;
  return { requests, input, output: outputPerRequest * requests };
}

const toTokens = (text: string): number => Math.ceil(text.length / charsPerToken);

const toUsd = ({ input, output }: Tokens, price: Price): number =>
  (input * price.input + output * price.output) / 1_000_000;

const sum = (parts: readonly Tokens[]): Tokens =>
  parts.reduce(
    (all, { requests, input, output }) => ({
      requests: all.requests + requests,
      input: all.input + input,
      output: all.output + output,
    }),
    { requests: 0, input: 0, output: 0 },
  );
