// Compares claims about printed values with the output of commands in the log.
import type { ClaimVerdict } from '../types.ts';
import { findCommands } from './check-command-claims.ts';
import type { SessionActions } from './session-actions.ts';
import type { Action } from './types.ts';
import { cannotDecide, decide, eventEvidence, findUnknown, shorten, summaryEvidence } from './verdicts.ts';

/** A mark between thousands that may be absent, as a pattern. */
const thousandsMark = "[.,'_\u00a0\u202f ]?";

/** Decides whether a command printed a value. */
export function checkOutput(
  { command, value }: Action & { readonly type: 'output' },
  session: SessionActions,
): ClaimVerdict {
  const { resultText, isFromUser, log } = session.evidence;
  const named = command === undefined ? [] : findCommands({ command }, session);
  const squeeze = (text: string): string => text.replaceAll(/\s+/g, ' ');
  const wanted = squeeze(value);
  const isNumber = /^-?[\d.,]+$/.test(wanted);
  const numberPattern = isNumber
    ? new RegExp(
        String.raw`(?<![\d.])${wanted.replaceAll(/[.,]/g, '[.,]').replaceAll(/(?<=\d)(?=(?:\d{3})+(?!\d))/g, thousandsMark)}(?![\d]|\.\d)`,
      )
    : undefined;
  const contains = (text: string): boolean =>
    numberPattern ? numberPattern.test(text) : text.includes(value) || squeeze(text).includes(wanted);
  let isKnown = true;
  for (const record of log.records.toReversed()) {
    // What a tool for files says is no output of a command.
    if (record.changes) continue;
    const text = record.call === '' ? undefined : resultText?.(record.call);
    if (text === undefined || text.includes('characters left out') || text.includes('bytes; ')) isKnown = false;
    if (text !== undefined && contains(withoutExit(text)))
      return decide('supported', 'The output contains it.', {
        source: { type: 'event', seq: record.seq },
        text: text.slice(0, 4000),
      });
  }
  const reason =
    findUnknown(session) ??
    (isKnown ? undefined : 'Not all output is in the conversation.') ??
    (isFromUser?.(value) ? 'The user named this output.' : undefined);
  if (reason !== undefined) return cannotDecide(reason);
  const last = named.at(-1) ?? session.started.at(-1);
  if (session.started.some((each) => each.isBackground)) return cannotDecide('A command ran in the background.');
  if (!last) return decide('contradicted', 'No command ran.', summaryEvidence(session));
  return decide(
    'contradicted',
    `No output of a command contains ${shorten(value)}; the last command was ${shorten(last.command)} (event ${last.seq}).`,
    eventEvidence(session, last, last.command),
  );
}

const withoutExit = (text: string): string => text.replace(/\n?\[(?:[^\]]* )?Exit code: \d+\.[^\]]*\]\s*$/, '');
