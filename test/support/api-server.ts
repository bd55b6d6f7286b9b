// Test fixture: the server on a temporary store with a scripted worker; every response is validated against its schema.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { resolveAgent, createOutputSchema } from '../../src/agent/index.ts';
import { privacyView } from '../../src/coding-agent/private-sessions.ts';
import {
  isObject,
  type ResolvedAgent,
  type FleetRun,
  type FleetStore,
  type Gate,
  type ModelRequest,
  type Tool,
} from '../../src/core/index.ts';
import { createClientTools, createAgentRunHandler, startWorker } from '../../src/fleet/index.ts';
import type { ReleaseStore } from '../../src/coding-agent/releases/index.ts';
import {
  startApiServer,
  loadApiKeys,
  type ApiServer,
  type ServerLimits,
  type ServerOptions,
  type Role,
} from '../../src/server/index.ts';
import { apiRoutes } from '../../src/server/http/routes/index.ts';
import { apiSchemas } from '../../src/server/http/schemas.ts';
import { openFleetStore } from '../../src/stores/open-fleet-store.ts';
import { scriptedProvider, type Script } from '../../src/testing/index.ts';
import { readSseFrames, type SseFrame } from './sse-frames.ts';

export { eventually } from './eventually.ts';
export type { SseFrame };

/** The keys of the server by role; `wrong` is not a valid key. */
export const roleKeys = {
  reader: 'a-key-for-reading-only',
  runner: 'a-key-for-running-things',
  operator: 'a-key-for-operating-all',
  wrong: 'a-key-that-nobody-has',
} as const;

/** The key of a request. */
export type RequestRole = keyof typeof roleKeys | 'nobody';

