// What a person can say to a question about a call, in words and as a key.
import type { ToolCall } from '../../core/index.ts';
import { alwaysLabel } from './always.ts';

/** What a person says: yes to this call, yes to every call of exactly its kind, no; or, of one that a crash cut off, that it has happened. */
export type Said = 'once' | 'always' | 'no' | 'happened';

/** One of the answers. */
export type Choice = { readonly said: Said; readonly key: string; readonly label: string };

/** The answers to the question about a call of this kind. */
export const choicesFor = (call: ToolCall, kind: string): readonly Choice[] =>
  call.ask?.kind === 'unknown-outcome'
    ? [
        { said: 'once', key: 'y', label: 'yes, it did not happen' },
        { said: 'no', key: 'n', label: 'no, tell the model that it is unknown' },
        { said: 'happened', key: 'h', label: 'no, it has happened' },
      ]
    : [
        { said: 'once', key: 'y', label: 'yes, this once' },
        { said: 'no', key: 'n', label: 'no' },
        { said: 'always', key: 'a', label: alwaysLabel(kind) },
      ];

/** What was said by choosing one of these answers; whatever is none of them is a no. */
export const saidOf = (choices: readonly Choice[], by: 'key' | 'said', chosen: unknown): Said =>
  choices.find((each) => each[by] === chosen)?.said ?? 'no';
