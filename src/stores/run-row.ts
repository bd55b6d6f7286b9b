// Runs in database rows: conversion between a row and the run that callers see, defaults, failure limits and queue figures.
import { randomUUID } from 'node:crypto';
import {
  defaultTenant,
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
  type QueueDepth,
  type QueueLimits,
  type RunOutcome,
  type RunStatus,
} from '../core/index.ts';
import { tryParseJson } from './try-parse-json.ts';

/** A run in the database, by the names of its columns; times are in milliseconds. */
export type RunRow = {
  readonly key: number;
  readonly id: string;
  /** The prompt. */
  readonly words: string;
  readonly kind: string;
  readonly settings: string;
  readonly session: string;
  readonly tenant: string;
  readonly priority: number;
  readonly parent: string | null;
  readonly status: StoredRunStatus;
  readonly attempts: number;
  /** How often in a row the handler threw. */
  readonly failures: number;
  /** How often in a row the worker was lost. */
  readonly losses: number;
  /** 1 if a message arrived while the run was running: it is then queued again instead of waiting. */
  readonly woken: number;
  readonly queued: number;
  readonly due: number;
  /** `notBefore`: the run is not started before this time. */
  readonly later: number | null;
  readonly started: number | null;
  readonly ended: number | null;
  readonly worker: string | null;
  /** The token of the process lease under which the run is claimed. */
  readonly holder: string | null;
  readonly version: string | null;
  /** The pending approvals, as JSON. */
  readonly questions: string | null;
  readonly outcome: string | null;
};

/** The status `waiting` as the column `status` stores it. */
export const storedWaitingStatus = 'resting';

/** A run status as the column `status` stores it. */
export type StoredRunStatus = Exclude<RunStatus, 'waiting'> | typeof storedWaitingStatus;

/** Returns the column value of a run status. */
export const toStoredStatus = (status: RunStatus): StoredRunStatus =>
  status === 'waiting' ? storedWaitingStatus : status;

/** The condition of the filter `mentionsAuto`. Settings are JSON without blanks, and quotes in their texts are escaped. */
export const mentionsAutoSql = `settings LIKE '%"auto":true%'`;

/** The sum of the bytes of runs: prompt, settings and the columns beside them. */
export const runBytesSql = 'coalesce(sum(octet_length(words) + octet_length(settings) + 1024), 0)';

/** A new run as columns. */
export type NewRunRow = Pick<
  RunRow,
  'id' | 'words' | 'kind' | 'settings' | 'session' | 'tenant' | 'priority' | 'parent' | 'later'
>;

/** The columns of a new run, with the default values. */
export function toNewRunRow(run: NewRun): NewRunRow {
  const id = run.id ?? randomUUID();
  return {
    id,
    words: run.prompt,
    kind: run.kind ?? 'run',
    settings: JSON.stringify(run.settings ?? {}),
    session: run.session ?? id,
    tenant: run.tenant ?? defaultTenant,
    priority: run.priority ?? 0,
    parent: run.parent ?? null,
    later: run.notBefore === undefined ? null : Date.parse(run.notBefore),
  };
}

/** The columns of an ended run: its outcome as JSON, and what statistics are computed from. */
export type OutcomeColumns = {
  readonly outcome: string;
  readonly reason: string;
  readonly usd: number;
  readonly tokens: number;
};

/** The columns of a run that ends. */
export const toOutcomeColumns = (outcome: RunOutcome): OutcomeColumns => ({
  outcome: formatRunOutcome(outcome),
  reason: outcome.reason,
  usd: outcome.spent.usd,
  tokens: Math.round(outcome.spent.input + outcome.spent.output),
});

/** A damaged time becomes 1970, so that the run can still be listed. */
const toIsoTime = (ms: number): string => new Date(isValidTime(ms) ? ms : 0).toISOString();

const isValidTime = (ms: number): boolean => !Number.isNaN(new Date(ms).getTime());

/** Why a run cannot be handled because its row is damaged; undefined if the row is valid. */
export function runRowError({ settings, words, queued }: RunRow): string | undefined {
  if (typeof words !== 'string') return 'its prompt cannot be read';
  if (!isValidTime(queued)) return 'the time at which it was queued is not valid';
  const value = tryParseJson(settings);
  return isObject(value) ? undefined : `its settings are not ${value === undefined ? 'JSON' : 'an object'}`;
}

/** The outcome of a run that cannot be handled because of a damaged row. */
export function damagedOutcome(detail: string): RunOutcome {
  const error = toFailure(
    new FairleadError('store/damaged', detail, {
      blame: 'store',
      hint: 'Queue it again under another id. Other runs are not affected.',
    }),
  );
  return { reason: 'provider-error', detail, error, text: '', spent: zeroUsage };
}

