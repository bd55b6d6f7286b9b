// The runs of the simulated store: enqueued, claimed, settled, woken, cancelled and taken over, with the same rules as the stores on databases.
import { zeroUsage, type InboxMessage, type NewRun, type RunOutcome, type RunSettlement } from '../src/core/index.ts';
import { formatInboxMessage } from '../src/stores/inbox-row.ts';
import { parseKillSwitchState, killSwitchRowName } from '../src/stores/kill-switch.ts';
import type { RunClaim } from '../src/stores/run-and-write-result.ts';
import {
  computeRetryDelayMs,
  maxFailures,
  parseQueueLimits,
  rateDelayMs,
  storedWaitingStatus,
  toFleetRun,
  tooManyFailuresOutcome,
  toNewRunRow,
  toOutcomeColumns,
  toRestTime,
  workerLostOutcome,
  type RunRow,
} from '../src/stores/run-row.ts';
import { toDueRun } from '../src/stores/schedules.ts';
import type { Protection } from './protections.ts';
import type { Journal } from './store-tables.ts';

/** What the runs of a store need besides its tables. */
export type RunsContext = {
  readonly tables: Journal;
  /** The clock of the store. */
  readonly now: () => number;
  readonly nextKey: () => number;
  readonly notify: (topic: string) => void;
  readonly isLeaseValid: (token: string) => boolean;
  readonly isRemoved: (protection: Protection) => boolean;
};

/** A claim of runs by a worker. */
export type ClaimRequest = {
  readonly worker: string;
  readonly token: string;
  readonly version: string | undefined;
  readonly maxRuns: number;
};

/** The changes of runs. All but `findNext`, `msUntilNext` and `isDrained` must be called within a transaction. */
export type StoreRuns = {
  readonly add: (run: NewRun) => RunRow;
  readonly findNext: (version: string | undefined) => RunRow | undefined;
  readonly msUntilNext: (maxMs: number) => number;
  readonly isDrained: (version: string | undefined) => boolean;
  readonly claim: (request: ClaimRequest) => readonly RunClaim[];
  readonly complete: (claim: RunClaim, settlement: RunSettlement) => void;
  /** Returns the delay after which the run is tried again; 0 if it is not. */
  readonly fail: (claim: RunClaim, reason: string, retryMs: number) => number;
  readonly end: (row: RunRow, outcome: RunOutcome) => void;
  readonly wake: (id: string) => void;
  readonly cancel: (id: string, detail: string) => RunRow | undefined;
  /** Queues the runs of a lost worker again. */
  readonly requeueLost: (token: string, maxLosses: number) => void;
  /** Queues the runs that a lease holds and that its process does not handle. `handled` has each as its run and its attempt. */
  readonly requeueUnknown: (token: string, handled: ReadonlySet<string>) => void;
  readonly send: (session: string, message: InboxMessage) => number;
  readonly enqueueDueSchedules: () => void;
};

/** The open runs block the other runs of their sessions. */
const isOpen = ({ status, started }: RunRow): boolean => status !== 'ended' && started !== null;

