// Tests of sessions over HTTP (read, fork, edit) and of the fleet: limits, schedules, budgets, kill switch, health.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  toArray,
  type Event,
  type FleetRun,
  type Message,
  type KillSwitchState,
  type ModelRequest,
} from '../../../core/index.ts';
import { createApiFixture, type ApiFixture } from '../../../../test/support/api-server.ts';

type Read = {
  readonly events: readonly Event[];
  readonly state: {
    readonly messages: number;
    readonly head: string;
    readonly seq: number;
    readonly run: string | null;
  };
};

async function runPrompt({ request, waitForStatus }: ApiFixture, prompt: string, session?: string): Promise<FleetRun> {
  const { run } = (await request('POST /api/runs', { body: { prompt, ...(session === undefined ? {} : { session }) } }))
    .body as {
    readonly run: FleetRun;
  };
  return waitForStatus(run.id, 'ended');
}

test('[A92] a session is listed and read in pages, with its current state', async (t) => {
  const api = await createApiFixture(t);
  const { session } = await runPrompt(api, 'hello');
  const { sessions } = (await api.request('GET /api/sessions')).body as {
    readonly sessions: readonly { session: string }[];
  };
  assert.deepEqual(
    sessions.map((each) => each.session),
    [session],
  );
  const whole = (await api.request(`GET /api/sessions/${session}`)).body as Read;
  assert.deepEqual(
    whole.events.map(({ seq }) => seq),
    whole.events.map((_, i) => i + 1),
  );
  assert.equal(whole.state.messages, 2);
  assert.equal(whole.state.run, null);
  const piece = (await api.request(`GET /api/sessions/${session}?from=2&limit=3`)).body as Read;
  assert.deepEqual(piece.events, whole.events.slice(2, 5));
  assert.deepEqual(((await api.request(`GET /api/sessions/${session}?from=9999`)).body as Read).events, []);
  assert.equal((await api.request('GET /api/sessions/absent')).status, 404);
});

test('[A92] a session has its first prompt as title until it gets another, and is found by it', async (t) => {
  const api = await createApiFixture(t);
  const { session } = await runPrompt(api, 'count the boats');
  await runPrompt(api, 'and the ropes', session);
  await runPrompt(api, 'something else');
  type Entry = { readonly session: string; readonly title?: string; readonly status?: string; readonly source: string };
  const list = async (query: string): Promise<readonly Entry[]> =>
    ((await api.request(`GET /api/sessions?${query}`)).body as { readonly sessions: readonly Entry[] }).sessions;
  const [found, ...others] = await list('q=BOATS');
  assert.deepEqual(others, []);
  assert.deepEqual(
    [found?.session, found?.title, found?.status, found?.source],
    [session, 'count the boats', 'ended', 'server'],
  );
  assert.equal(
    (await api.request(`PUT /api/sessions/${session}/title`, { as: 'reader', body: { title: 'x' } })).status,
    403,
  );
  assert.equal((await api.request(`PUT /api/sessions/${session}/title`, { body: { title: ' Harbour ' } })).status, 200);
  assert.deepEqual(
    (await list('q=harbour')).map(({ title }) => title),
    ['Harbour'],
  );
  assert.equal((await list('limit=1')).length, 1);
  assert.deepEqual(await list('source=terminal'), [], 'this server was given no sessions of a terminal');
  assert.equal((await api.request(`PUT /api/sessions/absent/title`, { body: { title: 'x' } })).status, 404);
});

test('[A92] the list of sessions continues where the previous page ended', async (t) => {
  const api = await createApiFixture(t);
  for (const prompt of ['one', 'two', 'three']) await runPrompt(api, prompt);
  type Page = {
    readonly sessions: readonly { readonly title: string }[];
    readonly next?: { readonly before?: string };
  };
  const page = async (query: string): Promise<Page> => (await api.request(`GET /api/sessions?${query}`)).body as Page;
  const first = await page('limit=2');
  assert.deepEqual(
    first.sessions.map(({ title }) => title),
    ['three', 'two'],
  );
  const second = await page(`limit=2&before=${first.next?.before}`);
  assert.deepEqual([second.sessions.map(({ title }) => title), second.next], [['one'], undefined]);
});

