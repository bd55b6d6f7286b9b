// Screen of tenant budgets: spent, reserved and limit.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatUsd, formatPercent, formatCompact } from '../text/format.ts';
import { usePermission } from '../hooks/use-permission.ts';
import { EmptyState, ErrorMessage, FormField, PageTitle } from '../components/primitives.tsx';
import { usePoll, useSubmit } from '../hooks/use-poll.ts';
import { ModelCosts } from '../components/model-costs.tsx';
import { linkTo } from '../state/router.ts';
import { api } from '../api/client.ts';
import type { BudgetStatus } from '../api/types.ts';

const periods = ['day', 'month', 'ever'] as const;

/** The budgets screen. */
export function BudgetsScreen(): JSX.Element {
  const { value, error, refresh } = usePoll((signal) => api.budgets(signal), 3000);
  const [edited, setEdited] = useState<BudgetStatus | undefined>(undefined);
  const may = usePermission('operator');
  return (
    <>
      <PageTitle>Budgets</PageTitle>
      <p class="lead">
        The spending limit of each tenant. The cost of a model call is reserved before each call, across the whole
        fleet; a call that would exceed the budget is refused.
      </p>
      <ErrorMessage failed={error} />
      {value?.budgets.length === 0 ? (
        <EmptyState icon="budgets" title="No tenant has a budget.">
          <p>
            {may
              ? 'Only the limits of each run apply. Set a budget below. Runs without a tenant belong to the tenant default.'
              : 'Only the limits of each run apply. An operator can set a budget here.'}
          </p>
        </EmptyState>
      ) : null}
      <ul class="budgets">
        {(value?.budgets ?? []).map((each) => (
          <BudgetRow key={`${each.tenant} ${each.period}`} budget={each} edit={may ? setEdited : undefined} />
        ))}
      </ul>
      {may ? (
        <BudgetForm key={edited ? `${edited.tenant} ${edited.period}` : ''} known={edited} refresh={refresh} />
      ) : null}
      <ModelCosts />
    </>
  );
}

function BudgetRow({
  budget,
  edit,
}: {
  readonly budget: BudgetStatus;
  readonly edit: ((budget: BudgetStatus) => void) | undefined;
}): JSX.Element {
  const { tenant, period, usd, tokens, spent, reserved } = budget;
  return (
    <li>
      <h2>
        <a href={linkTo('runs', undefined, { tenant })}>{tenant}</a>{' '}
        <span class="hint">{period === 'ever' ? 'in total' : `per ${period}`}</span>
      </h2>
      {usd === undefined ? null : (
        <BudgetBar name="Money" spent={spent.usd} reserved={reserved.usd} max={usd} format={formatUsd} />
      )}
      {tokens === undefined ? null : (
        <BudgetBar name="Tokens" spent={spent.tokens} reserved={reserved.tokens} max={tokens} format={formatCompact} />
      )}
      {edit ? (
        <button type="button" class="quiet" onClick={() => edit(budget)}>
          Change<span class="unseen"> the budget of {tenant}</span>
        </button>
      ) : null}
    </li>
  );
}

type BarProps = {
  readonly name: string;
  readonly spent: number;
  readonly reserved: number;
  readonly max: number;
  readonly format: (amount: number) => string;
};

function BudgetBar({ name, spent, reserved, max, format }: BarProps): JSX.Element {
  const share = (amount: number): number => (max === 0 ? 100 : Math.min(100, (amount / max) * 100));
  const isOver = spent + reserved >= max;
  return (
    <div class="bar">
      <p>
        <span>{name}</span>
        <span class="amount">
          {format(spent)} spent{reserved > 0 ? `, ${format(reserved)} reserved` : ''} of {format(max)}
          <span class={isOver ? 'bad' : 'hint'}>
            {' '}
            {max === 0 ? 'nothing allowed' : formatPercent(Math.min(1, spent / max))}
          </span>
        </span>
      </p>
      <svg viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
        <rect class="range" width="100" height="3" />
        <rect class="held" width={share(spent + reserved)} height="3" />
        <rect class={isOver ? 'over' : 'span'} width={share(spent)} height="3" />
      </svg>
    </div>
  );
}

type BudgetFormProps = { readonly known: BudgetStatus | undefined; readonly refresh: () => void };

function BudgetForm({ known, refresh }: BudgetFormProps): JSX.Element {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // Changing a budget moves the focus to the form.
    if (known) form.current?.querySelector<HTMLInputElement>('[inputmode=decimal]')?.focus();
  }, [known]);
  const [typed, setTyped] = useState({
    tenant: known?.tenant ?? '',
    period: known?.period ?? 'day',
    usd: String(known?.usd ?? ''),
    tokens: String(known?.tokens ?? ''),
  });
  const { busy, error, submit } = useSubmit();
  const isUnlimited = typed.usd.trim() === '' && typed.tokens.trim() === '';
  const keep = (): void =>
    submit(async () => {
      const number = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text));
      const [usd, tokens] = [number(typed.usd), number(typed.tokens)];
      await api.setBudget({
        tenant: typed.tenant.trim(),
        period: typed.period,
        ...(usd === undefined ? {} : { usd }),
        ...(tokens === undefined ? {} : { tokens }),
      });
      refresh();
    });
  const field = (name: 'tenant' | 'usd' | 'tokens'): JSX.Element => (
    <input
      value={typed[name]}
      required={name === 'tenant'}
      inputMode={name === 'tenant' ? 'text' : 'decimal'}
      {...(name === 'tenant' ? {} : { pattern: '[0-9]+([.][0-9]+)?', title: 'A number such as 20 or 2.5' })}
      placeholder={name === 'tenant' ? 'default' : 'no limit'}
      spellcheck={false}
      onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
    />
  );
  return (
    <form
      ref={form}
      class="filters"
      aria-label="Set a budget"
      onSubmit={(event) => {
        event.preventDefault();
        keep();
      }}
    >
      <FormField name="Tenant">{field('tenant')}</FormField>
      <FormField name="Period">
        <select
          value={typed.period}
          onChange={(event) =>
            setTyped({ ...typed, period: periods.find((each) => each === event.currentTarget.value) ?? 'day' })
          }
        >
          {periods.map((each) => (
            <option key={each} value={each}>
              {each === 'ever' ? 'in total' : `per ${each}`}
            </option>
          ))}
        </select>
      </FormField>
      <FormField name="Max cost (USD)">{field('usd')}</FormField>
      <FormField name="Max tokens">{field('tokens')}</FormField>
      <button type="submit" disabled={busy || (isUnlimited && !known)}>
        {isUnlimited && known ? 'Remove the budget' : 'Set the budget'}
      </button>
      <ErrorMessage failed={error} />
    </form>
  );
}
