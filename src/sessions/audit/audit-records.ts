// Audit records of a session log: runs with their release and model, approvals with the user that answered, denials, and decisions without an approval.
import type { DecisionSource, Event, StopReason } from '../../core/index.ts';

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
  return records.filter((record) => isIncluded(record.time));
}

function readRelease(value: unknown, key: string, releases: Map<string, string>): void {
  if (key !== 'release') return;
  const { run, id } = (value ?? {}) as { readonly run?: unknown; readonly id?: unknown };
  if (typeof run === 'string' && typeof id === 'string') releases.set(run, id);
}
