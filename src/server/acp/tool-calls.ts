// A tool call as an editor shows it: a title, a kind, where it works, and what it changed as texts before and after.
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import { unwrapDeferredCall, isObject, escapeInvisibleLine, type Json } from '../../core/index.ts';
import { formatToolInput, toPlainOutput, type CallBlock } from '../../sessions/index.ts';

/** Tells where a path really leads; throws where that is nowhere it may lead. */
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

/** What does not change about a call. */
export type ToolCallHeader = {
  readonly toolCallId: string;
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly rawInput: Json;
  readonly locations?: ToolCallLocation[];
};

/** A call's head, from its tool and input. */
export function toToolCallHeader(
  block: Pick<CallBlock, 'id' | 'tool' | 'input'>,
  locate: CallPathResolver,
): ToolCallHeader {
  const { id } = block;
  const { tool, input } = unwrapCall(block);
  const where = getCallPath(input, locate);
  return {
    toolCallId: id,
    name: tool,
    title: `${tool} ${formatCallTarget(tool, input)}`.trim(),
    kind: toolKinds[tool] ?? 'other',
    rawInput: input,
    ...(where === undefined ? {} : { locations: [{ path: where }] }),
  };
}

/** The call that is meant: of one through the tool for loaded tools, the one inside it. */
export function unwrapCall(call: Pick<CallBlock, 'tool' | 'input'>): Pick<CallBlock, 'tool' | 'input'> {
  const meant = unwrapDeferredCall(call);
  return typeof meant === 'string' ? call : meant;
}

/** What a call is about: of one on a file, the file alone. */
function formatCallTarget(tool: string, input: Json): string {
  const { path } = isObject(input) ? input : {};
  const onFile = toolKinds[tool] === 'read' || toolKinds[tool] === 'edit';
  return onFile && typeof path === 'string' ? escapeInvisibleLine(path) : formatToolInput(input);
}

/** The real path that a call names; nothing if it names none, or one that leads nowhere it may. */
export function getCallPath(input: Json, locate: CallPathResolver): string | undefined {
  const { path } = isObject(input) ? input : {};
  if (typeof path !== 'string') return undefined;
  try {
    return locate(path);
  } catch {
    return undefined;
  }
}

/** A text between fences that it cannot end. */
export function fenceMarkdown(text: string, as = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${as}\n${text.trimEnd()}\n${fence}`;
}

/** A text as the content of a call. */
export const toTextContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } });

/** What a call gave: the pieces of its diff, or its output. */
export function toToolCallContent(block: CallBlock, locate: CallPathResolver): ToolCallContent[] {
  const { output = '', diff } = block;
  const { tool, input } = unwrapCall(block);
  const where = getCallPath(input, locate);
  if (diff !== undefined) return where === undefined ? [toWholeDiffContent(diff)] : toDiffContent(diff, where);
  const text = toPlainOutput(output);
  if (text.trim() === '') return [];
  return [toTextContent(toolKinds[tool] === undefined ? text : fenceMarkdown(text))];
}

/** A piece for each place that changed; a diff that cannot be taken apart is shown as it is. */
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

/** The pieces of a unified diff; nothing where it has none, or was shortened in the middle. */
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

/** What a call that waits for a yes would change, as far as its input tells. */
export function toProposedChange(call: Pick<CallBlock, 'tool' | 'input'>, locate: CallPathResolver): ToolCallContent[] {
  const { input } = unwrapCall(call);
  const path = getCallPath(input, locate);
  const { old_string: old, new_string: next } = isObject(input) ? input : {};
  return path !== undefined && typeof old === 'string' && typeof next === 'string'
    ? [{ type: 'diff', path, oldText: old, newText: next }]
    : [];
}
