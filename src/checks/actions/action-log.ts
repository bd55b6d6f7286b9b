// The view of what tools did in a session: one short record per call that can have an effect, so that claims about actions can be compared with it.
import {
  isObject,
  messageToolCalls,
  unwrapDeferredCall,
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
const readOnlyTools =
  /^(read_file|list_files|glob|grep|git|web_fetch|web_search|code_intelligence|load_skill|ask_user|search_documents|(search|load)_tools|todo\w*|handle_\w+|list_mcp_resources|read_mcp_resource|canvas_render)$/;

const initial: ActionLog = { records: [], open: [], isPartial: false, wasSentBack: false };

/** The view; at most 300 records of at most 300 characters and 50 changed files each. */
export const actionLogView: NamedView<ActionLog> = {
  name: actionCheckName,
  initial,
  on(log, event) {
    if (event.type === 'tool-ended') {
      const call = log.open.find((each) => each.call === event.call);
      return call && !readOnlyTools.test(call.tool) ? addRecord(log, { ...call, ...describeResult(event) }) : log;
    }
    // The tool that runs may have another name than the call, and a gate may have changed the input.
    if (event.type === 'tool-started') {
      const open = log.open.map((each) => (each.call === event.call ? { ...each, ...renameCall(each, event) } : each));
      return { ...log, open };
    }
    if (event.type === 'turn-ended') {
      const calls = messageToolCalls(event.message);
      const open = calls.map(({ id, tool, input }) => ({ call: id, ...describe(tool, input) }));
      return open.length > 0 || log.open.length > 0 ? { ...log, open } : log;
    }
    if (event.type === 'run-started') return log.wasSentBack ? { ...log, wasSentBack: false } : log;
    if (event.type === 'check-ended' && event.check === actionCheckName && event.verdict.type === 'failed')
      return { ...log, wasSentBack: true };
    if (event.type === 'branch-started') return { ...log, open: [], isPartial: true };
    // A fork, and a log of a version without this view, begin with a history whose calls are not in the log.
    if (event.type === 'epoch-started' && event.baseline && log.records.length === 0) {
      const isPartial = log.isPartial || event.baseline.messages.length > 0;
      return restoreActionLog(event.baseline.views?.[actionCheckName]) ?? { ...log, isPartial };
    }
    if (event.type !== 'input-received' || event.by !== 'program') return log;
    const text = event.parts[0]?.type === 'text' ? event.parts[0].text : '';
    const target = text.length > maxTargetChars ? `${text.slice(0, 270)} ${text.slice(-29)}` : text;
    return addRecord(log, { seq: event.seq, call: '', tool: '', outcome: 'ok', target });
  },
  serialize: (log) => log,
  restore: restoreActionLog,
};

function restoreActionLog(stored: Json | undefined): ActionLog | undefined {
  return isObject(stored) && Array.isArray(stored['records']) && Array.isArray(stored['open'])
    ? (stored as unknown as ActionLog)
    : undefined;
}

const addRecord = (log: ActionLog, record: ActionRecord): ActionLog => ({
  ...log,
  records: [...log.records.slice(1 - maxRecords), record],
  isPartial: log.isPartial || log.records.length >= maxRecords,
});

const renameCall = (
  { tool, target }: ActionLog['open'][number],
  event: Event & { readonly type: 'tool-started' },
): { readonly tool: string; readonly target: string } =>
  event.input === undefined
    ? { tool: tool.endsWith(' &') ? `${event.tool} &` : event.tool, target }
    : describe(event.tool, event.input);

function describe(tool: string, input: Json): { readonly tool: string; readonly target: string } {
  const call = unwrapDeferredCall({ tool, input });
  const aim = typeof call === 'string' ? { tool, input } : call;
  const { command, path, background } = isObject(aim.input) ? aim.input : {};
  const target = [command, path].find((each) => typeof each === 'string') ?? JSON.stringify(aim.input) ?? '';
  return { tool: background === true ? `${aim.tool} &` : aim.tool, target: target.slice(0, maxTargetChars) };
}

function describeResult(event: Event & { readonly type: 'tool-ended' }): Pick<ActionRecord, 'seq' | 'outcome'> {
  const { seq, outcome, data } = event;
  if (!isObject(data)) return { seq, outcome };
  const changes = (Array.isArray(data['changes']) ? data['changes'] : [data]).flatMap((each): FileChangeRecord[] =>
    isObject(each) && typeof each['path'] === 'string' && 'after' in each
      ? [[each['path'].slice(0, maxTargetChars), shortHash(each['before']), shortHash(each['after'])]]
      : [],
  );
  return {
    seq,
    outcome,
    ...(changes.length > 0 ? { changes: changes.slice(0, maxChanges) } : {}),
    ...('code' in data ? { code: typeof data['code'] === 'number' ? data['code'] : null } : {}),
  };
}

const shortHash = (hash: unknown): string | null => (typeof hash === 'string' ? hash.slice(0, hashChars) : null);