/** A response. */
export type ApiReply = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/** The options of a request. */
export type ApiRequestOptions = {
  readonly as?: RequestRole;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

/** The options of the fixture. */
export type ApiOptions = {
  readonly script?: Script<ModelRequest>;
  readonly tools?: readonly Tool[];
  readonly gates?: readonly Gate[];
  readonly bounds?: Partial<ServerLimits>;
  /** False to start no worker. */
  readonly worker?: boolean;
  readonly page?: string;
  /** Further folders that runs may work in. */
  readonly folders?: readonly string[];
  /** Further keys, in the format of `HARNESS_API_KEYS`. */
  readonly extraKeys?: string;
  readonly onMessage?: (sentence: string) => void;
  readonly releases?: ReleaseStore;
  readonly replay?: ServerOptions['replay'];
};

/** The server of a test. */
export type ApiFixture = {
  readonly server: ApiServer;
  readonly store: FleetStore;
  readonly url: string;
  /** The default folder of runs. */
  readonly folder: string;
  /** Sends a request, and validates the response. */
  readonly request: (request: string, sending?: ApiRequestOptions) => Promise<ApiReply>;
  /** Waits until a run has a status. */
  readonly waitForStatus: (run: string, status: FleetRun['status']) => Promise<FleetRun>;
};

const unlimitedRate = { burst: 10_000, perSecond: 10_000 };

/** Starts a server that stops with the test. */
export async function createApiFixture(t: TestContext, options: ApiOptions = {}): Promise<ApiFixture> {
  const { releases } = options;
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-api-'));
  const store = await openFleetStore(path.join(folder, 'fleet.sqlite'));
  const listed = (['reader', 'runner', 'operator'] as const).map((role: Role) => `${role}:${roleKeys[role]}`).join(',');
  const server = await startApiServer({
    store,
    keys: loadApiKeys({ env: { HARNESS_API_KEYS: `${listed},${options.extraKeys ?? ''}` }, folder }),
    version: '0.0.0',
    port: 0,
    folder,
    models: async () => ['scripted'],
    views: [privacyView],
    limits: { rate: unlimitedRate, anonymousRate: unlimitedRate, ...options.bounds },
    ...(options.page === undefined ? {} : { staticDir: options.page }),
    ...(options.folders === undefined ? {} : { folders: options.folders }),
    ...(options.replay ? { replay: options.replay } : {}),
    ...(releases ? { releases: async () => ({ releases }) } : {}),
    ...(options.onMessage ? { notify: options.onMessage } : {}),
  });
  const worker = options.worker === false ? undefined : startScriptedWorker(store, options);
  t.after(async () => {
    worker?.abort();
    await Promise.all([server.close(0), worker?.done]);
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    server,
    store,
    folder,
    url: server.url,
    request: (request, sending) => sendApiRequest(server.url, request, sending),
    async waitForStatus(run, status) {
      for (let i = 0; i < 1500; i++, await pause(20)) {
        const now = await store.queue.run(run);
        if (now?.status === status) return now;
      }
      throw new Error(`${run} is not ${status}: ${JSON.stringify(await store.queue.run(run))}`);
    },
  };
}

function startScriptedWorker(store: FleetStore, options: ApiOptions): ReturnType<typeof startWorker> {
  const provider = scriptedProvider(options.script ?? (({ prompt }) => `You said: ${prompt}`));
  const partsFor = ({ settings }: FleetRun): ResolvedAgent =>
    resolveAgent({
      provider,
      system: 'A test.',
      tools: [...(options.tools ?? []), ...createClientTools(settings)],
      gates: options.gates ?? [],
      ...(isObject(settings['answer']) ? { outputSchema: createOutputSchema(settings['answer']) } : {}),
    });
  return startWorker({
    store,
    handlers: {
      run: createAgentRunHandler(async (run) => ({
        parts: partsFor(run),
        limits: { turns: 10 },
        close: async () => {},
      })),
    },
  });
}

/** Sends a request such as `POST /api/runs`. */
export async function sendApiRequest(url: string, request: string, sending: ApiRequestOptions = {}): Promise<ApiReply> {
  const { as = 'operator', body, headers = {}, signal } = sending;
  const [method = 'GET', address = '/'] = request.split(' ');
  const answer = await fetch(`${url}${address}`, {
    method,
    headers: {
      ...(as === 'nobody' ? {} : { authorization: `Bearer ${roleKeys[as]}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
  const text = await answer.text();
  const isJson = (answer.headers.get('content-type') ?? '').startsWith('application/json');
  const reply = { status: answer.status, headers: answer.headers, body: isJson ? (JSON.parse(text) as unknown) : text };
  assertFitsSchema(method, address, reply);
  return reply;
}

/** Throws if a response does not match the schema of its route. */
function assertFitsSchema(method: string, address: string, { status, body }: ApiReply): void {
  const place = new URL(address, 'http://x').pathname;
  const isHere = (pattern: string): boolean => new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(place);
  const route = apiRoutes.find((each) => each.method === method.toLowerCase() && isHere(each.path));
  const isOurs = !place.startsWith('/v1/');
  const schema =
    status < 300 ? route?.responses[status] : isOurs ? apiSchemas.Error : z.object({ error: z.looseObject({}) });
  if (status < 300 && schema === undefined)
    throw new Error(`${method} ${address} says nothing of the status ${status}.`);
  if (typeof schema === 'string' || schema === undefined) return;
  const { success, error } = schema.safeParse(body);
  if (!success)
    throw new Error(
      `${method} ${address} (${status}) does not match its schema: ${z.prettifyError(error)}\n${JSON.stringify(body)}`,
    );
}

/** Reads a stream until it closes or a condition holds. */
export async function* openFrames(
  url: string,
  address: string,
  sending: ApiRequestOptions = {},
): AsyncGenerator<SseFrame> {
  const { as = 'reader', headers = {}, signal } = sending;
  const answer = await fetch(`${url}${address}`, {
    headers: { ...(as === 'nobody' ? {} : { authorization: `Bearer ${roleKeys[as]}` }), ...headers },
    ...(signal ? { signal } : {}),
  });
  yield* readSseFrames(answer);
}
