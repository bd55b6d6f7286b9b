// The view of what tools did in a session: one short record per call that can have an effect, so that claims about actions can be compared with it.
import {
  isObject,
  messageToolCalls,
  unwrapDeferredCall,
  USE_TOOL,
  type Event,
  type Json,
  type NamedView,
  type ToolOutcome,
} from '../../core/index.ts';

/** The name of the check and of its view. */
export const actionCheckName = 'actions';

/** A file that a call changed: its path, and the start of its hash before and after; null if there was no file. */
export type FileChangeRecord = readonly [path: string, before: string | null, after: string | null];

/** What the log has about a call that can have an effect, or about an input that the program wrote for the user. */
export type ActionRecord = {
  /** The event with the result. */
  readonly seq: number;
  readonly call: string;
  /** The tool; empty for what the user did. */
  readonly tool: string;
  readonly outcome: ToolOutcome;
  /** The command, the path, or the start of the input as JSON. */
  readonly target: string;
  readonly changes?: readonly FileChangeRecord[];
  /** The exit code; null if a signal ended the command, absent if there is none. */
  readonly code?: number | null;
};

/** The records of a session, the oldest first. */
export type ActionLog = {
  readonly records: readonly ActionRecord[];
  /** The calls of the last response. */
  readonly open: readonly { readonly call: string; readonly tool: string; readonly target: string }[];
  /** Whether something may have happened that has no record here. */
  readonly isPartial: boolean;
  /** Whether an answer of this run was sent back to the model. */
  readonly wasSentBack: boolean;
};

const maxRecords = 300;
const maxTargetChars = 300;
const maxChanges = 50;
const hashChars = 16;

/** Tools that change nothing and run nothing. */
const readOnlyTools: ReadonlySet<string> = new Set(
  'read_file list_files glob grep web_fetch web_search code_intelligence load_skill ask_user search_documents search_tools load_tools todo handle_list handle_read list_mcp_servers list_mcp_resources read_mcp_resource canvas_render'.split(
    ' ',
  ),
);

const initial: ActionLog = { records: [], open: [], isPartial: false, wasSentBack: false };

/** The view; at most 300 records of at most 300 characters and 50 changed files each. */
export const actionLogView: NamedView<ActionLog> = {
  name: actionCheckName,
  initial,
  on(log, event) {
    switch (event.type) {
      case 'tool-ended': {
        const call = log.open.find((each) => each.call === event.call);
        return call && !readOnlyTools.has(call.tool) ? addRecord(log, createRecord(call, event)) : log;
      }
      case 'tool-started':
        return startCall(log, event);
      case 'turn-ended': {
        const calls = messageToolCalls(event.message);
        if (calls.length === 0 && log.open.length === 0) return log;
        return { ...log, open: calls.map(({ id, tool, input }) => describe(id, tool, input)) };
      }
      case 'run-started':
        return log.wasSentBack ? { ...log, wasSentBack: false } : log;
      case 'check-ended':
        return event.check === actionCheckName && event.verdict.type === 'failed' ? { ...log, wasSentBack: true } : log;
      case 'branch-started':
        return { ...log, open: [], isPartial: true };
      case 'epoch-started': {
        // A fork, and a log of a version without this view, begin with a history whose calls are not in the log.
        if (!event.baseline || log.records.length > 0) return log;
        const isPartial = log.isPartial || event.baseline.messages.length > 0;
        return restoreActionLog(event.baseline.views?.[actionCheckName]) ?? { ...log, isPartial };
      }
      case 'input-received': {
        if (event.by !== 'program') return log;
        const text = event.parts[0]?.type === 'text' ? event.parts[0].text : '';
        const target = text.length > maxTargetChars ? `${text.slice(0, 270)} ${text.slice(-29)}` : text;
        return addRecord(log, { seq: event.seq, call: '', tool: '', outcome: 'ok', target });
      }
      case 'session-started':
      case 'compaction-failed':
      case 'turn-started':
      case 'turn-failed':
      case 'answer-rejected':
      case 'approval-requested':
      case 'approval-resolved':
      case 'run-ended':
      case 'annotation-added':
      default:
        return log;
    }
  },
  serialize: (log) => log,
  restore: restoreActionLog,
};

function restoreActionLog(stored: Json | undefined): ActionLog | undefined {
  return isObject(stored) && Array.isArray(stored['records']) && Array.isArray(stored['open'])
    ? (stored as unknown as ActionLog)
    : undefined;
}

function addRecord({ records: known, open, isPartial, wasSentBack }: ActionLog, record: ActionRecord): ActionLog {
  const isFull = known.length >= maxRecords;
  const kept = isFull ? known.slice(1 - maxRecords) : known;
  // `toSpliced` copies once; a spread and `concat` take twice the time.
  return { records: kept.toSpliced(kept.length, 0, record), open, isPartial: isPartial || isFull, wasSentBack };
}

/** The tool that runs may have another name than the call, and a gate may have changed the input. */
function startCall(log: ActionLog, { call, tool, input }: Event & { readonly type: 'tool-started' }): ActionLog {
  const known = log.open.find((each) => each.call === call);
  if (!known || tool === USE_TOOL || (input === undefined && known.tool.startsWith(tool))) return log;
  const suffix = known.tool.endsWith(' &') ? ' &' : '';
  const started = input === undefined ? { ...known, tool: `${tool}${suffix}` } : describe(call, tool, input);
  return { ...log, open: log.open.map((each) => (each === known ? started : each)) };
}

function describe(call: string, tool: string, input: Json): ActionLog['open'][number] {
  const unwrapped = unwrapDeferredCall({ tool, input });
  const aim = typeof unwrapped === 'string' ? { tool, input } : unwrapped;
  const { command, path, background } = isObject(aim.input) ? aim.input : {};
  const target = [command, path].find((each) => typeof each === 'string') ?? JSON.stringify(aim.input) ?? '';
  return { call, tool: background === true ? `${aim.tool} &` : aim.tool, target: target.slice(0, maxTargetChars) };
}

function createRecord(
  { call, tool, target }: ActionLog['open'][number],
  { seq, outcome, data }: Event & { readonly type: 'tool-ended' },
): ActionRecord {
  const record: { -readonly [key in keyof ActionRecord]: ActionRecord[key] } = { seq, call, tool, outcome, target };
  if (!isObject(data)) return record;
  const changes: FileChangeRecord[] = [];
  for (const each of Array.isArray(data['changes']) ? data['changes'].slice(0, maxChanges) : [data])
    if (isObject(each) && typeof each['path'] === 'string' && each['after'] !== undefined)
      changes.push([each['path'].slice(0, maxTargetChars), shortHash(each['before']), shortHash(each['after'])]);
  if (changes.length > 0) record.changes = changes;
  if (data['code'] !== undefined) record.code = typeof data['code'] === 'number' ? data['code'] : null;
  return record;
}

const shortHash = (hash: unknown): string | null => (typeof hash === 'string' ? hash.slice(0, hashChars) : null);
