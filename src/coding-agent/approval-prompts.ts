// The pending approvals of a conversation: updates their questions, asks the user unless a grant covers the call, and tracks which approvals were given in this process.
import {
  canonicalJson,
  toJson,
  unwrapDeferredCall,
  evaluateGates,
  needsApprovalEachTime,
  pendingApprovals,
  unknownOutcomeQuestion,
  type ApprovalHandler,
  type PendingApproval,
  type ResolvedAgent,
  type ToolCall,
  type RunState,
  type Gate,
} from '../core/index.ts';
import type { Session } from '../agent/index.ts';
import { formatGrantRule, type Grant, type GrantDuration, type GrantRule, type Grants } from '../guards/index.ts';
import type { ApprovalTracker } from '../agent/subagents/index.ts';
import { formatApprovalTitle, parseToolName } from './approval-title.ts';

/** Waits until all input that is being added to a run is recorded, including input that arrives while it waits. */
export async function waitForJoiningInput(joining: () => Promise<unknown>): Promise<void> {
  for (let seen: Promise<unknown> | undefined; seen !== joining();) {
    seen = joining();
    await seen;
  }
}

/** Replaces the question of each pending call by the current one: any process that wrote the session file may have written the question. */
export async function refreshApprovalQuestions(session: Session): Promise<void> {
  const { agent, state } = session;
  for (const pending of pendingApprovals(state)) {
    const { question, preview } = await getCurrentQuestion(agent, pending, state);
    const isSame =
      question === pending.question && canonicalJson(toJson(preview)) === canonicalJson(toJson(pending.preview));
    if (!isSame) await session.updateApproval(pending.id, question, preview);
  }
}

/** The question about a call as the gates ask it now. If they do not ask, the call itself is shown: the answer does not change what they decide. */
async function getCurrentQuestion(
  agent: ResolvedAgent,
  pending: PendingApproval,
  state: RunState,
): Promise<Pick<PendingApproval, 'question' | 'preview'>> {
  const call = state.calls.find(({ id }) => id === pending.id) as ToolCall;
  const inner = unwrapDeferredCall(call);
  const target = typeof inner === 'string' ? call : inner;
  const tool = agent.tools.has(target.tool) ? target.tool : (agent.resolveToolName?.(target) ?? target.tool);
  if (pending.kind === 'unknown-outcome') return { question: unknownOutcomeQuestion(tool, target) };
  const decision = await evaluateGates(agent, { ...target, tool }, state);
  if (decision.type === 'ask') return decision;
  const outcome =
    decision.type === 'allow' ? 'would be allowed without a question' : `will be refused: ${decision.reason}`;
  return {
    question: `${tool} ${JSON.stringify(target.input)}\n(The session was left with a question about this call. By now it ${outcome})`,
  };
}

/** The grants of a session and the agent that names them, such as a conversation. */
export type GrantContext = {
  readonly grants: Grants;
  readonly agent: {
    readonly grantKey: (call: Pick<ToolCall, 'tool' | 'input'>) => string;
    /** The broader rules that a grant for this call may have; none by default. */
    readonly findGrantRules?: (call: Pick<ToolCall, 'tool' | 'input'>) => Promise<readonly GrantRule[]>;
  };
  /** The session of the call; with it a pending call is approved if an answer to an earlier question covers it. */
  readonly session?: Session;
};

/** A question to the user about a pending call, with its possible answers and the key of its grant. */
export type ApprovalPrompt = PendingApproval & {
  readonly grantKey: string;
  readonly choices: readonly ApprovalChoice[];
  /** The question in a few words. */
  readonly title: string;
};

/** The answer of the user: a choice; or a text for the model, which denies the call. */
export type UserAnswer = ApprovalAnswer | { readonly reply: string };

/** Asks the user about a call; undefined leaves it pending. */
export type AskUser = (prompt: ApprovalPrompt, signal: AbortSignal) => Promise<UserAnswer | undefined>;

