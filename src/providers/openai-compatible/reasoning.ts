// A model's thinking in the shapes chat servers give it, and kept in the shape they want back.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';

type Fields = { readonly [key: string]: unknown };

/** The thinking in a delta or a message, whichever field it stands in; the same thought in two fields is taken once. */
export function parseReasoning(fields: Fields): string {
  const { reasoning_content: content, reasoning, thinking } = fields;
  if (typeof content === 'string' && content !== '') return content;
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  if (typeof thinking === 'string' && thinking !== '') return thinking;
  const details = fields['reasoning_details'];
  return Array.isArray(details) ? details.map(reasoningDetailText).join('') : '';
}

const reasoningDetailText = (detail: unknown): string => {
  if (!isObject(detail)) return '';
  const words = detail['text'] ?? detail['summary'];
  return typeof words === 'string' ? words : '';
};

/** The words of a thinking chunk of a content list: a text, or a list of texts. */
export function parseThinkingChunk(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.map(reasoningDetailText).join('') : '';
}

/** Adds streamed pieces of reasoning details to those before: words and signatures join the detail of the same number and type. */
export function appendReasoningDetails(details: Record<string, Json>[], pieces: unknown): void {
  if (!Array.isArray(pieces)) return;
  for (const piece of pieces as unknown[]) {
    if (!isObject(piece)) continue;
    const fields = Object.entries(piece).filter(([, value]) => value !== null && value !== undefined);
    const now = Object.fromEntries(fields) as JsonObject;
    const before = details.at(-1);
    const joins = before && before['type'] === now['type'] && before['index'] === now['index'] && !('data' in now);
    if (!joins) {
      details.push({ ...now });
      continue;
    }
    for (const [name, value] of Object.entries(now)) {
      const old = before[name];
      before[name] =
        (name === 'text' || name === 'summary') && typeof old === 'string' && typeof value === 'string'
          ? old + value
          : value;
    }
  }
}
