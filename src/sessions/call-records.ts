// What the log records of tool calls besides their texts: how each ended, and the diff of an edit.
import { isObject, type Event, type Json, type Log, type ToolOutcome } from '../core/index.ts';

/** How a call ended. */
export type CallRecord = {
  readonly outcome: ToolOutcome;
  /** The change of an edit as a unified diff. */
  readonly diff?: string;
  readonly ms: number;
};

/** The records by the ids of the calls; the ids are unique on one branch. */
export type CallRecords = ReadonlyMap<string, CallRecord>;

/** Reads the records of the calls on the current branch of a log. */
export async function readCallRecords(log: Pick<Log, 'read'>): Promise<CallRecords> {
  const records = new Map<string, CallRecord>();
  for await (const events of log.read()) for (const event of events) addCallRecord(records, event);
  return records;
}

/** Adds the record of an event, if it ends a call. */
export function addCallRecord(records: Map<string, CallRecord>, event: Event): void {
  if (event.type !== 'tool-ended') return;
  const { call, outcome, ms, data } = event;
  records.set(call, { outcome, ms, ...getDiff(data) });
}

/** The diff in the data of a tool result, if it has one. */
export function getDiff(data: Json | undefined): { readonly diff?: string } {
  const diff = isObject(data) ? data['diff'] : undefined;
  return typeof diff === 'string' && diff ? { diff } : {};
}
