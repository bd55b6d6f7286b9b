// Builds the verdicts of action claims with their evidence: the text of an event, or a summary of what the log has.
import type { ClaimVerdict, Evidence } from '../types.ts';
import { actionCheckName } from './action-log.ts';
import type { SessionActions } from './session-actions.ts';

const maxEvidenceChars = 300;
const maxListed = 8;

/** The verdict that the log confirms or contradicts a claim. */
export const decide = (
  type: 'supported' | 'contradicted',
  why: string,
  ...evidence: readonly [Evidence, ...Evidence[]]
): ClaimVerdict => ({ type, decidedBy: 'exact', verifier: actionCheckName, evidence, why });

/** The verdict that the log cannot decide a claim. */
export const cannotDecide = (why: string): ClaimVerdict => ({ type: 'unverifiable', why });

/** The result of a call as evidence: the end of its text, or what its record says if the text is no longer in the conversation. */
export function eventEvidence(
  { evidence }: SessionActions,
  { seq, call }: { readonly seq: number; readonly call: string },
  record: string,
): Evidence {
  const text = call === '' ? undefined : evidence.resultText?.(call);
  return { source: { type: 'event', seq }, text: text?.trim() ? text.slice(-maxEvidenceChars) : record };
}

/** What the log has, as evidence that it does not have something else. */
export function summaryEvidence(session: SessionActions): Evidence {
  const files = session.files.filter(({ changes }) => changes.length > 0).slice(-maxListed);
  const commands = session.commands.slice(-maxListed);
  const list = (items: readonly string[]): string => (items.length > 0 ? items.join(', ') : 'none');
  return {
    source: { type: 'computed', by: actionCheckName },
    text: [
      `Files that tools changed: ${list(files.map(({ path, changes }) => `${shorten(path)} (event ${changes.at(-1)?.seq})`))}.`,
      `Commands: ${list(commands.map(({ command, code, seq, wasDenied }) => `${shorten(command)} (event ${seq}, ${wasDenied ? 'not run' : code === undefined ? 'no exit code' : `exit code ${code}`})`))}.`,
    ].join(' '),
  };
}

/** A command or a path in one short line. */
export function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}

/** Why the log cannot show that something did not happen; undefined if it can. */
export function findUnknown(session: SessionActions): string | undefined {
  if (session.isPartial) return 'A part of the session is not in the log that is read.';
  if (session.unknown)
    return `The effects of ${session.unknown.tool || 'what the user did'} (event ${session.unknown.seq}) are not known.`;
  return undefined;
}
