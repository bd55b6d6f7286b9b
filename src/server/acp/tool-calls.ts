// Converts tool calls to ACP tool calls: title, kind, locations and diffs.
import type { ToolCallContent, ToolCallLocation, ToolCallStatus, ToolKind } from '@agentclientprotocol/sdk';
import {
  unwrapDeferredCall,
  isObject,
  escapeInvisibleLine,
  longestMatch,
  type Json,
  type PendingApproval,
} from '../../core/index.ts';
import {
  formatToolInput,
  toPlainOutput,
  type CallBlock,
  type CallStatus,
  type TranscriptBlock,
} from '../../sessions/index.ts';

/** Resolves a path; throws if it is outside the workspace. */
export type CallPathResolver = (path: string) => string;

const toolKinds: Readonly<Record<string, ToolKind>> = {
  read_file: 'read',
  list_files: 'search',
  glob: 'search',
  grep: 'search',
  write_file: 'edit',
  edit_file: 'edit',
  apply_patch: 'edit',
  delete_file: 'delete',
  code_intelligence: 'search',
  run_command: 'execute',
  execute_sandboxed_command: 'execute',
  run_code: 'execute',
  web_fetch: 'fetch',
  web_search: 'fetch',
  http_request: 'fetch',
};

/** The statuses of calls in version 1. */
export const callStatuses: Readonly<Record<CallStatus, ToolCallStatus>> = {
  running: 'in_progress',
  waiting: 'pending',
  ok: 'completed',
  failed: 'failed',
  denied: 'failed',
  interrupted: 'failed',
  unknown: 'failed',
};

/** A text of the model. */
export type TextBlock = TranscriptBlock & { readonly type: 'assistant' | 'reasoning' };

/** The constant part of a call. */
export type ToolCallHeader = {
  readonly toolCallId: string;
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly rawInput: Json;
  readonly locations?: ToolCallLocation[];
};

/** Creates the constant part of a call from its tool and input. */
export function toToolCallHeader(
  block: Pick<CallBlock, 'id' | 'tool' | 'input'>,
  locate: CallPathResolver,
): ToolCallHeader {
  const { id } = block;
  const { tool, input } = unwrapCall(block);
  const path = getCallPath(input, locate);
  return {
    toolCallId: id,
    name: tool,
    title: `${tool} ${formatCallTarget(tool, input)}`.trim(),
    kind: toolKinds[tool] ?? 'other',
    rawInput: input,
    ...(path === undefined ? {} : { locations: [{ path }] }),
  };
}

/** Unwraps a call of a deferred tool. */
export function unwrapCall(call: Pick<CallBlock, 'tool' | 'input'>): Pick<CallBlock, 'tool' | 'input'> {
  const meant = unwrapDeferredCall(call);
  return typeof meant === 'string' ? call : meant;
}

/** Formats the title of a call; the file name for file tools. */
function formatCallTarget(tool: string, input: Json): string {
  const { path } = isObject(input) ? input : {};
  const onFile = toolKinds[tool] === 'read' || toolKinds[tool] === 'edit';
  return onFile && typeof path === 'string' ? escapeInvisibleLine(path) : formatToolInput(input);
}

/** Returns the real path of a call; undefined if it has none or it is outside the workspace. */
export function getCallPath(input: Json, locate: CallPathResolver): string | undefined {
  const { path } = isObject(input) ? input : {};
  if (typeof path !== 'string') return undefined;
  try {
    return locate(path);
  } catch {
    return undefined;
  }
}

/** Fences a text so that it cannot close the fence. */
export function fenceMarkdown(text: string, as = ''): string {
  const longest = longestMatch(text, /`+/g, 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${as}\n${text.trimEnd()}\n${fence}`;
}

/** Converts a text to call content. */
export const toTextContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } });

/** Returns the content of a finished call: its diff or its output. */
export function toToolCallContent(block: CallBlock, locate: CallPathResolver): ToolCallContent[] {
  const { output = '', diff } = block;
  const { tool, input } = unwrapCall(block);
  const path = getCallPath(input, locate);
  if (diff !== undefined) return path === undefined ? [toWholeDiffContent(diff)] : toDiffContent(diff, path);
  const text = toPlainOutput(output);
  if (text.trim() === '') return [];
  return [toTextContent(toolKinds[tool] === undefined ? text : fenceMarkdown(text))];
}

/** Returns one diff per hunk; an unparsable diff is shown as text. */
function toDiffContent(diff: string, path: string): ToolCallContent[] {
  const pieces = parseDiffHunks(diff);
  if (!pieces) return [toWholeDiffContent(diff)];
  return pieces.map(({ head, lines }) => ({
    type: 'diff',
    path,
    oldText: head.startsWith('@@ -0,0 ') ? null : joinDiffSide(lines, '-'),
    newText: joinDiffSide(lines, '+'),
  }));
}

const toWholeDiffContent = (diff: string): ToolCallContent => toTextContent(fenceMarkdown(diff, 'diff'));

type DiffHunk = { readonly head: string; readonly lines: string[] };

/** Parses the hunks of a unified diff; undefined if it has none or is truncated. */
function parseDiffHunks(diff: string): readonly DiffHunk[] | undefined {
  const pieces: DiffHunk[] = [];
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    if (line.startsWith('@@ ')) pieces.push({ head: line, lines: [] });
    else if (/^[ +\\-]/.test(line)) pieces.at(-1)?.lines.push(line);
    else if (pieces.length) return undefined;
  }
  return pieces.length ? pieces : undefined;
}

const joinDiffSide = (lines: readonly string[], sign: '-' | '+'): string =>
  lines
    .filter((line) => line.startsWith(' ') || line.startsWith(sign))
    .map((line) => line.slice(1))
    .join('\n');

/** Returns the real diffs of a call that waits for approval, one per hunk of each file; empty if it changes no file. */
export const toProposedChange = (
  { preview }: Pick<PendingApproval, 'preview'>,
  locate: CallPathResolver,
): ToolCallContent[] =>
  (preview?.files ?? []).flatMap(({ path, diff }) => {
    const real = getCallPath({ path }, locate);
    return real === undefined ? [toWholeDiffContent(diff)] : toDiffContent(diff, real);
  });
