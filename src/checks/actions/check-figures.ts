// Compares stated figures with the output of commands: failed and skipped tests, what a command counted, measured values.
import { maxOf } from '../../core/index.ts';
import type { ClaimVerdict } from '../types.ts';
import { isSameCommand } from './commands.ts';
import {
  commandsOf,
  findChangeAfter,
  readTestSummary,
  type RanCommand,
  type SessionActions,
} from './session-actions.ts';
import type { Action } from './types.ts';
import { cannotDecide, decide, eventEvidence, findUnknown, shorten, summaryEvidence } from './verdicts.ts';

const isCut = (text: string): boolean => text.includes('characters left out') || text.includes('bytes; ');

/** The numbers that an output has before a word. */
function numbersBefore(output: string, word: string): readonly number[] {
  const found = output
    .slice(-20_000)
    .matchAll(new RegExp(String.raw`(?<![\w.,])(\d[\d,]{0,8})\s{1,20}(?:[\w-]{1,20}\s{1,20}){0,2}${word}`, 'gi'));
  return [...found].map((match) => Number((match[1] ?? '').replaceAll(',', '')));
}

/** Decides how many tests failed or were skipped. */
export function checkTestCount(
  { state, count }: Action & { readonly type: 'test-count' },
  session: SessionActions,
  checkPassed: () => ClaimVerdict,
): ClaimVerdict {
  if (state === 'failed' && count === 0) return checkPassed();
  const runs = commandsOf(session, 'test');
  const last = runs.at(-1);
  const outputs = runs.slice(-4).map((run) => session.evidence.resultText?.(run.call));
  const output = outputs.at(-1);
  if (!last || output === undefined || isCut(output)) return cannotDecide('The number of tests is not known.');
  const countsOf = (text: string): readonly number[] =>
    state === 'skipped'
      ? [
          ...numbersBefore(text, '(?:skipped|ignored|pending|todo)'),
          ...[...text.matchAll(/(?:#|ℹ)\s*(?:skipped|todo)\s+(\d{1,9})/g)].map((match) => Number(match[1])),
        ]
      : [readTestSummary(text)?.failed ?? 0];
  const proof = eventEvidence(session, last, last.command);
  const reason = findUnknown(session);
  const counts = countsOf(output);
  if (count === 0) {
    const most = maxOf(counts, 0);
    if (most > 0 && reason === undefined && !session.commands.some((each) => each.seq > last.seq && each.mayDoAny))
      return decide(
        'contradicted',
        `The output of ${shorten(last.command)} reports ${most} ${state} (event ${last.seq}).`,
        proof,
      );
    return cannotDecide(`The output names no ${state} tests.`);
  }
  if (outputs.some((text) => text !== undefined && new RegExp(`(?<!\\d)${count}(?!\\d)`).test(text)))
    return decide('supported', `The output names ${count}.`, proof);
  if (reason !== undefined || outputs.some((text) => text === undefined || isCut(text)) || runs.length > 4)
    return cannotDecide(reason ?? 'The number of tests is not known.');
  if (readTestSummary(output) === undefined || session.commands.some((each) => each.mayDoAny && !each.wasDenied))
    return cannotDecide('The output has no summary that is known.');
  return decide('contradicted', `No output of a test command reports ${count} ${state} (event ${last.seq}).`, proof);
}

/** Decides what a command counted. */
export function checkCommandCount(
  { command, noun, count }: Action & { readonly type: 'command-count' },
  session: SessionActions,
  checkRan: () => ClaimVerdict,
): ClaimVerdict {
  const last: RanCommand | undefined = session.commands.findLast(
    (each) => !each.wasDenied && isSameCommand(command, each.command),
  );
  if (!last) return checkRan();
  const output = session.evidence.resultText?.(last.call);
  if (output === undefined || isCut(output) || last.code === undefined || last.isBackground)
    return cannotDecide(`The output of ${shorten(last.command)} is not known.`);
  const proof = eventEvidence(session, last, last.command);
  const counts = numbersBefore(output, noun);
  if (counts.includes(count)) return decide('supported', `The output names ${count}.`, proof);
  const isStale = last.tasks.length > 0 && findChangeAfter(session, last.seq) !== undefined;
  const isFailed = last.code !== 0 && noun !== 'warning' && !last.hidesExit && !last.isMixed;
  if (count === 0 && counts.length === 0 && !isFailed && !isStale)
    return last.code === 0
      ? decide('supported', `${shorten(last.command)} ended with exit code 0.`, proof)
      : cannotDecide(`What ${shorten(last.command)} counted is not known.`);
  if (findUnknown(session) !== undefined || (counts.length === 0 && !(count === 0 && isFailed)))
    return cannotDecide(`What ${shorten(last.command)} counted is not known.`);
  return decide(
    'contradicted',
    counts.length > 0
      ? `The output of ${shorten(last.command)} names ${[...new Set(counts)].slice(0, 4).join(', ')}, not ${count} (event ${last.seq}).`
      : `${shorten(last.command)} ended with exit code ${last.code} (event ${last.seq}).`,
    proof,
  );
}

/** Factors between a value that was printed and the unit of an answer. */
const factors = [1, 1000, 0.001, 1024, 1 / 1024, 1e6, 1e-6, 60, 1 / 60];
const maxReadOutputs = 40;

/** Decides whether a measured value is in an output, also rounded or in another unit. */
export function checkMeasurement(
  { value, unit }: Action & { readonly type: 'measurement' },
  session: SessionActions,
): ClaimVerdict {
  const ran = session.started;
  const reason =
    findUnknown(session) ??
    (ran.length > maxReadOutputs || ran.some((each) => each.isBackground) ? 'Not all output is known.' : undefined);
  if (reason !== undefined) return cannotDecide(reason);
  const wanted = Number(value.replace(',', '.'));
  const decimals = /[.,](\d+)/.exec(value)?.[1]?.length ?? 0;
  const tolerance = Math.max(0.5 * 10 ** -decimals, wanted * 0.01);
  for (const each of ran.toReversed()) {
    const output = session.evidence.resultText?.(each.call);
    if (output === undefined || isCut(output)) return cannotDecide('Not all output is in the conversation.');
    for (const [digits] of output.slice(-20_000).matchAll(/\d{1,12}(?:\.\d{1,9})?/g))
      if (factors.some((factor) => Math.abs(Number(digits) * factor - wanted) <= tolerance))
        return decide('supported', `The output contains ${digits}.`, eventEvidence(session, each, each.command));
  }
  if (session.evidence.isFromUser?.(value)) return cannotDecide('The user named this value.');
  const last = ran.at(-1);
  return decide(
    'contradicted',
    `No output of a command contains ${value} ${unit}.`,
    last ? eventEvidence(session, last, last.command) : summaryEvidence(session),
  );
}
