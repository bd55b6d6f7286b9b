// The session cache: values outside the conversation. The model sees a handle and a snapshot; programs get the value.
import { FairleadError, type Json } from '../core/index.ts';
import { decodeValue, encodeValue, type StorageType } from './session-cache-codec.ts';
import { SpillFolder, type StoredValue } from './session-cache-folder.ts';
import { assertHandleName } from './session-cache-name.ts';
import { createSnapshot, type Snapshot, type SnapshotShape } from './session-cache-snapshot.ts';

/** The options of a session cache. */
export type SessionCacheOptions = {
  /** Items in the sample of a snapshot; 5 by default. */
  readonly sampleSize?: number;
  /** The directory for values that exceed `hotLimit`, which is then 10 by default. */
  readonly storageDir?: string;
  /** The maximum number of values in memory; without `storageDir` the others go to a temporary directory. */
  readonly hotLimit?: number;
};

/** The options of `put`. */
export type PutOptions = {
  /** Replace the value of the same name instead of adding a numbered name. */
  readonly overwrite?: boolean;
  /** The meaning of the value, shown with its snapshots. */
  readonly semantics?: Json;
  /** The value is a chart. */
  readonly chart?: boolean;
};

/** Where a value is. `problem` is the reason why it is still in memory above the limit. */
export type StorageInfo = {
  readonly location: 'memory' | 'disk';
  readonly storageType: StorageType | 'value';
  readonly path?: string;
  readonly problem?: string;
};

type CacheEntry = {
  readonly order: number;
  readonly semantics: Json | undefined;
  readonly chart: boolean;
  readonly at: InMemory | OnDisk;
};
type InMemory = { readonly value: unknown; readonly problem?: string; readonly stays?: boolean };
type OnDisk = { readonly stored: StoredValue; readonly snapshot: SnapshotShape };

/**
 * Owns the values of a session and the files of those that were moved to disk; close it after use.
 * It does not copy or freeze a value: changes by its owner are visible in `get` and in snapshots.
 * A value that was on disk is read as an equal copy, so later changes to the original are not visible.
 * Values without an equal copy (functions, class instances) stay in memory above the limit.
 */
export class SessionCache {
  readonly #sampleSize: number;
  readonly #hotLimit: number;
  readonly #folder: SpillFolder;
  /** Least recently used first. */
  readonly #entries = new Map<string, CacheEntry>();
  #count = 0;
  #answer: { readonly value: unknown } | undefined;
  #closed = false;

  constructor({ sampleSize = 5, storageDir, hotLimit }: SessionCacheOptions = {}) {
    this.#sampleSize = assertPositive('sampleSize', sampleSize);
    this.#hotLimit = assertPositive('hotLimit', hotLimit ?? (storageDir === undefined ? Number.POSITIVE_INFINITY : 10));
    this.#folder = new SpillFolder(storageDir);
  }

  /** Stores a value and returns its handle: the name, or the name with a number if it is taken. */
  put(name: string, value: unknown, { overwrite = false, semantics, chart = false }: PutOptions = {}): string {
    this.#assertOpen();
    assertHandleName(name);
    const handle = overwrite ? name : this.#freeName(name);
    this.delete(handle);
    this.#entries.set(handle, { order: ++this.#count, semantics, chart, at: { value } });
    this.#spill();
    return handle;
  }

  /** The value of a handle, which becomes the most recently used. */
  get(handle: string): unknown {
    const entry = this.#entry(handle);
    const value = 'stored' in entry.at ? this.#load(handle, entry.at.stored) : entry.at.value;
    this.#entries.delete(handle);
    this.#entries.set(handle, 'stored' in entry.at ? { ...entry, at: { value } } : entry);
    if ('stored' in entry.at) {
      this.#folder.remove(entry.at.stored);
      this.#spill();
    }
    return value;
  }

