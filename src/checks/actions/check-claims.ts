// Compares the claims of an answer about actions with what the log of the session has, and names the evidence for each verdict.
import type { CheckedClaim, ClaimVerdict } from '../types.ts';
import { checkFileClaim, checkContentClaim, checkSomeChange } from './check-file-claims.ts';
import { checkCommandClaim } from './check-command-claims.ts';
import { checkGitClaim, checkInstallClaim } from './check-git-claims.ts';
import { extractActionClaims } from './extract.ts';
import { readSessionActions, type SessionActions } from './session-actions.ts';
import type { Action, ActionEvidence } from './types.ts';

/** Words by which an answer admits that something did not work. */
const admitsFailure =
  /\b(?:fail(?:s|ed|ing|ures?)?|could not|couldn['’]t|cannot|can['’]t|unable|did not|didn['’]t|not (?:run|able|pass)|skipped|broken|errors? remain)\b/i;

/** Things that an answer repaired: naming them admits no failure. */
const repairedThings = /\b(?:failing|failed|broken)\s+(?:\w+\s+)?(?:tests?|test cases?|build|assertions?|checks?)\b/gi;

/** Extracts the claims of an answer about actions and compares each with the session. Without a claim the records are not read. */
export function checkActionClaims(answer: string, evidence: ActionEvidence): readonly CheckedClaim[] {
  const claims = extractActionClaims(answer);
  if (claims.length === 0) return [];
  const session = readSessionActions(evidence);
  let isAdmitted: boolean | undefined;
  const admits = (): boolean => (isAdmitted ??= admitsFailure.test(answer.replaceAll(repairedThings, '')));
  return claims.map(({ action, ...claim }) => ({ ...claim, verdict: checkAction(action, session, admits) }));
}

function checkAction(action: Action, session: SessionActions, admits: () => boolean): ClaimVerdict {
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
    case 'output':
      return checkCommandClaim(action, session, admits);
  }
}