/** Creates the prompt about a pending call. */
export async function createApprovalPrompt(
  { agent, grants }: GrantContext,
  pending: PendingApproval,
): Promise<ApprovalPrompt> {
  await grants.refresh();
  const grantKey = agent.grantKey(pending);
  const unwrapped = unwrapDeferredCall(pending);
  const { tool, input } = typeof unwrapped === 'string' ? pending : unwrapped;
  const title =
    pending.kind === 'unknown-outcome'
      ? `Run ${tool} again?`
      : (pending.preview?.title ?? formatApprovalTitle({ tool, input }));
  const { scopes = [] } = pending.preview ?? {};
  // The preview is text of the log: it selects among the rules of this call, and never defines one.
  const rules = scopes.length === 0 ? [] : ((await agent.findGrantRules?.(pending)) ?? []);
  const offered = rules.filter((rule) => scopes.includes(formatGrantRule(rule)));
  const choices = listApprovalChoices(pending, grantKey, offered).filter(
    ({ grant }) => grants.canKeep || grant?.duration !== 'project',
  );
  return { ...pending, grantKey, title, choices };
}

/** Creates an approval handler that asks the user about each call that no grant covers. */
export const createApprovalHandler =
  (context: GrantContext, askUser: AskUser): ApprovalHandler =>
  async (pending, signal) => {
    const { grants } = context;
    if (await isGrantedByNow(context, pending)) return { approved: true, by: 'granted before' };
    const prompt = await createApprovalPrompt(context, pending);
    const answer = await askUser(prompt, signal);
    if (answer === undefined) return undefined;
    if (typeof answer === 'object') return { approved: false, by: 'person', reason: answer.reply };
    const { grant } = prompt.choices.find((choice) => choice.answer === answer) ?? {};
    if (grant) await giveGrant(grants, grant);
    return {
      approved: answer === 'once' || grant !== undefined,
      by: 'person',
      tookEffect: answer === 'happened',
    };
  };

/** Gives a grant, and returns how long it counts: one that cannot be kept for the project counts in this session. */
export async function giveGrant(grants: Grants, { rule, duration }: Grant): Promise<GrantDuration> {
  try {
    await grants.grant(rule, duration);
    return duration;
  } catch (error) {
    if (duration === 'session') throw error;
    await grants.grant(rule, 'session');
    return 'session';
  }
}

/** Whether a grant that was given after the question was asked answers it: the gates are evaluated again, so that a policy still asks. */
async function isGrantedByNow({ grants, agent, session }: GrantContext, pending: PendingApproval): Promise<boolean> {
  // A grant for this kind of call does not say whether this call took effect before a crash.
  if (pending.kind === 'unknown-outcome' || needsApprovalEachTime(pending.question)) return false;
  if (grants.has(agent.grantKey(pending))) return true;
  const call = session?.state.calls.find(({ id }) => id === pending.id);
  if (!session || !call || grants.list().length === 0) return false;
  const unwrapped = unwrapDeferredCall(call);
  const target = typeof unwrapped === 'string' ? call : unwrapped;
  return (await evaluateGates(session.agent, target, session.state)).type === 'allow';
}

/** The current activity of a run in one or two words. */
export function formatActivity({ calls, inTurn }: RunState): string {
  const tools = calls.filter((call) => call.key !== undefined && !call.result).map((call) => call.tool);
  if (tools.length) return `running ${[...new Set(tools)].join(', ')}`;
  return inTurn ? 'thinking' : 'working';
}

/** An answer: approve this call; approve it and grant what the choice says; reject; or, after a crash, that the call has taken effect. */
export type ApprovalAnswer = 'once' | 'always' | 'no' | 'happened' | `${GrantRule['type']}-${GrantDuration}`;

/** One of the answers. */
export type ApprovalChoice = {
  readonly answer: ApprovalAnswer;
  /** The letter of the choice, or its answer if it has none. */
  readonly key: string;
  readonly label: string;
  /** What the answer grants for later calls. */
  readonly grant?: Grant;
};

/** The possible answers to the question about a call with this grant key; `rules` are broader rules that can be granted. */
export function listApprovalChoices(
  { kind, question = '' }: Partial<Pick<PendingApproval, 'kind' | 'question'>>,
  grantKey: string,
  rules: readonly GrantRule[] = [],
): readonly ApprovalChoice[] {
  if (kind === 'unknown-outcome')
    return [
      { answer: 'once', key: 'y', label: 'Yes, it did not happen' },
      { answer: 'no', key: 'n', label: 'No, tell the model that the outcome is unknown' },
      { answer: 'happened', key: 'h', label: 'No, it has happened' },
    ];
  const exact: GrantRule = { type: 'call', key: grantKey };
  const always: ApprovalChoice = {
    answer: 'always',
    key: 'a',
    label: formatAlwaysLabel(grantKey),
    grant: { rule: exact, duration: 'session' },
  };
  const broader = rules.flatMap((rule) => [toGrantChoice(rule, 'session'), toGrantChoice(rule, 'project')]);
  const granting = needsApprovalEachTime(question)
    ? []
    : [always, ...(broader.length > 0 ? broader : [toGrantChoice(exact, 'project')])];
  return [{ answer: 'once', key: 'y', label: 'Yes, once' }, ...granting, { answer: 'no', key: 'n', label: 'No' }];
}

