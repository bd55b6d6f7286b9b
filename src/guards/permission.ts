// The permission gate: reads are allowed unless they read secrets; every other call needs approval, with the exact call in the question.
import {
  hash53,
  isObject,
  isSecretFile,
  escapeInvisible,
  escapeInvisibleLine,
  type ToolCall,
  type Gate,
  type Tool,
} from '../core/index.ts';
import { grantKey, grantSubject, type Grants, type ResolvePath } from './grants.ts';
import { deceptiveTextWarnings } from './deceptive-text.ts';
import { findAutoExecutedFiles } from './auto-executed-files.ts';
import { invalidCommandReason } from './invalid-command.ts';

/** Options of permissionGate. */
export type PermissionOptions = {
  /** `ask` asks before each call that changes something or reads a secret. `auto` allows all of them except changes to auto-executed files. Read at every call. */
  readonly mode: () => 'ask' | 'auto';
  readonly grants: Grants;
  /** All tools that can be called, with their effects. A tool that is not listed needs approval. */
  readonly tools: ReadonlyMap<string, Pick<Tool, 'effect' | 'clientSideQuestion'>>;
  readonly locate: ResolvePath;
  /** Whether a grant covers a call that the exact grants do not cover. */
  readonly isGranted?: (call: ToolCall) => Promise<boolean>;
};

/** Creates a gate that asks the user. */
export function permissionGate({ mode, grants, tools, locate, isGranted }: PermissionOptions): Gate {
  return (call) => {
    const invalidReason = invalidCommandReason(call);
    if (invalidReason !== undefined) return { type: 'deny', reason: invalidReason };
    const tool = tools.get(call.tool);
    // The client executes this call and decides about it. It receives nothing but the input.
    if (tool?.clientSideQuestion !== undefined) return { type: 'allow' };
    const reads = tool?.effect === 'read';
    const autoExecutedFiles = reads ? [] : findAutoExecutedFiles(call, locate);
    if (mode() === 'auto' && autoExecutedFiles.length === 0) return { type: 'allow' };
    if (reads && !namesSecretFile(call, locate)) return { type: 'allow' };
    if (grants.has(grantKey(call, locate))) return { type: 'allow' };
    const warnings = autoExecutedFiles.map((name) => `Warning: other programs run or load ${name} without asking you.`);
    const question = [formatApprovalPrompt(call, locate), ...warnings].join('\n');
    // A file that other programs run, and a file with secrets, are asked about unless exactly that was granted.
    if (reads || warnings.length > 0) return { type: 'ask', question };
    const ask = { type: 'ask', question, by: { kind: 'permission' } } as const;
    return isGranted ? isGranted(call).then((granted) => (granted ? ({ type: 'allow' } as const) : ask)) : ask;
  };
}

/** Returns true if a call names a file that may hold secrets, by its name or by its real path. */
function namesSecretFile({ input }: Pick<ToolCall, 'input'>, locate: ResolvePath): boolean {
  const { path } = isObject(input) ? input : {};
  if (typeof path !== 'string') return false;
  try {
    return isSecretFile(path) || isSecretFile(locate(path));
  } catch {
    // The path cannot be resolved, so the tool itself will fail.
    return false;
  }
}

const maxContentLength = 4000;

/** Formats the exact call as a question, with invisible characters escaped. A command is never shortened; the content of a file is, above a length. */
export function formatApprovalPrompt(
  call: Pick<ToolCall, 'tool' | 'input'>,
  locate: ResolvePath,
  maxLength: number = maxContentLength,
): string {
  return [formatExactCall(call, locate, maxLength), ...deceptiveTextWarnings(call)].join('\n');
}

/** Formats the exact call as text, without warnings. */
export function formatExactCall(
  call: Pick<ToolCall, 'tool' | 'input'>,
  locate: ResolvePath,
  maxLength: number = maxContentLength,
): string {
  if (call.tool === 'apply_patch') return formatPatch(call, locate, maxLength);
  const subject = grantSubject(call, locate);
  const {
    content,
    old_string: old,
    new_string: next,
    replace_all: replaceAll,
    background,
    timeout_s: timeout,
  } = isObject(call.input) ? call.input : {};
  if (subject.type === 'command')
    return [
      ...formatCommand(call.tool, subject.command),
      ...(background === true ? ['(It runs in the background.)'] : []),
      ...(typeof timeout === 'number' ? [`(It may run for ${timeout} s.)`] : []),
    ].join('\n');
  if (subject.type === 'input') return `${call.tool} ${escapeInvisible(subject.input)}`;
  return [
    `${call.tool} ${escapeInvisibleLine(subject.path)}${replaceAll === true ? ', every match' : ''}`,
    ...formatDiffLines('-', old, maxLength),
    ...formatDiffLines('+', content ?? next, maxLength),
  ].join('\n');
}

/** Formats a call that changes files by the lines that it really changes, instead of the text of its arguments. The text identifies the change: another change of the same call has another text. */
export function formatFileChange(
  call: Pick<ToolCall, 'tool' | 'input'>,
  locate: ResolvePath,
  files: readonly { readonly path: string; readonly change: string; readonly lines: readonly string[] }[],
): string {
  return files
    .flatMap(({ path, change, lines }) => [
      `${call.tool} ${escapeInvisibleLine(formatResolvedPath(path, locate))}${change === 'create' ? ' (new file)' : ''}`,
      ...formatDiffLines('', lines.join('\n'), maxContentLength),
    ])
    .join('\n');
}

/** The start of each line that the call contains. The lines of the question itself do not have it, so content cannot imitate them. */
const contentPrefix = '| ';

/** Formats a command. Its first line alone could be taken for all of it, so a command of several lines is introduced by their number. */
function formatCommand(tool: string, command: string): readonly string[] {
  const lines = escapeInvisible(command).split('\n');
  return lines.length === 1
    ? [`${tool}: ${lines[0]}`]
    : [`${tool} (${lines.length} lines):`, ...lines.map((line) => `${contentPrefix}${line}`)];
}

/** Formats a patch for the user: its real paths, then its lines. */
function formatPatch(
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  locate: ResolvePath,
  maxLength: number,
): string {
  const { paths, patch } = isObject(input) ? input : {};
  const resolvedPaths = (Array.isArray(paths) ? paths : [paths]).map((each) =>
    escapeInvisibleLine(formatResolvedPath(String(each), locate)),
  );
  return [`${tool} ${resolvedPaths.join(', ')}`, ...formatDiffLines(contentPrefix, patch, maxLength)].join('\n');
}

function formatResolvedPath(path: string, locate: ResolvePath): string {
  try {
    return locate(path);
  } catch {
    // The path cannot be resolved, so the tool itself will fail.
    return path;
  }
}

/** Formats a text as diff lines. A very long text is shown as both ends, the omitted size and a digest of the complete text, so that the question identifies this text only. */
function formatDiffLines(prefix: string, text: unknown, maxLength: number): readonly string[] {
  if (typeof text !== 'string') return [];
  const lines = (part: string): readonly string[] =>
    part.split('\n').map((line) => `${prefix}${escapeInvisible(line)}`);
  const omittedLength = text.length - maxLength;
  if (omittedLength <= 0) return lines(text);
  const gap = `[… ${omittedLength} characters are not shown, of ${text.length} in total, digest ${hash53(text).toString(36)} …]`;
  return [...lines(text.slice(0, maxLength / 2)), gap, ...lines(text.slice(-maxLength / 2))];
}
