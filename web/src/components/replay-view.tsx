// The replay of a session: starts one as recorded or with a live model, and shows the differences side by side.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../api/client.ts';
import type { ReplayDifference, SessionReplay } from '../api/types.ts';
import { usePermission } from '../hooks/use-permission.ts';
import { usePoll, useSubmit } from '../hooks/use-poll.ts';
import { formatCount, formatUsd } from '../text/format.ts';
import { EscapedText } from './escaped-text.tsx';
import { Icon } from './icon.tsx';
import { ErrorMessage } from './primitives.tsx';
import type { RequestSource } from './request-view.tsx';

type ReplayViewProps = { readonly source: RequestSource; readonly isLive: boolean; readonly turns: number };

/** The replay. Nothing is run or changed; only the live form sends something, and asks for it by its own button. */
export function ReplayView({ source: { source, session }, isLive, turns }: ReplayViewProps): JSX.Element {
  const [replay, setReplay] = useState<SessionReplay | undefined>(undefined);
  const { busy, error, submit } = useSubmit();
  const mayRun = usePermission('runner');
  const mayOperate = usePermission('operator');
  useEffect(() => setReplay(undefined), [source, session]);
  const start = (live?: { readonly from: number; readonly model?: string }): void =>
    submit(async () => {
      setReplay(undefined);
      setReplay(await api.replay(source, session, live));
    });
  return (
    <section class="replay" aria-label="Replay">
      <p class="lead">
        Runs the session again with its recorded answers and tool results, and compares each request with the one that
        would be sent now. Nothing is executed, sent or changed.
      </p>
      <div class="buttons">
        <button
          type="button"
          class="main"
          disabled={busy || !mayRun || isLive || turns === 0}
          title={mayRun ? (isLive ? 'Available after the run has ended' : undefined) : 'A replay needs a runner key'}
          onClick={() => start()}
        >
          <Icon name="play" size={12} /> {busy ? 'Replaying' : 'Replay as recorded'}
        </button>
      </div>
      {mayOperate && turns > 0 ? <LiveForm turns={turns} isDisabled={busy || isLive} start={start} /> : null}
      <ErrorMessage failed={error} />
      {replay ? <ReplayResult replay={replay} /> : null}
    </section>
  );
}

type LiveFormProps = {
  readonly turns: number;
  readonly isDisabled: boolean;
  readonly start: (live: { readonly from: number; readonly model?: string }) => void;
};

function LiveForm({ turns, isDisabled, start }: LiveFormProps): JSX.Element {
  const { models = [] } = usePoll((signal) => api.options(signal), 60_000).value ?? {};
  const [from, setFrom] = useState(1);
  const [model, setModel] = useState('');
  return (
    <details class="replay-live">
      <summary>With a live model</summary>
      <p class="hint">
        Sends the conversation to the model, which may cost money. Tools return their recorded results and are never
        run: a call without a recorded result stops the replay.
      </p>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          start({ from, ...(model === '' ? {} : { model }) });
        }}
      >
        <label>
          From turn{' '}
          <input
            type="number"
            min={1}
            max={turns}
            required
            value={from}
            onInput={({ currentTarget }) => setFrom(Number(currentTarget.value))}
          />
        </label>
        <label>
          Model{' '}
          <select value={model} onChange={({ currentTarget }) => setModel(currentTarget.value)}>
            <option value="">{models[0] === undefined ? 'Default model' : `${models[0]} (default)`}</option>
            {models.slice(1).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={isDisabled}>
          Replay with this model
        </button>
      </form>
    </details>
  );
}

function ReplayResult({ replay }: { readonly replay: SessionReplay }): JSX.Element {
  const { identical, differences, totalDifferences, turns, model, live, stopped } = replay;
  const count = `${formatCount(totalDifferences)} ${totalDifferences === 1 ? 'difference' : 'differences'}`;
  return (
    <div aria-live="polite">
      <p class={identical ? 'replay-outcome verdict good' : 'replay-outcome verdict open'}>
        {identical ? 'Identical' : count}
      </p>
      <p class="hint">
        {formatCount(turns)} {turns === 1 ? 'turn' : 'turns'} of <EscapedText text={model} />,{' '}
        {live ? (
          <>
            as recorded before turn {live.from}, then {formatCount(live.turns)} live{' '}
            {live.turns === 1 ? 'turn' : 'turns'} of <EscapedText text={live.model} /> ({formatUsd(live.usd)}).
          </>
        ) : (
          'with recorded answers and results.'
        )}
        {differences.length < totalDifferences ? ` The first ${formatCount(differences.length)} are shown.` : ''}
      </p>
      {stopped === undefined ? null : (
        <p class="failed">
          Stopped: <EscapedText text={stopped} />
        </p>
      )}
      {differences.map((difference, i) => (
        <DifferenceView key={i} difference={difference} />
      ))}
    </div>
  );
}

function DifferenceView({ difference }: { readonly difference: ReplayDifference }): JSX.Element {
  const { turn, where, rows, before, after, isCut } = difference;
  const title = `${turn === 0 ? 'Before the first turn' : `Turn ${turn}`}: ${where}`;
  return (
    <section class="replay-difference" aria-label={title}>
      <h3>
        <EscapedText text={title} />
      </h3>
      <table>
        <thead>
          <tr>
            <th>Recorded</th>
            <th>Replayed</th>
          </tr>
        </thead>
        <tbody>
          <EqualLines count={before} />
          {rows.map(([recorded, replayed], i) => (
            <tr key={i} class={recorded === replayed ? '' : 'differs'}>
              <td data-side="Recorded">
                <EscapedText text={recorded} />
              </td>
              <td data-side="Replayed">
                <EscapedText text={replayed} />
              </td>
            </tr>
          ))}
          <EqualLines count={after} />
        </tbody>
      </table>
      {isCut ? <p class="hint">The rest is left out; fairlead replay --json shows all of it.</p> : null}
    </section>
  );
}

function EqualLines({ count }: { readonly count: number }): JSX.Element | null {
  return count === 0 ? null : (
    <tr class="equal">
      <td colSpan={2}>
        {formatCount(count)} equal {count === 1 ? 'line' : 'lines'}
      </td>
    </tr>
  );
}
