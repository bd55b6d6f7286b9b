// Parses the reasoning of chat servers in all its fields, and merges streamed reasoning details to send them back.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';
import type { WireObject } from '../../wire/index.ts';

/** Returns the reasoning of a delta or message from the first field that has it; some servers repeat it in two fields. */
export function parseReasoning(fields: WireObject): string {
  const { reasoning_content: content, reasoning, thinking } = fields;
  if (typeof content === 'string' && content !== '') return content;
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  if (typeof thinking === 'string' && thinking !== '') return thinking;
  const details = fields['reasoning_details'];
  return Array.isArray(details) ? details.map(reasoningDetailText).join('') : '';
}

const reasoningDetailText = (detail: unknown): string => {
  if (!isObject(detail)) return '';
  const text = detail['text'] ?? detail['summary'];
  return typeof text === 'string' ? text : '';
};

/** Returns the text of a thinking chunk: a string or a list of texts. */
export function parseThinkingChunk(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.map(reasoningDetailText).join('') : '';
}

/** Merges streamed reasoning details: a piece with the same type and index as the last detail extends it. */
export function appendReasoningDetails(details: Record<string, Json>[], pieces: unknown): void {
  if (!Array.isArray(pieces)) return;
  for (const piece of pieces as unknown[]) {
    if (!isObject(piece)) continue;
    const fields = Object.entries(piece).filter(([, value]) => value !== null && value !== undefined);
    const added = Object.fromEntries(fields) as JsonObject;
    const before = details.at(-1);
    const isContinuation =
      before && before['type'] === added['type'] && before['index'] === added['index'] && !('data' in added);
    if (!isContinuation) {
      details.push({ ...added });
      continue;
    }
    for (const [name, value] of Object.entries(added)) {
      const old = before[name];
      before[name] =
        (name === 'text' || name === 'summary') && typeof old === 'string' && typeof value === 'string'
          ? old + value
          : value;
    }
  }
}
