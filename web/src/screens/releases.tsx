// Screen of releases: those in use, the canary with the results of its runs, the history, and the rollback.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../api/client.ts';
import type { Canary, Release, ReleaseChange, ReleaseReport } from '../api/release-types.ts';
import { EscapedText } from '../components/escaped-text.tsx';
import { DataTable, EmptyState, ErrorMessage, Metric, PageTitle, RelativeTime } from '../components/primitives.tsx';
import { RollbackDialog } from '../components/rollback-dialog.tsx';
import { usePermission } from '../hooks/use-permission.ts';
import { usePoll } from '../hooks/use-poll.ts';
import { formatCount, formatPercent, formatPercentInterval } from '../text/format.ts';

/** The releases screen. */
export function ReleasesScreen(): JSX.Element {
  const { value, error, refresh } = usePoll((signal) => api.releases(signal), 5000);
  return (
    <>
      <PageTitle beside={value ? <RollbackButton report={value} refresh={refresh} /> : null}>Releases</PageTitle>
      <p class="lead">
        A release pins the prompts, tools, model, rules and policies of an agent. A new one runs on a share of the runs
        first, the canary, and is rolled back by itself if it is worse.
      </p>
      <ErrorMessage failed={error} />
      {(value?.problems ?? []).map((problem) => (
        <p key={problem} class="failed" role="alert">
          <EscapedText text={problem} />
        </p>
      ))}
      {value ? <Report report={value} /> : null}
    </>
  );
}

function Report({ report }: { readonly report: ReleaseReport }): JSX.Element {
  const { releases, totalReleases, canary, history, totalChanges, problems } = report;
  const names = new Map(releases.map(({ id, name }) => [id, name]));
  if (releases.length === 0 && history.length === 0 && problems.length === 0)
    return (
      <EmptyState icon="releases" title="There is no release yet.">
        <p>
          Runs use the settings of the user. Create a release with <code>fairlead release key</code> and{' '}
          <code>fairlead release create --name &lt;name&gt;</code>, and use it with{' '}
          <code>fairlead release promote</code>.
        </p>
      </EmptyState>
    );
  return (
    <>
      {canary ? <CanaryResults canary={canary} names={names} /> : null}
      <h2>All releases</h2>
      <ShownCount shown={releases.length} total={totalReleases} />
      <ReleaseTable releases={releases} canary={canary} />
      <h2>History</h2>
      <ShownCount shown={history.length} total={totalChanges} />
      <HistoryTable history={history} names={names} />
    </>
  );
}

function ShownCount({ shown, total }: { readonly shown: number; readonly total: number }): JSX.Element | null {
  return shown < total ? (
    <p class="hint">
      The latest {formatCount(shown)} of {formatCount(total)}.
    </p>
  ) : null;
}

type ReleaseNames = ReadonlyMap<string, string>;

function ReleaseName({ id, names }: { readonly id: string; readonly names: ReleaseNames }): JSX.Element {
  return (
    <>
      <EscapedText text={names.get(id) ?? 'unknown release'} /> <code class="hint">{id.slice(0, 8)}</code>
    </>
  );
}

function CanaryResults({ canary, names }: { readonly canary: Canary; readonly names: ReleaseNames }): JSX.Element {
  const { release, share, since, decision, reason, results } = canary;
  return (
    <section aria-label="Canary">
      <h2>
        Canary: <ReleaseName id={release} names={names} />
      </h2>
      <dl class="figures">
        <Metric
          name="Share of the runs"
          value={formatPercent(share)}
          note={
            <>
              since <RelativeTime time={since} />
            </>
          }
        />
        <GoodRuns name="Good runs of the canary" result={results.canary} />
        <GoodRuns name="Good runs of the current release" result={results.current} />
        <Metric name="Decision" value={decisionLabels[decision]} note={<EscapedText text={reason} />} />
      </dl>
    </section>
  );
}

const decisionLabels: Readonly<Record<Canary['decision'], string>> = {
  continue: 'Continues',
  activate: 'Activate',
  'roll-back': 'Roll back',
};

