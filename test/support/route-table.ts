// What each route of the server does to which thing, for the test that walks all routes with all keys.

/** A thing that requests name: a run and its session, and a schedule, of one owner. */
export type WalkSubject = {
  readonly run: string;
  readonly session: string;
  readonly schedule: string;
  readonly call: string;
};

/** One way to use a route. */
export type WalkRequest = {
  /** What the request does, for messages. */
  readonly title: string;
  /** Whether the run of the subject has ended; no subject if it is absent. */
  readonly subject?: 'active' | 'ended';
  /** The path with its parameters and query. */
  readonly address: (subject: WalkSubject) => string;
  readonly body?: (subject: WalkSubject) => unknown;
  readonly headers?: (subject: WalkSubject) => Readonly<Record<string, string>>;
  /** The status if the subject is visible and the role is sufficient. */
  readonly ok: number;
  /** The status if there is no such thing; 404 by default. */
  readonly missing?: number;
  /** The same for a key without a tenant, if it differs. */
  readonly missingWithoutTenant?: number;
  /** Sends text or an answer into a run, or into a session that a run continues. */
  readonly instructs?: true;
  /** Changes a setting of all tenants. */
  readonly fleetWide?: true;
  /** Creates something, so that two responses differ in generated ids. */
  readonly creates?: true;
  /** The response is a stream that stays open. */
  readonly streams?: true;
};

const at =
  (path: string): WalkRequest['address'] =>
  () =>
    path;
const prompt = 'hello';
const history = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }];
const newRun = { ok: 202, missing: 202, creates: true } as const;

/** The ways to start one run: alone, in a session, and under an id that exists. */
const startRequests = (path: string, more: Readonly<Record<string, unknown>> = {}): readonly WalkRequest[] => [
  { title: 'start a run', address: at(path), body: () => ({ prompt, ...more }), ...newRun },
  {
    title: 'start a run in a session',
    subject: 'ended',
    address: at(path),
    body: ({ session }) => ({ prompt, session, ...more }),
    instructs: true,
    ...newRun,
  },
  {
    title: 'start a run under the id of a run',
    subject: 'ended',
    address: at(path),
    body: () => ({ prompt, ...more }),
    headers: ({ run }) => ({ 'idempotency-key': run }),
    ...newRun,
    ok: 409,
  },
];

/** The ways to queue several runs. */
const queueRequests = (path: string): readonly WalkRequest[] => [
  { title: 'queue runs', address: at(path), body: () => ({ runs: [{ prompt }] }), ...newRun },
  {
    title: 'queue a run in a session',
    subject: 'active',
    address: at(path),
    body: ({ session }) => ({ runs: [{ prompt, session }] }),
    instructs: true,
    ...newRun,
  },
  {
    title: 'queue a run under the id of a run',
    subject: 'ended',
    address: at(path),
    body: ({ run }) => ({ runs: [{ prompt, id: run }] }),
    ...newRun,
    ok: 409,
  },
  {
    title: 'queue a child of a run',
    subject: 'active',
    address: at(path),
    body: ({ run }) => ({ runs: [{ prompt, parent: run }] }),
    ok: 202,
    missingWithoutTenant: 202,
    creates: true,
  },
];

const read = (path: string): readonly WalkRequest[] => [{ title: 'read', address: at(path), ok: 200 }];
const readPublic = read;
const list = (path: string, names: Readonly<Record<string, keyof WalkSubject>>): readonly WalkRequest[] => [
  { title: 'list', address: at(path), ok: 200 },
  ...Object.entries(names).map(([filter, name]): WalkRequest => ({
    title: `list by ${filter}`,
    subject: 'active',
    address: (subject) => `${path}?${filter}=${subject[name]}`,
    ok: 200,
    missing: 200,
  })),
];
const fleetWide = (path: string, body: unknown): readonly WalkRequest[] => [
  { title: 'change', address: at(path), body: () => body, ok: 200, fleetWide: true },
];
const ofRun =
  (suffix: string): WalkRequest['address'] =>
  ({ run }) =>
    `/api/runs/${run}${suffix}`;
const ofPlan =
  (suffix: string): WalkRequest['address'] =>
  ({ run }) =>
    `/api/orchestrate/${run}${suffix}`;
const ofSession =
  (suffix: string): WalkRequest['address'] =>
  ({ session }) =>
    `/api/sessions/${session}${suffix}`;

const stream = { ok: 200, streams: true } as const;

