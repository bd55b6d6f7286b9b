// What the main thread and the control thread of a process exchange.
import type { WorkerStatus } from '../../fleet/index.ts';
import type { ApiKey } from '../http/keys.ts';
import type { ServerOptions } from '../http/server-options.ts';

/** The listener of a control thread: the same guards as those of the main listener, on loopback. */
export type ControlListenOptions = Pick<ServerOptions, 'version' | 'folder'> &
  Pick<ServerOptions, 'allowedHosts' | 'limits' | 'health'> & {
    readonly keys: readonly ApiKey[];
    /** 0 for any free port. */
    readonly port: number;
  };

/** What a control thread is started with. */
export type ControlThreadData = {
  /** The module that starts the thread: in a bundle, other modules of the same file are loaded with it. */
  readonly fairlead: string;
  /** A counter that the main thread increases while it answers. */
  readonly beats: SharedArrayBuffer;
  /** Whether the program uses a compile cache, which the thread then uses too. */
  readonly usesCompileCache: boolean;
  /** The location of the store, which the thread opens itself. */
  readonly store: string;
  /** Milliseconds without an answer of the main thread after which the process is ended; 0 for never. */
  readonly watchdogMs: number;
  readonly listen?: ControlListenOptions;
};

/** A message of the main thread. */
export type ToControlThread = { readonly type: 'status'; readonly status: WorkerStatus } | { readonly type: 'close' };

/** A message of the control thread. */
export type FromControlThread =
  | { readonly type: 'ready'; readonly url: string | undefined }
  | { readonly type: 'failed'; readonly message: string };