  /** The snapshot of a value: of now if it is in memory, otherwise of when it was moved to disk. Reads no file and does not count as a use. */
  snapshot(handle: string): Snapshot {
    const { at, semantics } = this.#entry(handle);
    const shape = 'stored' in at ? at.snapshot : createSnapshot(at.value, this.#sampleSize);
    return semantics === undefined ? shape : { ...shape, semantics };
  }

  /** The snapshot of every handle. */
  snapshots(): Readonly<Record<string, Snapshot>> {
    return Object.fromEntries(this.handleNames().map((handle) => [handle, this.snapshot(handle)]));
  }

  /** Every handle with its snapshot, most recently used first. */
  listHandles(): readonly { readonly handle: string; readonly snapshot: Snapshot }[] {
    return this.handleNames().map((handle) => ({ handle, snapshot: this.snapshot(handle) }));
  }

  /** Every handle, most recently used first. */
  handleNames(): readonly string[] {
    return [...this.#entries.keys()].toReversed();
  }

  /** Whether the handle exists. */
  hasHandle(handle: string): boolean {
    return this.#entries.has(handle);
  }

  /** Deletes a value. Returns whether it existed. */
  delete(handle: string): boolean {
    const at = this.#entries.get(handle)?.at;
    if (at && 'stored' in at) this.#folder.remove(at.stored);
    return this.#entries.delete(handle);
  }

  /** One line about a value: its type, size and meaning. */
  describe(handle: string): string {
    const { semantics, ...shape } = this.snapshot(handle);
    const means =
      semantics === undefined ? '' : `; ${typeof semantics === 'string' ? semantics : JSON.stringify(semantics)}`;
    return `${handle}: ${describeSize(shape)}${means}`;
  }

  /** The meaning of a value as it was given to `put`. */
  getSemantics(handle: string): Json | undefined {
    return this.#entry(handle).semantics;
  }

  /** Where each value is. Reads no file. */
  storageMetadata({ includePaths = false }: { readonly includePaths?: boolean } = {}): Readonly<
    Record<string, StorageInfo>
  > {
    const info = ({ at }: CacheEntry): StorageInfo =>
      'stored' in at
        ? { location: 'disk', storageType: at.stored.type, ...(includePaths ? { path: at.stored.path } : {}) }
        : { location: 'memory', storageType: 'value', ...(at.problem === undefined ? {} : { problem: at.problem }) };
    return Object.fromEntries([...this.#entries].toReversed().map(([handle, entry]) => [handle, info(entry)]));
  }

  /** Sets the answer of the run, which programs read as `result.object`. */
  setAnswer(value: unknown): void {
    this.#assertOpen();
    this.#answer = { value };
  }

  /** The answer of the run; undefined if none was set. */
  getAnswer(): unknown {
    return this.#answer?.value;
  }

  /** Clears the answer, so that no run returns the answer of an earlier one. */
  clearAnswer(): void {
    this.#answer = undefined;
  }

  /** The handles of charts, in the order of insertion. */
  listCharts(): readonly string[] {
    const charts = [...this.#entries].filter(([, entry]) => entry.chart);
    return charts.toSorted(([, a], [, b]) => a.order - b.order).map(([handle]) => handle);
  }

  /** Deletes all values and files. */
  close(): void {
    this.#closed = true;
    this.#entries.clear();
    this.#answer = undefined;
    this.#folder.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #freeName(name: string): string {
    if (!this.#entries.has(name)) return name;
    let number = 2;
    while (this.#entries.has(`${name}_${number}`)) number++;
    return `${name}_${number}`;
  }

  #entry(handle: string): CacheEntry {
    this.#assertOpen();
    const entry = this.#entries.get(handle);
    if (entry) return entry;
    const names = this.handleNames();
    const some = names.slice(0, 20).join(', ') + (names.length > 20 ? ` and ${names.length - 20} more` : '');
    throw new FairleadError('cache/unknown-handle', `There is no handle ${JSON.stringify(handle)}.`, {
      blame: 'user',
      hint: names.length ? `There are: ${some}.` : 'The cache is empty.',
    });
  }

  #load(handle: string, stored: StoredValue): unknown {
    try {
      return decodeValue(this.#folder.read(stored));
    } catch (cause) {
      throw new FairleadError('cache/lost', `The value of ${handle} cannot be read back from ${stored.path}.`, {
        blame: 'store',
        hint: 'Another program removed or changed the file. Create the value again.',
        cause,
      });
    }
  }

  /** Moves the least recently used values to disk. What cannot be written stays in memory, so a full disk loses nothing. */
  #spill(): void {
    const hot = [...this.#entries].filter(([, { at }]) => !('stored' in at) && !at.stays);
    for (const [handle, entry] of hot.slice(0, Math.max(0, hot.length - this.#hotLimit))) {
      const { value } = entry.at as InMemory;
      const encoded = encodeValue(value);
      if (!encoded) {
        this.#entries.set(handle, { ...entry, at: { value, stays: true, problem: 'it has no equal copy' } });
        continue;
      }
      try {
        const snapshot = createSnapshot(value, this.#sampleSize);
        this.#entries.set(handle, { ...entry, at: { stored: this.#folder.write(encoded), snapshot } });
      } catch (error) {
        this.#entries.set(handle, { ...entry, at: { value, problem: String(error) } });
        return;
      }
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw new FairleadError('cache/closed', 'The session cache is closed.', { blame: 'user' });
  }
}

function assertPositive(option: string, value: number): number {
  if (value >= 1 && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY)) return value;
  throw new FairleadError('cache/bad-option', `${option} must be a whole number of at least 1, not ${value}.`, {
    blame: 'user',
  });
}

function describeSize(shape: SnapshotShape): string {
  switch (shape.type) {
    case 'table':
      return `table of ${shape.shape[0]} rows and ${shape.shape[1]} columns (${shape.columns.slice(0, 20).join(', ')})`;
    case 'array':
      return `${shape.dtype} array of ${shape.shape[0]}`;
    case 'list':
      return `list of ${shape.length}`;
    case 'object':
      return `object of ${shape.totalKeys} keys (${shape.sampleKeys.join(', ')})`;
    case 'text':
      return `text of ${shape.length} characters`;
    case 'scalar':
      return JSON.stringify(shape.value);
  }
}
