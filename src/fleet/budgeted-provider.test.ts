// Tests of the budgeted provider: money and tokens are reserved before each request, across concurrent requests.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  FairleadError,
  createPersistentList,
  type Chunk,
  type BudgetLedger,
  type Provider,
  type ModelRequest,
} from '../core/index.ts';
import { openTempFleetStore } from '../../test/support/fleet-store.ts';
import { createBudgetedProvider } from './budgeted-provider.ts';

const request: ModelRequest = {
  system: 'Work.',
  tools: [],
  messages: createPersistentList([{ role: 'user', parts: [{ type: 'text', text: 'x'.repeat(4000) }] }]),
  toolChoice: 'auto',
  settings: { maxOutputTokens: 1000 },
};

type CountingProvider = Provider & { asked: number };

/** A model that sends three words and uses 500 tokens, fails after them, or fails before the first chunk. */
function createCountingProvider(
  how: 'ends' | 'breaks' | 'fails' = 'ends',
  price: Provider['price'] | 'unknown' = { input: 1000, output: 2000 },
): CountingProvider {
  return {
    family: 'test',
    model: 'm',
    asked: 0,
    ...(price === 'unknown' || price === undefined ? {} : { price }),
    async *stream(): AsyncIterable<Chunk> {
      this.asked++;
      if (how === 'fails') throw new FairleadError('provider/unreachable', 'Nobody is there.', { blame: 'provider' });
      yield { type: 'part-started', index: 0, part: 'text' };
      yield { type: 'part-delta', index: 0, text: 'a word or two' };
      if (how === 'breaks') throw new FairleadError('provider/cut', 'It broke off.', { blame: 'provider' });
      const message = { role: 'assistant', parts: [{ type: 'text', text: 'a word or two' }] } as const;
      yield { type: 'end', message, finishReason: 'stop', usage: { input: 400, output: 100 }, model: 'm' };
    },
  };
}

async function collectChunks(provider: Provider): Promise<readonly Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of provider.stream(request, AbortSignal.timeout(30_000))) chunks.push(chunk);
  return chunks;
}

const noop = async (): Promise<void> => {};

test('[A64] an estimate is reserved before the call, and the actual usage is charged', async (t) => {
  const { ledger } = await openTempFleetStore(t);
  await ledger.setBudget({ tenant: 'acme', period: 'ever', usd: 10, tokens: 10_000 });
  const inner = createCountingProvider();
  const around = createBudgetedProvider(inner, { ledger, tenant: 'acme', run: 'r', assertNotStopped: noop });
  let held = 0;
  for await (const chunk of around.stream(request, AbortSignal.timeout(30_000))) {
    const [acme] = await ledger.budgets();
    if (chunk.type !== 'end') held = acme?.reserved.tokens ?? 0;
    else
      assert.deepEqual(
        [acme?.spent, acme?.reserved],
        [
          { usd: 0.6, tokens: 500 },
          { usd: 0, tokens: 0 },
        ],
      );
  }
  assert.ok(held > 2000 && held < 2100, `${held} tokens: the request and the longest answer`);
  assert.deepEqual([around.family, around.model, around.price], [inner.family, inner.model, inner.price]);
});

test('[A64] no request is sent that exceeds the budget of the tenant, and the error names the limit', async (t) => {
  const { ledger } = await openTempFleetStore(t);
  const cases = [
    [{ usd: 2.5 }, createCountingProvider(), 'run/money-budget', /may spend \$2.5/],
    [{ tokens: 1500 }, createCountingProvider(), 'run/token-budget', /may use 1500 tokens/],
    [{ usd: 1000 }, createCountingProvider('ends', 'unknown'), 'run/money-budget', /The price of m is unknown/],
  ] as const;
  for (const [bound, inner, code, message] of cases) {
    await ledger.setBudget({ tenant: 'acme', period: 'ever', ...bound });
    const around = createBudgetedProvider(inner, { ledger, tenant: 'acme', run: 'r', assertNotStopped: noop });
    await assert.rejects(collectChunks(around), { code, message });
    assert.equal(inner.asked, 0);
  }
  const unbound = createCountingProvider('ends', 'unknown');
  await collectChunks(createBudgetedProvider(unbound, { ledger, tenant: 'other', run: 'r', assertNotStopped: noop }));
  assert.equal(unbound.asked, 1);
});

