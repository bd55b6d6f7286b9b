// Explains a recorded session: for each call the labels and sources of its values, and what the flow policy decides about it. Works in every mode, because it reads the log only.
import { messageToolCalls, parseFlowReview, type Event, type FlowReview, type ToolSpec } from '../../core/index.ts';
import { decideCall } from './decide-call.ts';
import { readTrifecta, type TrifectaConditions } from './egress.ts';
import { declareTool } from './declare-tool.ts';
import { toFlowCall } from './flow-call.ts';
import type { FlowLog } from './flow-log.ts';
import { createFlowFold } from './fold-log.ts';
import { findWayOut } from './ways-out.ts';
import type { FlowStateOptions } from './flow-state.ts';
import type { FlowCall, FlowDecision, FlowDeclarations, LabelledValue, ToolDeclaration } from './types.ts';

/** A call of a session with its decision. */
export type ExplainedCall = FlowCall & {
  readonly turn: number;
  readonly decision: FlowDecision;
  /** Where it can carry data to; absent if it carries none. */
  readonly destinations?: readonly string[];
  /** What became of it: the outcome in the log; absent if it has none. */
  readonly outcome?: string;
  /** Whether the flow policy asked about it when it ran. */
  readonly wasAsked: boolean;
  /** The review by a second model, if no user was there. */
  readonly review?: FlowReview;
};

/** The calls of a session, and how many of them the policy allows, asks about and denies. */
export type ExplainedSession = {
  readonly calls: readonly ExplainedCall[];
  readonly counts: { readonly allow: number; readonly ask: number; readonly deny: number };
  readonly byRule: Readonly<Record<string, number>>;
  /** The sources of private data and of untrusted text in the session. */
  readonly trifecta: TrifectaConditions;
};

/** Explains the events of a session. Tools that have no declaration are declared from the schema in the log, as `external`. */
export function explainSession(
  events: readonly Event[],
  declarations: FlowDeclarations,
  options: FlowStateOptions = {},
): ExplainedSession {
  const complete: FlowDeclarations = { ...declarations, tools: withRecordedTools(events, declarations.tools) };
  const fold = createFlowFold({ declarations: complete, ...options });
  const decided = new Map<string, Omit<ExplainedCall, 'outcome'>>();
  const outcomes = new Map<string, string>();
  let log: FlowLog = {};
  let turn = 0;
  let open = new Map<string, FlowCall>();
  const decide = (id: string): void => {
    const call = open.get(id);
    if (!call || decided.has(key(turn, id))) return;
    const { state } = fold.read(log);
    const decision = withoutTexts(decideCall(state, complete, call));
    const { destinations } = findWayOut(state, complete.tools.get(call.tool), call, decision.values) ?? {};
    decided.set(key(turn, id), { ...call, turn, decision, ...(destinations ? { destinations } : {}), wasAsked: false });
  };
  for (const event of events) {
    const review = parseFlowReview(event);
    if (event.type === 'approval-requested' || event.type === 'tool-started' || event.type === 'tool-ended')
      decide(event.call);
    if (review) {
      decide(review.call);
      const found = decided.get(key(turn, review.call));
      if (found) decided.set(key(turn, review.call), { ...found, review });
    }
    if (event.type === 'approval-requested' && event.by?.kind === 'flow') {
      const found = decided.get(key(turn, event.call));
      if (found) decided.set(key(turn, event.call), { ...found, wasAsked: true });
    }
    if (event.type === 'tool-ended') outcomes.set(key(turn, event.call), event.outcome);
    log = { event, previous: log };
    if (event.type === 'turn-ended') {
      ({ turn } = event);
      open = new Map(messageToolCalls(event.message).map((each) => [each.id, toFlowCall(each)]));
    }
    // The fold keeps what it has read, so that each event is read once.
    fold.read(log);
  }
  const calls = [...decided].map(([id, call]): ExplainedCall => {
    const outcome = outcomes.get(id);
    return { ...call, ...(outcome === undefined ? {} : { outcome }) };
  });
  const count = (type: FlowDecision['type']): number => calls.filter(({ decision }) => decision.type === type).length;
  const rules = calls.flatMap(({ decision }) => (decision.type === 'allow' ? [] : decision.rule));
  return {
    calls,
    trifecta: readTrifecta(fold.read(log).state, complete.tools),
    counts: { allow: count('allow'), ask: count('ask'), deny: count('deny') },
    byRule: Object.fromEntries([...Map.groupBy(rules, (rule) => rule)].map(([rule, list]) => [rule, list.length])),
  };
}

/** The whole text in which a value was found is in the log, and not repeated. */
function withoutTexts(decision: FlowDecision): FlowDecision {
  const strip = (values: readonly LabelledValue[]): readonly LabelledValue[] =>
    values.map(({ found: _found, ...rest }) => rest);
  const values = strip(decision.values);
  return decision.type === 'allow' ? { ...decision, values } : { ...decision, values, bad: strip(decision.bad) };
}

const key = (turn: number, call: string): string => `${turn} ${call}`;

function withRecordedTools(
  events: readonly Event[],
  declared: ReadonlyMap<string, ToolDeclaration>,
): ReadonlyMap<string, ToolDeclaration> {
  const recorded = events.flatMap((event): readonly ToolSpec[] => (event.type === 'epoch-started' ? event.tools : []));
  return new Map([
    ...recorded
      .filter(({ name }) => !declared.has(name))
      .map(({ name, input }) => [name, declareTool({ name, input, effect: 'external' })] as const),
    ...declared,
  ]);
}
