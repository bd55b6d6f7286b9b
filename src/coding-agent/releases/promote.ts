// Promotes releases: first the eval gate, then a canary share of the runs, then all; and returns to an earlier release.
import { FairleadError, type FleetRun } from '../../core/index.ts';
import { decideCanary, toCanaryRuns, type CanaryDecision, type CanaryOptions } from './canary.ts';
import { foldHistory, type HistoryEntry, type ReleaseState } from './history.ts';
import type { CheckedOutRelease, ReleaseStore } from './release-store.ts';

/** The result of an eval gate: whether the release may be used, and what was measured. */
export type GateResult = { readonly isPassed: boolean; readonly summary: string };

/** Runs the evals of a release, with its files in `release.folder` as the config directory of the agent. */
export type ReleaseGate = (release: CheckedOutRelease) => Promise<GateResult>;

/** The options of `promoteRelease`. */
export type PromoteOptions = {
  readonly releases: ReleaseStore;
  /** The id, the name, or the beginning of the id. */
  readonly release: string;
  readonly trustedKeys: readonly string[];
  readonly gate: ReleaseGate;
  /** The share of the runs that use the release until it is activated; 0.1 by default, 1 activates it at once. */
  readonly share?: number;
  readonly by: string;
};

/** Runs the gate of a release and starts its canary. Without a current release it is activated at once. */
export async function promoteRelease(options: PromoteOptions): Promise<HistoryEntry> {
  const { releases, trustedKeys, gate, share = 0.1, by } = options;
  if (!(share > 0 && share <= 1))
    throw new RangeError(`${share} is not a share of the runs; it must be above 0 and at most 1.`);
  const release = releases.checkOut(releases.find(options.release).id, trustedKeys);
  const { isPassed, summary } = await gate(release);
  const entry = await releases.record((entries) => {
    const { current, canary } = foldHistory(entries);
    if (!isPassed) return { action: 'rejected', release: release.id, by, reason: summary };
    if (current === release.id)
      throw new FairleadError('release/in-use', `All runs use the release ${release.id} already.`, { blame: 'user' });
    if (canary && canary.release !== release.id)
      throw new FairleadError('release/canary-active', `The release ${canary.release} is a canary now.`, {
        blame: 'user',
        hint: 'Wait until it is activated, or end it with fairlead release rollback.',
      });
    return current === undefined || share === 1
      ? { action: 'activated', release: release.id, by, reason: summary }
      : { action: 'canary-started', release: release.id, by, share, reason: summary };
  });
  return entry as HistoryEntry;
}

/** The result of a check of the canary, and what was recorded. */
export type CanaryCheck = CanaryDecision & { readonly entry?: HistoryEntry };

/** Decides about the canary of a state by the runs that started since, and records nothing. Undefined if there is no canary. */
export function evaluateCanary(
  { canary, current }: ReleaseState,
  runs: readonly FleetRun[],
  options: CanaryOptions = {},
): CanaryDecision | undefined {
  if (!canary) return undefined;
  const since = toCanaryRuns(runs.filter(({ started }) => started !== undefined && started >= canary.since));
  return decideCanary({ canary: canary.release, current }, since, options);
}

/** Decides about the canary by the ended runs of a fleet, and records a rollback or an activation. Undefined if there is no canary. */
export async function checkCanary(
  releases: ReleaseStore,
  runs: readonly FleetRun[],
  by: string,
  options: CanaryOptions = {},
): Promise<CanaryCheck | undefined> {
  const state = foldHistory(releases.readHistory());
  const { canary } = state;
  const decision = evaluateCanary(state, runs, options);
  if (!canary || !decision) return undefined;
  if (decision.decision === 'continue') return decision;
  const action = decision.decision === 'activate' ? 'activated' : 'rolled-back';
  const entry = await releases.record((entries) => {
    const now = foldHistory(entries).canary;
    // Another worker may have decided meanwhile.
    if (now?.release !== canary.release || now.since !== canary.since) return undefined;
    return { action, release: canary.release, by, reason: decision.reason };
  });
  return entry ? { ...decision, entry } : decision;
}

/** Returns what a rollback ends, and the release that runs use then; undefined if there is nothing to return to. */
export function findRollback({
  canary,
  current,
  previous,
}: ReleaseState): { readonly release: string; readonly to?: string } | undefined {
  if (canary) return { release: canary.release, ...(current === undefined ? {} : { to: current }) };
  return current === undefined || previous === undefined ? undefined : { release: current, to: previous };
}

/**
 * Ends the canary, or returns from the current release to the one before it; throws if there is nothing to return to, or if that would
 * end another release than `expected`.
 */
export async function rollBack(
  releases: ReleaseStore,
  by: string,
  reason: string,
  expected?: string,
): Promise<HistoryEntry> {
  const entry = await releases.record((entries) => {
    const { release } = findRollback(foldHistory(entries)) ?? {};
    if (release === undefined)
      throw new FairleadError('release/nothing-before', 'There is no canary and no earlier release to return to.', {
        blame: 'user',
      });
    if (expected !== undefined && release !== expected)
      throw new FairleadError('release/changed', `A rollback would end the release ${release}, not ${expected}.`, {
        blame: 'user',
        hint: 'The releases in use changed meanwhile. Look at them again.',
      });
    return { action: 'rolled-back', release, by, reason };
  });
  return entry as HistoryEntry;
}
