// Applies the policy of a way to a text that needs no tokens, because nothing comes back: exports, embeddings.
import { blockedError } from './blocked-error.ts';
import type { DlpPolicy } from './policy.ts';
import { countFindings } from './scanner.ts';
import type { DlpFinding, DlpWay } from './types.ts';

/** A text as it may leave, and how many findings of each kind were removed. */
export type GuardedResult = { readonly text: string; readonly removed: Readonly<Record<string, number>> };

/** Removes what the policy redacts or asks about, since no user can be asked here. Throws if it blocks the text; `what` names it. */
export function guardText(text: string, policy: DlpPolicy, way: DlpWay, what: string): GuardedResult {
  const { scanner, actionFor, isEnforced, isOff } = policy;
  if (isOff(way) || !isEnforced(way)) return { text, removed: {} };
  const findings = scanner.find(text);
  const select = (...actions: readonly string[]): readonly DlpFinding[] =>
    findings.filter(({ kind }) => actions.includes(actionFor(way, kind)));
  const blocked = select('block');
  if (blocked.length > 0) throw blockedError(countFindings(blocked), what);
  const removed = select('redact', 'ask');
  if (removed.length === 0) return { text, removed: {} };
  const pieces: string[] = [];
  let end = 0;
  for (const { from, to, kind } of removed) {
    pieces.push(text.slice(end, from), `[removed: ${kind}]`);
    end = to;
  }
  return { text: [...pieces, text.slice(end)].join(''), removed: countFindings(removed) };
}
