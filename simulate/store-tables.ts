// The tables of the simulated store, with a journal: a crash of the store loses the last writes that were not durable.
import type { Event } from '../src/core/index.ts';
import type { BudgetRow } from '../src/stores/budget-row.ts';
import type { RunRow } from '../src/stores/run-row.ts';
import type { ScheduleRow } from '../src/stores/schedules.ts';

/** Rows by key. A change can be undone. */
export type Table<Row> = {
  readonly get: (key: string) => Row | undefined;
  readonly set: (key: string, row: Row) => void;
  readonly remove: (key: string) => boolean;
  /** All rows, oldest first. */
  readonly rows: () => readonly Row[];
};

/** A session with its events. */
export type SessionEntry = {
  readonly key: number;
  readonly session: string;
  readonly events: readonly Event[];
  readonly fence: number;
  /** The token of the lease that holds it, and the name of its writer. */
  readonly holder: string | null;
  readonly holderName: string | null;
  readonly tenant: string | null;
  readonly name: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** A message in the inbox: its JSON as a row of a database has it. */
export type LetterEntry = {
  readonly position: number;
  readonly session: string;
  readonly time: number;
  readonly message: string;
};

/** The lease of a process. */
export type LeaseEntry = {
  readonly token: string;
  readonly process: string;
  readonly seen: number;
  readonly leaseMs: number;
};

/** An amount that a tenant has reserved or spent on a day. */
export type AmountEntry = {
  readonly tenant: string;
  readonly day: string;
  readonly usd: number;
  readonly tokens: number;
};

/** A registered worker. */
export type WorkerEntry = { readonly worker: string; readonly entry: string; readonly seen: number };

/** What an ended run cost, for statistics. */
export type EndedCost = { readonly reason: string; readonly usd: number; readonly tokens: number };

/** All tables of a store. */
export type StoreTables = {
  readonly runs: Table<RunRow>;
  readonly costs: Table<EndedCost>;
  readonly sessions: Table<SessionEntry>;
  readonly letters: Table<LetterEntry>;
  readonly leases: Table<LeaseEntry>;
  readonly budgets: Table<BudgetRow>;
  readonly reserved: Table<AmountEntry>;
  readonly spent: Table<AmountEntry>;
  readonly control: Table<string>;
  readonly workers: Table<WorkerEntry>;
  readonly schedules: Table<ScheduleRow>;
};

/** The tables and their journal. */
export type Journal = StoreTables & {
  /** Changes the tables in one step, or not at all if the change throws. */
  readonly transact: <T>(durable: boolean, change: () => T) => T;
  /** Within a change: registers what else is undone with it. */
  readonly onUndo: (undo: () => void) => void;
  /** The number of writes that a crash can lose. */
  readonly unsynced: () => number;
  /** Loses the last writes that are not durable. */
  readonly lose: (writes: number) => void;
};

/** Creates empty tables; `keepsDurable`: a crash loses no durable write. */
export function createTables(keepsDurable: boolean): Journal {
  let unsynced: (() => void)[][] = [];
  let undos: (() => void)[] = [];
  const onUndo = (undo: () => void): void => void undos.push(undo);

  function createTable<Row>(): Table<Row> {
    const rows = new Map<string, Row>();
    return {
      get: (key) => rows.get(key),
      rows: () => [...rows.values()],
      set(key, row) {
        const old = rows.get(key);
        onUndo(() => void (old === undefined ? rows.delete(key) : rows.set(key, old)));
        rows.set(key, row);
      },
      remove(key) {
        const old = rows.get(key);
        if (old === undefined) return false;
        onUndo(() => void rows.set(key, old));
        return rows.delete(key);
      },
    };
  }

  return {
    runs: createTable(),
    costs: createTable(),
    sessions: createTable(),
    letters: createTable(),
    leases: createTable(),
    budgets: createTable(),
    reserved: createTable(),
    spent: createTable(),
    control: createTable(),
    workers: createTable(),
    schedules: createTable(),
    onUndo,
    transact(durable, change) {
      undos = [];
      try {
        const value = change();
        if (undos.length > 0) unsynced.push(undos);
        if (durable && keepsDurable) unsynced = [];
        return value;
      } catch (error) {
        for (const undo of undos.toReversed()) undo();
        throw error;
      } finally {
        undos = [];
      }
    },
    unsynced: () => unsynced.length,
    lose(writes) {
      for (const undone of unsynced.splice(unsynced.length - writes, writes).toReversed())
        for (const undo of undone.toReversed()) undo();
      undos = [];
      unsynced = [];
    },
  };
}
