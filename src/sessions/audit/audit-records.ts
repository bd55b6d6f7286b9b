// Audit records of a session log: runs with their release and model, approvals with the user that answered, denials, and decisions without an approval.
import { isObject, type DecisionSource, type Event, type StopReason } from '../../core/index.ts';

/** What all records have. */
type AuditBase = { readonly time: string; readonly session: string };

/** A record of an audit. */
export type AuditRecord =
  | (AuditBase & {
      readonly type: 'run';
      readonly run: string;
      readonly model: string;
      /** The release that the run ran on, if there is one. */
      readonly release?: string;
      /** The hashes of the policies that decided about its calls, by name; absent if the log does not say. */
      readonly policies?: Readonly<Record<string, string>>;
      /** Absent if the run has not ended. */
      readonly ended?: string;
      readonly reason?: StopReason;
      readonly turns: number;
      readonly usd: number;
    })
  | (AuditBase & {
      readonly type: 'approval';
      readonly run?: string;
      readonly call: string;
      readonly tool: string;
      /** What the user was asked. */
      readonly question: string;
      /** The gate that asked. */
      readonly askedBy?: DecisionSource;
      /** `open`: no answer is recorded. */
      readonly decision: 'allowed' | 'denied' | 'open';
      /** The user that answered, as the client named it. */
      readonly by?: string;
      readonly answered?: string;
      readonly reason?: string;
    })
  | (AuditBase & {
      readonly type: 'denial';
      readonly run?: string;
      readonly call: string;
      readonly tool: string;
      readonly deniedBy?: DecisionSource;
      readonly text: string;
    });

type RunRecord = AuditRecord & { readonly type: 'run' };

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Lists the records of the events of a session, in the order of their times; `at` filters by the time of a record. */
export function listAuditRecords(
  session: string,
  events: readonly Event[],
  isIncluded: (time: string) => boolean = () => true,
): readonly AuditRecord[] {
  const records: Mutable<AuditRecord>[] = [];
  const tools = new Map<string, string>();
  const open = new Map<string, Mutable<AuditRecord & { type: 'approval' }>>();
  const releases = new Map<string, string>();
  const tasks = new Map<string, Mutable<RunRecord>>();
  let model = '';
  let run: Mutable<AuditRecord & { type: 'run' }> | undefined;
  for (const event of events) {
    const { time } = event;
    const current = run ? { run: run.run } : {};
    switch (event.type) {
      case 'epoch-started':
        ({ model } = event);
        break;
      case 'annotation-added':
        readRelease(event.value, event.key, releases);
        readTask(event, session, tasks);
        break;
      case 'run-started': {
        const release = releases.get(event.run);
        run = {
          type: 'run',
          time,
          session,
          run: event.run,
          model,
          ...(release === undefined ? {} : { release }),
          ...(event.policies === undefined ? {} : { policies: event.policies }),
          turns: 0,
          usd: 0,
        };
        records.push(run);
        break;
      }
      case 'turn-ended':
        for (const part of event.message.parts) if (part.type === 'tool-call') tools.set(part.id, part.tool);
        if (run) Object.assign(run, { turns: run.turns + 1, usd: run.usd + (event.usd ?? 0) });
        break;
      case 'run-ended':
        if (run) Object.assign(run, { ended: time, reason: event.reason });
        run = undefined;
        break;
      case 'approval-requested': {
        const asked: Mutable<AuditRecord & { type: 'approval' }> = {
          type: 'approval',
          time,
          session,
          ...current,
          call: event.call,
          tool: tools.get(event.call) ?? '',
          question: event.question,
          ...(event.by ? { askedBy: event.by } : {}),
          decision: 'open',
        };
        open.set(event.call, asked);
        records.push(asked);
        break;
      }
      case 'approval-resolved': {
        const asked = open.get(event.call);
        if (!asked) break;
        open.delete(event.call);
        asked.decision = event.allowed ? 'allowed' : 'denied';
        asked.answered = time;
        if (event.by !== undefined) asked.by = event.by;
        if (event.reason !== undefined) asked.reason = event.reason;
        break;
      }
      case 'tool-ended':
        if (event.outcome === 'denied' && event.deniedBy?.kind !== 'user')
          records.push({
            type: 'denial',
            time,
            session,
            ...current,
            call: event.call,
            tool: tools.get(event.call) ?? '',
            ...(event.deniedBy ? { deniedBy: event.deniedBy } : {}),
            text: event.text,
          });
        break;
      case 'session-started':
      case 'compaction-failed':
      case 'branch-started':
      case 'input-received':
      case 'turn-started':
      case 'turn-failed':
      case 'answer-rejected':
      case 'tool-started':
      case 'check-ended':
        break;
    }
  }
  // Runs without an agent, such as verifications and plans, have no start of a run in their log.
  for (const task of tasks.values())
    if (!records.some((record) => record.type === 'run' && record.run === task.run)) records.push(task);
  return records.filter((record) => isIncluded(record.time));
}

/** Reads the release and the end of a run without an agent from the annotations that its handler records. */
function readTask(
  { key, value, time, spent }: Event & { readonly type: 'annotation-added' },
  session: string,
  tasks: Map<string, Mutable<RunRecord>>,
): void {
  const { run, id, result } = isObject(value) ? value : {};
  if (typeof run !== 'string') return;
  if (key === 'release' && typeof id === 'string')
    tasks.set(run, { type: 'run', time, session, run, model: '', release: id, turns: 0, usd: 0 });
  const task = tasks.get(run);
  const outcome = isObject(result) && isObject(result['outcome']) ? result['outcome'] : undefined;
  if (!task || outcome === undefined) return;
  Object.assign(task, { ended: time, reason: outcome['reason'], turns: spent?.turns ?? 0, usd: spent?.usd ?? 0 });
}

function readRelease(value: unknown, key: string, releases: Map<string, string>): void {
  if (key !== 'release') return;
  const { run, id } = (value ?? {}) as { readonly run?: unknown; readonly id?: unknown };
  if (typeof run === 'string' && typeof id === 'string') releases.set(run, id);
}
