// Compares claims about commits, pushes, branches and installed packages with the log.
import type { ClaimVerdict } from '../types.ts';
import type { SessionActions } from './session-actions.ts';
import type { Action, GitOperation } from './types.ts';
import { cannotDecide, decide, eventEvidence, findUnknown, shorten, summaryEvidence } from './verdicts.ts';

const gitPatterns: Readonly<Record<GitOperation, RegExp>> = {
  commit:
    /\bgit\s(?:[^|;&]*\s)?(?:commit|merge|cherry-pick|revert|rebase|am|commit-tree)\b|\b(?:jj|hg|svn|sl|fossil|darcs|bzr)\s+(?:commit|ci|describe|new|squash|record)\b|\b(?:npm|pnpm|yarn)\s+version\b|\bgh\s+pr\s+merge\b|\b(?:release-it|semantic-release|standard-version|lerna\s+version|changeset\s+version|bump2version|bumpversion|cargo\s+release)\b/,
  push: /\bgit\s(?:[^|;&]*\s)?(?:push|send-email)\b|\bgh\s+(?:pr\s+(?:create|merge)|repo\s+sync|release)\b|\b(?:jj\s+git\s+push|hg\s+push|docker\s+push|release-it|semantic-release)\b/,
  branch:
    /\bgit\s(?:[^|;&]*\s)?(?:branch|checkout|switch|worktree|flow)\b|\bgh\s+(?:pr\s+checkout|issue\s+develop)\b|\b(?:jj|hg)\s+(?:branch|bookmark|new|update|up)\b/,
  tag: /\bgit\s(?:[^|;&]*\s)?tag\b|\b(?:npm|pnpm|yarn)\s+version\b|\bgh\s+release\s+create\b|\bcargo\s+release\b|\brelease-it\b|\bsemantic-release\b|\bhg\s+tag\b/,
  merge:
    /\bgit\s(?:[^|;&]*\s)?(?:merge|pull|rebase|cherry-pick)\b|\bgh\s+pr\s+merge\b|\bglab\s+mr\s+merge\b|\bhg\s+merge\b/,
  rebase: /\bgit\s(?:[^|;&]*\s)?(?:rebase|pull)\b|\b(?:jj|hg)\s+rebase\b/,
  stash: /\bgit\s(?:[^|;&]*\s)?stash\b|\b(?:hg\s+shelve|jj\s+new)\b/,
  squash:
    /\bgit\s(?:[^|;&]*\s)?(?:rebase|merge\s.*--squash|reset|commit\s.*--(?:amend|fixup|squash))\b|\bgh\s+pr\s+merge\b|\bjj\s+squash\b/,
  'cherry-pick': /\bgit\s(?:[^|;&]*\s)?cherry-pick\b|\bhg\s+graft\b|\bjj\s+(?:duplicate|rebase)\b/,
  'undo commit':
    /\bgit\s(?:[^|;&]*\s)?(?:revert|reset|rebase|commit\s.*--amend)\b|\b(?:hg\s+(?:backout|commit|rollback)|jj\s+(?:undo|backout|abandon|describe))\b/,
  'pull request':
    /\b(?:gh\s+pr|glab\s+mr|hub\s+pull-request|az\s+repos\s+pr)\b|\bcurl\b.*\b(?:pulls|merge_requests)\b|merge_request\.create/,
  issue: /\b(?:gh\s+issue|glab\s+issue|jira)\b|\bcurl\b.*\bissues?\b|\bgh\s+api\b/,
  deployment:
    /deploy|\b(?:kubectl|helm|terraform|vercel|netlify|fly|flyctl|heroku|serverless|cdk|gcloud|aws|az|wrangler|firebase|rsync|scp|ssh|docker|ansible\S*|pulumi|railway|surge|gh)\b/,
  publication:
    /publish|\b(?:twine|gem\s+push|docker\s+push|gh\s+release|release-it|semantic-release|npm\s+run\s+release)\b/,
};

/** Other names of an operation in the calls of git tools. */
const gitToolNames: Readonly<Partial<Record<GitOperation, string>>> = {
  branch: '|switch|create_branch|checkout',
  'undo commit': '|revert|reset|amend',
  merge: '|pull',
  rebase: '|pull',
  'pull request': '|pull_request|pr',
};

/** Decides a claim about version control or a release. */
export function checkGitClaim({ operation }: Action & { readonly type: 'git' }, session: SessionActions): ClaimVerdict {
  const calls = session.git.filter((record) =>
    new RegExp(`"operation":"(?:${operation}${gitToolNames[operation] ?? ''})"`).test(record.target),
  );
  const commands = session.commands.filter((each) => gitPatterns[operation].test(each.command));
  const done =
    calls.findLast((record) => record.outcome === 'ok') ??
    commands.findLast((each) => !each.wasDenied && each.code === 0);
  if (done) return decide('supported', `The log has the ${operation}.`, eventEvidence(session, done, operation));
  const reason = findUnknown(session);
  if (reason !== undefined) return cannotDecide(reason);
  const writer = session.started.findLast(
    (each) => (each.mayDoAny || each.isUnknown) && !gitPatterns[operation].test(each.command),
  );
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

const installPattern =
  /\b(?:install|i|add|get|ci|sync|require|restore|bundle|update|upgrade|up|bump|remove|uninstall|setup|bootstrap|develop|shell|tidy|vendor|build)\b|^(?:yarn|bundle|brew|nix)\b/;

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
  const other = session.started.findLast(
    (each) =>
      each.code === undefined ||
      each.mayDoAny ||
      each.isUnknown ||
      (each.code === 0 && installPattern.test(each.command)),
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
