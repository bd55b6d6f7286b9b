// A simulated process: its clock, its timers and its calls; it can be suspended, killed and cut off.
import { FairleadError, type ProcessPort } from '../src/core/index.ts';
import type { Fault, FaultPlan } from './faults.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** The time at which each schedule starts: half a minute before a full minute, so that cron schedules become due. */
export const startOfTime: number = Date.UTC(2030, 0, 1, 8, 59, 45);

/** What a call reaches: the store, the model, or a tool, whose effect happens at once or never. */
export type CallTarget = 'store' | 'model' | 'tool';

/** A call of a process to something outside. */
export type OutsideCall<T> = {
  readonly name: string;
  readonly target: CallTarget;
  /** What the call does outside, in one step. */
  readonly act: () => T;
  /** The range of the latency in milliseconds; that of a store by default. */
  readonly latency?: readonly [min: number, max: number];
  /** Calls that only wait or poll have no number, so that faults hit calls that matter. */
  readonly uncounted?: boolean;
};

/** A simulated process. */
export type SimulatedProcess = {
  readonly name: string;
  readonly port: ProcessPort;
  readonly isAlive: () => boolean;
  /** Calls back in the process after a delay: later if it is suspended, never if it has ended. Returns the function that cancels it. */
  readonly deliver: (ms: number, fire: () => void) => () => void;
  readonly call: <T>(call: OutsideCall<T>) => Promise<T>;
  readonly suspend: (ms: number) => void;
  readonly kill: () => void;
};

/** What all processes of a schedule share. */
export type ProcessWorld = {
  readonly scheduler: Scheduler;
  readonly plan: FaultPlan;
  readonly trace: ((line: string) => void) | undefined;
  /** Takes the fault of the next counted call. */
  readonly takeFault: () => Fault | undefined;
  readonly crashStore: () => void;
  readonly onFault: (fault: Fault) => void;
  readonly onSuspend: (process: string, ms: number) => void;
  readonly onEnd: (process: SimulatedProcess) => void;
  /** Called when the clock of a process jumps; `leadMs` is how far it is ahead. */
  readonly onClockLead: (leadMs: number) => void;
};

const unreachableError = (): FairleadError =>
  new FairleadError('store/unreachable', 'The store cannot be reached.', { blame: 'store', retry: true });
const modelGoneError = (): FairleadError =>
  new FairleadError('provider/cut', 'The connection to the model dropped.', { blame: 'provider', retry: true });

/** Creates a process. `isFaulty`: faults can hit its calls. */
export function createProcess(world: ProcessWorld, name: string, random: Random, isFaulty: boolean): SimulatedProcess {
  const { scheduler, trace } = world;
  let alive = true;
  let suspendedUntil = 0;
  let cutOffUntil = 0;
  let leadMs = 0;
  let ids = 0;

  function deliver(ms: number, fire: () => void): () => void {
    let cancel = scheduler.after(ms, function attempt() {
      if (!alive) return;
      const left = suspendedUntil - scheduler.now();
      // What waited for the process comes in any order once it continues.
      if (left > 0) cancel = scheduler.after(left + random.next() * 2, attempt);
      else fire();
    });
    return () => cancel();
  }

  function suspend(ms: number): void {
    suspendedUntil = Math.max(suspendedUntil, scheduler.now() + ms);
    world.onSuspend(name, ms);
  }

  function kill(): void {
    if (!alive) return;
    alive = false;
    trace?.(`${name} ends`);
    world.onEnd(self);
  }

  /** Applies what a fault does to the process or to the store; delays and errors are applied by the call. */
  function applyFault(fault: Fault, callName: string): void {
    trace?.(`FAULT ${fault.kind} ${fault.ms} ms at ${callName} of ${name}`);
    world.onFault(fault);
    if (fault.kind === 'partition') cutOffUntil = scheduler.now() + fault.ms;
    if (fault.kind === 'store-crash') world.crashStore();
    if (fault.kind !== 'clock-jump') return;
    leadMs = fault.ms;
    world.onClockLead(leadMs);
  }

  function call<T>({ name: callName, target, act, latency = [0.3, 6], uncounted = false }: OutsideCall<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (!alive) return promise;
    const drawn = isFaulty && !uncounted ? world.takeFault() : undefined;
    const fault = drawn && { ...drawn, kind: target === 'tool' ? toToolFault(drawn.kind) : drawn.kind };
    if (fault) applyFault(fault, callName);
    const kind = fault?.kind;
    if (kind === 'crash-before') {
      kill();
      return promise;
    }
    if (kind === 'suspend-before') suspend(fault?.ms ?? 0);
    const lostError = target === 'model' ? modelGoneError : unreachableError;
    const drawLatency = (): number => (random.chance(0.02) ? random.between(40, 120) : random.between(...latency));
    const respond = (ms: number, settle: () => void): void => void deliver(ms, settle);
    const execute = (): void => {
      if (kind === 'lost-request' || (target === 'store' && scheduler.now() < cutOffUntil)) {
        trace?.(`${name} ${callName}: not executed`);
        return respond(drawLatency(), () => reject(lostError()));
      }
      let settle: () => void;
      try {
        const value = act();
        settle = () => resolve(value);
        if (!uncounted) trace?.(`${name} ${callName}${formatValue(value)}`);
      } catch (error) {
        settle = () => reject(error);
        trace?.(`${name} ${callName}: ${String(error)}`);
      }
      if (kind === 'lost-response') settle = () => reject(lostError());
      if (kind === 'suspend-after') suspend(fault?.ms ?? 0);
      respond(drawLatency() + (kind === 'slow-after' ? (fault?.ms ?? 0) : 0), settle);
      if (kind === 'crash-after') kill();
    };
    // The effect of a tool happens at once or never: a process that was checked just before it is not suspended in between.
    if (target === 'tool') execute();
    else if (kind === 'suspend-before') deliver(0, () => void scheduler.after(drawLatency(), execute));
    else scheduler.after(drawLatency() + (kind === 'slow-before' ? (fault?.ms ?? 0) : 0), execute);
    return promise;
  }

  const self: SimulatedProcess = {
    name,
    isAlive: () => alive,
    deliver,
    call,
    suspend,
    kill,
    port: {
      now: () => startOfTime + Math.floor(scheduler.now()) + leadMs,
      monotonicMs: () => scheduler.now(),
      timer: deliver,
      randomId: () => `${name.padStart(8, '0').slice(0, 8)}-${(ids += 1)}`,
    },
  };
  return self;
}

/** A tool call cannot be delayed or lost before its effect. */
function toToolFault(kind: Fault['kind']): Fault['kind'] {
  if (kind === 'suspend-before') return 'suspend-after';
  if (kind === 'slow-before') return 'slow-after';
  return kind === 'lost-request' || kind === 'lost-response' ? 'crash-after' : kind;
}

const formatValue = (value: unknown): string => {
  if (value === undefined) return '';
  const text = JSON.stringify(value) ?? '';
  return ` → ${text.length > 160 ? `${text.slice(0, 160)}…` : text}`;
};
