// What the log records besides the messages: how each tool call ended, the diff of an edit, and the inputs that the user did not write.
import { isObject, type Event, type Json, type Log, type ToolOutcome } from '../core/index.ts';
import { createAddedInputs, noAddedInputs, type AddedInputs } from './added-inputs.ts';

/** How a call ended. */
export type CallRecord = {
  readonly outcome: ToolOutcome;
  /** The change of an edit as a unified diff. */
  readonly diff?: string;
  readonly ms: number;
};

/** The records by the ids of the calls; the ids are unique on one branch. */
export type CallRecords = ReadonlyMap<string, CallRecord>;

/** What a view needs besides the messages. */
export type SessionRecords = { readonly calls: CallRecords; readonly added: AddedInputs };

/** The records of a new session. */
export const noRecords: SessionRecords = { calls: new Map(), added: noAddedInputs };

/** Reads the records of the calls and inputs on the current branch of a log. */
export async function readSessionRecords(log: Pick<Log, 'read'>): Promise<SessionRecords> {
  const calls = new Map<string, CallRecord>();
  const added = createAddedInputs();
  for await (const events of log.read())
    for (const event of events) {
      addCallRecord(calls, event);
      added.record(event);
    }
  return { calls, added };
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
