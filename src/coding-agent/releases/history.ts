// The history of releases: promotions and rollbacks as a hash chain, the state at any time, and the release of a run.
import { canonicalJson, FairleadError, isObject } from '../../core/index.ts';
import { sha256 } from './manifest.ts';

/**
 * A change of the releases in use. `canary-started`: a share of the runs uses the release. `activated`: all runs use it.
 * `rejected`: the gate failed. `rolled-back`: the release is no longer used.
 */
export type ReleaseAction = 'canary-started' | 'activated' | 'rejected' | 'rolled-back';

/** A change before it is recorded. */
export type NewHistoryEntry = {
  readonly action: ReleaseAction;
  readonly release: string;
  /** The user, or the worker that decided by the results of a canary. */
  readonly by: string;
  /** The share of the runs, for `canary-started`. */
  readonly share?: number;
  readonly reason?: string;
};

/** A recorded change. `hash` covers the entry and the hash of the entry before it. */
export type HistoryEntry = NewHistoryEntry & {
  readonly seq: number;
  readonly time: string;
  readonly previous: string;
  readonly hash: string;
};

/** The releases in use. */
export type ReleaseState = {
  /** The release of all runs without a canary. */
  readonly current?: string;
  /** The release that a rollback of `current` returns to. */
  readonly previous?: string;
  readonly canary?: { readonly release: string; readonly share: number; readonly since: string };
};

const genesis = '0'.repeat(64);

/** Creates the entry that follows others. Its time is not before theirs, whatever the clock says. */
export function createEntry(entries: readonly HistoryEntry[], entry: NewHistoryEntry, now: string): HistoryEntry {
  const last = entries.at(-1);
  const content = {
    ...entry,
    seq: entries.length + 1,
    time: last !== undefined && last.time > now ? last.time : now,
    previous: last?.hash ?? genesis,
  };
  return { ...content, hash: sha256(canonicalJson(content)) };
}

/** Parses the lines of a history; throws if a line was changed, removed or added. `head` is the hash of an entry that it must have: without it, an end that was removed is not found. */
export function parseHistory(text: string, head?: string): readonly HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const { hash, ...content } = parseEntry(line, entries.length + 1);
    if (content.seq !== entries.length + 1 || content.previous !== (entries.at(-1)?.hash ?? genesis))
      throw brokenChainError(entries.length + 1);
    if (sha256(canonicalJson(content)) !== hash) throw brokenChainError(entries.length + 1);
    entries.push({ ...content, hash });
  }
  if (head !== undefined && !entries.some(({ hash }) => hash === head)) throw brokenChainError(entries.length + 1);
  return entries;
}

function parseEntry(line: string, number: number): HistoryEntry {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value) && typeof value['hash'] === 'string' && typeof value['time'] === 'string')
      return value as unknown as HistoryEntry;
  } catch {
    // Reported below.
  }
  throw brokenChainError(number);
}

const brokenChainError = (line: number): FairleadError =>
  new FairleadError('release/history-changed', `Line ${line} of the release history is not as it was written.`, {
    blame: 'store',
    hint: 'Restore history.jsonl from a backup: no run starts on a history that was changed.',
  });

/** Returns the releases in use after these entries, or at a time. */
export function foldHistory(entries: readonly HistoryEntry[], until?: string): ReleaseState {
  let state: ReleaseState = {};
  for (const entry of entries) {
    if (until !== undefined && entry.time > until) break;
    state = applyEntry(state, entry);
  }
  return state;
}

function applyEntry(state: ReleaseState, { action, release, share = 0, time }: HistoryEntry): ReleaseState {
  const { current, previous, canary } = state;
  switch (action) {
    case 'canary-started':
      return { ...state, canary: { release, share, since: time } };
    case 'activated':
      return { current: release, ...(current === undefined || current === release ? {} : { previous: current }) };
    case 'rolled-back':
      if (canary?.release === release) return withoutCanary(state);
      if (current !== release) return state;
      return { ...(previous === undefined ? {} : { current: previous }), ...(canary ? { canary } : {}) };
    case 'rejected':
      return state;
  }
}

const withoutCanary = ({ current, previous }: ReleaseState): ReleaseState => ({
  ...(current === undefined ? {} : { current }),
  ...(previous === undefined ? {} : { previous }),
});

/** Returns the release of a run: the same for the same state and run, on every machine. Undefined if no release is in use. */
export function assignRelease({ current, canary }: ReleaseState, run: string): string | undefined {
  return canary && getRunShare(canary.release, run) < canary.share ? canary.release : current;
}

/** Returns a number from 0 to 1 that is uniform over runs, and independent between releases. */
const getRunShare = (release: string, run: string): number =>
  Number.parseInt(sha256(`${release}\n${run}`).slice(0, 12), 16) / 2 ** 48;
