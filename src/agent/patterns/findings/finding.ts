// A finding: a statement about a place, such as a defect in some lines of a file.
import { isObject, parseJsonResponse } from '../../../core/index.ts';
import type { ReadResult } from '../call-member.ts';

/** A statement about a place. */
export type Finding = {
  readonly text: string;
  /** The file that it is about. */
  readonly file?: string;
  /** The first and the last line, counted from 1. */
  readonly lines?: readonly [number, number];
};

/** Where a kept finding comes from. */
export type FindingSource = {
  /** The position among the findings that were compared. */
  readonly index: number;
  readonly text: string;
  readonly file?: string;
  readonly lines?: readonly [number, number];
  /** The participant. */
  readonly by?: string;
  /** The item that the participant read. */
  readonly item?: string;
};

/** A finding that was kept, with every finding that says the same. */
export type KeptFinding = Finding & { readonly sources: readonly FindingSource[] };

const maxFindingsOfAnswer = 500;
const maxTextLength = 4000;
const maxFileLength = 1000;

/** The JSON Schema of the findings of one item. */
export const findingsSchema = {
  type: 'object',
  properties: {
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          text: { type: 'string' },
          file: { type: 'string' },
          lines: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 },
        },
        required: ['text'],
        additionalProperties: false,
      },
    },
  },
  required: ['findings'],
  additionalProperties: false,
} as const;

/** Reads a list of findings. One that is no finding makes the answer invalid, so that nothing is dropped silently. */
export function readFindings(value: unknown): ReadResult<readonly Finding[]> {
  const parsed = typeof value === 'string' ? parseJsonResponse(value) : value;
  const list = isObject(parsed) ? parsed['findings'] : parsed;
  if (!Array.isArray(list)) return { problem: 'The mapper returned no list of findings.' };
  if (list.length > maxFindingsOfAnswer)
    return { problem: `The mapper returned ${list.length} findings; at most ${maxFindingsOfAnswer} are read.` };
  const findings: Finding[] = [];
  for (const [i, each] of (list as readonly unknown[]).entries()) {
    const finding = toFinding(each);
    if (!finding) return { problem: `Finding ${i + 1} has no text, or a place that is none.` };
    findings.push(finding);
  }
  return { value: findings };
}

function toFinding(value: unknown): Finding | undefined {
  if (!isObject(value)) return undefined;
  const { text, file, lines } = value;
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  if (file !== undefined && (typeof file !== 'string' || file.length > maxFileLength)) return undefined;
  if (lines !== undefined && !isLines(lines)) return undefined;
  return {
    text: text.slice(0, maxTextLength),
    ...(file === undefined || file.trim() === '' ? {} : { file }),
    ...(lines === undefined ? {} : { lines: [lines[0], lines[1]] }),
  };
}

const isLines = (value: unknown): value is readonly [number, number] =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((line) => Number.isSafeInteger(line) && line > 0) &&
  value[0] <= value[1];