test('[A64] of many concurrent requests, only as many as the budget covers are sent', async (t) => {
  const { ledger } = await openTempFleetStore(t);
  await ledger.setBudget({ tenant: 'acme', period: 'ever', tokens: 5000 });
  const inner = createCountingProvider();
  const all = await Promise.allSettled(
    Array.from({ length: 8 }, () =>
      collectChunks(createBudgetedProvider(inner, { ledger, tenant: 'acme', run: 'r', assertNotStopped: noop })),
    ),
  );
  const passed = all.filter(({ status }) => status === 'fulfilled').length;
  const [acme] = await ledger.budgets();
  assert.deepEqual([inner.asked, acme?.spent.tokens], [passed, passed * 500]);
  assert.ok(passed >= 2 && passed < 8, `${passed} passed`);
});

test('an interrupted answer is charged for what arrived, and a request that never started is not charged', async (t) => {
  const { ledger } = await openTempFleetStore(t);
  await ledger.setBudget({ tenant: 'acme', period: 'ever', tokens: 100_000 });
  await assert.rejects(
    collectChunks(
      createBudgetedProvider(createCountingProvider('fails'), {
        ledger,
        tenant: 'acme',
        run: 'r',
        assertNotStopped: noop,
      }),
    ),
  );
  assert.deepEqual((await ledger.budgets())[0]?.spent.tokens, 0);
  await assert.rejects(
    collectChunks(
      createBudgetedProvider(createCountingProvider('breaks'), {
        ledger,
        tenant: 'acme',
        run: 'r',
        assertNotStopped: noop,
      }),
    ),
  );
  const [acme] = await ledger.budgets();
  assert.ok((acme?.spent.tokens ?? 0) > 1000 && (acme?.spent.tokens ?? 0) < 1100);
  assert.equal(acme?.reserved.tokens, 0);
});

/** A model that sends these chunks and then waits for a promise. */
const createProvider = (chunks: readonly Chunk[], after: (signal: AbortSignal) => Promise<void> = noop): Provider => ({
  ...createCountingProvider(),
  async *stream(_, signal) {
    yield* chunks;
    await after(signal);
  },
});

const endChunk = (more: { readonly input: number; readonly output: number; readonly usd?: number }): Chunk => {
  const { usd, ...usage } = more;
  const message = { role: 'assistant', parts: [{ type: 'text', text: 'a word or two' }] } as const;
  return { type: 'end', message, finishReason: 'stop', usage, model: 'm', ...(usd === undefined ? {} : { usd }) };
};

test('[A64] a call whose connection was lost before the first chunk is charged for all that was reserved: its answer may have been produced', async (t) => {
  const { ledger } = await openTempFleetStore(t);
  await ledger.setBudget({ tenant: 'acme', period: 'ever', tokens: 100_000 });
  const governor = { ledger, tenant: 'acme', run: 'r', assertNotStopped: noop };
  const spent = async (): Promise<number> => (await ledger.budgets())[0]?.spent.tokens ?? 0;
  const lost = createProvider([], () =>
    Promise.reject(new FairleadError('provider/cut', 'Lost.', { blame: 'provider' })),
  );
  await assert.rejects(collectChunks(createBudgetedProvider(lost, governor)), { code: 'provider/cut' });
  const once = await spent();
  assert.ok(once > 2000 && once < 2100, `${once} tokens: the input and the longest answer`);
  const restarted = { type: 'restarted', attempt: 2, why: 'lost' } as const;
  const end = endChunk({ input: 400, output: 100 });
  await collectChunks(createBudgetedProvider(createProvider([{ ...restarted, code: 'provider/cut' }, end]), governor));
  assert.equal(await spent(), 2 * once + 500, 'the lost attempt and the answer');
  await collectChunks(
    createBudgetedProvider(createProvider([{ ...restarted, code: 'provider/overloaded' }, end]), governor),
  );
  assert.equal(await spent(), 2 * once + 1000, 'an attempt that was refused costs nothing');
  assert.equal((await ledger.budgets())[0]?.reserved.tokens, 0);
});

