// Compares claims about commits, pushes, branches and installed packages with the log.
import type { ClaimVerdict } from '../types.ts';
import { started } from './check-command-claims.ts';
import type { SessionActions } from './session-actions.ts';
import type { Action, GitOperation } from './types.ts';
import { cannotDecide, decide, eventEvidence, findUnknown, shorten, summaryEvidence } from './verdicts.ts';

const gitPatterns: Readonly<Record<GitOperation, RegExp>> = {
  commit: /\bgit\s(?:[^|;&]*\s)?(?:commit|merge|cherry-pick|revert|rebase|am)\b/,
  push: /\bgit\s(?:[^|;&]*\s)?push\b|\bgh\s+pr\s+create\b/,
  branch: /\bgit\s(?:[^|;&]*\s)?(?:branch|checkout|switch|worktree)\b/,
  tag: /\bgit\s(?:[^|;&]*\s)?tag\b|\b(?:npm|pnpm|yarn)\s+version\b|\bgh\s+release\s+create\b|\bcargo\s+release\b|\brelease-it\b/,
  merge: /\bgit\s(?:[^|;&]*\s)?(?:merge|pull|rebase|cherry-pick)\b|\bgh\s+pr\s+merge\b/,
  rebase: /\bgit\s(?:[^|;&]*\s)?(?:rebase|pull)\b/,
  'pull request':
    /\b(?:gh\s+pr|glab\s+mr|hub\s+pull-request|az\s+repos\s+pr)\b|\bcurl\b.*\b(?:pulls|merge_requests)\b|merge_request\.create/,
  deployment:
    /deploy|\b(?:kubectl|helm|terraform|vercel|netlify|fly|flyctl|heroku|serverless|cdk|gcloud|aws|az|wrangler|firebase|rsync|scp|ssh|docker|ansible\S*|pulumi|railway|surge|gh)\b/,
  publication: /publish|\b(?:twine|gem\s+push|docker\s+push|gh\s+release)\b/,
};

/** Decides a claim about version control or a release. */
export function checkGitClaim({ operation }: Action & { readonly type: 'git' }, session: SessionActions): ClaimVerdict {
  const calls = session.git.filter((record) =>
    new RegExp(`"operation":"(?:${operation}${operation === 'branch' ? '|switch' : ''})"`).test(record.target),
  );
  const commands = session.commands.filter((each) => gitPatterns[operation].test(each.command));
  const done =
    calls.findLast((record) => record.outcome === 'ok') ??
    commands.findLast((each) => !each.wasDenied && each.code === 0);
  if (done) return decide('supported', `The log has the ${operation}.`, eventEvidence(session, done, operation));
  const reason = findUnknown(session);
  if (reason !== undefined) return cannotDecide(reason);
  const writer = started(session).findLast((each) => each.mayDoAny && !gitPatterns[operation].test(each.command));
  if (writer) return cannotDecide(`The command ${shorten(writer.command)} may have done it.`);
  const unclear = commands.findLast((each) => !each.wasDenied && each.code === undefined);
  if (unclear) return cannotDecide(`How ${shorten(unclear.command)} ended is not known.`);
  const failed = calls.at(-1) ?? commands.at(-1);
  if (failed)
    return decide(
      'contradicted',
      `The ${operation} did not succeed (event ${failed.seq}).`,
      eventEvidence(session, failed, operation),
    );
  return decide('contradicted', `The log has no ${operation}.`, summaryEvidence(session));
}

const installPattern = /\b(?:install|i|add|get|ci|sync|require|restore|bundle)\b/;

/** Decides a claim that a package was installed. */
export function checkInstallClaim(
  { name }: Action & { readonly type: 'install' },
  session: SessionActions,
): ClaimVerdict {
  const commands = session.commands.filter(
    (each) => installPattern.test(each.command) && (name === undefined || each.command.includes(name)),
  );
  const done = commands.findLast((each) => !each.wasDenied && each.code === 0);
  if (done) return decide('supported', `${shorten(done.command)} ran.`, eventEvidence(session, done, done.command));
  const reason = findUnknown(session);
  if (reason !== undefined) return cannotDecide(reason);
  const other = started(session).findLast(
    (each) => each.code === undefined || each.mayDoAny || (each.code === 0 && installPattern.test(each.command)),
  );
  if (other) return cannotDecide(`The command ${shorten(other.command)} may have done it.`);
  const failed = commands.at(-1);
  if (failed)
    return decide(
      'contradicted',
      `${shorten(failed.command)} did not succeed (event ${failed.seq}).`,
      eventEvidence(session, failed, failed.command),
    );
  return decide('contradicted', `The log has no installation of ${name ?? 'packages'}.`, summaryEvidence(session));
}
