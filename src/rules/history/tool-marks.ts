// What is known of each tool and of each call that was tried: counts, failures in a row, retries, and whether results repeat.
import {
  canonicalJson,
  hash53,
  hash53Value,
  updateHash53,
  createHash53,
  textOrCharCodes,
  type Event,
  type Json,
} from '../../core/index.ts';
import type { OpenCall } from './open-calls.ts';
import { onShelf, shelve, type Shelf } from './shelf.ts';

/** Counts within one run or one turn of the user: they begin anew in the next. */
export type Within = { readonly at: number; readonly calls: number; readonly retries: number; readonly ok: number };

/** What is known of a tool. `seen` is how many calls of any tool had been made when it was last called. */
export type ToolMark = {
  readonly calls: number;
  readonly ok: number;
  readonly failed: number;
  readonly denied: number;
  readonly inARow: number;
  readonly ms: number;
  readonly usd: number;
  readonly seen: number;
  readonly why: string;
  readonly run: Within;
  readonly turn: Within;
};

/** What is known of one call: a tool with exactly these arguments. `same` is how often its last result came in a row. */
export type Try = {
  readonly tool: string;
  readonly input: string;
  readonly count: number;
  readonly failed: number;
  readonly result: number;
  readonly same: number;
  readonly turn: number;
  /** The turn of the user in which it last failed without a success since; 0 where it did not. */
  readonly failedIn: number;
};

const within: Within = { at: 0, calls: 0, retries: 0, ok: 0 };

/** A tool that was never called. */
export const noCalls: ToolMark = {
  calls: 0,
  ok: 0,
  failed: 0,
  denied: 0,
  inARow: 0,
  ms: 0,
  usd: 0,
  seen: 0,
  why: '',
  run: within,
  turn: within,
};

/** A call that was never tried. */
export const untried: Try = { tool: '', input: '', count: 0, failed: 0, result: 0, same: 0, turn: 0, failedIn: 0 };

/** What makes two calls the same: the tool, and the arguments whatever the order of their keys. */
export const tryKey = (tool: string, input: Json): string => `${tool} ${hash53(textOfInput(input))}`;

let latest: { readonly input: Json; readonly text: string } = { input: null, text: 'null' };

/** The canonical text of arguments, made once for a call that begins and then ends. */
function textOfInput(input: Json): string {
  if (latest.input !== input) latest = { input, text: canonicalJson(input) };
  return latest.text;
}

/** Where in the session a call is: the run, the user's turn, the provider's turn, the calls made so far. */
export type Place = { readonly runs: number; readonly userTurns: number; readonly turn: number; readonly made: number };

type Marks = { readonly tools: Shelf<ToolMark>; readonly tries: Shelf<Try> };

const current = (counts: Within, at: number): Within => (counts.at === at ? counts : { ...within, at });

/** A call begins to act. It is a retry if the very same call failed before in this turn of the user. */
export function markStart({ tools, tries }: Marks, { tool, input }: OpenCall, place: Place): Shelf<ToolMark> {
  const mark = onShelf(tools, tool) ?? noCalls;
  const again = onShelf(tries, tryKey(tool, input))?.failedIn === place.userTurns ? 1 : 0;
  const more = (counts: Within): Within => ({ ...counts, calls: counts.calls + 1, retries: counts.retries + again });
  return shelve(tools, tool, {
    ...mark,
    calls: mark.calls + 1,
    seen: place.made + 1,
    run: more(current(mark.run, place.runs)),
    turn: more(current(mark.turn, place.userTurns)),
  });
}

const mostWords = 120;

/** Where a call was settled, what makes it the same call, and what its result is known by. */
export type Settled = { readonly place: Place; readonly key: string; readonly result: number };

/** A call is settled. One that was refused or interrupted is no failure of its tool, and no success. */
export function markEnd(
  marks: Marks,
  call: OpenCall,
  event: Event & { readonly type: 'tool-ended' },
  settled: Settled,
): Marks {
  const { outcome } = event;
  const { place } = settled;
  const mark = onShelf(marks.tools, call.tool) ?? noCalls;
  const failed = outcome === 'failed' || outcome === 'unknown';
  const ok = outcome === 'ok';
  const more = (counts: Within): Within => ({ ...counts, ok: counts.ok + (ok ? 1 : 0) });
  const tools = shelve(marks.tools, call.tool, {
    ...mark,
    ok: mark.ok + (ok ? 1 : 0),
    failed: mark.failed + (failed ? 1 : 0),
    denied: mark.denied + (outcome === 'denied' ? 1 : 0),
    inARow: ok ? 0 : mark.inARow + (failed ? 1 : 0),
    ms: mark.ms + event.ms,
    usd: mark.usd + (event.spent?.usd ?? 0),
    why: failed ? event.text.slice(0, mostWords) : mark.why,
    run: more(current(mark.run, place.runs)),
    turn: more(current(mark.turn, place.userTurns)),
  });
  return { tools, tries: markTry(marks.tries, call, settled, failed ? 'failed' : ok ? 'ok' : 'neither') };
}

function markTry(
  tries: Shelf<Try>,
  { tool, input }: OpenCall,
  { place, key, result }: Settled,
  came: 'ok' | 'failed' | 'neither',
): Shelf<Try> {
  const tried = onShelf(tries, key) ?? { ...untried, tool, input: textOfInput(input).slice(0, mostWords) };
  return shelve(tries, key, {
    ...tried,
    count: tried.count + 1,
    failed: tried.failed + (came === 'failed' ? 1 : 0),
    result,
    same: tried.count > 0 && tried.result === result ? tried.same + 1 : 1,
    turn: place.turn,
    failedIn: came === 'failed' ? place.userTurns : came === 'ok' ? 0 : tried.failedIn,
  });
}

/** What tells two results apart: how it came out, and what it said; of a long one its length and its ends, at a cost that does not grow with it. */
export function resultHash(event: Event & { readonly type: 'tool-ended' }): number {
  const hash = createHash53();
  const text = textOrCharCodes(event);
  updateHash53(hash, `${event.outcome} `);
  if (text.length <= 600) return hash53Value(updateHash53(hash, text));
  updateHash53(hash, `${text.length} `);
  updateHash53(hash, text, 0, 300);
  return hash53Value(updateHash53(hash, text, text.length - 300));
}
