// Parses what a judge model returned. Anything that is not clear is no vote.
import { isObject, parseJsonResponse, type JsonObject } from '../../core/index.ts';

/** The verdict of a judge about one claim, before its quotation is checked. */
export type Judgement = {
  readonly verdict: 'supported' | 'contradicted' | 'cannot-tell';
  readonly why: string;
  /** The number of the passage that decides. */
  readonly passage?: number;
  /** The part of the passage that decides. */
  readonly quotation?: string;
};

/** The JSON Schema of one judgement. */
export const judgementSchema: JsonObject = {
  type: 'object',
  properties: {
    verdict: { type: 'string', enum: ['supported', 'contradicted', 'cannot-tell'] },
    passage: { type: 'integer', description: 'the number of the passage that decides; 0 if none does' },
    quotation: { type: 'string', description: 'the deciding words of that passage, character by character' },
    why: { type: 'string' },
  },
  required: ['verdict', 'passage', 'quotation', 'why'],
  additionalProperties: false,
};

/** The JSON Schema of the judgements of one request, by the id of the claim. */
export const judgementsSchema: JsonObject = {
  type: 'object',
  properties: {
    verdicts: {
      type: 'array',
      items: {
        ...judgementSchema,
        properties: { id: { type: 'string' }, ...(judgementSchema['properties'] as JsonObject) },
        required: ['id', 'verdict', 'passage', 'quotation', 'why'],
      },
    },
  },
  required: ['verdicts'],
  additionalProperties: false,
};

const maxWhyLength = 600;

/** Returns a judgement, or undefined if the value is none. */
export function parseJudgement(value: unknown): Judgement | undefined {
  if (!isObject(value)) return undefined;
  const { verdict, why, passage, quotation } = value;
  if (verdict !== 'supported' && verdict !== 'contradicted' && verdict !== 'cannot-tell') return undefined;
  if (typeof why !== 'string') return undefined;
  return {
    verdict,
    why: why.slice(0, maxWhyLength),
    ...(typeof passage === 'number' && Number.isInteger(passage) && passage > 0 ? { passage } : {}),
    ...(typeof quotation === 'string' && quotation !== '' ? { quotation } : {}),
  };
}

/** Returns the judgements of a response by the id of the claim. An id that occurs twice has none: one of the two may be forged. */
export function parseJudgements(text: string): ReadonlyMap<string, Judgement> | undefined {
  const value = parseJsonResponse(text);
  const list = isObject(value) ? value['verdicts'] : undefined;
  if (!Array.isArray(list)) return undefined;
  const judgements = new Map<string, Judgement>();
  const repeated = new Set<string>();
  for (const each of list) {
    const id = isObject(each) ? each['id'] : undefined;
    if (typeof id !== 'string') continue;
    if (judgements.has(id) || repeated.has(id)) repeated.add(id);
    const judgement = parseJudgement(each);
    if (judgement) judgements.set(id, judgement);
  }
  for (const id of repeated) judgements.delete(id);
  return judgements;
}
