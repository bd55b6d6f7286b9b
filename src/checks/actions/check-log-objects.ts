// Compares statements with the objects of the log that they name: commands with an outcome, numbers beside a word of an output, paths of a report of changes, operations. Only contradictions are claims.
import type { CheckedClaim, ClaimVerdict } from '../types.ts';
import { comparePaths } from './claim-paths.ts';
import type { ClaimText } from './claim-text.ts';
import { checkFileClaim } from './check-file-claims.ts';
import { findByScript, findMentions, saysRun, type Mention } from './command-mentions.ts';
import { checkStatedFigures, saysReport, zeroWord } from './check-output-figures.ts';
import { checkOperations } from './check-operations.ts';
import { checkOutcome, checkStatus, checkTree } from './check-outcomes.ts';
import { readChangedPaths } from './read-changed-paths.ts';
import { splitStatements, type Statement } from './split-statements.ts';
import { admitsFailureInOtherLanguages, hasOtherMeaning, withoutDenied } from './outcome-words.ts';
import type { SplitSentence } from './sentence-words.ts';
import type { SessionActions } from './session-actions.ts';

/** A statement that begins with a word for the command before it. */
const pointsBack =
  /^(?:it|its|they|this|that|both|which|the (?:output|result|run|command|script|plan|report)|es|er|sie|die ausgabe|das ergebnis|il|elle|la sortie|le résultat|la salida|el resultado|muestra|devuelve)(?![\p{L}])/iu;

const maxContradictions = 20;

/** Finds the statements that an object of the log contradicts; those at places that are contradicted already are left out. */
export function checkLogObjects(
  text: ClaimText,
  split: readonly SplitSentence[],
  getSession: () => SessionActions,
  admits: () => boolean,
  isKnown: (start: number, end: number) => boolean,
): readonly CheckedClaim[] {
  const { answer } = text;
  const found: CheckedClaim[] = [];
  let isAdmitted: boolean | undefined;
  const admitted = (): boolean => (isAdmitted ??= admits() || admitsFailureInOtherLanguages.test(answer));
  let isOpen = false;
  let lastEnd = 0;
  let previous: readonly Mention[] = [];
  let heading: { readonly text: string; readonly mentions: readonly Mention[] } = { text: '', mentions: [] };
  for (const statement of splitStatements(text, split)) {
    if (found.length >= maxContradictions) break;
    if (!statement.isRow && isNoReport(statement)) {
      previous = [];
      continue;
    }
    const session = getSession();
    const own = findMentions(statement, session);
    const isBack = own.length === 0 && (pointsBack.test(statement.text) || (isOpen && statement.start - lastEnd < 3));
    isOpen = statement.text.trimEnd().endsWith(';');
    lastEnd = statement.end;
    let mentions = isBack ? previous.map((each) => ({ ...each, at: -1, end: 0 })) : own;
    if (statement.isItem && own.length === 0 && statement.heading !== '' && statement.heading === heading.text)
      mentions = heading.mentions.map((each) => ({ ...each, at: -1, end: 0 }));
    if (mentions.length === 0 && (saysRun(statement) || saysReport(statement))) {
      const runs = findByScript(statement, session);
      if (runs.length > 0) mentions = [{ at: -1, end: 0, name: 'it', runs, isExact: true }];
    }
    if (statement.text.trim().endsWith(':')) heading = { text: statement.lower.trim(), mentions };
    previous = mentions;
    if (isKnown(statement.start, statement.end)) continue;
    const verdict = checkStatement(statement, mentions, session, admitted);
    if (verdict)
      found.push({
        id: `o${found.length + 1}`,
        text: answer.slice(statement.start, statement.end).trim(),
        span: { start: statement.start, end: statement.end },
        verdict,
      });
  }
  return found;
}

/** Whether a statement is a condition, a plan or history. */
function isNoReport(statement: Statement): boolean {
  return !statement.text.endsWith(':') && hasOtherMeaning(statement, withoutZero);
}

const withoutZero = (lower: string): string => withoutDenied(lower).replaceAll(zeroWord, '').replaceAll(cleanWords, '');
const cleanWords = /nothing to commit|no (?:uncommitted |local |pending )?changes|nada que confirmar/g;

function checkStatement(
  statement: Statement,
  mentions: readonly Mention[],
  session: SessionActions,
  admits: () => boolean,
): ClaimVerdict | undefined {
  const isChanged = (path: string): boolean =>
    session.files.some((file) => file.changes.length > 0 && (path === '*' || comparePaths(path, file.path) === 'same'));
  const isReading = session.evidence.log.records.length > 0;
  if (!isReading) return undefined;
  const named = mentions.filter(({ runs }) => runs.length > 0);
  return (
    checkOutcome(statement, named, session, admits) ??
    (named.length > 0 ? checkTree(statement, named, session) : undefined) ??
    (named.length > 0 ? checkStatedFigures(statement, named, session) : undefined) ??
    checkStatus(statement, session) ??
    checkOperations(statement, session, admits) ??
    readChangedPaths(statement, isChanged)
      .map((action) => checkFileClaim(action, session))
      .find(({ type }) => type === 'contradicted')
  );
}
