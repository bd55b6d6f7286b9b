// Options and default values that all stores share.

/** Options of every fleet store. */
export type FleetStoreOptions = {
  /**
   * How long a process may send no heartbeat before other processes take over its sessions and runs, in milliseconds; 10,000 by default.
   * A process on the same machine that has ended is detected at once.
   */
  readonly leaseMs?: number;
  /** Delay before a failed run is tried again, in milliseconds; 1,000 by default. It doubles after each further failure. */
  readonly retryMs?: number;
  /**
   * How often in a row a run may lose its worker before it is ended with the reason instead of being handed out again; 3 by default.
   * A worker is lost if its process crashes, is killed, or sends no heartbeat; a worker that stops in order is not.
   */
  readonly maxWorkerLosses?: number;
};

/** The default values of the options. */
export const storeDefaults: Required<FleetStoreOptions> = { leaseMs: 10_000, retryMs: 1000, maxWorkerLosses: 3 };

/** How many sessions or runs a list returns if the caller sets no limit. */
export const defaultListLimit = 100;
