// Which tool call a streamed piece belongs to. Servers number their calls, name them, do both, or neither.
import { isObject } from '../../core/index.ts';
import type { ToolCallDelta } from '../http/response-assembler.ts';

/** Gives each piece the key of its call. */
export interface ToolCallIndex {
  keyOf(piece: ToolCallDelta, index: unknown): number;
  /** How many calls there are. */
  readonly count: number;
}

type SeenCall = { readonly key: number; id: string; named: boolean; hasInput: boolean };

/** Begins an answer without calls. */
export function createToolCallIndex(): ToolCallIndex {
  const byIndex = new Map<number, SeenCall>();
  const byId = new Map<string, SeenCall>();
  let last: SeenCall | undefined;
  let count = 0;

  const fresh = (): SeenCall => ({ key: count++, id: '', named: false, hasInput: false });

  function find({ id, tool, input }: ToolCallDelta, index: unknown): SeenCall {
    if (typeof index === 'number') {
      const seen = byIndex.get(index);
      // Some servers give every call the number 0; then another id with another name is another call.
      const another = seen && id && seen.id && id !== seen.id && tool;
      return seen && !another ? seen : fresh();
    }
    if (id) return byId.get(id) ?? fresh();
    if (!last) return fresh();
    // A name alone may be the rest of a name; a name with arguments, or after arguments, begins a call.
    const begins = tool && (last.hasInput || (last.named && input !== undefined));
    return begins ? fresh() : last;
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

/** A tool call as a server writes it, or nothing where it says nothing. */
export function parseToolCall(value: unknown): ToolCallDelta | undefined {
  if (!isObject(value)) return undefined;
  const fn = isObject(value['function']) ? value['function'] : value;
  const { name, arguments: given } = fn;
  const id = typeof value['id'] === 'string' ? value['id'] : '';
  const tool = typeof name === 'string' ? name : '';
  const input = parseArguments(given);
  if (id === '' && tool === '' && !input) return undefined;
  return { id, tool, ...(input === undefined ? {} : { input }) };
}

function parseArguments(given: unknown): ToolCallDelta['input'] {
  if (typeof given === 'string') return given;
  if (given === undefined || given === null) return undefined;
  return isObject(given) ? given : JSON.stringify(given);
}