test('[A92] the request of a turn is read as the model got it', async (t) => {
  const seen: ModelRequest[] = [];
  const api = await createApiFixture(t, {
    script: (context) => {
      seen.push(context.body);
      return `Heard ${context.prompt}`;
    },
  });
  const { session } = await runPrompt(api, 'one');
  await runPrompt(api, 'two', session);
  for (const [i, request] of seen.entries()) {
    const { body } = await api.request(`GET /api/sessions/${session}/requests/${i + 1}`);
    const { system, tools, messages, toolChoice } = request;
    assert.partialDeepStrictEqual(
      body,
      JSON.parse(JSON.stringify({ system, tools, messages: toArray(messages), toolChoice })),
    );
  }
  assert.equal((await api.request(`GET /api/sessions/${session}/requests/3`)).status, 404);
  assert.equal((await api.request(`GET /api/sessions/${session}/requests/x`)).status, 400);
});

test('[A92] runs are searched by prompt, by the class of their outcome and by the time of their end', async (t) => {
  const api = await createApiFixture(t);
  const { id, ended = '' } = await runPrompt(api, 'count the boats');
  const other = await runPrompt(api, 'count the ropes');
  const list = async (query: string): Promise<readonly string[]> =>
    ((await api.request(`GET /api/runs?${query}`)).body as { readonly runs: readonly FleetRun[] }).runs.map(
      (run) => run.id,
    );
  assert.deepEqual(await list('q=boats'), [id]);
  assert.deepEqual(await list('q=count&limit=1'), [other.id]);
  assert.deepEqual(await list('outcome=answered'), [other.id, id]);
  assert.deepEqual(await list('outcome=error'), []);
  assert.deepEqual(await list(`since=${new Date(Date.parse(ended) + 3_600_000).toISOString()}`), []);
  assert.deepEqual(await list(`since=${ended}&q=boats`), [id]);
});

test('[A92] a session is forked at its head or at an earlier event, and continues independently', async (t) => {
  const api = await createApiFixture(t);
  const { session } = await runPrompt(api, 'one');
  const { events } = (await api.request(`GET /api/sessions/${session}`)).body as Read;
  await runPrompt(api, 'two', session);
  const forked = async (body: unknown): Promise<string> =>
    ((await api.request(`POST /api/sessions/${session}/fork`, { as: 'runner', body })).body as { session: string })
      .session;
  const count = async (id: string): Promise<number> =>
    ((await api.request(`GET /api/sessions/${id}`)).body as Read).state.messages;
  assert.equal(await count(await forked({})), 4);
  const early = await forked({ at: events.at(-1)?.id });
  assert.equal(await count(early), 2);
  await runPrompt(api, 'another way', early);
  assert.deepEqual([await count(early), await count(session)], [4, 4]);
  assert.equal((await api.request(`POST /api/sessions/${session}/fork`, { body: { at: 'nowhere' } })).status, 404);
  assert.equal((await api.request('POST /api/sessions/absent/fork', { body: {} })).status, 404);
});

test('[A92] an edit is a new branch, must be legal, and is refused while a run is active in the session', async (t) => {
  const api = await createApiFixture(t, { script: ({ prompt }) => `Heard ${prompt}` });
  const { session } = await runPrompt(api, 'one');
  const text = (role: Message['role'], words: string): Message => ({ role, parts: [{ type: 'text', text: words }] });
  const edit = (messages: readonly Message[]) =>
    api.request(`POST /api/sessions/${session}/edit`, { as: 'runner', body: { messages } });
  const before = (await api.request(`GET /api/sessions/${session}`)).body as Read;
  assert.equal((await edit([text('assistant', 'I begin')])).status, 400);
  assert.equal((await edit([{ role: 'user', parts: [{ type: 'text', text: 'x', extra: 1 } as never] }])).status, 400);
  assert.equal((await edit([text('user', 'one'), text('assistant', 'Something else')])).status, 200);
  const after = (await api.request(`GET /api/sessions/${session}`)).body as Read;
  assert.deepEqual(after.events.slice(0, before.events.length), before.events);
  assert.ok(after.events.some(({ type }) => type === 'branch-started'));
  await runPrompt(api, 'two', session);
  const stopped = (await api.request('POST /api/kill-switch', { body: { stopped: true, reason: 'to see a run wait' } }))
    .body as KillSwitchState;
  assert.equal(stopped.stopped, true);
  await api.request('POST /api/runs', { body: { prompt: 'three', session } });
  assert.equal((await edit([text('user', 'other')])).status, 409);
});

test('[A92] a private session stays private after an edit and a fork', async (t) => {
  const api = await createApiFixture(t);
  const session = 'private-one';
  const log = await api.store.sessions.open(session);
  await log.append(0, [
    { type: 'session-started', session },
    { type: 'annotation-added', key: 'privacy/labelled', value: {} },
  ]);
  await log.close();
  await runPrompt(api, 'one', session);
  const { session: copy } = (await api.request(`POST /api/sessions/${session}/fork`, { body: {} })).body as {
    readonly session: string;
  };
  const messages: readonly Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'other' }] }];
  assert.equal((await api.request(`POST /api/sessions/${session}/edit`, { body: { messages } })).status, 200);
  for (const id of [session, copy]) {
    const { events } = (await api.request(`GET /api/sessions/${id}`)).body as Read;
    const epoch = events.findLast((event) => event.type === 'epoch-started' && event.baseline);
    assert.equal(epoch?.type === 'epoch-started' && epoch.baseline?.views?.['privacy'], true, id);
  }
});

