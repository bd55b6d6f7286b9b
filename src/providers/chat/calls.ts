// Which tool call a streamed piece belongs to. Servers number their calls, name them, do both, or neither.
import { isObject } from '../../core/index.ts';
import type { CallPiece } from '../wire/assemble.ts';

/** Gives each piece the key of its call. */
export interface CallKeys {
  keyOf(piece: CallPiece, index: unknown): number;
  /** How many calls there are. */
  readonly count: number;
}

type Seen = { readonly key: number; id: string; named: boolean; fed: boolean };

/** Begins an answer without calls. */
export function callKeys(): CallKeys {
  const byIndex = new Map<number, Seen>();
  const byId = new Map<string, Seen>();
  let last: Seen | undefined;
  let count = 0;

  const fresh = (): Seen => ({ key: count++, id: '', named: false, fed: false });

  function find({ id, tool, input }: CallPiece, index: unknown): Seen {
    if (typeof index === 'number') {
      const seen = byIndex.get(index);
      // Some servers give every call the number 0; then another id with another name is another call.
      const another = seen && id && seen.id && id !== seen.id && tool;
      return seen && !another ? seen : fresh();
    }
    if (id) return byId.get(id) ?? fresh();
    if (!last) return fresh();
    // A name alone may be the rest of a name; a name with arguments, or after arguments, begins a call.
    const begins = tool && (last.fed || (last.named && input !== undefined));
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
      seen.fed ||= typeof piece.input === 'object' || Boolean(piece.input);
      last = seen;
      return seen.key;
    },
    get count() {
      return count;
    },
  };
}

/** A tool call as a server writes it, or nothing where it says nothing. */
export function readCall(value: unknown): CallPiece | undefined {
  if (!isObject(value)) return undefined;
  const fn = isObject(value['function']) ? value['function'] : value;
  const { name, arguments: given } = fn;
  const id = typeof value['id'] === 'string' ? value['id'] : '';
  const tool = typeof name === 'string' ? name : '';
  const input = inputOf(given);
  if (id === '' && tool === '' && !input) return undefined;
  return { id, tool, ...(input === undefined ? {} : { input }) };
}

function inputOf(given: unknown): CallPiece['input'] {
  if (typeof given === 'string') return given;
  if (given === undefined || given === null) return undefined;
  return isObject(given) ? given : JSON.stringify(given);
}
