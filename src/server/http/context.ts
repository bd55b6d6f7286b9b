// Context of the HTTP routes: the store as the client sees it, keys, limits, broadcasters, models and folders.
import type { StoredCalibration } from '../../checks/index.ts';
import type { CanaryMonitorOptions } from '../../coding-agent/releases/index.ts';
import type { Event, NamedView } from '../../core/index.ts';
import type { Health } from '../../fleet/health/index.ts';
import type { ApiKeys } from './keys.ts';
import type { RequestRate } from './request-guards.ts';
import type { RunFolders } from './run-authority.ts';
import type { ScopedStore } from './scoped-store.ts';
import type { SessionReplay, TerminalSessions } from '../../sessions/index.ts';
import type { Broadcasters } from './session-broadcaster.ts';

/** The limits of a server. */
export type ServerLimits = {
  /** Bytes of a request body. */
  readonly bodyBytes: number;
  /** Bytes of the runs of one tenant that have not ended. */
  readonly queuedBytes: number;
  /** Concurrent connections. */
  readonly connections: number;
  /** Concurrent requests, without streams; routes without a key have the same limit of their own. */
  readonly requests: number;
  /** Concurrent event streams. */
  readonly streams: number;
  /** Requests per key. */
  readonly rate: RequestRate;
  /** Requests without a valid key, per address. */
  readonly anonymousRate: RequestRate;
  /** Milliseconds until the headers, and the whole request, must have arrived. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** Milliseconds after which a client that does not read its response is disconnected. */
  readonly stallMs: number;
  /** Milliseconds between keep-alive comments on a stream. */
  readonly pingMs: number;
  /** Milliseconds that an OpenAI stream waits for its first chunk: an error until then is an HTTP status, as clients expect. */
  readonly firstChunkMs: number;
};

/** The default limits. */
export const defaultServerLimits: ServerLimits = {
  bodyBytes: 4 * 1024 * 1024,
  queuedBytes: 256 * 1024 * 1024,
  connections: 6000,
  requests: 256,
  streams: 4096,
  rate: { burst: 200, perSecond: 50 },
  anonymousRate: { burst: 50, perSecond: 5 },
  headersMs: 10_000,
  requestMs: 60_000,
  stallMs: 30_000,
  pingMs: 15_000,
  firstChunkMs: 2000,
};

/** The stored calibrations, and one sentence about each file that is damaged. */
export type StoredCalibrations = {
  readonly calibrations: readonly StoredCalibration[];
  readonly problems: readonly string[];
};

/** The releases of the fleet, and when a canary is rolled back or activated. */
export type ServedReleases = Pick<CanaryMonitorOptions, 'releases' | 'canary'>;

/** What a client asks of a replay. */
export type ReplayRequest = {
  /** Whether the requests are compared with those of the current configuration. */
  readonly isComparable: boolean;
  /** The turn from which a live model answers, and its name. */
  readonly from?: number;
  readonly model?: string;
  readonly signal: AbortSignal;
};

/** Replays the events of a session; it runs no tool. */
export type ReplayHandler = (events: readonly Event[], request: ReplayRequest) => Promise<SessionReplay>;

/** The context of the routes. */
export type ServerContext = {
  /** What the client of the request may see and do; never the store of all tenants. */
  readonly store: ScopedStore;
  readonly version: string;
  readonly keys: ApiKeys;
  readonly broadcasters: Broadcasters;
  /** Reads the health of the fleet, or of the part that the tenant of the client may see; concurrent requests share one read. */
  readonly health: () => Promise<Health>;
  /** The directory of the measurements of this machine, if there is one. */
  readonly measurementsDir: string | undefined;
  /** Lists the stored calibrations of this machine. */
  readonly calibrations: () => StoredCalibrations;
  /** Opens the releases of this machine; absent on a server without releases. */
  readonly releases: (() => Promise<ServedReleases>) | undefined;
  /** Replays sessions; absent on a server that compares recordings with themselves only. */
  readonly replay: ReplayHandler | undefined;
  /** The models that a run may name, the default first. */
  readonly models: () => Promise<readonly string[]>;
  /** Whether a run may name a model that is not in that list. */
  readonly isModel: (model: string) => Promise<boolean>;
  readonly folders: RunFolders;
  /** The sessions of the user's terminal; absent for every key but the owner's, and on a server that other machines can reach. */
  readonly terminalSessions: TerminalSessions | undefined;
  /** Views whose state an edit or a fork of a session keeps. */
  readonly views: readonly NamedView<unknown>[];
  /** The directory of the built dashboard, if it was built. */
  readonly staticDir: string | undefined;
  readonly limits: ServerLimits;
  /** Reports internal errors; never a key. */
  readonly notify: (message: string) => void;
  /** Aborts when the server closes: it then accepts no new runs. */
  readonly shutdownSignal: AbortSignal;
};