/** The requests of every route, by method and path. */
export const routeTable: Readonly<Record<string, readonly WalkRequest[]>> = {
  'get /': readPublic('/'),
  'get /assets/{file}': [{ title: 'read', address: at('/assets/none.js'), ok: 404 }],
  'get /healthz': readPublic('/healthz'),
  'get /readyz': readPublic('/readyz'),
  'get /openapi.json': readPublic('/openapi.json'),
  'get /api/kill-switch': read('/api/kill-switch'),
  'get /api/control': read('/api/control'),
  'post /api/kill-switch': fleetWide('/api/kill-switch', { stopped: true, reason: 'a test' }),
  'post /api/control/stop': fleetWide('/api/control/stop', { reason: 'a test' }),
  'post /api/control/resume': fleetWide('/api/control/resume', {}),
  'post /api/runs': [...startRequests('/api/runs'), ...queueRequests('/api/runs')],
  'post /api/run': startRequests('/api/run'),
  'post /api/enqueue': queueRequests('/api/enqueue'),
  'post /api/orchestrate': startRequests('/api/orchestrate'),
  'get /api/orchestrate/{id}': [{ title: 'read a plan', subject: 'active', address: ofPlan(''), ok: 200 }],
  // The run of the subject is not a plan.
  'post /api/orchestrate/{id}/consent': [
    {
      title: 'consent to a plan',
      subject: 'active',
      address: ofPlan('/consent'),
      body: () => ({ allowed: true }),
      ok: 409,
    },
  ],
  'post /api/orchestrate/{id}/steps/{step}/cancel': [
    { title: 'cancel a step', subject: 'active', address: ofPlan('/steps/a/cancel'), ok: 409 },
  ],
  'post /api/orchestrate/{id}/steps/{step}/steer': [
    {
      title: 'steer a step',
      subject: 'active',
      address: ofPlan('/steps/a/steer'),
      body: () => ({ text: 'x' }),
      ok: 409,
    },
  ],
  'post /api/verify': startRequests('/api/verify', { answer: 'yes' }),
  'get /api/verify/{id}': [
    { title: 'read a verification', subject: 'ended', address: ({ run }) => `/api/verify/${run}`, ok: 200 },
  ],
  'get /api/runs': list('/api/runs', { session: 'session', parent: 'run', before: 'run' }),
  'get /api/runs/{id}': [{ title: 'read', subject: 'active', address: ofRun(''), ok: 200 }],
  'post /api/runs/{id}/cancel': [{ title: 'cancel', subject: 'active', address: ofRun('/cancel'), ok: 200 }],
  'get /api/stream': [
    { title: 'stream a run', subject: 'active', address: ({ run }) => `/api/stream?run=${run}`, ...stream },
    {
      title: 'stream a session',
      subject: 'active',
      address: ({ session }) => `/api/stream?session=${session}`,
      ...stream,
    },
  ],
  'get /api/sessions': list('/api/sessions', { before: 'session' }),
  'get /api/sessions/{id}': [{ title: 'read', subject: 'active', address: ofSession(''), ok: 200 }],
  'get /api/sessions/{id}/messages': [{ title: 'read', subject: 'ended', address: ofSession('/messages'), ok: 200 }],
  'get /api/sessions/{id}/requests/{turn}': [
    { title: 'read', subject: 'ended', address: ofSession('/requests/1'), ok: 200 },
  ],
  'get /api/sessions/{id}/cache': [{ title: 'read', subject: 'ended', address: ofSession('/cache'), ok: 200 }],
  'get /api/sessions/{id}/trace': [{ title: 'read', subject: 'ended', address: ofSession('/trace'), ok: 200 }],
  'post /api/sessions/{id}/replay': [
    { title: 'replay', subject: 'ended', address: ofSession('/replay'), body: () => ({}), ok: 200 },
  ],
  'put /api/sessions/{id}/title': [
    {
      title: 'set the title',
      subject: 'ended',
      address: ofSession('/title'),
      body: () => ({ title: 'Another title' }),
      ok: 200,
      instructs: true,
    },
  ],
  'get /api/terminal-sessions/{id}': [{ title: 'read', address: at('/api/terminal-sessions/none'), ok: 404 }],
  'get /api/terminal-sessions/{id}/requests/{turn}': [
    { title: 'read', address: at('/api/terminal-sessions/none/requests/1'), ok: 404 },
  ],
  'get /api/terminal-sessions/{id}/cache': [
    { title: 'read', address: at('/api/terminal-sessions/none/cache'), ok: 404 },
  ],
  'get /api/terminal-sessions/{id}/trace': [
    { title: 'read', address: at('/api/terminal-sessions/none/trace'), ok: 404 },
  ],
  'post /api/terminal-sessions/{id}/replay': [
    { title: 'replay', address: at('/api/terminal-sessions/none/replay'), body: () => ({}), ok: 404 },
  ],
  'put /api/terminal-sessions/{id}/title': [
    { title: 'title', address: at('/api/terminal-sessions/none/title'), body: () => ({ title: 'x' }), ok: 404 },
  ],
  'post /api/terminal-sessions/{id}/copy': [
    { title: 'copy', address: at('/api/terminal-sessions/none/copy'), body: () => ({}), ok: 404 },
  ],
  'post /api/sessions/{id}/fork': [
    { title: 'fork', subject: 'ended', address: ofSession('/fork'), body: () => ({}), ok: 201, creates: true },
  ],
  'post /api/sessions/{id}/edit': [
    {
      title: 'edit',
      subject: 'ended',
      address: ofSession('/edit'),
      body: () => ({ messages: history }),
      ok: 200,
      instructs: true,
    },
  ],
  'post /api/sessions/{id}/steer': (['steer', 'follow-up', 'prompt'] as const).map((mode): WalkRequest => ({
    title: mode,
    subject: 'active',
    address: ofSession('/steer'),
    body: () => ({ text: 'more', mode }),
    ok: 202,
    instructs: true,
  })),
  'post /api/sessions/{id}/answer': [
    {
      title: 'answer',
      subject: 'active',
      address: ofSession('/answer'),
      body: ({ call }) => ({ call, allowed: true }),
      ok: 202,
      instructs: true,
    },
  ],
  'post /api/sessions/{id}/cancel': [{ title: 'cancel', subject: 'active', address: ofSession('/cancel'), ok: 202 }],
  'get /api/approvals': read('/api/approvals'),
  'get /api/me': read('/api/me'),
  'get /api/options': read('/api/options'),
  'get /api/queue': read('/api/queue'),
  'put /api/queue/limits': fleetWide('/api/queue/limits', { concurrency: 3 }),
  'put /api/schedules/{name}': [
    {
      title: 'replace',
      subject: 'active',
      address: ({ schedule }) => `/api/schedules/${schedule}`,
      body: () => ({ cron: '0 9 * * 1', run: { prompt } }),
      ok: 200,
      missing: 200,
      creates: true,
    },
    {
      title: 'schedule runs of a session',
      subject: 'ended',
      address: at('/api/schedules/another'),
      body: ({ session }) => ({ cron: '0 9 * * 1', run: { prompt, session } }),
      ok: 200,
      missing: 200,
      creates: true,
      instructs: true,
    },
  ],
  'delete /api/schedules/{name}': [
    { title: 'delete', subject: 'active', address: ({ schedule }) => `/api/schedules/${schedule}`, ok: 200 },
  ],
  'get /api/budgets': read('/api/budgets'),
  'put /api/budgets/{tenant}': [
    ...fleetWide('/api/budgets/acme', { period: 'day', usd: 5 }),
    ...fleetWide('/api/budgets/bolt', { period: 'day', usd: 5 }),
  ],
  'get /api/health': read('/api/health'),
  'get /api/health/history': read('/api/health/history'),
  'get /api/scorecard': read('/api/scorecard'),
  'get /api/calibrations': read('/api/calibrations'),
  'get /api/releases': read('/api/releases'),
  'post /api/releases/rollback': [
    {
      title: 'roll back',
      address: at('/api/releases/rollback'),
      body: () => ({ reason: 'a test' }),
      // The server of the walk has no releases.
      ok: 409,
      fleetWide: true,
    },
  ],
  'get /api/frontier': read('/api/frontier'),
  'get /metrics': read('/metrics'),
  'post /v1/chat/completions': [
    {
      title: 'start a run',
      address: at('/v1/chat/completions'),
      body: () => ({ messages: [{ role: 'user', content: 'hi' }], stream: true }),
      creates: true,
      ...stream,
    },
    {
      title: 'start a run under the id of a run',
      subject: 'ended',
      address: at('/v1/chat/completions'),
      body: () => ({ messages: [{ role: 'user', content: 'hi' }], stream: true }),
      headers: ({ run }) => ({ 'idempotency-key': run }),
      ...stream,
      creates: true,
      ok: 409,
      missing: 200,
    },
  ],
  'post /v1/responses': [
    {
      title: 'start a run',
      address: at('/v1/responses'),
      body: () => ({ input: 'hi', stream: true }),
      creates: true,
      ...stream,
    },
    {
      title: 'continue a response',
      subject: 'ended',
      address: at('/v1/responses'),
      body: ({ run }) => ({ input: 'hi', previous_response_id: `resp_${run}`, stream: true }),
      instructs: true,
      creates: true,
      ...stream,
    },
  ],
  'get /v1/responses/{id}': [
    { title: 'read', subject: 'active', address: ({ run }) => `/v1/responses/resp_${run}`, ok: 200 },
  ],
  'get /v1/models': read('/v1/models'),
  'get /v1/models/{model}': read('/v1/models/scripted'),
};
