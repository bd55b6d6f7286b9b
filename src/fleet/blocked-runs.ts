// Finds out why runs in the queue cannot continue: scheduled for later, another version, or waiting for the user.
import type { FleetRun, FleetStore } from '../core/index.ts';
import { listActiveRuns } from './inbox.ts';

type Store = Pick<FleetStore, 'queue' | 'killSwitch'>;

/** Why a run cannot continue: it is scheduled for later, another version started it, or it waits for an approval. */
export type BlockReason = 'later' | 'version' | 'approval';

/** Returns why a worker of this version cannot continue a run; undefined if it can, or if the run is active or ended. */
export async function getBlockReason(
  store: Pick<FleetStore, 'queue'>,
  run: FleetRun,
  version?: string,
): Promise<BlockReason | undefined> {
  if (run.status === 'ended' || run.status === 'running') return undefined;
  if (run.status === 'waiting')
    return run.pendingApprovals.length > 0 ? 'approval' : getChildrenBlockReason(store, run, version);
  if (run.notBefore !== undefined && Date.parse(run.notBefore) > Date.now()) return 'later';
  if (version !== undefined && run.version !== undefined && run.version !== version) return 'version';
  const [first] = run.started === undefined ? await listActiveRuns(store, run.session) : [];
  return first?.started !== undefined && first.id !== run.id ? getBlockReason(store, first, version) : undefined;
}

/** A run that waits for child runs can continue if one of them can. A client may name any parent, so only runs whose id starts with the parent's id count: this also prevents cycles. */
async function getChildrenBlockReason(
  store: Pick<FleetStore, 'queue'>,
  { id }: FleetRun,
  version?: string,
): Promise<BlockReason | undefined> {
  const children = await store.queue.list({ parent: id, limit: 1000 });
  let first: BlockReason | undefined;
  for (const child of children) {
    if (child.status === 'ended' || !child.id.startsWith(`${id}/`)) continue;
    const reason = await getBlockReason(store, child, version);
    if (reason === undefined) return undefined;
    first ??= reason;
  }
  return first;
}

/** The number of blocked runs by reason. */
export type BlockedRuns = {
  /** Present if the fleet is stopped; the other fields are then 0. */
  readonly stopped?: { readonly why: string | undefined; readonly runs: number };
  readonly later: number;
  /** The earliest time at which a scheduled run starts. */
  readonly next?: string;
  readonly version: number;
  /** The versions that started these runs. */
  readonly versions: readonly string[];
  /** Runs that wait for an approval. */
  readonly approval: number;
};

/** Counts the runs that a worker of this version cannot continue, by reason. */
export async function summarizeBlockedRuns(
  store: Store,
  runs: readonly FleetRun[],
  version?: string,
): Promise<BlockedRuns> {
  const open = runs.filter(({ status }) => status !== 'ended');
  const { stopped, reason: stopReason } = await store.killSwitch.status();
  if (stopped && open.length > 0)
    return { stopped: { why: stopReason, runs: open.length }, later: 0, version: 0, versions: [], approval: 0 };
  const reasons = new Map<FleetRun, BlockReason>();
  for (const run of open) {
    const reason = await getBlockReason(store, run, version);
    if (reason !== undefined) reasons.set(run, reason);
  }
  const select = (reason: BlockReason): readonly FleetRun[] => open.filter((run) => reasons.get(run) === reason);
  const [next] = select('later')
    .flatMap(({ notBefore }) => notBefore ?? [])
    .toSorted();
  return {
    later: select('later').length,
    ...(next === undefined ? {} : { next }),
    version: select('version').length,
    versions: [...new Set(select('version').flatMap((run) => run.version ?? []))],
    approval: select('approval').length,
  };
}

/** Returns the queued and waiting runs of a queue. */
export async function listOpenRuns({ queue }: Pick<FleetStore, 'queue'>): Promise<readonly FleetRun[]> {
  const openRuns: FleetRun[] = [];
  for (const status of ['queued', 'waiting'] as const)
    for (let page: readonly FleetRun[] | undefined; page === undefined || page.length === pageSize;) {
      const before = page?.at(-1)?.id;
      page = await queue.list({ status, limit: pageSize, ...(before === undefined ? {} : { before }) });
      openRuns.push(...page);
    }
  return openRuns;
}

const pageSize = 1000;
