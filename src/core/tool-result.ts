// Converts the return value of a tool to a `tool-ended` fact: bounded text and plain JSON.
import type { FlowLabels } from './flow-labels.ts';
import type { Fact, Note } from './fact.ts';
import { isObject, toJson } from './json.ts';
import type { FilePart, ToolResultPart } from './message.ts';
import { isNote } from './notes.ts';
import { spotlightAttributes, spotlightText, type Spotlight } from './spotlight.ts';
import { escapeReminderTags } from './untrusted-text.ts';
import { TOOL_OUTPUT, type ToolOutput } from './ports.ts';
import { parseUsageTotals } from './usage-totals.ts';

/** The fact that ends a tool call. */
export type ToolEndedFact = Fact & { readonly type: 'tool-ended' };

/** Creates the end of a call from a return value. The text is truncated to the limit, and text that imitates our notes is escaped. */
export function toolResultFact(
  call: string,
  value: unknown,
  maxChars: number,
  ms: number,
  render?: (output: ToolOutput) => string,
): ToolEndedFact {
  const output = isToolOutput(value) ? value : toolOutput({ text: textOfValue(value) });
  return {
    type: 'tool-ended',
    call,
    outcome: output.outcomeUnknown ? 'unknown' : output.failed ? 'failed' : 'ok',
    text: escapeReminderTags(truncateMiddle(render?.(withoutWithheld(output)) ?? output.text, maxChars)),
    ms,
    ...optionalFields(output),
  };
}

/** Renderers make text for the model. */
const withoutWithheld = ({ withheld: _, ...output }: ToolOutput): ToolOutput => output;

/** Returns the fact with its text marked as untrusted. The nonce of the marks is removed from the text, so that the text cannot close them. */
export const markUntrusted = (
  fact: ToolEndedFact,
  nonce: string | undefined,
  spotlight: Spotlight = 'delimiters',
): ToolEndedFact => ({
  ...fact,
  ...(nonce && fact.text.includes(nonce) ? { text: fact.text.replaceAll(nonce, '[nonce]') } : {}),
  untrusted: true,
  ...(spotlight === 'delimiters' ? {} : { spotlight }),
});

/** The tags around a text of a tool result that is from outside; the text does not contain their nonce. */
export type ResultTags = { readonly open: string; readonly close: string };

/** Returns the tags around the text of a tool result; undefined if the text is not marked. */
export const resultTags = ({ nonce, spotlight = 'delimiters' }: ResultMarks): ResultTags | undefined =>
  nonce
    ? {
        open: `<outside-text-${nonce}${spotlightAttributes[spotlight]}>\n`,
        close: `\n</outside-text-${nonce}>`,
      }
    : undefined;

type ResultMarks = Pick<ToolResultPart, 'nonce'> & { readonly spotlight?: Spotlight };

/** Returns the text of a tool result as the model reads it: text from outside is between tags that it cannot close. */
export function formatToolResult(part: Pick<ToolResultPart, 'text'> & ResultMarks): string {
  const tags = resultTags(part);
  return tags ? `${tags.open}${spotlightText(part.text, part.spotlight ?? 'delimiters')}${tags.close}` : part.text;
}

/** Returns the text that `formatToolResult` put between tags; any other text as it is. */
export const parseToolResult = (text: string): string =>
  /^<outside-text-([^>\s]+)(?: [^>\n]*)?>\n([^]*)\n<\/outside-text-\1>$/.exec(text)?.[2] ?? text;

function textOfValue(value: unknown): string {
  if (value === undefined) return '(no output)';
  return typeof value === 'string' ? value : JSON.stringify(toJson(value));
}

/** Creates a tool output: text for the model, data for programs, notes. */
export const toolOutput = (fields: Omit<ToolOutput, typeof TOOL_OUTPUT>): ToolOutput => ({
  ...fields,
  [TOOL_OUTPUT]: true,
});

/** Returns true if a value was created by `toolOutput`. */
export const isToolOutput = (value: unknown): value is ToolOutput =>
  isObject(value) && TOOL_OUTPUT in value && typeof value['text'] === 'string';

const maxWithheldChars = 500_000;

/** Returns the optional fields of an output that are valid; the fold relies on their types. */
function optionalFields({
  data,
  labels,
  withheld,
  files,
  notes,
  loadsTools,
  endsRun,
  spent,
}: ToolOutput): Partial<ToolEndedFact> {
  const validNotes = Array.isArray(notes) ? (toJson(notes.filter(isNote)) as readonly Note[]) : [];
  const toolNames = Array.isArray(loadsTools) ? loadsTools.filter((name) => typeof name === 'string') : [];
  const validFiles = Array.isArray(files) ? (toJson(files.filter(isFilePart)) as readonly FilePart[]) : [];
  const usage = parseUsageTotals(spent);
  return {
    ...(data === undefined ? {} : { data: toJson(data) }),
    ...(isObject(labels) ? { labels: toJson(labels) as FlowLabels } : {}),
    ...(typeof withheld === 'string' ? { withheld: truncateMiddle(withheld, maxWithheldChars) } : {}),
    ...(validFiles.length ? { files: validFiles } : {}),
    ...(validNotes.length ? { notes: validNotes } : {}),
    ...(toolNames.length ? { loadsTools: toolNames } : {}),
    ...(endsRun === true ? { endsRun } : {}),
    ...(Object.keys(usage).length ? { spent: usage } : {}),
  };
}

const isFilePart = (value: unknown): value is FilePart =>
  isObject(value) &&
  value['type'] === 'file' &&
  typeof value['mediaType'] === 'string' &&
  typeof value['data'] === 'string';

/** Truncates the middle of a long text and states its length. Never splits a surrogate pair. */
export function truncateMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const head = text.slice(0, half - (isHighSurrogate(text, half - 1) ? 1 : 0));
  const tail = text.slice(text.length - half + (isHighSurrogate(text, text.length - half - 1) ? 1 : 0));
  const omitted = text.length - head.length - tail.length;
  return `${head}\n[… ${omitted} of ${text.length} characters left out …]\n${tail}`;
}

/** Returns true if a high surrogate is at this index. */
const isHighSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800;