function toGrantChoice(rule: GrantRule, duration: GrantDuration): ApprovalChoice {
  const answer = `${rule.type}-${duration}` as const;
  const where = duration === 'session' ? 'in this session' : 'in this project, kept';
  return { answer, key: answer, label: `Yes, and allow ${formatRuleLabel(rule)} ${where}`, grant: { rule, duration } };
}

function formatRuleLabel(rule: GrantRule): string {
  if (rule.type === 'command') return `commands that begin with "${rule.words.join(' ')}"`;
  if (rule.type === 'edits') return 'edits and new files in this folder';
  if (rule.type === 'tool') {
    const { tool, server } = parseToolName(rule.tool);
    return `every call of ${tool}${server === undefined ? '' : ` of the server ${server}`}`;
  }
  return rule.key.startsWith('run_command: ') ? 'this exact command' : 'exactly this';
}

/** The answer of the chosen key or value; any other value is a rejection. */
export const parseApprovalAnswer = (
  choices: readonly ApprovalChoice[],
  by: 'key' | 'answer',
  value: unknown,
): ApprovalAnswer => choices.find((choice) => choice[by] === value)?.answer ?? 'no';

/** The labels of tools whose grant covers a path, whatever the rest of the input. */
const labelsByTool: Readonly<Record<string, (path: string) => string>> = {
  write_file: (path) => `Yes, and any content for ${path} in this session`,
  edit_file: (path) => `Yes, and any edit of ${path} in this session`,
  read_file: (path) => `Yes, and allow reading ${path} in this session`,
  delete_file: (path) => `Yes, and allow deleting ${path} in this session`,
};

/** What "always" covers for a grant key; it must state neither more nor less than the grant. */
export function formatAlwaysLabel(grantKey: string): string {
  const [tool = ''] = grantKey.split(/[ :]/, 1);
  const rest = grantKey.slice(tool.length);
  if (rest.startsWith(': ')) return 'Yes, and allow this exact command in this session';
  // If the path could not be resolved, the key contains the whole input as JSON.
  const format = Object.hasOwn(labelsByTool, tool) && !rest.startsWith(' {') ? labelsByTool[tool] : undefined;
  return format?.(shortenPath(rest.slice(1))) ?? 'Yes, and allow exactly this call in this session';
}

/** The question shows the full path; the label shows only its end. */
function shortenPath(path: string): string {
  const parts = path.split('/');
  return parts.length > 3 ? `/…/${parts.at(-1)}` : path;
}

/** Creates a tracker without approvals. */
export function createApprovalTracker(): ApprovalTracker {
  /** The questions that the user approved, by call id. The text counts: the question in a file may not be ours. */
  const approved = new Map<string, readonly string[]>();
  let unsubscribe = (): void => {};
  const askAgain =
    (gate: Gate): Gate =>
    async (call, state) => {
      const decision = await gate(call, state);
      if (decision.type !== 'ask') return decision;
      let { question } = decision;
      while (call.granted?.includes(question) && !approved.get(call.id)?.includes(question)) question += askedAgainText;
      if (question === decision.question) return decision;
      const { preview } = decision;
      const again = preview && { ...preview, notes: [...preview.notes, askedAgainText.trim()] };
      return { ...decision, question, ...(again ? { preview: again } : {}) };
    };
  return {
    watch(session) {
      unsubscribe();
      approved.clear();
      unsubscribe = session.subscribe((event, state) => {
        if (event.type !== 'approval-resolved' || !event.allowed) return;
        const question = state.calls.find(({ id }) => id === event.call)?.ask?.question;
        if (question !== undefined) approved.set(event.call, [...(approved.get(event.call) ?? []), question]);
      });
    },
    withFreshApprovals: (agent) => ({ ...agent, gates: agent.gates.map(askAgain) }),
  };
}

const askedAgainText = '\n(The session says that this was allowed earlier. Approve it again.)';
