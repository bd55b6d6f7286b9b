// Screen of verification: the stored calibrations with their risk-coverage curves, and the latest verifications.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { api } from '../api/client.ts';
import type { StoredCalibration } from '../../../src/checks/index.ts';
import { Chart, type ChartSeries } from '../components/chart.tsx';
import { EscapedText } from '../components/escaped-text.tsx';
import { EmptyState, ErrorMessage, PageTitle } from '../components/primitives.tsx';
import { RunTable } from '../components/run-table.tsx';
import { usePoll } from '../hooks/use-poll.ts';
import { linkTo } from '../state/router.ts';
import { formatCount, formatDateTime, formatPercent } from '../text/format.ts';

const latestRuns = { limit: 200 };

/** The verification screen. */
export function VerificationScreen(): JSX.Element {
  const calibrations = usePoll((signal) => api.calibrations(signal), 30_000);
  return (
    <>
      <PageTitle>Verification</PageTitle>
      <p class="lead">
        Answers are checked claim by claim. With a target error rate an answer counts only above a calibrated
        confidence; without a calibration the answer is “I don’t know”.
      </p>
      <h2>Verifications</h2>
      <RunTable
        caption="Verifications among the latest runs"
        filter={latestRuns}
        intervalMs={5000}
        isShown={({ kind }) => kind === 'verify'}
        emptyState={
          <p class="hint">
            None among the latest runs. <a href={linkTo('ask')}>Ask</a> with the mode Verify starts one.
          </p>
        }
      />
      <h2>Calibrations</h2>
      <ErrorMessage failed={calibrations.error} />
      {(calibrations.value?.problems ?? []).map((problem) => (
        <p key={problem} class="failed" role="alert">
          <EscapedText text={problem} />
        </p>
      ))}
      {calibrations.value?.calibrations.length === 0 ? (
        <EmptyState icon="verification" title="Nothing is calibrated on this machine yet.">
          <p>
            Calibrate with labelled answers: <code>fairlead verify calibrate labels.jsonl</code>
          </p>
        </EmptyState>
      ) : null}
      <ul class="calibrations">
        {(calibrations.value?.calibrations ?? []).map((each) => (
          <li key={`${each.model} ${each.task} ${each.verifier}`}>
            <CalibrationItem calibration={each} />
          </li>
        ))}
      </ul>
    </>
  );
}

function CalibrationItem({ calibration }: { readonly calibration: StoredCalibration }): JSX.Element {
  const { model, task, verifier, labels, maxErrorRate, probability, threshold, accepted, why, when, dataset, curve } =
    calibration;
  const { coverages, lines } = useMemo(() => toSeries(calibration), [calibration]);
  return (
    <>
      <h3>
        <EscapedText text={model} />
      </h3>
      <p>
        {accepted === undefined || threshold === undefined ? (
          <>
            <strong>Abstains always.</strong> <EscapedText text={why} />
          </>
        ) : (
          <>
            <strong>Accepts from a confidence of {threshold.toFixed(3)}</strong>: {formatPercent(accepted.coverage)} of
            the answers, {accepted.errors} errors in {formatCount(accepted.count)}. At most{' '}
            {formatPercent(maxErrorRate)} errors with a probability of {formatPercent(probability)}.
          </>
        )}
      </p>
      <Chart
        title={`Error rate by coverage of ${model}`}
        times={coverages}
        axis={{ name: 'Coverage', write: formatPercent }}
        lines={lines}
        write={formatPercent}
      />
      <p class="hint">
        <EscapedText text={`${task}, ${verifier}`} />, {formatCount(labels)} labels, {formatDateTime(when)}, labels
        sha256 <code>{dataset.slice(0, 12)}</code>
        {curve.area === undefined ? '' : `, mean error rate over all coverages ${formatPercent(curve.area)}`}
      </p>
    </>
  );
}

function toSeries({ curve, maxErrorRate }: StoredCalibration): {
  readonly coverages: readonly number[];
  readonly lines: readonly ChartSeries[];
} {
  const { points } = curve;
  return {
    coverages: points.map(({ coverage }) => coverage),
    lines: [
      {
        name: 'Error rate',
        values: points.map(({ errorRate }) => errorRate),
        band: [points.map(({ interval }) => interval[0]), points.map(({ interval }) => interval[1])],
      },
      { name: 'Target', values: points.map(() => maxErrorRate) },
    ],
  };
}