function GoodRuns({
  name,
  result,
}: {
  readonly name: string;
  readonly result: Canary['results']['canary'];
}): JSX.Element {
  const { good, total, rate, interval } = result;
  if (rate === null) return <Metric name={name} value="none ended" />;
  return (
    <Metric
      name={name}
      value={`${formatCount(good)} of ${formatCount(total)}`}
      note={`${formatPercent(rate)}, 95% interval ${formatPercentInterval(interval)}`}
    />
  );
}

function ReleaseTable({
  releases,
  canary,
}: {
  readonly releases: readonly Release[];
  readonly canary: Canary | undefined;
}): JSX.Element {
  return (
    <DataTable caption="Releases" head={['Name', 'Id', 'Use', 'Model', '#Files', '#Tools', 'Created', 'By']}>
      {releases.map(({ id, name, use, model, files, tools, created, by }) => (
        <tr key={id}>
          <td class="words">
            <EscapedText text={name} />
          </td>
          <td>
            <code title={id}>{id.slice(0, 8)}</code>
          </td>
          <td>{use === undefined ? '' : <UseLabel use={use} share={canary?.share} />}</td>
          <td>{model === undefined ? '' : <EscapedText text={model} />}</td>
          <td class="number">{formatCount(files)}</td>
          <td class="number">{formatCount(tools)}</td>
          <td>
            <RelativeTime time={created} />
          </td>
          <td>{by === undefined ? '' : <EscapedText text={by} />}</td>
        </tr>
      ))}
    </DataTable>
  );
}

function UseLabel({
  use,
  share = 0,
}: {
  readonly use: NonNullable<Release['use']>;
  readonly share: number | undefined;
}): JSX.Element {
  if (use === 'canary') return <span class="verdict open">canary, {formatPercent(share)}</span>;
  return use === 'current' ? <span class="verdict good">in use</span> : <span class="hint">previous</span>;
}

const changeLabels: Readonly<Record<ReleaseChange['action'], string>> = {
  'canary-started': 'Canary started',
  activated: 'In use for all runs',
  rejected: 'Rejected by the gate',
  'rolled-back': 'Rolled back',
};

function HistoryTable({
  history,
  names,
}: {
  readonly history: readonly ReleaseChange[];
  readonly names: ReleaseNames;
}): JSX.Element {
  if (history.length === 0) return <p class="hint">No release was promoted yet.</p>;
  return (
    <DataTable caption="History of releases" head={['Time', 'Release', 'Change', 'Reason', 'By']}>
      {history.map(({ seq, time, release, action, share, reason, by }) => (
        <tr key={seq}>
          <td>
            <RelativeTime time={time} />
          </td>
          <td class="words">
            <ReleaseName id={release} names={names} />
          </td>
          <td>
            <span class={action === 'rejected' || action === 'rolled-back' ? 'bad' : ''}>
              {changeLabels[action]}
              {share === undefined ? '' : `, ${formatPercent(share)} of the runs`}
            </span>
          </td>
          <td class="words">{reason === undefined ? '' : <EscapedText text={reason} />}</td>
          <td>{by === undefined ? '' : <EscapedText text={by} />}</td>
        </tr>
      ))}
    </DataTable>
  );
}

/** The button that opens the confirmation; absent if there is nothing to return to. */
function RollbackButton({
  report: { rollback, releases, canary },
  refresh,
}: {
  readonly report: ReleaseReport;
  readonly refresh: () => void;
}): JSX.Element | null {
  // The dialog keeps the release that the user saw: the server refuses to end another.
  const [asked, setAsked] = useState<NonNullable<ReleaseReport['rollback']> | undefined>(undefined);
  const may = usePermission('operator');
  const getName = (id: string): string => releases.find((each) => each.id === id)?.name ?? id.slice(0, 8);
  return (
    <>
      {rollback ? (
        <button
          type="button"
          class="danger small"
          aria-haspopup="dialog"
          disabled={!may}
          title={may ? undefined : 'A rollback needs an operator key'}
          onClick={() => setAsked(rollback)}
        >
          {canary ? 'End the canary' : 'Roll back'}
        </button>
      ) : null}
      {asked ? (
        <RollbackDialog
          release={asked.release}
          name={getName(asked.release)}
          to={asked.to === undefined ? undefined : getName(asked.to)}
          close={() => setAsked(undefined)}
          done={refresh}
        />
      ) : null}
    </>
  );
}
