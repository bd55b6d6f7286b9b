// Formats the preview of an approval as lines of text: diffs with line numbers, the command with its effects, aligned arguments.
import {
  escapeInvisible,
  escapeInvisibleLine,
  isObject,
  maxOf,
  type ApprovalPreview,
  type ApprovalWarning,
  type FilePreview,
  type Json,
} from '../core/index.ts';

/** How much of a preview is shown. */
export type PreviewFormatOptions = {
  /** Max lines of a diff or of arguments; the rest is counted. A command is never shortened. */
  readonly maxLines?: number;
  /** What the user does to see the rest, such as `Ctrl+O shows them`. */
  readonly moreHint?: string;
};

/** Formats a preview as lines, without its title. */
export function formatPreview(preview: ApprovalPreview, options: PreviewFormatOptions = {}): readonly string[] {
  const { files = [], command, call, notes, warning } = preview;
  const body = [
    ...files.flatMap(formatFile),
    ...(command ? formatCommand(command) : []),
    ...(call ? formatArguments(call) : []),
  ];
  const { maxLines = Infinity, moreHint } = options;
  // One line more than the limit is shorter than the sentence about it.
  const isCut = command === undefined && body.length > maxLines + 1;
  const left = body.length - maxLines;
  return [
    ...(isCut ? body.slice(0, maxLines) : body),
    ...(isCut ? [`… ${left} more lines${moreHint === undefined ? '' : ` (${moreHint})`}`] : []),
    ...notes.map(escapeInvisible),
    ...(warning ? formatWarning(warning) : []),
  ];
}

/** Formats what a question is about: its preview, or the text of the question if it has none. */
export const formatApprovalDetail = (
  { preview, question }: { readonly preview?: ApprovalPreview; readonly question: string },
  options: PreviewFormatOptions = {},
): string => (preview ? formatPreview(preview, options).join('\n') : escapeInvisible(question));

function formatFile({ path, change, diff, added, removed }: FilePreview): readonly string[] {
  const verb = { create: 'new file', edit: 'edit', delete: 'delete' }[change];
  return [`${escapeInvisibleLine(path)} (${verb}, +${added} -${removed})`, ...numberDiffLines(diff)];
}

/** Formats a unified diff with the line number before each line: that of the old file for a removed line, that of the new one for others. */
export function numberDiffLines(diff: string): readonly string[] {
  const lines = diff.trimEnd().split('\n');
  let [oldLine, newLine] = [0, 0];
  const last = maxOf(lines.map(maxLineOf), 0);
  const width = String(last).length;
  const numbered: string[] = [];
  for (const line of lines) {
    const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (start) {
      if (numbered.length > 0) numbered.push(`${' '.repeat(width)} ⋮`);
      [oldLine, newLine] = [Number(start[1]), Number(start[2])];
      continue;
    }
    const sign = line.charAt(0);
    if (oldLine + newLine === 0 || !' +-\\'.includes(sign)) continue;
    const text = escapeInvisible(line.slice(1).replaceAll('\t', '    '));
    if (sign === '\\') numbered.push(`${' '.repeat(width)}   (no newline at the end of the file)`);
    else numbered.push(`${String(sign === '-' ? oldLine : newLine).padStart(width)} ${sign} ${text}`.trimEnd());
    if (sign !== '+' && sign !== '\\') oldLine += 1;
    if (sign !== '-' && sign !== '\\') newLine += 1;
  }
  return numbered;
}

function maxLineOf(line: string): number {
  const [, from = '0', fromCount = '1', to = '0', toCount = '1'] =
    /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(line) ?? [];
  return line.startsWith('@@') ? Math.max(Number(from) + Number(fromCount), Number(to) + Number(toCount)) : 0;
}

/** The exact command is never shortened: each of its lines starts with the same mark, so that it cannot imitate a line of the question. */
function formatCommand({ line, folder, effects, sandbox }: NonNullable<ApprovalPreview['command']>): readonly string[] {
  const [first = '', ...rest] = escapeInvisible(line).split('\n');
  return [
    `$ ${first}`,
    ...rest.map((each) => `| ${each}`),
    ...(rest.length > 0 ? [`(${rest.length + 1} lines)`] : []),
    `folder   ${escapeInvisibleLine(folder)}`,
    ...effects.map((effect, index) => `${index === 0 ? 'effects ' : '        '} ${escapeInvisibleLine(effect)}`),
    `sandbox  ${escapeInvisibleLine(sandbox)}`,
  ];
}

/** A warning is the last thing before the question. No other line starts with its mark. */
function formatWarning({ reason, rows }: ApprovalWarning): readonly string[] {
  const width = maxOf(
    rows.map(({ name }) => name.length),
    0,
  );
  return [
    `! ${escapeInvisibleLine(reason)}`,
    ...rows.map(({ name, text }) => `  ${escapeInvisibleLine(name).padEnd(width)}  ${escapeInvisibleLine(text)}`),
  ];
}

function formatArguments({ tool, server, input }: NonNullable<ApprovalPreview['call']>): readonly string[] {
  const head = [...(server === undefined ? [] : [['server', server] as const]), ['tool', tool] as const];
  const fields: readonly (readonly [string, Json])[] = isObject(input) ? Object.entries(input) : [['input', input]];
  const rows = [...head, ...fields.map(([name, value]) => [escapeInvisibleLine(name), value] as const)];
  const width = Math.min(
    24,
    maxOf(
      rows.map(([name]) => name.length),
      0,
    ),
  );
  return rows.flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const [first = '', ...more] = escapeInvisible(text).split('\n');
    return [`${name.padEnd(width)}  ${first}`, ...more.map((line) => `${' '.repeat(width)}  ${line}`)];
  });
}
