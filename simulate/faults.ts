// The faults of a schedule: which ones, and at which calls of the workers. They follow from the seed alone.
import type { Random } from './random.ts';

/**
 * What can happen at a call. `crash`: the process ends; `suspend`: it does nothing for a while and then continues, unaware; `slow`: the
 * call takes long while the process goes on; `lost`: the caller gets an error, although `lost-response` took effect; `partition`: for a
 * while all calls of the process fail; `clock-jump`: its wall clock jumps; `store-crash`: the store loses what was not durable.
 */
export const faultKinds = [
  'crash-before',
  'crash-after',
  'suspend-before',
  'suspend-after',
  'slow-before',
  'slow-after',
  'lost-request',
  'lost-response',
  'partition',
  'clock-jump',
  'store-crash',
] as const;

/** A kind of fault. */
export type FaultKind = (typeof faultKinds)[number];

/** A fault at the call with this number, counted over all workers. */
export type Fault = { readonly at: number; readonly kind: FaultKind; readonly ms: number };

/** All faults of a schedule. */
export type FaultPlan = {
  readonly faults: readonly Fault[];
  /** Notifications of the store are lost and doubled. */
  readonly lossyNotifications: boolean;
  /** Users send each request twice at times. */
  readonly duplicateRequests: boolean;
  /** A process that ended is known to have ended at once, as on one machine; otherwise when its lease expires. */
  readonly sameMachine: boolean;
};

/** The largest clock error that is injected, in milliseconds. */
export const maxClockLeadMs = 3_600_000;

/** Draws the faults of a schedule; `calls` is about how many calls its workers make, `leaseMs` the lease of the store. */
export function createFaultPlan(random: Random, calls: number, leaseMs: number, maxLeadMs: number): FaultPlan {
  const count = random.chance(0.1) ? 0 : 1 + random.index(5);
  const faults: Fault[] = [];
  for (let i = 0; i < count; i++) {
    const last = faults.at(-1);
    // What recovers from a fault is hit by the next one: faults come in bursts.
    const at = last && random.chance(0.4) ? last.at + 1 + random.index(3) : random.index(calls);
    const kind = last && random.chance(0.3) ? last.kind : random.pick(faultKinds);
    faults.push({ at, kind, ms: drawDuration(random, kind, leaseMs, maxLeadMs) });
  }
  return {
    faults: faults.toSorted((a, b) => a.at - b.at),
    lossyNotifications: random.chance(0.4),
    duplicateRequests: random.chance(0.4),
    sameMachine: random.chance(0.5),
  };
}

function drawDuration(random: Random, kind: FaultKind, leaseMs: number, maxLeadMs: number): number {
  if (kind === 'clock-jump') return Math.round(random.between(-maxLeadMs, maxLeadMs));
  // Around the limits that matter: the slow append, the lease, and well beyond it.
  return Math.round(random.pick([0.1, 0.3, 0.9, 1.1, 1.5, 3]) * leaseMs * random.between(0.9, 1.1));
}

/** Formats a fault for a trace. */
export const formatFault = ({ at, kind, ms }: Fault): string =>
  `call ${at}: ${kind}${kind.startsWith('crash') || kind.startsWith('lost') ? '' : ` ${ms} ms`}`;
