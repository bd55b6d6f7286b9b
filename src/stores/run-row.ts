// The row that a database keeps of a run, and the run that others see.
import {
  FairleadError,
  isObject,
  zeroUsage,
  toFailure,
  upcastQuestion,
  upcastUsageTotals,
  type FleetRun,
  type NewRun,
  type JsonObject,
  type ApprovalQuestion,
  type RunOutcome,
  type RunStatus,
} from '../core/index.ts';
import { tryParseJson } from './row-json.ts';

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

/** A time that is none is the first there is. */
const toIsoTime = (ms: number): string => new Date(isValidTime(ms) ? ms : 0).toISOString();

const isValidTime = (ms: number): boolean => !Number.isNaN(new Date(ms).getTime());

/** What keeps a run from being worked on, in the words of a sentence; nothing where its row is as it should be. */
export function runRowError({ settings, words, queued }: RunRow): string | undefined {
  if (typeof words !== 'string') return 'its words cannot be read';
  if (!isValidTime(queued)) return 'it was queued at no time';
  const value = tryParseJson(settings);
  return isObject(value) ? undefined : `its settings are no ${value === undefined ? 'JSON' : 'object'}`;
}

/** How a run ends that cannot be worked on because of what its row says. */
export function damagedOutcome(detail: string): RunOutcome {
  const error = toFailure(
    new FairleadError('store/damaged', detail, {
      blame: 'store',
      hint: 'Queue it again under another id; the others go on.',
    }),
  );
  return { reason: 'provider-error', detail, error, text: '', spent: zeroUsage };
}

/** That the row of a run is damaged, as how the run ends. */
export const damagedRowOutcome = (flaw: string): RunOutcome =>
  damagedOutcome(`The row of this run is damaged: ${flaw}.`);

function parseRunSettings(text: string): JsonObject {
  const value = tryParseJson(text);
  return isObject(value) ? (value as JsonObject) : {};
}

const isApprovalQuestion = (each: unknown): each is ApprovalQuestion =>
  isObject(each) && ['call', 'tool', 'question'].every((key) => typeof each[key] === 'string');

function parseApprovalQuestions(text: string): readonly ApprovalQuestion[] {
  const value = tryParseJson(text);
  return Array.isArray(value) && value.every(isApprovalQuestion)
    ? value.map((each) => upcastQuestion(each) as ApprovalQuestion)
    : [];
}

function parseRunOutcome(text: string): RunOutcome {
  const value = tryParseJson(text);
  const { reason, text: said, spent } = isObject(value) ? value : {};
  return typeof reason === 'string' && typeof said === 'string' && isObject(upcastUsageTotals(spent))
    ? (value as RunOutcome)
    : damagedOutcome('What came of this run cannot be read in its row.');
}

/** A run as others see it, whatever its row says: one that is damaged must not hide the others. */
export function toFleetRun(row: RunRow): FleetRun {
  const { id, words, kind, session, tenant, priority, status, attempts } = row;
  return {
    id,
    words: typeof words === 'string' ? words : '',
    kind,
    settings: parseRunSettings(row.settings),
    session,
    tenant,
    priority,
    status,
    attempts,
    queued: toIsoTime(row.queued),
    questions: row.questions === null ? [] : parseApprovalQuestions(row.questions),
    ...(row.parent === null ? {} : { parent: row.parent }),
    ...(row.started === null ? {} : { started: toIsoTime(row.started) }),
    ...(row.ended === null ? {} : { ended: toIsoTime(row.ended) }),
    ...(row.later === null ? {} : { notBefore: toIsoTime(row.later) }),
    ...(row.worker === null ? {} : { worker: row.worker }),
    ...(row.version === null ? {} : { version: row.version }),
    ...(row.outcome === null ? {} : { outcome: parseRunOutcome(row.outcome) }),
  };
}

/** So often in a row may working on a run fail, by a throw or by the death of its worker. */
export const maxFailures = 10;

const maxRetryDelayMs = 60_000;

/** Milliseconds that a run waits after it has failed once more: each time for longer. */
export const computeRetryDelayMs = (failures: number, retryMs: number): number =>
  Math.min(maxRetryDelayMs, retryMs * 2 ** failures);

/** What becomes of a run whose workers fell silent, in its last detail. */
export const workerLostReason = 'its workers died or fell silent';

/** How a run ends that has failed too often. */
export const tooManyFailuresOutcome = (failures: number, why: string): RunOutcome => ({
  reason: 'provider-error',
  detail: `Given up after ${failures} attempts: ${why}`,
  text: '',
  spent: zeroUsage,
});

/** A time that is none must not reach the rows. */
export function assertValidTime({ notBefore }: NewRun): void {
  if (notBefore === undefined || !Number.isNaN(Date.parse(notBefore))) return;
  throw new FairleadError('queue/bad-time', `"${notBefore}" is not a time.`, {
    blame: 'user',
    hint: 'Write it as 2030-01-31T08:00:00Z.',
  });
}
