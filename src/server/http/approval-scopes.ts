// The scopes of an answer to a pending approval: which of them a client is offered, and whether an answer names one of them.
import { onceScope, type ApprovalQuestion, type ApprovalScope, type FleetRun } from '../../core/index.ts';
import { throwInvalidParam } from './errors.ts';
import type { ScopedQueue } from './scoped-store.ts';

/** Returns a queue whose runs offer only the scopes that the client may use: a permission that is kept for a project is for the owner of a local server. */
export const withOfferedScopes = (queue: ScopedQueue, canKeepPermissions: boolean): ScopedQueue =>
  canKeepPermissions
    ? queue
    : {
        ...queue,
        async run(id) {
          const found = await queue.run(id);
          return found && hideKeptScopes(found);
        },
        list: async (filter) => (await queue.list(filter)).map(hideKeptScopes),
      };

/** Returns a run without the scopes that are kept for the project. */
function hideKeptScopes(run: FleetRun): FleetRun {
  if (!run.pendingApprovals.some(({ scopes }) => scopes?.some(isKept))) return run;
  const pendingApprovals = run.pendingApprovals.map((question) =>
    question.scopes ? { ...question, scopes: question.scopes.filter((scope) => !isKept(scope)) } : question,
  );
  return { ...run, pendingApprovals };
}

const isKept = ({ duration }: ApprovalScope): boolean => duration === 'project';

/** What an answer says besides the call that it is about. */
export type AnswerFields = {
  readonly allowed: boolean;
  readonly scope?: string | undefined;
  readonly reply?: string | undefined;
};

/** Throws 400 unless an answer allows a scope that the question offers, or denies the call; the error names the field. */
export function assertAnswer({ allowed, scope, reply }: AnswerFields, question: ApprovalQuestion | undefined): void {
  if (reply !== undefined && allowed)
    throwInvalidParam('reply', 'reply denies the call, so allowed must be false.', 'Omit reply, or deny the call.');
  if (scope === undefined) return;
  if (!allowed) throwInvalidParam('scope', 'scope is what an answer allows, so allowed must be true.', 'Omit scope.');
  const offered = (question?.scopes ?? [onceScope]).map((each) => each.scope);
  if (offered.includes(scope)) return;
  throwInvalidParam(
    'scope',
    `scope: ${JSON.stringify(scope)} is not offered for this call.`,
    `Offered: ${offered.join(', ')}.`,
  );
}