test('[A64] impossible usage figures are replaced by an estimate, and never increase a budget', async (t) => {
  const { ledger } = await openTempFleetStore(t);
  const wrong = [
    { input: -1e9, output: -1e9 },
    { input: Number.NaN, output: 5 },
    { input: Infinity, output: 5 },
    { input: 400, output: 100, usd: -50 },
    { input: 400, output: 100, usd: Number.NaN },
  ];
  for (const [i, each] of wrong.entries()) {
    const tenant = `t${i}`;
    await ledger.setBudget({ tenant, period: 'ever', usd: 100, tokens: 100_000 });
    await collectChunks(
      createBudgetedProvider(createProvider([endChunk(each)]), { ledger, tenant, run: 'r', assertNotStopped: noop }),
    );
    const { spent, reserved: held } = (await ledger.budgets()).find((one) => one.tenant === tenant) ?? {};
    assert.ok(
      (spent?.usd ?? 0) > 0 && (spent?.tokens ?? 0) > 400 && held?.tokens === 0,
      JSON.stringify([each, spent, held]),
    );
    assert.ok((spent?.tokens ?? 0) < 1100);
  }
});

test('[A64] a call that was interrupted before its first chunk, and a restarted answer, are charged', async (t) => {
  const { ledger } = await openTempFleetStore(t);
  await ledger.setBudget({ tenant: 'acme', period: 'ever', tokens: 100_000 });
  const governor = { ledger, tenant: 'acme', run: 'r', assertNotStopped: noop };
  const cut = new AbortController();
  const slow = createProvider([], async (signal) => {
    cut.abort();
    signal.throwIfAborted();
  });
  await assert.rejects(Array.fromAsync(createBudgetedProvider(slow, governor).stream(request, cut.signal)));
  const spent = async (): Promise<number> => (await ledger.budgets())[0]?.spent.tokens ?? 0;
  const once = await spent();
  assert.ok(once > 1000 && once < 1100, `${once} tokens: the request was sent`);
  const again = createProvider([
    { type: 'part-delta', index: 0, text: 'x'.repeat(400) },
    { type: 'restarted', attempt: 2, why: 'cut' },
    endChunk({ input: 400, output: 100 }),
  ]);
  await collectChunks(createBudgetedProvider(again, governor));
  const twice = (await spent()) - once;
  assert.ok(twice > 1600 && twice < 1700, `${twice} tokens: the lost attempt and the complete answer`);
});

test('if budgets cannot be read, no request is sent; if they cannot be written, the reservation stays', async (t) => {
  const { ledger } = await openTempFleetStore(t);
  const away = (): Promise<never> => Promise.reject(new Error('the store is away'));
  const inner = createCountingProvider();
  const blind: BudgetLedger = { ...ledger, reserve: away };
  await assert.rejects(
    collectChunks(createBudgetedProvider(inner, { ledger: blind, tenant: 'acme', run: 'r', assertNotStopped: noop })),
    {
      code: 'store/ledger',
      retry: true,
    },
  );
  assert.equal(inner.asked, 0);
  await ledger.setBudget({ tenant: 'acme', period: 'ever', tokens: 100_000 });
  const chunks = await collectChunks(
    createBudgetedProvider(inner, {
      ledger: { ...ledger, commit: away },
      tenant: 'acme',
      run: 'r',
      assertNotStopped: noop,
    }),
  );
  assert.equal(chunks.at(-1)?.type, 'end');
  assert.ok(((await ledger.budgets())[0]?.reserved.tokens ?? 0) > 2000);
});

test('[A95] a stopped fleet sends no request to a model', async (t) => {
  const { ledger } = await openTempFleetStore(t);
  const inner = createCountingProvider();
  const mustGo = (): Promise<never> => Promise.reject(new FairleadError('run/left', 'Stopped.', { blame: 'user' }));
  await assert.rejects(
    collectChunks(createBudgetedProvider(inner, { ledger, tenant: 'acme', run: 'r', assertNotStopped: mustGo })),
    { code: 'run/left' },
  );
  assert.equal(inner.asked, 0);
});

test('[A64] a refusal for money is reported as that, although another call has returned its reservation meanwhile', async (t) => {
  const { ledger } = await openTempFleetStore(t);
  await ledger.setBudget({ tenant: 'acme', period: 'ever', usd: 2.5 });
  const late: BudgetLedger = {
    ...ledger,
    budgets: async () => (await ledger.budgets()).map((budget) => ({ ...budget, usd: 1000 })),
  };
  const around = createBudgetedProvider(createCountingProvider(), {
    ledger: late,
    tenant: 'acme',
    run: 'r',
    assertNotStopped: noop,
  });
  await assert.rejects(collectChunks(around), { code: 'run/money-budget' });
});
