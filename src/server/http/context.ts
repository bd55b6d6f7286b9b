// What the routes stand on: the store of the fleet, who watches, and what the command that started the server knows.
import type { FleetStore, NamedView } from '../../core/index.ts';
import type { Health } from '../../fleet/health/index.ts';
import type { ApiKeys } from './keys.ts';
import type { RequestRate } from './request-guards.ts';
import type { Broadcasters } from './broadcasters.ts';

/** The bounds of a server. */
export type ServerLimits = {
  /** Bytes of a body. */
  readonly bodyBytes: number;
  /** Connections at once. */
  readonly connections: number;
  /** Requests under way at once, streams apart; and as many more for the page and whatever else needs no key. */
  readonly requests: number;
  /** Streams open at once. */
  readonly streams: number;
  /** How often one key may ask. */
  readonly rate: RequestRate;
  /** How often somebody at one address may come with no key or a wrong one. */
  readonly anonymousRate: RequestRate;
  /** Milliseconds for the headers of a request, and for all of it, to arrive. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** Milliseconds for which a client may read nothing of its answer. */
  readonly stallMs: number;
  /** Milliseconds between signs of life on a stream. */
  readonly pingMs: number;
  /** Milliseconds for which a stream of OpenAI's waits for its first word: what fails until then fails by its status, as clients expect. */
  readonly firstChunkMs: number;
};

/** The bounds unless others are given. */
export const defaultServerLimits: ServerLimits = {
  bodyBytes: 4 * 1024 * 1024,
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

/** What a server is made of. */
export type ServerContext = {
  readonly store: FleetStore;
  readonly version: string;
  readonly keys: ApiKeys;
  readonly broadcasters: Broadcasters;
  /** How the fleet is, read once for many who ask. */
  readonly health: () => Promise<Health>;
  /** The folder of what was measured on this machine; nothing where there is none. */
  readonly measurementsDir: string | undefined;
  /** The models that can be asked for by name, the usual one first. */
  readonly models: () => Promise<readonly string[]>;
  /** Whether a model that is not in that list can be asked for all the same. */
  readonly isModel: (model: string) => Promise<boolean>;
  /** The folders in which runs may work, without links; those that name none work in the first. */
  readonly folders: readonly [string, ...string[]];
  /** What an edit or a fork of a session takes along of what was seen in it. */
  readonly views: readonly NamedView<unknown>[];
  /** Where the page was built; nothing where it was not. */
  readonly staticDir: string | undefined;
  readonly limits: ServerLimits;
  /** Is told what went wrong inside; never a key. */
  readonly notify: (sentence: string) => void;
  /** Aborts when the server ends: it takes no new work from then on. */
  readonly shutdownSignal: AbortSignal;
};
