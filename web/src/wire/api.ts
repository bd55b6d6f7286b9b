// The server's HTTP, one function a request. Every answer is JSON, and every failure is one ApiError that says what to do.
import type {
  TenantBudget,
  FleetRun,
  Message,
  NewRun,
  ApprovalQuestion,
  QueueLimits,
  Schedule,
  SessionInfo,
  KillSwitchState,
  RunStats,
} from '../../../src/core/index.ts';
import { connection, keyState, lost, refuseKey } from './connection.ts';
import type { HealthShape } from './health-shape.ts';
import type { AllowanceShape, Approval, Asked, FrontierRow, Me, QueueShape, SessionShape } from './shapes.ts';

/** A request that failed: the server's own words where it gave some. `status` is 0 where nothing answered. */
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

type Extra = { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal };

/** Sends a request with the key and gives the answer if it is a good one. */
export async function send(method: string, path: string, body?: unknown, extra: Extra = {}): Promise<Response> {
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
    lost();
    throw new ApiError(0, 'web/unreachable', 'The server does not answer.', 'It is asked again until it does.');
  });
  if (answer.ok) {
    connection.set('here');
    return answer;
  }
  if (answer.status === 401) refuseKey(key);
  throw await failureOf(answer);
}

async function failureOf(answer: Response): Promise<ApiError> {
  const said = (await answer.json().catch(() => undefined)) as
    | { error?: { code?: string; message?: string; hint?: string } }
    | undefined;
  const { code = `http/${answer.status}`, message = `The server answered ${answer.status}.`, hint } = said?.error ?? {};
  return new ApiError(answer.status, code, message, hint);
}

const get = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  (await (await send('GET', path, undefined, signal ? { signal } : {})).json()) as T;

const change = async <T>(method: string, path: string, body: unknown = {}, extra: Extra = {}): Promise<T> => {
  const text = await (await send(method, path, body, extra)).text();
  return (text === '' ? {} : JSON.parse(text)) as T;
};

const query = (fields: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length > 0 ? `?${new URLSearchParams(given).toString()}` : '';
};

const at = encodeURIComponent;

/** An id that nobody else has. Where the page came without TLS from another machine, the browser makes none by itself. */
export function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Which of the ways to ask. */
export type Way = 'run' | 'orchestrate' | 'verify';

/** Everything that the page asks of the server. */
export const api = {
  me: (signal?: AbortSignal): Promise<Me> => get('api/me', signal),
  /** The models that a run may name. */
  models: (signal?: AbortSignal): Promise<{ data: { id: string }[] }> => get('v1/models', signal),
  /** Starts a run; the same id again starts nothing. */
  ask: (way: Way, asked: Asked, id: string): Promise<{ run: FleetRun }> =>
    change('POST', `api/${way}`, asked, { headers: { 'idempotency-key': id } }),
  enqueue: (runs: readonly NewRun[]): Promise<{ runs: FleetRun[] }> => change('POST', 'api/enqueue', { runs }),
  runs: (
    filter: { status?: string; tenant?: string; parent?: string; session?: string; before?: string; most?: number },
    signal?: AbortSignal,
  ): Promise<{ runs: FleetRun[] }> => get(`api/runs${query(filter)}`, signal),
  run: (id: string, signal?: AbortSignal): Promise<{ run: FleetRun }> => get(`api/runs/${at(id)}`, signal),
  cancelRun: (id: string): Promise<unknown> => change('POST', `api/runs/${at(id)}/cancel`),
  queue: (signal?: AbortSignal): Promise<QueueShape> => get('api/queue', signal),
  limit: (limits: QueueLimits): Promise<unknown> => change('PUT', 'api/queue/limits', limits),
  schedule: ({ name, ...rest }: Schedule): Promise<unknown> => change('PUT', `api/schedules/${at(name)}`, rest),
  unschedule: (name: string): Promise<unknown> => change('DELETE', `api/schedules/${at(name)}`),
  sessions: (page: { before?: string; most?: number }, signal?: AbortSignal): Promise<{ sessions: SessionInfo[] }> =>
    get(`api/sessions${query(page)}`, signal),
  session: (id: string, page: { from?: number; most?: number }, signal?: AbortSignal): Promise<SessionShape> =>
    get(`api/sessions/${at(id)}${query(page)}`, signal),
  messages: (id: string): Promise<{ messages: Message[] }> => get(`api/sessions/${at(id)}/messages`),
  fork: (id: string, event?: string): Promise<{ session: string }> =>
    change('POST', `api/sessions/${at(id)}/fork`, event === undefined ? {} : { at: event }),
  edit: (id: string, messages: readonly Message[]): Promise<{ session: string }> =>
    change('POST', `api/sessions/${at(id)}/edit`, { messages }),
  steer: (id: string, words: string, how: 'steer' | 'follow-up' | 'prompt'): Promise<unknown> =>
    change('POST', `api/sessions/${at(id)}/steer`, { words, how }),
  answer: (
    id: string,
    { call, question }: Pick<ApprovalQuestion, 'call' | 'question'>,
    allowed: boolean,
    happened?: boolean,
  ): Promise<unknown> =>
    change('POST', `api/sessions/${at(id)}/answer`, {
      call,
      question,
      allowed,
      ...(happened === undefined ? {} : { happened }),
    }),
  cancel: (id: string): Promise<unknown> => change('POST', `api/sessions/${at(id)}/cancel`),
  approvals: (signal?: AbortSignal): Promise<{ approvals: Approval[] }> => get('api/approvals', signal),
  health: (signal?: AbortSignal): Promise<HealthShape> => get('api/health', signal),
  history: (from: string, to: string, stretchMs: number, signal?: AbortSignal): Promise<{ tallies: RunStats[] }> =>
    get(`api/health/history${query({ from, to, stretchMs })}`, signal),
  budgets: (signal?: AbortSignal): Promise<{ allowances: AllowanceShape[] }> => get('api/budgets', signal),
  allow: ({ tenant, ...rest }: TenantBudget): Promise<unknown> => change('PUT', `api/budgets/${at(tenant)}`, rest),
  control: (signal?: AbortSignal): Promise<KillSwitchState> => get('api/control', signal),
  stop: (why: string): Promise<KillSwitchState> => change('POST', 'api/control/stop', { why }),
  resume: (): Promise<KillSwitchState> => change('POST', 'api/control/resume'),
  frontier: (signal?: AbortSignal): Promise<{ rows: FrontierRow[] }> => get('api/frontier', signal),
};
