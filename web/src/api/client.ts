// HTTP client of the API: one function per request; every failure is an ApiError.
import type { PlanStatus } from './plan-types.ts';
import type { CalibrationList, VerificationStatus } from './verification-types.ts';
import type { ReleaseReport } from './release-types.ts';
import type {
  TenantBudget,
  FleetRun,
  Message,
  NewRun,
  ApprovalQuestion,
  QueueLimits,
  Schedule,
  Event,
  KillSwitchState,
  RunStats,
} from '../../../src/core/index.ts';
import { connectionStatus, keyState, markOffline, markKeyRejected } from './connection.ts';
import type { HealthReport } from './health-types.ts';
import type {
  BudgetStatus,
  Approval,
  ApprovalDecision,
  RunRequest,
  ScorecardRow,
  CurrentUser,
  QueueStatus,
  SessionDetail,
  RunOptions,
  SessionEntry,
  SessionPage,
  CacheLedger,
  SessionReplay,
  TraceSpans,
  TurnRequest,
} from './types.ts';

/** A failed request with the error of the server; `status` is 0 if the server did not respond. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(status: number, code: string, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

type RequestOptions = { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal };

/** Sends a request with the key; throws ApiError unless the response is successful. */
export async function sendRequest(
  method: string,
  path: string,
  body?: unknown,
  extra: RequestOptions = {},
): Promise<Response> {
  const now = keyState.get();
  const key = now.type === 'given' ? now.key : '';
  const request: RequestInit = {
    method,
    cache: 'no-store',
    headers: {
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...extra.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(extra.signal ? { signal: extra.signal } : {}),
  };
  const answer = await fetch(path, request).catch((error: unknown) => {
    if (extra.signal?.aborted) throw error;
    markOffline();
    throw new ApiError(
      0,
      'web/unreachable',
      'The server does not respond.',
      'The dashboard retries until it responds.',
    );
  });
  if (answer.ok) {
    connectionStatus.set('here');
    return answer;
  }
  if (answer.status === 401) markKeyRejected(key);
  throw await parseApiError(answer);
}

async function parseApiError(answer: Response): Promise<ApiError> {
  const said = (await answer.json().catch(() => undefined)) as
    | { error?: { code?: string; message?: string; hint?: string } }
    | undefined;
  const {
    code = `http/${answer.status}`,
    message = `The server responded with status ${answer.status}.`,
    hint,
  } = said?.error ?? {};
  return new ApiError(answer.status, code, message, hint);
}

const getJson = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  (await (await sendRequest('GET', path, undefined, signal ? { signal } : {})).json()) as T;

const sendJson = async <T>(
  method: string,
  path: string,
  body: unknown = {},
  extra: RequestOptions = {},
): Promise<T> => {
  const text = await (await sendRequest(method, path, body, extra)).text();
  return (text === '' ? {} : JSON.parse(text)) as T;
};

const formatQuery = (fields: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length > 0 ? `?${new URLSearchParams(given).toString()}` : '';
};

const encodeSegment = encodeURIComponent;

/** Creates a unique id; crypto.randomUUID needs TLS or localhost. */
export function createId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The kinds of run that the dashboard starts one at a time. */
export type RunMode = 'run' | 'orchestrate' | 'verify';

const runPaths: Readonly<Record<RunMode, string>> = {
  run: 'api/runs',
  orchestrate: 'api/orchestrate',
  verify: 'api/verify',
};

/** The requests of the dashboard, one function each. */
export const api = {
  me: (signal?: AbortSignal): Promise<CurrentUser> => getJson('api/me', signal),
  /** The models and folders that a run may name. */
  options: (signal?: AbortSignal): Promise<RunOptions> => getJson('api/options', signal),
  /** Starts a run; the same id again returns the same run. */
  startRun: (mode: RunMode, request: RunRequest, id: string): Promise<{ run: FleetRun }> =>
    sendJson('POST', runPaths[mode], request, { headers: { 'idempotency-key': id } }),
  enqueue: (runs: readonly NewRun[]): Promise<{ runs: FleetRun[] }> => sendJson('POST', 'api/runs', { runs }),
  runs: (
    filter: Readonly<
      Partial<Record<'status' | 'tenant' | 'parent' | 'session' | 'before' | 'q' | 'outcome' | 'since', string>>
    > & { readonly limit?: number },
    signal?: AbortSignal,
  ): Promise<{ runs: FleetRun[]; next?: string }> => getJson(`api/runs${formatQuery(filter)}`, signal),
  run: (id: string, signal?: AbortSignal): Promise<{ run: FleetRun }> =>
    getJson(`api/runs/${encodeSegment(id)}`, signal),
  cancelRun: (id: string): Promise<unknown> => sendJson('POST', `api/runs/${encodeSegment(id)}/cancel`),
  queue: (signal?: AbortSignal): Promise<QueueStatus> => getJson('api/queue', signal),
  setQueueLimits: (limits: QueueLimits): Promise<unknown> => sendJson('PUT', 'api/queue/limits', limits),
  setSchedule: ({ name, ...rest }: Schedule): Promise<unknown> =>
    sendJson('PUT', `api/schedules/${encodeSegment(name)}`, rest),
  deleteSchedule: (name: string): Promise<unknown> => sendJson('DELETE', `api/schedules/${encodeSegment(name)}`),
  sessions: (
    page: Readonly<Partial<Record<'before' | 'beforeTerminal' | 'source' | 'q' | 'folder', string>>> & {
      readonly limit?: number;
    },
    signal?: AbortSignal,
  ): Promise<SessionPage> => getJson(`api/sessions${formatQuery(page)}`, signal),
  session: (id: string, page: { from?: number; limit?: number }, signal?: AbortSignal): Promise<SessionDetail> =>
    getJson(`api/sessions/${encodeSegment(id)}${formatQuery(page)}`, signal),
  terminalSession: (
    id: string,
    page: { from?: number; limit?: number },
    signal?: AbortSignal,
  ): Promise<{ session: SessionEntry; events: readonly Event[] }> =>
    getJson(`api/terminal-sessions/${encodeSegment(id)}${formatQuery(page)}`, signal),
  /** Copies a session of the terminal into the store. */
  copyTerminalSession: (id: string): Promise<{ session: string }> =>
    sendJson('POST', `api/terminal-sessions/${encodeSegment(id)}/copy`),
  turnRequest: (source: 'server' | 'terminal', id: string, turn: number): Promise<TurnRequest> =>
    getJson(`api/${source === 'terminal' ? 'terminal-' : ''}sessions/${encodeSegment(id)}/requests/${turn}`),
  /** The spans of a session: all, those that had not ended at a time, or one with its texts. */
  trace: (
    source: 'server' | 'terminal',
    id: string,
    query: { readonly since?: number; readonly span?: string } = {},
    signal?: AbortSignal,
  ): Promise<TraceSpans> =>
    getJson(
      `api/${source === 'terminal' ? 'terminal-' : ''}sessions/${encodeSegment(id)}/trace${formatQuery(query)}`,
      signal,
    ),
  /** Replays a session as recorded, or with a live model from a turn on. */
  replay: (
    source: 'server' | 'terminal',
    id: string,
    live?: { readonly from: number; readonly model?: string },
  ): Promise<SessionReplay> =>
    sendJson(
      'POST',
      `api/${source === 'terminal' ? 'terminal-' : ''}sessions/${encodeSegment(id)}/replay`,
      live ? { live } : {},
    ),
  cacheLedger: (source: 'server' | 'terminal', id: string): Promise<CacheLedger> =>
    getJson(`api/${source === 'terminal' ? 'terminal-' : ''}sessions/${encodeSegment(id)}/cache`),
  setTitle: (id: string, title: string, source: 'server' | 'terminal' = 'server'): Promise<unknown> =>
    sendJson('PUT', `api/${source === 'terminal' ? 'terminal-' : ''}sessions/${encodeSegment(id)}/title`, { title }),
  messages: (id: string): Promise<{ messages: Message[] }> => getJson(`api/sessions/${encodeSegment(id)}/messages`),
  fork: (id: string, event?: string): Promise<{ session: string }> =>
    sendJson('POST', `api/sessions/${encodeSegment(id)}/fork`, event === undefined ? {} : { at: event }),
  edit: (id: string, messages: readonly Message[]): Promise<{ session: string }> =>
    sendJson('POST', `api/sessions/${encodeSegment(id)}/edit`, { messages }),
  sendMessage: (id: string, text: string, mode: 'steer' | 'follow-up' | 'prompt'): Promise<unknown> =>
    sendJson('POST', `api/sessions/${encodeSegment(id)}/steer`, { text, mode }),
  resolveApproval: (
    id: string,
    { call, question }: Pick<ApprovalQuestion, 'call' | 'question'>,
    decision: ApprovalDecision,
  ): Promise<unknown> => sendJson('POST', `api/sessions/${encodeSegment(id)}/answer`, { call, question, ...decision }),
  cancelSession: (id: string): Promise<unknown> => sendJson('POST', `api/sessions/${encodeSegment(id)}/cancel`),
  approvals: (signal?: AbortSignal): Promise<{ approvals: Approval[] }> => getJson('api/approvals', signal),
  health: (signal?: AbortSignal): Promise<HealthReport> => getJson('api/health', signal),
  healthHistory: (from: string, to: string, bucketMs: number, signal?: AbortSignal): Promise<{ stats: RunStats[] }> =>
    getJson(`api/health/history${formatQuery({ from, to, bucketMs })}`, signal),
  budgets: (signal?: AbortSignal): Promise<{ budgets: BudgetStatus[] }> => getJson('api/budgets', signal),
  setBudget: ({ tenant, ...rest }: TenantBudget): Promise<unknown> =>
    sendJson('PUT', `api/budgets/${encodeSegment(tenant)}`, rest),
  killSwitch: (signal?: AbortSignal): Promise<KillSwitchState> => getJson('api/kill-switch', signal),
  stopFleet: (reason: string): Promise<KillSwitchState> =>
    sendJson('POST', 'api/kill-switch', { stopped: true, reason }),
  resumeFleet: (): Promise<KillSwitchState> => sendJson('POST', 'api/kill-switch', { stopped: false }),
  /** A plan with the states of its steps, by the id of its run. */
  plan: (id: string, signal?: AbortSignal): Promise<PlanStatus> =>
    getJson(`api/orchestrate/${encodeSegment(id)}`, signal),
  /** The progress of a verification, or its report, by the id of its run. */
  verification: (id: string, signal?: AbortSignal): Promise<VerificationStatus> =>
    getJson(`api/verify/${encodeSegment(id)}`, signal),
  calibrations: (signal?: AbortSignal): Promise<CalibrationList> => getJson('api/calibrations', signal),
  releases: (signal?: AbortSignal): Promise<ReleaseReport> => getJson('api/releases', signal),
  /** Ends a release; fails if a rollback would end another one by now. */
  rollBackRelease: (release: string, reason: string): Promise<unknown> =>
    sendJson('POST', 'api/releases/rollback', { release, reason }),
  scorecard: (signal?: AbortSignal): Promise<{ rows: ScorecardRow[] }> => getJson('api/scorecard', signal),
};
