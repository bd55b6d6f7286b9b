// The HTTP listener of the control thread, on loopback.
import { writeSync } from 'node:fs';
import type { FleetStore } from '../../core/index.ts';
import { createApiKeys } from '../http/keys.ts';
import { serveRoutes } from '../http/serve-routes.ts';
import type { ApiServer } from '../http/server-options.ts';
import type { ControlListenOptions } from './protocol.ts';
import { createControlRoutes, type ControlState } from './routes.ts';

/** Starts the listener. */
export const listenForControl = (
  store: FleetStore,
  { keys, ...options }: ControlListenOptions,
  getState: () => ControlState,
): Promise<ApiServer> =>
  serveRoutes(
    { ...options, store, keys: createApiKeys(keys), host: '127.0.0.1', notify: writeError },
    createControlRoutes(getState),
  );

/** Standard error of a thread is written by the main thread, which may be blocked. */
function writeError(text: string): void {
  try {
    writeSync(2, `${text}\n`);
  } catch {
    // The message is lost; the request has its response.
  }
}
