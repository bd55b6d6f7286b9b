// Recognizes text that a model wrote: finds replies whose words a later message repeats, such as a summary that a caller puts into a new history.
import { hash53 } from '../../core/index.ts';

/** So many words in a row are the model's own. */
const runLength = 8;
/** Of one text so many words are compared. */
const maxWords = 20_000;
const maxRuns = 200_000;

/** The replies of models, each with a name. */
export type ReplyEcho = {
  /** Replies of one caller are not found by another. */
  add(text: string, name: string, caller?: string): void;
  /** The name of the reply whose words a text repeats; undefined if there is none. */
  find(text: string, caller?: string): string | undefined;
};

/** Creates an empty one. The oldest words are forgotten first. */
export function createReplyEcho(): ReplyEcho {
  const runs = new Map<number, string>();
  return {
    add(text, name, caller = '') {
      for (const run of hashRuns(text, caller)) {
        runs.delete(run);
        runs.set(run, name);
      }
      for (const oldest of runs.keys()) {
        if (runs.size <= maxRuns) return;
        runs.delete(oldest);
      }
    },
    find(text, caller = '') {
      if (runs.size === 0) return undefined;
      for (const run of hashRuns(text, caller)) {
        const name = runs.get(run);
        if (name !== undefined) return name;
      }
      return undefined;
    },
  };
}

function* hashRuns(text: string, caller: string): Generator<number> {
  const words: string[] = [];
  let count = 0;
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    if (++count > maxWords) return;
    words.push(word);
    if (words.length < runLength) continue;
    yield hash53(`${caller} ${words.join(' ')}`);
    words.shift();
  }
}
