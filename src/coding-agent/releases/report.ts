// Reports the releases for a page: which are in use, the results of the canary with intervals, the history, and what a rollback would do.
import type { FleetRun } from '../../core/index.ts';
import { errorMessage, FairleadError } from '../../core/index.ts';
import { computeRate, type Rate } from '../../fleet/health/index.ts';
import type { CanaryDecision, CanaryOptions } from './canary.ts';
import { foldHistory, type HistoryEntry, type ReleaseState } from './history.ts';
import { evaluateCanary, findRollback } from './promote.ts';
import type { ReleaseStore, SignedRelease } from './release-store.ts';

/** How a release is used now. */
export type ReleaseUse = 'current' | 'canary' | 'previous';

/** A release in a report. */
export type ReportedRelease = {
  readonly id: string;
  readonly name: string;
  readonly created: string;
  readonly by: string;
  readonly files: number;
  readonly tools: number;
  readonly model?: string;
  readonly use?: ReleaseUse;
};

/** The canary with the results of its runs and of those of the current release. */
export type ReportedCanary = Pick<CanaryDecision, 'decision' | 'reason'> &
  NonNullable<ReleaseState['canary']> & { readonly results: { readonly canary: Rate; readonly current: Rate } };

/** The releases, latest first, the canary, and the history, latest first. */
export type ReleaseReport = {
  readonly releases: readonly ReportedRelease[];
  readonly totalReleases: number;
  readonly canary?: ReportedCanary;
  readonly history: readonly Omit<HistoryEntry, 'previous' | 'hash'>[];
  readonly totalChanges: number;
  /** What a rollback ends now, and the release that runs use then. */
  readonly rollback?: { readonly release: string; readonly to?: string };
  /** One sentence about each part that is damaged. */
  readonly problems: readonly string[];
};

/** The maximum number of releases, and of changes, in a report. */
export const maxReported = 200;

/** Creates the report from ended runs. A damaged history or manifest is a problem of the report, not an error. */
export function reportReleases(
  releases: ReleaseStore,
  runs: readonly FleetRun[],
  options: CanaryOptions = {},
): ReleaseReport {
  const problems: string[] = [];
  const history = readHistory(releases, problems);
  const { releases: all, unreadable } = releases.read();
  for (const { id, error } of unreadable.slice(0, maxReported))
    problems.push(`The manifest ${id} cannot be read: ${error.message}`);
  const state = foldHistory(history);
  const evaluated = evaluateCanary(state, runs, options);
  const rollback = findRollback(state);
  return {
    releases: all.slice(0, maxReported).map((release) => reportRelease(release, state)),
    totalReleases: all.length,
    ...(state.canary && evaluated
      ? {
          canary: {
            ...state.canary,
            decision: evaluated.decision,
            reason: evaluated.reason,
            results: { canary: computeRate(evaluated.canary), current: computeRate(evaluated.current) },
          },
        }
      : {}),
    history: history
      .slice(-maxReported)
      .toReversed()
      .map(({ previous: _, hash: __, ...entry }) => entry),
    totalChanges: history.length,
    ...(rollback ? { rollback } : {}),
    problems,
  };
}

function readHistory(releases: ReleaseStore, problems: string[]): readonly HistoryEntry[] {
  try {
    return releases.readHistory();
  } catch (error) {
    // Other errors name files of this machine.
    problems.push(error instanceof FairleadError ? errorMessage(error) : 'The history of releases cannot be read.');
    return [];
  }
}

function reportRelease({ id, manifest }: SignedRelease, state: ReleaseState): ReportedRelease {
  const { name, created, by, files, tools, model } = manifest;
  const use = getUse(id, state);
  return {
    id,
    name,
    created,
    by,
    files: files.length,
    tools: tools.length,
    ...(model === undefined ? {} : { model: model.id }),
    ...(use === undefined ? {} : { use }),
  };
}

function getUse(id: string, { current, canary, previous }: ReleaseState): ReleaseUse | undefined {
  if (id === canary?.release) return 'canary';
  if (id === current) return 'current';
  return id === previous ? 'previous' : undefined;
}
