// What is left in a queue that no worker can go on with by itself, and why.
import type { FleetRun, FleetStore } from '../core/index.ts';
import { listActiveRuns } from './message-targets.ts';

type Store = Pick<FleetStore, 'queue' | 'killSwitch'>;

/** Why a run does not go on: its time has not come, another version of the program began it, or it waits for a person. */
export type BlockReason = 'later' | 'version' | 'person';

/** What keeps a run from being gone on with by a worker of a version; nothing where it is under way, or is about to be. */
export async function getBlockReason(
  store: Pick<FleetStore, 'queue'>,
  run: FleetRun,
  version?: string,
): Promise<BlockReason | undefined> {
  if (run.status === 'ended' || run.status === 'running') return undefined;
  if (run.status === 'waiting')
    return run.pendingApprovals.length > 0 ? 'person' : getChildrenBlockReason(store, run, version);
  if (run.notBefore !== undefined && Date.parse(run.notBefore) > Date.now()) return 'later';
  if (version !== undefined && run.version !== undefined && run.version !== version) return 'version';
  const [first] = run.started === undefined ? await listActiveRuns(store, run.session) : [];
  return first?.started !== undefined && first.id !== run.id ? getBlockReason(store, first, version) : undefined;
}

/** A run that rests for others goes on as long as one of them does. Anybody may name a parent: only what bears its name counts, so that nothing goes round in circles. */
async function getChildrenBlockReason(
  store: Pick<FleetStore, 'queue'>,
  { id }: FleetRun,
  version?: string,
): Promise<BlockReason | undefined> {
  const begun = await store.queue.list({ parent: id, limit: 1000 });
  let found: BlockReason | undefined;
  for (const child of begun) {
    if (child.status === 'ended' || !child.id.startsWith(`${id}/`)) continue;
    const hold = await getBlockReason(store, child, version);
    if (hold === undefined) return undefined;
    found ??= hold;
  }
  return found;
}

/** What is left: how many runs for which reason, and of what they wait for what a person wants to know. */
export type BlockedRuns = {
  /** That the fleet is stopped, and why: then nothing that is left is looked at any closer. */
  readonly stopped?: { readonly why: string | undefined; readonly runs: number };
  readonly later: number;
  /** When the first of those that are to begin later does. */
  readonly next?: string;
  readonly version: number;
  /** The versions that began them. */
  readonly versions: readonly string[];
  readonly person: number;
};

/** What is left of these runs for a worker of a version. */
export async function summarizeBlockedRuns(
  store: Store,
  runs: readonly FleetRun[],
  version?: string,
): Promise<BlockedRuns> {
  const open = runs.filter(({ status }) => status !== 'ended');
  const { stopped, reason: why } = await store.killSwitch.status();
  if (stopped && open.length > 0)
    return { stopped: { why, runs: open.length }, later: 0, version: 0, versions: [], person: 0 };
  const held = new Map<FleetRun, BlockReason>();
  for (const run of open) {
    const hold = await getBlockReason(store, run, version);
    if (hold !== undefined) held.set(run, hold);
  }
  const all = (hold: BlockReason): readonly FleetRun[] => open.filter((run) => held.get(run) === hold);
  const [next] = all('later')
    .flatMap(({ notBefore }) => notBefore ?? [])
    .toSorted();
  return {
    later: all('later').length,
    ...(next === undefined ? {} : { next }),
    version: all('version').length,
    versions: [...new Set(all('version').flatMap((run) => run.version ?? []))],
    person: all('person').length,
  };
}

/** The runs of a queue that wait or rest. */
export async function listOpenRuns({ queue }: Pick<FleetStore, 'queue'>): Promise<readonly FleetRun[]> {
  const found: FleetRun[] = [];
  for (const status of ['queued', 'waiting'] as const)
    for (let page: readonly FleetRun[] | undefined; page === undefined || page.length === pageSize;) {
      const before = page?.at(-1)?.id;
      page = await queue.list({ status, limit: pageSize, ...(before === undefined ? {} : { before }) });
      found.push(...page);
    }
  return found;
}

const pageSize = 1000;
