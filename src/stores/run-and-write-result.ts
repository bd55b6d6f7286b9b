// Handles one claimed run: calls the handler, then writes the result until that succeeds or the run is lost to another worker.
import {
  FairleadError,
  sleepOn,
  systemPort,
  type FleetRun,
  type ProcessPort,
  type RunSettlement,
  type WorkOptions,
} from '../core/index.ts';
import { undefinedOnAbort } from './timeouts.ts';

/** A run that this process has claimed: the token of the lease it is held under, and the number of the attempt. */
export type RunClaim = {
  readonly run: FleetRun;
  readonly key: number;
  readonly holder: string;
  readonly attempt: number;
};

/** How a store writes the result of a claimed run. */
export type RunResultWriter<Claim extends RunClaim> = {
  readonly onLost: (token: string, listener: () => void) => () => void;
  readonly complete: (claim: Claim, settlement: RunSettlement) => Promise<void>;
  /** Queues the run again after a delay, or ends it after too many failures. Returns the delay in milliseconds; 0 if it ended. */
  readonly fail: (claim: Claim, thrown: unknown) => Promise<number>;
  readonly isClosed: () => boolean;
  /** The timers; those of this process by default. */
  readonly port?: Pick<ProcessPort, 'timer'>;
};

/** Handles a run. Returns the delay after which it is tried again, in milliseconds; 0 if it is not. */
export async function runAndWriteResult<Claim extends RunClaim>(
  claim: Claim,
  handle: WorkOptions['handle'],
  writer: RunResultWriter<Claim>,
): Promise<number> {
  const control = new AbortController();
  const removeListener = writer.onLost(claim.holder, () => control.abort(runLostError(claim.run.id)));
  try {
    const write = await handle(claim.run, control.signal).then(
      (settlement) => () => writer.complete(claim, settlement).then(() => 0),
      (error: unknown) => () => writer.fail(claim, error),
    );
    return await writeWithRetry(writer, control.signal, write);
  } finally {
    removeListener();
  }
}

/** The result must be written: a store that is unreachable is tried again until the run belongs to another worker. */
async function writeWithRetry(
  { isClosed, port = systemPort }: Pick<RunResultWriter<RunClaim>, 'isClosed' | 'port'>,
  signal: AbortSignal,
  write: () => Promise<number>,
): Promise<number> {
  for (let delay = 100; !signal.aborted && !isClosed(); delay = Math.min(5000, delay * 2)) {
    try {
      return (await undefinedOnAbort(signal, write())) ?? 0;
    } catch {
      await sleepOn(port, delay, signal);
    }
  }
  return 0;
}

const runLostError = (run: string): FairleadError =>
  new FairleadError('run/left', `Run ${run} was taken over by another worker.`, { blame: 'store' });
