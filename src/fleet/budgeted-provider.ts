// Wraps a model provider with the budget of a tenant: money and tokens are reserved in the ledger before each call.
import {
  estimateTokens,
  FairleadError,
  isValidCost,
  isValidUsage,
  errorMessage,
  toArray,
  messageTokens,
  providerTraits,
  systemPort,
  usageCost,
  type BudgetAmount,
  type Chunk,
  type BudgetLedger,
  type Message,
  type ProcessPort,
  type Provider,
  type ModelRequest,
  type Usage,
} from '../core/index.ts';

/** The tenant, the run and the ledger of a provider. */
export type BudgetContext = {
  readonly ledger: BudgetLedger;
  readonly tenant: string;
  /** The id of the run that makes the calls. */
  readonly run: string;
  /** Throws while the fleet is stopped. */
  readonly assertNotStopped: () => Promise<void>;
  /** The ids of reservations; random ones of this process by default. */
  readonly port?: Pick<ProcessPort, 'randomId'>;
};

/** The output tokens that are reserved if the request sets no maximum. */
const defaultAnswerTokens = 4096;

/** Error codes that make the loop end the run. */
const budgetCodes = { money: 'run/money-budget', tokens: 'run/token-budget' } as const;

/** The error of a connection that was lost after the request was sent. */
const cutCode = 'provider/cut';

/** Creates a provider that calls the model only if the kill switch and the budget of the tenant allow it. */
export const createBudgetedProvider = (provider: Provider, context: BudgetContext): Provider => {
  return {
    ...providerTraits(provider),
    stream: (request, signal) => streamWithBudget(provider, context, request, signal),
  };
};

async function* streamWithBudget(
  provider: Provider,
  context: BudgetContext,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncIterable<Chunk> {
  const { ledger, tenant, run, assertNotStopped, port = systemPort } = context;
  await assertNotStopped();
  const id = `${run}/${port.randomId()}`;
  const input = countRequestTokens(request);
  const maximum = computeAmount(provider, { input, output: request.settings.maxOutputTokens ?? defaultAnswerTokens });
  await reserveBudget(provider, context, id, maximum);
  let receivedChars = 0;
  let started = false;
  let ended = false;
  let isLost = false;
  /** The cost of answers that were restarted. */
  let discarded: BudgetAmount = { usd: 0, tokens: 0 };
  // If the commit fails, the reserved amount stays spent: too much is better than too little.
  const commit = (amount: BudgetAmount): Promise<void> =>
    ledger.commit(tenant, id, addAmounts(discarded, amount)).catch(() => undefined);
  const usedSoFar = (): BudgetAmount => computeAmount(provider, { input, output: Math.ceil(receivedChars / 4) });
  try {
    for await (const chunk of provider.stream(request, signal)) {
      if (chunk.type === 'restarted' && started) discarded = addAmounts(discarded, usedSoFar());
      else if (chunk.type === 'restarted' && chunk.code === cutCode) discarded = addAmounts(discarded, maximum);
      started = chunk.type !== 'restarted';
      receivedChars = started ? receivedChars : 0;
      if (chunk.type === 'part-delta') receivedChars += chunk.text.length;
      if (chunk.type === 'end') await commit(computeUsedAmount(provider, chunk, input));
      ended ||= chunk.type === 'end';
      yield chunk;
    }
  } catch (error) {
    isLost = !started && error instanceof FairleadError && error.code === cutCode;
    throw error;
  } finally {
    // A call that broke off after its first chunk, or was aborted, is charged for its input and partial output; one that was refused before is not.
    // If the connection was lost before the first chunk, the provider may have produced the whole answer.
    const used = started || signal.aborted ? usedSoFar() : { usd: 0, tokens: 0 };
    if (!ended) await commit(isLost ? maximum : used);
  }
}

const addAmounts = (a: BudgetAmount, b: BudgetAmount): BudgetAmount => ({
  usd: a.usd + b.usd,
  tokens: a.tokens + b.tokens,
});

async function reserveBudget(
  provider: Provider,
  { ledger, tenant }: BudgetContext,
  id: string,
  amount: BudgetAmount,
): Promise<void> {
  try {
    if (!provider.price) await assertNoMoneyBudget(provider, ledger, tenant);
    const refusal = await ledger.reserve(tenant, id, amount);
    if (refusal === undefined) return;
    const budget = (await ledger.budgets()).find((each) => each.tenant === tenant);
    const { usd, tokens, spent, reserved } = budget ?? {};
    // Another call may have ended since the refusal, so that both limits have room now.
    const lacksTokens = tokens !== undefined && (spent?.tokens ?? 0) + (reserved?.tokens ?? 0) + amount.tokens > tokens;
    const lacksMoney = usd !== undefined && (spent?.usd ?? 0) + (reserved?.usd ?? 0) + amount.usd > usd;
    const isMoney = lacksMoney || (usd !== undefined && !lacksTokens);
    throw new FairleadError(isMoney ? budgetCodes.money : budgetCodes.tokens, refusal, {
      blame: 'user',
      hint: budgetHint,
    });
  } catch (error) {
    if (error instanceof FairleadError && (error.code === budgetCodes.money || error.code === budgetCodes.tokens))
      throw error;
    throw new FairleadError('store/ledger', `Cannot read the budget of ${tenant}: ${errorMessage(error)}`, {
      blame: 'store',
      retry: true,
      cause: error,
    });
  }
}

const budgetHint = 'Show and change budgets with fairlead fleet budget.';

/** Throws if the tenant has a money budget: it cannot be enforced for a model without a price. */
async function assertNoMoneyBudget({ model }: Provider, ledger: BudgetLedger, tenant: string): Promise<void> {
  const maxUsd = (await ledger.budgets()).find((each) => each.tenant === tenant)?.usd;
  if (maxUsd === undefined) return;
  const message = `The price of ${model} is unknown, so the budget of $${maxUsd} of ${tenant} cannot be enforced.`;
  throw new FairleadError(budgetCodes.money, message, { blame: 'user', hint: budgetHint });
}

const computeAmount = (
  { price }: Provider,
  usage: Usage & { readonly input: number; readonly output: number },
): BudgetAmount => ({
  tokens: usage.input + usage.output,
  usd: (price && usageCost(price, usage)) ?? 0,
});

/** The amount of a call by the usage that the provider reports, if it is valid: a negative amount would raise the budget. */
function computeUsedAmount(provider: Provider, end: Chunk & { readonly type: 'end' }, input: number): BudgetAmount {
  const reported = isValidUsage(end.usage) ? end.usage : {};
  const usage = {
    ...reported,
    input: reported.input ?? input,
    output: reported.output ?? messageTokens([end.message]),
  };
  const amount = computeAmount(provider, usage);
  return isValidCost(end.usd) ? { ...amount, usd: end.usd } : amount;
}

/** Token counts by message: each turn sends the whole history again. */
const tokenCounts = new WeakMap<Message, number>();

function countRequestTokens({ system, tools, messages }: ModelRequest): number {
  let tokens = estimateTokens(system) + estimateTokens(JSON.stringify(tools));
  for (const message of toArray(messages)) {
    const known = tokenCounts.get(message) ?? messageTokens([message]);
    tokenCounts.set(message, known);
    tokens += known;
  }
  return tokens;
}
