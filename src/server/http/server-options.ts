// The options of the HTTP server, and the running server.
import type { FleetStore } from '../../core/index.ts';
import type { HealthOptions } from '../../fleet/health/index.ts';
import type { TerminalSessions } from '../../sessions/index.ts';
import type { ApiKeys } from './keys.ts';
import type { ReplayHandler, ServedReleases, ServerContext, ServerLimits } from './context.ts';

/** The options of a server. */
export type ServerOptions = {
  readonly store: FleetStore;
  readonly keys: ApiKeys;
  readonly version: string;
  /** 127.0.0.1 by default; an address that other machines can reach needs configured keys. */
  readonly host?: string;
  /** 8080 by default; 0 for any free port. */
  readonly port?: number;
  /** Further values of the Host header that are allowed. */
  readonly allowedHosts?: readonly string[];
  readonly staticDir?: string;
  /** The default folder of runs, and further folders that runs may work in. */
  readonly folder: string;
  readonly folders?: readonly string[];
  /** The sessions of the terminal of the user who starts the server. Only the owner's key may read them, and only if the server listens on this machine alone. */
  readonly terminalSessions?: TerminalSessions;
  /** Objectives and thresholds of the health report. */
  readonly health?: HealthOptions;
  /** The directory of the measurements of this machine. */
  readonly measurementsDir?: string;
  /** Lists the stored calibrations; none by default. */
  readonly calibrations?: ServerContext['calibrations'];
  /** Opens the releases of the fleet; none by default. */
  readonly releases?: () => Promise<ServedReleases>;
  /** Views whose state an edit or a fork of a session keeps, besides that of the inbox. */
  readonly views?: ServerContext['views'];
  /** Replays sessions with the current configuration and, for an operator, live models; by default a recording is compared with itself. */
  readonly replay?: ReplayHandler;
  readonly models?: ServerContext['models'];
  readonly isModel?: ServerContext['isModel'];
  readonly limits?: Partial<ServerLimits>;
  readonly notify?: (message: string) => void;
};

/** A running server. */
export type ApiServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  /** Accepts no new requests, ends the streams and waits for active requests; after `graceMs` their connections are closed. */
  close(graceMs?: number): Promise<void>;
};

/** The default port. */
export const defaultServerPort = 8080;
