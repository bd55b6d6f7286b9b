// What a tool gave, as the fact that says so: bounded, plain JSON, whatever it was.
import type { Fact, Note } from './fact.ts';
import { isObject, toJson } from './json.ts';
import type { FilePart } from './message.ts';
import { isNote } from './notes.ts';
import { harmless } from './outside-text.ts';
import { OUTPUT, type Output } from './ports.ts';
import { spentIn } from './spending.ts';

/** The fact that ends a call. */
export type Ended = Fact & { readonly type: 'tool-ended' };

/** The end of a call whose tool gave this value; its text holds at most this many characters of it, and nothing that poses as a note of ours. */
export function resultOf(
  call: string,
  value: unknown,
  most: number,
  ms: number,
  render?: (given: Output) => string,
): Ended {
  const given = isOutput(value) ? value : output({ text: wordsFor(value) });
  return {
    type: 'tool-ended',
    call,
    outcome: given.outcomeUnknown ? 'unknown' : given.failed ? 'failed' : 'ok',
    text: harmless(shorten(render?.(given) ?? given.text, most)),
    ms,
    ...extras(given),
  };
}

function wordsFor(value: unknown): string {
  if (value === undefined) return '(no output)';
  return typeof value === 'string' ? value : JSON.stringify(toJson(value));
}

/** A tool's answer with several renderings: text for the model, data for programs, notes to attach. */
export const output = (fields: Omit<Output, typeof OUTPUT>): Output => ({ ...fields, [OUTPUT]: true });

/** Tells an output with several renderings from any other value a tool may give, whatever that looks like. */
export const isOutput = (value: unknown): value is Output =>
  isObject(value) && OUTPUT in value && typeof value['text'] === 'string';

/** What else an output holds, where it is what it should be: the fold must never meet anything else. */
function extras({ data, files, notes, loadsTools: loads, endsRun: completes, spent }: Output): Partial<Ended> {
  const kept = Array.isArray(notes) ? (toJson(notes.filter(isNote)) as readonly Note[]) : [];
  const names = Array.isArray(loads) ? loads.filter((name) => typeof name === 'string') : [];
  const shown = Array.isArray(files) ? (toJson(files.filter(isFile)) as readonly FilePart[]) : [];
  const used = spentIn(spent);
  return {
    ...(data === undefined ? {} : { data: toJson(data) }),
    ...(shown.length ? { files: shown } : {}),
    ...(kept.length ? { notes: kept } : {}),
    ...(names.length ? { loadsTools: names } : {}),
    ...(completes === true ? { endsRun: completes } : {}),
    ...(Object.keys(used).length ? { spent: used } : {}),
  };
}

const isFile = (value: unknown): value is FilePart =>
  isObject(value) &&
  value['type'] === 'file' &&
  typeof value['mediaType'] === 'string' &&
  typeof value['data'] === 'string';

/** The head and the tail of a text that is too long, and how long it was; no character is cut in two. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const head = text.slice(0, half - (isHigh(text, half - 1) ? 1 : 0));
  const tail = text.slice(text.length - half + (isHigh(text, text.length - half - 1) ? 1 : 0));
  const left = text.length - head.length - tail.length;
  return `${head}\n[… ${left} of ${text.length} characters left out …]\n${tail}`;
}

/** Whether the first half of a character that takes two places stands here. */
const isHigh = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800;
