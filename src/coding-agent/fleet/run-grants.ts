// The grants of a queued run: those that answers gave to its session, which its log records, and those that the user kept for the folder in permissions.yaml.
import { realpathSync } from 'node:fs';
import type { Session } from '../../agent/index.ts';
import {
  defaultTenant,
  isObject,
  onceScope,
  readView,
  toJson,
  type ApprovalHandler,
  type ApprovalScope,
  type Fact,
  type FleetRun,
  type Json,
  type NamedView,
  type PendingApproval,
} from '../../core/index.ts';
import type { Grant, GrantRule, Grants } from '../../guards/index.ts';
import {
  createApprovalHandler,
  createApprovalPrompt,
  giveGrant,
  type ApprovalChoice,
  type GrantContext,
} from '../approval-prompts.ts';
import { openKeptGrants } from '../conversation-grants.ts';
import type { Settings } from '../settings/index.ts';

const grantAnnotationKey = 'grant';

/** A grant that the log of a session records. It counts in the folder in which it was given. */
type RecordedGrant = { readonly folder: string; readonly rule: GrantRule };

type RecordedGrants = { readonly session: string; readonly grants: readonly RecordedGrant[] };

/** The grants of a session, folded from its log. A fork of the session has none of them. */
export const runGrantsView: NamedView<RecordedGrants> = {
  name: 'grants',
  initial: { session: '', grants: [] },
  on(state, event) {
    if (event.type === 'session-started') return { session: event.session, grants: [] };
    if (event.type === 'epoch-started' && event.baseline && event.baseline.session !== state.session)
      return { session: event.baseline.session, grants: [] };
    if (event.type !== 'annotation-added' || event.key !== grantAnnotationKey) return state;
    const grant = parseGrant(event.value);
    return grant ? { ...state, grants: [...state.grants, grant] } : state;
  },
  serialize: (state) => toJson(state),
  restore(value) {
    const { session, grants } = isObject(value) ? value : {};
    if (typeof session !== 'string' || !Array.isArray(grants)) return undefined;
    return { session, grants: grants.flatMap((each) => parseGrant(each) ?? []) };
  },
};

function parseGrant(value: Json | undefined): RecordedGrant | undefined {
  const { folder, rule } = isObject(value) ? value : {};
  const { type, key, tool, words } = isObject(rule) ? rule : {};
  if (typeof folder !== 'string') return undefined;
  if (type === 'edits') return { folder, rule: { type } };
  if (type === 'call' && typeof key === 'string') return { folder, rule: { type, key } };
  if (type === 'tool' && typeof tool === 'string') return { folder, rule: { type, tool } };
  const isWords = Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string');
  return type === 'command' && typeof tool === 'string' && isWords
    ? { folder, rule: { type, tool, words } }
    : undefined;
}

/** What the grants of a run are opened with. */
export type RunGrantsOptions = {
  readonly run: Pick<FleetRun, 'tenant'>;
  readonly settings: Pick<Settings, 'dirs'>;
  readonly cwd: string;
  /** Whether an answer may keep a permission for the project. */
  readonly canKeep: boolean;
  readonly onWarning: (text: string) => void;
};

/** The functions of a run that answers use. */
export type RunApprovals = {
  readonly listScopes: (pending: PendingApproval) => Promise<readonly ApprovalScope[]>;
  readonly grantScope: (pending: PendingApproval, scope: string) => Promise<readonly Fact[]>;
  readonly onApproval: ApprovalHandler;
  readonly onSessionOpened: (session: Session) => Promise<void>;
};

/** Opens the grants of a run, and the function that binds them to its agent. */
export async function openRunGrants({ run, settings, cwd, canKeep, onWarning }: RunGrantsOptions): Promise<{
  readonly grants: Grants;
  readonly bind: (agent: GrantContext['agent']) => RunApprovals;
}> {
  const folder = realpathSync(cwd);
  // What the user allowed in a project is not meant for the runs of other tenants.
  const isOwn = run.tenant === defaultTenant;
  const kept = await openKeptGrants(settings, cwd, isOwn, onWarning);
  const grants: Grants = {
    ...kept,
    get canKeep() {
      return canKeep && kept.canKeep;
    },
  };
  // An answer to a scope that was offered before the file became unusable still counts, in the session.
  const offered: Grants = { ...grants, canKeep: canKeep && isOwn };
  return { grants, bind: (agent) => createRunApprovals(agent, { grants, offered, folder }) };
}

const notKeptWarning = 'Allowed in this session only: permissions.yaml on the machine of the run cannot be used.';

type BoundGrants = {
  readonly grants: Grants;
  /** The grants with every scope that may have been offered. */
  readonly offered: Grants;
  readonly folder: string;
};

function createRunApprovals(agent: GrantContext['agent'], { grants, offered, folder }: BoundGrants): RunApprovals {
  const bound: { session?: Session } = {};
  const getContext = (): GrantContext => ({ agent, grants, ...(bound.session ? { session: bound.session } : {}) });
  const findChoices = async (pending: PendingApproval, from: Grants): Promise<readonly GrantingChoice[]> =>
    (await createApprovalPrompt({ ...getContext(), grants: from }, pending)).choices.filter(isGrantingChoice);
  return {
    async listScopes(pending) {
      const choices = await findChoices(pending, grants);
      return choices.length === 0 ? [] : [onceScope, ...choices.map(toScope)];
    },
    async grantScope(pending, scope) {
      const choice = (await findChoices(pending, offered)).find((each) => toScope(each).scope === scope);
      if (!choice) return [];
      const { rule } = choice.grant;
      const duration = await giveGrant(grants, choice.grant);
      if (duration === 'project') return [];
      const isWarned = duration !== choice.grant.duration;
      const value = toJson({ folder, rule, ...(isWarned ? { warning: notKeptWarning } : {}) });
      return [{ type: 'annotation-added', key: grantAnnotationKey, value }];
    },
    // Calls that a grant covers by now are approved; all others wait for the user.
    onApproval: (pending, signal) => createApprovalHandler(getContext(), async () => undefined)(pending, signal),
    async onSessionOpened(session) {
      bound.session = session;
      for (const recorded of readView(session.state, runGrantsView).grants)
        if (recorded.folder === folder) await grants.grant(recorded.rule, 'session');
    },
  };
}

type GrantingChoice = ApprovalChoice & { readonly grant: Grant };

const isGrantingChoice = (choice: ApprovalChoice): choice is GrantingChoice => choice.grant !== undefined;

const toScope = ({ label, grant: { rule, duration } }: GrantingChoice): ApprovalScope => ({
  scope: `${rule.type}-${duration}`,
  label,
  duration,
});