/** The outcome of a run whose own row is damaged. */
export const damagedRowOutcome = (problem: string): RunOutcome =>
  damagedOutcome(`The row of this run is damaged: ${problem}.`);

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
  const { handed: clientToolCalls, ...outcome } = isObject(value) ? value : {};
  const { reason, text: answer, spent } = outcome;
  return typeof reason === 'string' && typeof answer === 'string' && isObject(upcastUsageTotals(spent))
    ? ({ ...outcome, ...(clientToolCalls === undefined ? {} : { clientToolCalls }) } as RunOutcome)
    : damagedOutcome('The outcome of this run cannot be read from its row.');
}

/** The JSON of an outcome in a row: `clientToolCalls` is stored as `handed`. */
export const formatRunOutcome = ({ clientToolCalls, ...outcome }: RunOutcome): string =>
  JSON.stringify(clientToolCalls === undefined ? outcome : { ...outcome, handed: clientToolCalls });

/** The run of a row. Never throws: a damaged run must not hide the others. */
export function toFleetRun(row: RunRow): FleetRun {
  const { id, words, kind, session, tenant, priority, status, attempts } = row;
  return {
    id,
    prompt: typeof words === 'string' ? words : '',
    kind,
    settings: parseRunSettings(row.settings),
    session,
    tenant,
    priority,
    status: status === storedWaitingStatus ? 'waiting' : status,
    attempts,
    queued: toIsoTime(row.queued),
    pendingApprovals: row.questions === null ? [] : parseApprovalQuestions(row.questions),
    ...(row.parent === null ? {} : { parent: row.parent }),
    ...(row.started === null ? {} : { started: toIsoTime(row.started) }),
    ...(row.ended === null ? {} : { ended: toIsoTime(row.ended) }),
    ...(row.later === null ? {} : { notBefore: toIsoTime(row.later) }),
    ...(row.worker === null ? {} : { worker: row.worker }),
    ...(row.version === null ? {} : { version: row.version }),
    ...(row.outcome === null ? {} : { outcome: parseRunOutcome(row.outcome) }),
  };
}

/** How often in a row the handler of a run may throw. */
export const maxFailures = 10;

const maxRetryDelayMs = 60_000;

/** The delay before a run is tried again, in milliseconds; it doubles with each failure. */
export const computeRetryDelayMs = (failures: number, retryMs: number): number =>
  Math.min(maxRetryDelayMs, retryMs * 2 ** failures);

/** The outcome of a run that lost its worker too often. */
export const workerLostOutcome = (losses: number): RunOutcome => ({
  reason: 'provider-error',
  detail: `The run lost its worker ${losses} times in a row: the process crashed, was killed, or sent no heartbeat. It is not handed out again, because the run itself may be the cause.`,
  text: '',
  spent: zeroUsage,
});

/** The outcome of a run that failed too often. */
export const tooManyFailuresOutcome = (failures: number, reason: string): RunOutcome => ({
  reason: 'provider-error',
  detail: `Given up after ${failures} attempts: ${reason}`,
  text: '',
  spent: zeroUsage,
});

/** The column `later` of a run that rests until a time; a time that cannot be parsed is now. */
export const toRestTime = (time: string): number => Date.parse(time) || Date.now();

/** Throws if a time cannot be parsed: it must not reach a row. */
export function assertValidTime(time: string | undefined): void {
  if (time === undefined || !Number.isNaN(Date.parse(time))) return;
  throw new FairleadError('queue/bad-time', `"${time}" is not a time.`, {
    blame: 'user',
    hint: 'Write it as 2030-01-31T08:00:00Z.',
  });
}

/** The depth of a queue, from the number of runs by status and the time in milliseconds from which the oldest one waits. */
export const toQueueDepth = (
  count: (status: StoredRunStatus) => number,
  oldest: number | null | undefined,
): QueueDepth => ({
  queued: count('queued'),
  running: count('running'),
  waiting: count(storedWaitingStatus),
  ...(oldest === undefined || oldest === null ? {} : { oldest: new Date(oldest).toISOString() }),
});

/** The limits of a queue in a row; none if there is no row. */
export const parseQueueLimits = (text: string | null | undefined): QueueLimits =>
  JSON.parse(text ?? '{}') as QueueLimits;

/** The longest wait after which a worker should check again whether the rate limit admits a run, in milliseconds. */
export const rateDelayMs = ({ rate }: QueueLimits): number => (rate ? Math.max(10, rate.ms / rate.runs) : Infinity);
