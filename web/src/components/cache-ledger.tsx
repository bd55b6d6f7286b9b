// The cache ledger of a session: what the prompt cache of the provider saved or lost in each turn, and why a prefix broke.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../api/client.ts';
import type { CacheLedger, CacheTurn } from '../api/types.ts';
import { useSubmit } from '../hooks/use-poll.ts';
import { formatCompact, formatCount, formatUsd } from '../text/format.ts';
import { EscapedText } from './escaped-text.tsx';
import { ErrorMessage } from './primitives.tsx';
import type { RequestSource } from './request-view.tsx';

const breakTexts: Readonly<Record<string, string>> = {
  compaction: 'the conversation was compacted',
  model: 'another model',
  'system-prompt': 'the system prompt changed',
  tools: 'the tools changed',
  'edited-history': 'the conversation was edited or went back',
  expired: 'more than five minutes had passed',
  small: 'the prompt is too short for a cache',
  unknown: 'nothing changed on our side',
};

/** Loads and shows the ledger; `turns` is the number of turns so far, and a new turn loads it again. */
export function CacheLedgerView({
  source: { source, session },
  turns,
}: {
  readonly source: RequestSource;
  readonly turns: number;
}): JSX.Element | null {
  const [ledger, setLedger] = useState<CacheLedger | undefined>(undefined);
  const { error, submit } = useSubmit();
  useEffect(
    () => submit(async () => setLedger(await api.cacheLedger(source, session))),
    [source, session, turns, submit],
  );
  if (!ledger) return error ? <ErrorMessage failed={error} /> : null;
  if (ledger.turns.length === 0) return null;
  const isReported = ledger.turns.some(({ result }) => result !== 'unreported');
  return (
    <section class="cache-ledger" aria-label="Prompt cache">
      <h3>Prompt cache</h3>
      <p class="hint">
        {isReported ? <LedgerSummary ledger={ledger} /> : 'The provider does not say what it read from its cache.'}
      </p>
      {isReported ? (
        <div class="cache-rows">
          <table>
            <thead>
              <tr>
                <th>Turn</th>
                <th>Cache</th>
                <th>Input</th>
                <th>Read</th>
                <th>Written</th>
                <th>Saved</th>
                <th>Why it missed</th>
              </tr>
            </thead>
            <tbody>
              {ledger.turns.map((turn, i) => (
                <LedgerRow key={i} turn={turn} />
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
    </section>
  );
}

/** Writing to a cache costs more than plain input, so that a turn can save less than nothing. */
const formatSigned = (usd: number): string => (usd < 0 ? `-${formatUsd(-usd)}` : formatUsd(usd));

const formatNumberOf = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

function LedgerSummary({ ledger }: { readonly ledger: CacheLedger }): JSX.Element {
  const { hits, misses, input, cacheRead, lostTokens, savedUsd, lostUsd } = ledger;
  const share = input > 0 ? `, ${Math.round((100 * cacheRead) / input)} % of the input` : '';
  return (
    <>
      {formatNumberOf(hits, 'hit', 'hits')}, {formatNumberOf(misses, 'miss', 'misses')}. Read {formatCompact(cacheRead)}{' '}
      tokens{share}; lost {formatCompact(lostTokens)}.{' '}
      {savedUsd === undefined
        ? 'The price of the model is not known.'
        : `Saved ${formatSigned(savedUsd)}, lost ${formatUsd(lostUsd ?? 0)}.`}
    </>
  );
}

function LedgerRow({ turn }: { readonly turn: CacheTurn }): JSX.Element {
  const count = (value: number | undefined): string => (value === undefined ? '?' : formatCompact(value));
  const why = turn.breaks.map((each) => breakTexts[each] ?? each).join('; ');
  return (
    <tr class={`cache-${turn.result}`}>
      <td>{turn.turn}</td>
      <td>{turn.result}</td>
      <td>{count(turn.input)}</td>
      <td>{count(turn.cacheRead)}</td>
      <td>{count(turn.cacheWrite)}</td>
      <td>{turn.savedUsd === undefined ? '?' : formatSigned(turn.savedUsd)}</td>
      <td>
        {turn.result === 'miss' ? (
          <>
            {turn.lostTokens > 0 ? `${formatCompact(turn.lostTokens)} tokens: ` : ''}
            {why}
            {turn.detail === undefined ? null : (
              <>
                {' '}
                (<EscapedText text={turn.detail} />)
              </>
            )}
          </>
        ) : null}
      </td>
    </tr>
  );
}