/** Creates the changes of runs on tables. */
export function createStoreRuns(context: RunsContext): StoreRuns {
  const { tables, now, nextKey, notify, isRemoved } = context;
  const { runs, letters, control, schedules } = tables;

  const patch = (row: RunRow, fields: Partial<RunRow>): RunRow => {
    const current = { ...(runs.get(row.id) ?? row), ...fields };
    runs.set(row.id, current);
    notify('queue');
    return current;
  };
  const requeue = (row: RunRow, due: number): void =>
    void patch(row, {
      status: 'queued',
      due: Math.max(due, runs.get(row.id)?.later ?? 0),
      holder: null,
      questions: null,
    });

  function add(newRun: NewRun): RunRow {
    const columns = toNewRunRow(newRun);
    const known = runs.get(columns.id);
    if (known && !isRemoved('known-run')) return known;
    const queued = now();
    const row: RunRow = {
      ...columns,
      key: nextKey(),
      status: 'queued',
      attempts: 0,
      failures: 0,
      losses: 0,
      woken: 0,
      queued,
      due: columns.later ?? queued,
      started: null,
      ended: null,
      worker: null,
      holder: null,
      version: null,
      questions: null,
      outcome: null,
    };
    runs.set(row.id, row);
    notify('queue');
    return row;
  }

  function findNext(version: string | undefined): RunRow | undefined {
    const all = runs.rows();
    const { concurrency = Infinity, tenantConcurrency = Infinity, rate } = parseQueueLimits(control.get('limits'));
    const running = all.filter(({ status }) => status === 'running');
    if (running.length >= concurrency) return undefined;
    if (rate) {
      const since = now() - rate.ms;
      if (takenTimes.filter((time) => time > since).length >= rate.runs) return undefined;
    }
    if (parseKillSwitchState(control.get(killSwitchRowName)).stopped && !isRemoved('kill-switch')) return undefined;
    const isFull = (tenant: string): boolean =>
      running.filter((each) => each.tenant === tenant).length >= tenantConcurrency;
    const blocked = new Map(all.filter(isOpen).map((row) => [row.session, row.key]));
    let best: RunRow | undefined;
    for (const row of all) {
      if (row.status !== 'queued' || row.due > now() || isFull(row.tenant)) continue;
      if (version !== undefined && row.version !== null && row.version !== version) continue;
      if ((blocked.get(row.session) ?? row.key) !== row.key && !isRemoved('session-order')) continue;
      if (!best || row.priority > best.priority || (row.priority === best.priority && row.key < best.key)) best = row;
    }
    return best;
  }

  /** When runs were claimed, for the rate limit. */
  const takenTimes: number[] = [];

  const findClaimed = ({ run, holder, attempt }: RunClaim): RunRow | undefined => {
    const row = runs.get(run.id);
    return row?.status === 'running' && row.holder === holder && row.attempts === attempt ? row : undefined;
  };

  const hasUnreadMessages = (session: string): boolean =>
    letters
      .rows()
      .some((letter) => letter.session === session && /"type":"(prompt|steer|follow-up)"/.test(letter.message));

  function send(session: string, message: InboxMessage): number {
    const position = nextKey();
    letters.set(String(position), { position, session, time: now(), message: formatInboxMessage(message) });
    notify('inbox');
    notify(`inbox ${session}`);
    return position;
  }

  function end(row: RunRow, result: RunOutcome): void {
    const { outcome, reason, usd, tokens } = toOutcomeColumns(result);
    patch(row, { status: 'ended', ended: now(), holder: null, questions: null, outcome });
    tables.costs.set(row.id, { reason, usd, tokens });
    const parent = row.parent === null ? undefined : runs.get(row.parent);
    if (!parent || parent.status === 'ended') return;
    send(parent.session, { type: 'ended', run: row.id });
    wake(parent.id);
  }

  function wake(id: string): void {
    if (isRemoved('wake')) return;
    const row = runs.get(id);
    if (row?.status === storedWaitingStatus) requeue(row, now());
    if (row?.status === 'running') patch(row, { woken: 1 });
  }

  function cancel(id: string, detail: string): RunRow | undefined {
    const row = runs.get(id);
    if (row?.status === 'running') {
      send(row.session, { type: 'cancel', run: id });
      wake(id);
    } else if (row && row.status !== 'ended') end(row, { reason: 'cancelled', detail, text: '', spent: zeroUsage });
    for (const child of row ? runs.rows() : [])
      if (child.parent === id && child.status !== 'ended') cancel(child.id, detail);
    return runs.get(id);
  }

  return {
    add,
    findNext,
    msUntilNext(maxMs) {
      const waits = runs.rows().flatMap(({ status, due }) => (status === 'queued' && due > now() ? [due - now()] : []));
      return Math.max(1, Math.min(maxMs, rateDelayMs(parseQueueLimits(control.get('limits'))), ...waits));
    },
    isDrained(version) {
      const all = runs.rows();
      const own = all.filter((row) => version === undefined || row.version === null || row.version === version);
      if (own.some(({ status }) => status === 'running')) return false;
      return !own.some(
        (row) =>
          row.status === 'queued' &&
          (row.later ?? 0) <= now() &&
          !all.some(
            (other) =>
              other.session === row.session &&
              other.key !== row.key &&
              isOpen(other) &&
              (other.status === storedWaitingStatus ||
                (version !== undefined && other.version !== null && other.version !== version)),
          ),
      );
    },
    claim({ worker, token, version, maxRuns }) {
      const claims: RunClaim[] = [];
      if (!context.isLeaseValid(token)) return claims;
      for (let row = findNext(version); row && claims.length < maxRuns; row = findNext(version)) {
        takenTimes.push(now());
        const claimed = patch(row, {
          status: 'running',
          attempts: row.attempts + 1,
          woken: 0,
          started: row.started ?? now(),
          worker,
          holder: token,
          version: row.version ?? version ?? null,
          questions: null,
        });
        claims.push({ run: toFleetRun(claimed), key: claimed.key, holder: token, attempt: claimed.attempts });
      }
      return claims;
    },
    complete(claim, settlement) {
      const row = findClaimed(claim);
      if (!row) return;
      if (
        settlement.type === 'completed' &&
        !(row.woken === 1 && hasUnreadMessages(row.session) && !isRemoved('unread-message'))
      ) {
        end(row, settlement.outcome);
        return;
      }
      const rest =
        settlement.type === 'released' && settlement.notBefore !== undefined && row.woken !== 1
          ? { later: toRestTime(settlement.notBefore) }
          : {};
      patch(row, { failures: 0, losses: 0, ...rest });
      if (settlement.type !== 'waiting' || row.woken === 1) requeue(row, now());
      else
        patch(row, {
          status: storedWaitingStatus,
          holder: null,
          questions: JSON.stringify(settlement.pendingApprovals),
        });
    },
    fail(claim, reason, retryMs) {
      const row = findClaimed(claim);
      if (!row) return 0;
      const failures = row.failures + 1;
      if (failures >= maxFailures) {
        end(row, tooManyFailuresOutcome(failures, reason));
        return 0;
      }
      const delayMs = computeRetryDelayMs(row.failures, retryMs);
      patch(row, { failures, losses: 0 });
      requeue(row, now() + delayMs);
      return delayMs;
    },
    end,
    wake,
    cancel,
    requeueLost(token, maxLosses) {
      for (const row of runs.rows()) {
        if (row.status !== 'running' || row.holder !== token) continue;
        const losses = row.losses + 1;
        if (losses >= maxLosses) end(row, workerLostOutcome(losses));
        else requeue(patch(row, { losses }), now());
      }
    },
    requeueUnknown(token, handled) {
      if (isRemoved('lost-claim')) return;
      for (const row of runs.rows())
        if (row.status === 'running' && row.holder === token && !handled.has(`${row.id} ${row.attempts}`))
          requeue(row, now());
    },
    send,
    enqueueDueSchedules() {
      for (const schedule of schedules.rows()) {
        if (schedule.next > now()) continue;
        const { run, next } = toDueRun(schedule, now());
        add(run);
        schedules.set(schedule.name, { ...schedule, next });
      }
    },
  };
}
