// Starts the HTTP server, alone or together with a worker for one agent.
import { worker, type AgentSource, type AgentWorkerOptions } from '../../fleet/index.ts';
import { type ApiKeys, createApiKeys, type ApiKey } from './keys.ts';
import { apiRoutes } from './routes/index.ts';
import { serveRoutes } from './serve-routes.ts';
import type { ApiServer, ServerOptions } from './server-options.ts';

/** Starts a server. */
export const startApiServer = (options: ServerOptions): Promise<ApiServer> => serveRoutes(options, apiRoutes);

/** The options of a server in a program of your own. */
export type CreateServerOptions = Omit<ServerOptions, 'keys' | 'version' | 'folder'> &
  Partial<Pick<ServerOptions, 'version' | 'folder'>> & {
    /** The agent of the runs: an `Agent`, or a function that creates one for each run. Without it, other processes must handle the runs. */
    readonly agent?: AgentSource;
    /** The key of an operator, or keys with their roles. */
    readonly keys: string | readonly ApiKey[] | ApiKeys;
    /** Options of the worker, such as `concurrency` and handlers of further kinds of runs. */
    readonly worker?: Omit<AgentWorkerOptions, 'store' | 'agent'>;
  };

/** Starts the HTTP API and, if there is an agent, a worker. `close` lets the worker finish its current steps; the store stays open. */
export async function createServer({
  agent,
  keys,
  worker: workerOptions,
  version = '0.0.0',
  folder = process.cwd(),
  ...options
}: CreateServerOptions): Promise<ApiServer> {
  const { store, notify } = options;
  const models = async (): Promise<readonly string[]> =>
    agent === undefined || typeof agent === 'function' ? [] : [(await agent.resolve()).provider.model];
  const server = await startApiServer({ models, ...options, version, folder, keys: toApiKeys(keys) });
  if (agent === undefined) return server;
  const running = worker({ store, agent, ...(notify ? { notify } : {}), ...workerOptions }).start();
  const close = async (graceMs?: number): Promise<void> => {
    running.stop();
    await Promise.all([server.close(graceMs), running.done]);
  };
  return { ...server, close, [Symbol.asyncDispose]: () => close() };
}

function toApiKeys(keys: CreateServerOptions['keys']): ApiKeys {
  if (typeof keys === 'string') return createApiKeys([{ role: 'operator', key: keys }]);
  return 'authenticate' in keys ? keys : createApiKeys(keys);
}
