// The governor: before each call of a model its tenant's money and tokens are held back in the ledger, over the whole fleet.
import {
  estimateTokens,
  FairleadError,
  isValidCost,
  isValidUsage,
  errorMessage,
  toArray,
  messageTokens,
  usageCost,
  type BudgetAmount,
  type Chunk,
  type BudgetLedger,
  type Message,
  type Provider,
  type ModelRequest,
  type Usage,
} from '../core/index.ts';

/** Whose spending is governed, and where it is written down. */
export type BudgetContext = {
  readonly ledger: BudgetLedger;
  readonly tenant: string;
  /** The run whose calls these are. */
  readonly run: string;
  /** Throws while no call may be made. */
  readonly assertNotStopped: () => Promise<void>;
};

/** Tokens that an answer is expected to take at most where nobody set a bound. */
const defaultAnswerTokens = 4096;

/** The core ends a run for these. */
const budgetCodes = { money: 'run/money-budget', tokens: 'run/token-budget' } as const;

/** A model that is called only while the kill-switch and the allowance of the tenant let it. */
export const createBudgetedProvider = (provider: Provider, governor: BudgetContext): Provider => {
  const { family, model, price, contextWindow, supportsImages } = provider;
  return {
    family,
    model,
    ...(price ? { price } : {}),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(supportsImages === undefined ? {} : { supportsImages }),
    stream: (request, signal) => streamWithBudget(provider, governor, request, signal),
  };
};

async function* streamWithBudget(
  provider: Provider,
  governor: BudgetContext,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncIterable<Chunk> {
  const { ledger, tenant, run, assertNotStopped } = governor;
  await assertNotStopped();
  const id = `${run}/${crypto.randomUUID()}`;
  const input = countRequestTokens(request);
  const most = computeAmount(provider, { input, output: request.settings.maxOutputTokens ?? defaultAnswerTokens });
  await reserveBudget(provider, governor, id, most);
  let heard = 0;
  let begun = false;
  let ended = false;
  /** What answers took that were begun anew. */
  let lost: BudgetAmount = { usd: 0, tokens: 0 };
  // Where it cannot be written, what was held stays spent: too much is better than too little.
  const settle = (amount: BudgetAmount): Promise<void> =>
    ledger.commit(tenant, id, addAmounts(lost, amount)).catch(() => undefined);
  const soFar = (): BudgetAmount => computeAmount(provider, { input, output: Math.ceil(heard / 4) });
  try {
    for await (const chunk of provider.stream(request, signal)) {
      if (chunk.type === 'restarted' && begun) lost = addAmounts(lost, soFar());
      begun = chunk.type !== 'restarted';
      heard = begun ? heard : 0;
      if (chunk.type === 'part-delta') heard += chunk.text.length;
      if (chunk.type === 'end') await settle(computeUsedAmount(provider, chunk, input));
      ended ||= chunk.type === 'end';
      yield chunk;
    }
  } finally {
    // Who was asked and broke off, or was cut off, is paid for what was read and said; who failed before a word is not.
    if (!ended) await settle(begun || signal.aborted ? soFar() : { usd: 0, tokens: 0 });
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
    const why = await ledger.reserve(tenant, id, amount);
    if (why === undefined) return;
    const allowance = (await ledger.budgets()).find((each) => each.tenant === tenant);
    const { usd, spent, reserved: held } = allowance ?? {};
    const money = usd !== undefined && (spent?.usd ?? 0) + (held?.usd ?? 0) + amount.usd > usd;
    throw new FairleadError(money ? budgetCodes.money : budgetCodes.tokens, why, { blame: 'user', hint: budgetHint });
  } catch (error) {
    if (error instanceof FairleadError && (error.code === budgetCodes.money || error.code === budgetCodes.tokens))
      throw error;
    throw new FairleadError('store/ledger', `What ${tenant} may spend could not be read: ${errorMessage(error)}`, {
      blame: 'store',
      retry: true,
      cause: error,
    });
  }
}

const budgetHint = 'fairlead fleet budget shows and changes what a tenant may spend.';

/** Of a model whose price nobody knows, no sum can be held to. */
async function assertNoMoneyBudget({ model }: Provider, ledger: BudgetLedger, tenant: string): Promise<void> {
  const bound = (await ledger.budgets()).find((each) => each.tenant === tenant)?.usd;
  if (bound === undefined) return;
  const words = `The price of ${model} is unknown, so the allowance of $${bound} of ${tenant} cannot be kept.`;
  throw new FairleadError(budgetCodes.money, words, { blame: 'user', hint: budgetHint });
}

const computeAmount = (
  { price }: Provider,
  usage: Usage & { readonly input: number; readonly output: number },
): BudgetAmount => ({
  tokens: usage.input + usage.output,
  usd: (price && usageCost(price, usage)) ?? 0,
});

/** What a call took by what the model says, as far as that can be true: a sum below nothing would be spent again. */
function computeUsedAmount(provider: Provider, end: Chunk & { readonly type: 'end' }, input: number): BudgetAmount {
  const said = isValidUsage(end.usage) ? end.usage : {};
  const usage = { ...said, input: said.input ?? input, output: said.output ?? messageTokens([end.message]) };
  const amount = computeAmount(provider, usage);
  return isValidCost(end.usd) ? { ...amount, usd: end.usd } : amount;
}

/** A history grows by a message or two a turn: what was counted is not counted again. */
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
