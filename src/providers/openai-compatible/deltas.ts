// Parses the parts of a chat message whose form differs between servers: tool calls and reasoning, streamed or whole.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';
import type { ToolCallDelta } from '../http/response-assembler.ts';
import type { WireObject } from '../../wire/index.ts';

/** Assigns streamed pieces to tool calls: servers send an index, an id, both, or neither. */
export interface ToolCallIndex {
  /** Returns the key of the call that the piece belongs to. */
  keyOf(piece: ToolCallDelta, index: unknown): number;
  /** The number of calls. */
  readonly count: number;
}

type SeenCall = { readonly key: number; id: string; named: boolean; hasInput: boolean };

/** Creates an empty index. */
export function createToolCallIndex(): ToolCallIndex {
  const byIndex = new Map<number, SeenCall>();
  const byId = new Map<string, SeenCall>();
  let last: SeenCall | undefined;
  let count = 0;

  const create = (): SeenCall => ({ key: count++, id: '', named: false, hasInput: false });

  function find({ id, tool, input }: ToolCallDelta, index: unknown): SeenCall {
    if (typeof index === 'number') {
      const seen = byIndex.get(index);
      // Some servers give every call the index 0; then another id with a name starts another call.
      const startsAnother = seen && id && seen.id && id !== seen.id && tool;
      return seen && !startsAnother ? seen : create();
    }
    if (id) return byId.get(id) ?? create();
    if (!last) return create();
    // A name alone may be the rest of a name; a name with arguments, or after arguments, starts a call.
    const startsCall = tool && (last.hasInput || (last.named && input !== undefined));
    return startsCall ? create() : last;
  }

  return {
    keyOf(piece, index) {
      const seen = find(piece, index);
      if (typeof index === 'number') byIndex.set(index, seen);
      if (piece.id) {
        seen.id ||= piece.id;
        byId.set(piece.id, seen);
      }
      seen.named ||= Boolean(piece.tool);
      seen.hasInput ||= typeof piece.input === 'object' || Boolean(piece.input);
      last = seen;
      return seen.key;
    },
    get count() {
      return count;
    },
  };
}

/** Parses a tool call or a piece of one; undefined if it is empty. */
export function parseToolCall(value: unknown): ToolCallDelta | undefined {
  if (!isObject(value)) return undefined;
  const fn = isObject(value['function']) ? value['function'] : value;
  const { name, arguments: args } = fn;
  const id = typeof value['id'] === 'string' ? value['id'] : '';
  const tool = typeof name === 'string' ? name : '';
  const input = parseArguments(args);
  if (id === '' && tool === '' && !input) return undefined;
  return { id, tool, ...(input === undefined ? {} : { input }) };
}

function parseArguments(args: unknown): ToolCallDelta['input'] {
  if (typeof args === 'string') return args;
  if (args === undefined || args === null) return undefined;
  return isObject(args) ? args : JSON.stringify(args);
}

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
