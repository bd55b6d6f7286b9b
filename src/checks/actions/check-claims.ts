// Compares the claims of an answer about actions with what the log of the session has, and names the evidence for each verdict.
import type { CheckedClaim, ClaimVerdict } from '../types.ts';
import { checkFileClaim, checkContentClaim, checkSomeChange } from './check-file-claims.ts';
import { checkCommandClaim } from './check-command-claims.ts';
import { checkCommandCount, checkMeasurement, checkTestCount } from './check-figures.ts';
import { checkGitClaim, checkInstallClaim } from './check-git-claims.ts';
import { checkFileCount, checkNoChange, checkNoRun, checkRead, checkUndo } from './check-negations.ts';
import { checkLogObjects } from './check-log-objects.ts';
import { checkOutput } from './check-output.ts';
import { extractFromText, splitAnswer, splitSentences } from './extract.ts';
import { readSessionActions, type SessionActions } from './session-actions.ts';
import type { Action, ActionEvidence } from './types.ts';

/** Words by which an answer admits that something did not work. */
const admitsFailure =
  /\b(?:fail(?:s|ed|ing|ures?)?|could not|couldn['’]t|cannot|can['’]t|unable|did not|didn['’]t|not (?:run|able|pass)|skipped|broken|errors? remain)\b/i;

/** Things that an answer repaired: naming them admits no failure. */
const repairedThings = /\b(?:failing|failed|broken)\s+(?:\w+\s+)?(?:tests?|test cases?|build|assertions?|checks?)\b/gi;

/** Failures that an answer denies. */
const deniedFailures =
  /\b(?:no|none|zero|0|without|nothing|never)\s+(?:(?:of the tests|of them|any|a single|test|tests|more|further|other|remaining|has|have|lint|type|build|compile)\s+){0,2}(?:fail\w*|errors?)|\b0\s+(?:tests?\s+)?fail\w*|\bnothing\s+(?:is|was|got)\s+broken/gi;

/** Failures that an answer reports as past: naming them admits no failure of the last run. */
const pastFailures =
  /\b(?:failed|failing) (?:at first|initially|before (?:the|my) (?:fix|change))\b|\b(?:initially|first|originally) failed\b|\bfirst (?:test )?run failed\b/gi;

/** Extracts the claims of an answer about actions and compares each with the session. Without a claim the records are not read. */
export function checkActionClaims(answer: string, evidence: ActionEvidence): readonly CheckedClaim[] {
  const text = splitAnswer(answer);
  const split = splitSentences(text);
  const claims = extractFromText(text, split);
  let known: SessionActions | undefined;
  const getSession = (): SessionActions => (known ??= readSessionActions(evidence));
  let isAdmitted: boolean | undefined;
  const admits = (): boolean =>
    (isAdmitted ??=
      admitsFailure.test(answer) &&
      admitsFailure.test(
        answer.replaceAll(deniedFailures, '').replaceAll(repairedThings, '').replaceAll(pastFailures, ''),
      ));
  const checked = claims.map(({ id, text, span, action, isOwn }): CheckedClaim => {
    const session = getSession();
    const verdict = checkAction(action, session, admits, answer);
    return { id, text, span, verdict: isOtherReport(text, isOwn, verdict, session) ? otherReport : verdict };
  });
  const isKnown = (start: number, end: number): boolean =>
    checked.some(({ span, verdict }) => verdict.type === 'contradicted' && span.start < end && start < span.end);
  const objects = checkLogObjects(text, split, getSession, admits, isKnown);
  return objects.length === 0
    ? checked
    : [...checked, ...objects.filter(({ text, verdict }) => !isOtherReport(text, false, verdict, getSession()))];
}

const otherReport: ClaimVerdict = {
  type: 'unverifiable',
  why: 'It may be about what others did, or a text for the user.',
};

/** Prompts that ask for a text about changes, such as release notes: such a text is written about what others did, and in their name. */
const asksForText =
  /\b(?:release notes?|commit message|(?:PR|pull request|merge request) (?:description|text|body|summary)|description (?:of|for) (?:the|this|a|my) (?:PR|pull request|branch)|announcement|(?:draft|write|compose) (?:an?|the|my) (?:e-?mail|letter|blog|post|message|text|tweet)|what (?:has |have |was |were )?changed|translate|rephrase|proofread|improve (?:this|my|the) (?:text|wording|sentence))\b/i;

/** Whether a claim that the log does not have may be no report on this session. What the log contradicts by an event stays contradicted. */
function isOtherReport(text: string, isOwn: boolean, verdict: ClaimVerdict, session: SessionActions): boolean {
  if (verdict.type !== 'contradicted' || verdict.evidence.some(({ source }) => source.type === 'event')) return false;
  const { evidence } = session;
  return (
    (!isOwn && session.hasReadHistory) ||
    asksForText.test(evidence.prompt?.() ?? '') ||
    evidence.isFromUser?.(text) === true
  );
}

function checkAction(action: Action, session: SessionActions, admits: () => boolean, answer: string): ClaimVerdict {
  switch (action.type) {
    case 'file':
      return checkFileClaim(action, session);
    case 'some-change':
      return checkSomeChange(action, session, admits);
    case 'content':
      return checkContentClaim(action, session);
    case 'git':
      return checkGitClaim(action, session);
    case 'install':
      return checkInstallClaim(action, session);
    case 'run':
    case 'pass':
    case 'exit':
      return checkCommandClaim(action, session, admits);
    case 'output':
      return checkOutput(action, session);
    case 'no-change':
      return checkNoChange(action, session, answer);
    case 'no-run':
      return checkNoRun(action, session);
    case 'file-count':
      return checkFileCount(action, session);
    case 'undo':
      return checkUndo(action, session);
    case 'read':
      return checkRead(action, session);
    case 'test-count':
      return checkTestCount(action, session, () =>
        checkCommandClaim({ type: 'pass', task: 'test' }, session, () => false),
      );
    case 'command-count':
      return checkCommandCount(action, session, () =>
        checkCommandClaim({ type: 'run', command: action.command }, session, admits),
      );
    case 'measurement':
      return checkMeasurement(action, session);
  }
}
