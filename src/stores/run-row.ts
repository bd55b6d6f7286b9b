// The row that a database keeps of a run, and the run that others see.
import {
  FairleadError,
  noSpending,
  type FleetRun,
  type NewRun,
  type JsonObject,
  type Question,
  type RunOutcome,
  type RunStatus,
} from '../core/index.ts';

/** A run as its row says; times are in milliseconds. */
export type RunRow = {
  readonly key: number;
  readonly id: string;
  readonly words: string;
  readonly kind: string;
  readonly settings: string;
  readonly session: string;
  readonly tenant: string;
  readonly priority: number;
  readonly parent: string | null;
  readonly status: RunStatus;
  readonly attempts: number;
  readonly failures: number;
  readonly woken: number;
  readonly queued: number;
  readonly due: number;
  readonly later: number | null;
  readonly started: number | null;
  readonly ended: number | null;
  readonly worker: string | null;
  readonly holder: string | null;
  readonly version: string | null;
  readonly questions: string | null;
  readonly outcome: string | null;
};

const iso = (ms: number): string => new Date(ms).toISOString();

/** A run as others see it. */
export function runOf(row: RunRow): FleetRun {
  const { id, words, kind, session, tenant, priority, status, attempts } = row;
  return {
    id,
    words,
    kind,
    settings: JSON.parse(row.settings) as JsonObject,
    session,
    tenant,
    priority,
    status,
    attempts,
    queued: iso(row.queued),
    questions: row.questions === null ? [] : (JSON.parse(row.questions) as readonly Question[]),
    ...(row.parent === null ? {} : { parent: row.parent }),
    ...(row.started === null ? {} : { started: iso(row.started) }),
    ...(row.ended === null ? {} : { ended: iso(row.ended) }),
    ...(row.later === null ? {} : { notBefore: iso(row.later) }),
    ...(row.worker === null ? {} : { worker: row.worker }),
    ...(row.version === null ? {} : { version: row.version }),
    ...(row.outcome === null ? {} : { outcome: JSON.parse(row.outcome) as RunOutcome }),
  };
}

/** So often in a row may working on a run fail, by a throw or by the death of its worker. */
export const mostFailures = 10;

const longestDelay = 60_000;

/** Milliseconds that a run waits after it has failed once more: each time for longer. */
export const delayAfter = (failures: number, retryMs: number): number =>
  Math.min(longestDelay, retryMs * 2 ** failures);

/** What becomes of a run whose workers fell silent, in its last detail. */
export const diedWords = 'its workers died or fell silent';

/** How a run ends that has failed too often. */
export const givenUp = (failures: number, why: string): RunOutcome => ({
  reason: 'provider-error',
  detail: `Given up after ${failures} attempts: ${why}`,
  text: '',
  spent: noSpending,
});

/** A time that is none must not reach the rows. */
export function refuseBadTime({ notBefore }: NewRun): void {
  if (notBefore === undefined || !Number.isNaN(Date.parse(notBefore))) return;
  throw new FairleadError('queue/bad-time', `"${notBefore}" is not a time.`, {
    blame: 'user',
    hint: 'Write it as 2030-01-31T08:00:00Z.',
  });
}