test('[A95] the kill switch needs an operator key, records the user and the reason, persists, and can be reset', async (t) => {
  const api = await createApiFixture(t);
  const stopped = (await api.request('POST /api/kill-switch', { body: { stopped: true, reason: 'too dear' } }))
    .body as KillSwitchState;
  assert.equal(stopped.reason, 'too dear');
  assert.match(stopped.by ?? '', /^operator [0-9a-f]{8}$/);
  assert.deepEqual((await api.request('GET /api/kill-switch', { as: 'reader' })).body, stopped);
  assert.equal(((await api.request('GET /api/me', { as: 'reader' })).body as { stopped: boolean }).stopped, true);
  const { run } = (await api.request('POST /api/runs', { body: { prompt: 'later' } })).body as {
    readonly run: FleetRun;
  };
  assert.equal((await api.request('POST /api/kill-switch', { as: 'runner', body: { stopped: false } })).status, 403);
  assert.equal((await api.store.queue.run(run.id))?.attempts, 0);
  await api.request('POST /api/kill-switch', { body: { stopped: false } });
  await api.waitForStatus(run.id, 'ended');
  assert.equal((await api.request('POST /api/kill-switch', { body: { stopped: true } })).status, 400);
});

test('[A92] limits, schedules and budgets are set by permitted roles and read by all roles', async (t) => {
  const api = await createApiFixture(t, { worker: false });
  const limits = { concurrency: 2, rate: { runs: 10, ms: 1000 } };
  assert.deepEqual((await api.request('PUT /api/queue/limits', { body: limits })).body, { limits });
  const schedule = { cron: '0 9 * * 1', run: { prompt: 'weekly' } };
  assert.equal((await api.request('PUT /api/schedules/weekly', { as: 'runner', body: schedule })).status, 200);
  assert.equal(
    (await api.request('PUT /api/schedules/weekly', { body: { ...schedule, cron: 'whenever' } })).status,
    400,
  );
  const queue = (await api.request('GET /api/queue', { as: 'reader' })).body as {
    readonly limits: unknown;
    readonly schedules: readonly { readonly name: string }[];
  };
  assert.deepEqual(queue.limits, limits);
  assert.deepEqual(
    queue.schedules.map(({ name }) => name),
    ['weekly'],
  );
  await api.request('DELETE /api/schedules/weekly', { as: 'runner' });
  assert.deepEqual(((await api.request('GET /api/queue')).body as typeof queue).schedules, []);
  const budget = await api.request('PUT /api/budgets/acme', { body: { period: 'day', usd: 2 } });
  const { budgets } = budget.body as {
    readonly budgets: readonly { readonly tenant: string; readonly usd: number }[];
  };
  assert.deepEqual([budgets[0]?.tenant, budgets[0]?.usd], ['acme', 2]);
  assert.deepEqual((await api.request('GET /api/budgets', { as: 'reader' })).body, budget.body);
});

test('[A94] [A96] health, its history, the metrics and the scorecard contain measured values, and none where nothing was measured', async (t) => {
  const api = await createApiFixture(t);
  await runPrompt(api, 'hello');
  const health = (await api.request('GET /api/health', { as: 'reader' })).body as {
    readonly rates: { readonly ended: number };
    readonly workers: readonly { readonly alive: boolean }[];
  };
  assert.equal(health.rates.ended, 1);
  assert.equal(health.workers[0]?.alive, true);
  const { stats } = (await api.request('GET /api/health/history?bucketMs=3600000')).body as {
    stats: { ended: number }[];
  };
  assert.equal(
    stats.reduce((sum, { ended }) => sum + ended, 0),
    1,
  );
  assert.equal((await api.request('GET /api/health/history?bucketMs=1000')).status, 400);
  const metrics = await api.request('GET /metrics', { as: 'reader' });
  assert.match(String(metrics.body), /^fairlead_hour_runs 1$/m);
  assert.match(metrics.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const { rows } = (await api.request('GET /api/scorecard', { as: 'reader' })).body as {
    rows: { measured: boolean; good?: number }[];
  };
  assert.ok(rows.length > 0);
  for (const row of rows) assert.deepEqual([row.measured, row.good], [false, undefined]);
});
