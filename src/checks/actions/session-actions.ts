// Reads the records of a session as files that changed and commands that ran, and says what it cannot know.
import type { ActionRecord } from './action-log.ts';
import { classifyCommand, type CommandKind, type Task } from './commands.ts';
import type { ActionEvidence } from './types.ts';

/** A file that tools changed; the last change last. */
export type ChangedFile = {
  readonly path: string;
  readonly changes: readonly {
    readonly seq: number;
    readonly call: string;
    readonly tool: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
};

/** A command that ran, or was started. */
export type RanCommand = CommandKind & {
  readonly seq: number;
  readonly call: string;
  readonly command: string;
  /** Undefined if it is not known: it runs in the background, was interrupted, or a signal ended it. */
  readonly code: number | undefined;
  /** It did not start: a gate or the user denied it, or its input was not valid. */
  readonly wasDenied: boolean;
  readonly isBackground: boolean;
  /** The user ran it. */
  readonly isByUser: boolean;
};

/** What a session did. */
export type SessionActions = {
  readonly files: readonly ChangedFile[];
  /** The files whose path in lower case has a text, which has no line break. */
  readonly findFiles: (text: string) => readonly ChangedFile[];
  readonly commands: readonly RanCommand[];
  /** The commands that started. */
  readonly started: readonly RanCommand[];
  /** Changes of files and commands that failed or were denied. */
  readonly failed: readonly ActionRecord[];
  /** Calls of git tools. */
  readonly git: readonly ActionRecord[];
  /** A call whose effects are not known, such as that of a sub-agent or an MCP tool; absent if there is none. */
  readonly unknown: ActionRecord | undefined;
  /** Whether something may have happened that has no record. */
  readonly isPartial: boolean;
  /** Whether the history of the repository was read, so that an answer may describe earlier changes. */
  readonly hasReadHistory: boolean;
  readonly evidence: ActionEvidence;
};

const commandTools = new Set(['run_command', 'execute_sandboxed_command', 'bash', 'shell']);
const fileTools = new Set(['write_file', 'edit_file', 'delete_file', 'apply_patch', 'edit_notebook']);
const harmlessTools = new Set(['git', 'command_output', 'stop_command', 'run_code', 'list_mcp_servers', 'use_tool']);

const historyCommand =
  /\bgit\s(?:[^|;&]*\s)?(?:log|diff|show|blame|shortlog)\b|\bgh\s+(?:pr|issue|release|run|workflow)\s+(?:view|diff|list|checks|status|watch)\b/;

/** Whether a command reads the history of a repository. Most targets are paths, which have none of these words. */
const readsHistory = (target: string): boolean =>
  target.includes('g') && (target.includes('git') || target.includes('gh')) && historyCommand.test(target);

type ReadRecords = Omit<SessionActions, 'isPartial' | 'evidence'>;
const known = new WeakMap<readonly ActionRecord[], { readonly count: number; readonly read: ReadRecords }>();

/** Reads the records of a session. What was read is kept as long as the records: a second answer may have the same ones. */
export function readSessionActions(evidence: ActionEvidence): SessionActions {
  const { records, isPartial } = evidence.log;
  const last = known.get(records);
  const read = last?.count === records.length ? last.read : readRecords(records);
  if (read !== last?.read) known.set(records, { count: records.length, read });
  return { ...read, isPartial, evidence };
}

function readRecords(records: readonly ActionRecord[]): ReadRecords {
  const files = new Map<string, ChangedFile['changes'][number][]>();
  const commands: RanCommand[] = [];
  const failed: ActionRecord[] = [];
  const git: ActionRecord[] = [];
  let unknown: ActionRecord | undefined;
  let hasReadHistory = false;
  for (const record of records) {
    const isBackground = record.tool.endsWith(' &');
    const tool = isBackground ? record.tool.slice(0, -2) : record.tool;
    hasReadHistory ||= tool === 'git' || readsHistory(record.target);
    if (record.changes)
      for (const [path, before, after] of record.changes) {
        const list = files.get(path) ?? [];
        if (list.length === 0) files.set(path, list);
        if (before !== after) list.push({ seq: record.seq, call: record.call, tool, before, after });
      }
    if (record.outcome === 'unknown' || record.outcome === 'interrupted') unknown = record;
    else if (tool === '') {
      const own = readUserCommand(record);
      if (own) commands.push(own);
      else unknown = record;
    } else if (commandTools.has(tool)) commands.push(readCommand(record, isBackground));
    else if (tool === 'git_change' || tool === 'git_remote') git.push(record);
    else if (record.outcome === 'denied' || (record.outcome === 'failed' && fileTools.has(tool))) failed.push(record);
    else if (!record.changes && tool !== 'write_file' && !harmlessTools.has(tool)) unknown = record;
  }
  const changed = Array.from(files, ([path, changes]) => ({ path, changes }));
  return {
    files: changed,
    findFiles: createFileSearch(changed),
    commands,
    started: commands.filter((each) => !each.wasDenied),
    failed,
    git,
    unknown,
    hasReadHistory,
  };
}

/** Returns a function that finds files by a part of their path: the paths are one text, since a search in it is much faster than one in each of them. */
function createFileSearch(files: readonly ChangedFile[]): (text: string) => readonly ChangedFile[] {
  let paths: string | undefined;
  const ends: number[] = [];
  return (text) => {
    paths ??= files.reduce((all, { path }) => {
      const longer = `${all}${path.toLowerCase()}\n`;
      ends.push(longer.length);
      return longer;
    }, '');
    const found: ChangedFile[] = [];
    let number = 0;
    for (let at = paths.indexOf(text); at >= 0; at = paths.indexOf(text, ends[number] ?? 0)) {
      while (at >= (ends[number] ?? Number.POSITIVE_INFINITY)) number += 1;
      const file = files[number];
      if (!file) break;
      found.push(file);
    }
    return found;
  };
}

function readCommand({ seq, call, target, code, outcome }: ActionRecord, isBackground: boolean): RanCommand {
  // A session has hundreds of commands: naming the fields takes a quarter of the time of a spread.
  const { tasks, mayDoAny, isUnknown, mayAlsoDo, mayWrite, hidesExit, isMixed } = classifyCommand(target);
  return {
    tasks,
    mayDoAny,
    isUnknown,
    mayAlsoDo,
    mayWrite,
    hidesExit,
    isMixed,
    seq,
    call,
    command: target,
    code: typeof code === 'number' && !isBackground ? code : undefined,
    wasDenied: outcome === 'denied' || (outcome === 'failed' && code === undefined),
    isBackground,
    isByUser: false,
  };
}

/** A command that the user ran with `!`; undefined if the program wrote something else. */
function readUserCommand({ seq, call, target }: ActionRecord): RanCommand | undefined {
  const [, command, rest = ''] = /^I ran this command myself:\n\$ ([^\n]*)\n([^]*)$/.exec(target) ?? [];
  if (command === undefined) return undefined;
  const code = /\(exit code (\d+)\)$/.exec(rest)?.[1];
  return {
    ...classifyCommand(command),
    seq,
    call,
    command,
    code: code === undefined ? undefined : Number(code),
    wasDenied: false,
    isBackground: false,
    isByUser: true,
  };
}

/** Files whose text cannot change the result of a test, a build or a linter. */
export const isDocument = (path: string): boolean =>
  /\.(?:md|mdx|txt|rst|adoc|log|csv|svg|png|jpe?g|gif|ico|css|scss|less)$|(?:^|\/)(?:(?:LICENSE|CHANGELOG|README|CODEOWNERS|\.gitignore|\.gitattributes|\.editorconfig|\.env\.example)[^/]*|\.(?:github|vscode|idea|gitlab)\/.*)$/i.test(
    path,
  );

/** The first change of a source file after an event, unless later changes took it back; style sheets count on request. */
export function findChangeAfter(
  { files }: SessionActions,
  seq: number,
  countsStyles = false,
): { readonly path: string; readonly seq: number } | undefined {
  for (const { path, changes } of files) {
    if ((changes.at(-1)?.seq ?? 0) <= seq) continue;
    const later = changes.filter((change) => change.seq > seq);
    const first = later[0];
    if (!first || (isDocument(path) && !(countsStyles && /\.(?:css|scss|less)$/i.test(path)))) continue;
    if (first.before !== later.at(-1)?.after) return { path, seq: first.seq };
  }
  return undefined;
}

/** Whether a command that ran can have changed files that the log does not name. */
export const findWriter = ({ started }: SessionActions): RanCommand | undefined =>
  started.findLast((each) => each.mayWrite || each.mayDoAny);

/** The commands that did a task, the last one last. */
export const commandsOf = ({ started }: SessionActions, task: Task): readonly RanCommand[] =>
  started.filter((each) => each.tasks.includes(task));

/** How many tests failed and passed. */
export type TestSummary = { readonly failed: number | undefined; readonly passed: readonly number[] };

const summaries = new Map<string, TestSummary | undefined>();
const maxSummaries = 20;

/** What the output of a test run says: the summary that it ends with; the last 20 results are kept. */
export function readTestSummary(output: string): TestSummary | undefined {
  const tail = output.slice(-4000);
  if (summaries.has(tail)) return summaries.get(tail);
  if (summaries.size >= maxSummaries) summaries.clear();
  const summary = parseTestSummary(tail);
  summaries.set(tail, summary);
  return summary;
}

/** What the output of a test run says: how many tests failed and passed. Undefined where it has no summary that is known. */
function parseTestSummary(tail: string): TestSummary | undefined {
  const numbers = (pattern: RegExp): readonly number[] =>
    [...tail.matchAll(pattern)].map((match) => Number((match[1] ?? '').replaceAll(',', '')));
  const passed = numbers(/(?:^|\s)(\d[\d,]*)\s+(?:tests?\s+)?(?:pass(?:ed|ing)?|succeeded|ok)\b/gim).concat(
    numbers(/(?:^|\n)\s*(?:#|ℹ)\s*pass\s+(\d+)/g),
    numbers(/\b(?:Tests|Ran|OK):?\s*\(?\s*(\d+)\s+tests?\b/g),
    numbers(/\bTests:\s+(?:\d+ \w+, )*(\d+) total/g),
    numbers(/(?:^|\n)1\.\.(\d+)/g),
  );
  const failures = numbers(/(?:^|\s)(\d[\d,]*)\s+(?:tests?\s+)?(?:fail(?:ed|ures?|ing)?|errors?)\b/gim).concat(
    numbers(/(?:^|\n)\s*(?:#|ℹ)\s*fail\s+(\d+)/g),
    numbers(/\bfailures=(\d+)/g),
  );
  if (passed.length === 0 && failures.length === 0)
    return /(?:^|\n)(?:FAIL(?:ED)?\b|not ok )/.test(tail) ? { failed: 1, passed } : undefined;
  return {
    failed: failures.length > 0 ? failures.reduce((most, each) => (each > most ? each : most), 0) : undefined,
    passed,
  };
}
