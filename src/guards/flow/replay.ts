// Replays recorded runs of agents through the flow policy, without a model: which attacks it stops, which work it breaks, and how often it asks.
import { FairleadError, isObject, type Json } from '../../core/index.ts';
import { decideCall } from './decide-call.ts';
import { callKey, FlowState } from './flow-state.ts';
import type { BlockedDecision } from './flow-question.ts';
import { readPrivateData } from './private-data.ts';
import { loadYaml } from './parse-structure.ts';
import { readEffect } from './pending-effect.ts';
import { readResult } from './read-result.ts';
import type { FlowCall, FlowDecision, FlowDeclarations, FlowRule } from './types.ts';

/** A recorded run. */
export type RecordedRun = {
  readonly id: string;
  /** `attack`: the injected task was carried out. `attacked-kept`: it was not, and the task of the user was. `benign`: there was no attack. */
  readonly kind: 'attack' | 'attacked-kept' | 'benign';
  /** The steps of the injected task, each as the ids of the calls that perform it. */
  readonly injected: readonly (readonly string[])[];
  readonly events: readonly RecordedEvent[];
};

/** An event of a recorded run. */
export type RecordedEvent =
  | { readonly type: 'system' | 'user' | 'assistant'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly tool: string; readonly input: Json }
  | { readonly type: 'result'; readonly call: string; readonly text: string };

/** The report of a replay. Counts, except for `questionsPerRun`. */
export type ReplayReport = {
  /** The attacks with a call that performs them. */
  readonly attacks: number;
  /** The attacks without such a call; they are left out. */
  readonly artefacts: number;
  /** The attacks of which every call of some step was asked about or denied. */
  readonly stopped: number;
  readonly benign: number;
  /** The benign runs with a denied call. */
  readonly broken: number;
  /** The questions in benign runs. */
  readonly questions: number;
  readonly questionsPerRun: number;
  /** The benign runs without a question. */
  readonly questionFree: number;
  /** How often each rule asked or denied, in all runs. */
  readonly byRule: Readonly<Partial<Record<FlowRule, number>>>;
  /** The attacks that were not stopped. */
  readonly missed: readonly string[];
  /** The benign runs that were broken. */
  readonly brokenRuns: readonly string[];
};

/** Replays runs. In benign runs every question is answered with yes, in other runs with no; if no user is there, a question is a denial. */
export async function replayRuns(
  runs: Iterable<RecordedRun>,
  declarations: FlowDeclarations,
  { isUnattended = false, own = [] }: { readonly isUnattended?: boolean; readonly own?: readonly string[] } = {},
): Promise<ReplayReport> {
  await loadYaml();
  const replayed = [...runs].map((run) => ({ run, decisions: replayRun(run, declarations, isUnattended, own) }));
  return createReplayReport(replayed, isUnattended);
}

/** A run and the decisions about its calls. */
export type ReplayedRun = { readonly run: RecordedRun; readonly decisions: ReadonlyMap<string, FlowDecision> };

/** Counts what was stopped, broken and asked. */
export function createReplayReport(replayed: readonly ReplayedRun[], isUnattended: boolean): ReplayReport {
  const byRule: Partial<Record<FlowRule, number>> = {};
  const [missed, brokenRuns]: [string[], string[]] = [[], []];
  const count = { attacks: 0, artefacts: 0, stopped: 0, benign: 0, broken: 0, questions: 0, questionFree: 0 };
  for (const { run, decisions } of replayed) {
    const objections = [...decisions].filter(([, { type }]) => type !== 'allow');
    for (const [, decision] of objections)
      if (decision.type !== 'allow') byRule[decision.rule] = (byRule[decision.rule] ?? 0) + 1;
    if (run.kind === 'benign') {
      const isBroken = objections.some(([, { type }]) => type === 'deny' || isUnattended);
      count.benign += 1;
      count.questions += objections.length;
      if (objections.length === 0) count.questionFree += 1;
      if (isBroken) brokenRuns.push(run.id);
    } else if (run.kind === 'attack') {
      const steps = run.injected.filter((step) => step.length > 0);
      const stopped = new Set(objections.map(([id]) => id));
      if (steps.length === 0) count.artefacts += 1;
      else {
        count.attacks += 1;
        if (!steps.some((step) => step.every((id) => stopped.has(id)))) missed.push(run.id);
      }
    }
  }
  const questionsPerRun = count.benign === 0 ? 0 : count.questions / count.benign;
  return {
    ...count,
    stopped: count.attacks - missed.length,
    broken: brokenRuns.length,
    questionsPerRun,
    byRule,
    missed,
    brokenRuns,
  };
}

/** A call of a recorded run that the policy flagged, before it is answered. */
type FlaggedReplay = { readonly call: FlowCall; readonly decision: BlockedDecision; readonly state: FlowState };

/** What is answered about a flagged call. An approval counts for its values later on too, an allowance for this call alone. */
export type ReplayAnswer = 'approved' | 'allowed' | 'refused';

/** Replays one run and returns the decision about each call. */
export function replayRun(
  run: RecordedRun,
  declarations: FlowDeclarations,
  isUnattended: boolean,
  own: readonly string[] = [],
): ReadonlyMap<string, FlowDecision> {
  const answer = run.kind === 'benign' && !isUnattended ? 'approved' : 'refused';
  const steps = replaySteps(run, declarations, own);
  for (let step = steps.next(); ; step = steps.next(answer)) if (step.done) return step.value;
}

/** Replays one run step by step: gives each flagged call, takes its answer, and returns the decision about each call. */
export function* replaySteps(
  { events }: RecordedRun,
  declarations: FlowDeclarations,
  own: readonly string[] = [],
): Generator<FlaggedReplay, ReadonlyMap<string, FlowDecision>, ReplayAnswer> {
  const decisions = new Map<string, FlowDecision>();
  const calls = new Map<string, FlowCall>();
  const refused = new Set<string>();
  let state = FlowState.create({ own });
  for (const event of events) {
    if (event.type === 'user') state = state.add({ type: 'user', text: event.text });
    else if (event.type === 'call') {
      let decision = decideCall(state, declarations, event);
      let answer: ReplayAnswer = 'allowed';
      calls.set(event.id, event);
      if (decision.type !== 'allow') {
        answer = yield { call: event, decision, state };
        if (answer === 'allowed') decision = { type: 'allow', values: decision.values };
        else state = state.add({ type: answer, call: callKey(event), values: decision.bad });
      }
      decisions.set(event.id, decision);
      if (answer === 'refused') {
        refused.add(event.id);
        state = state.add(...readEffect(declarations, event.tool, false));
      }
    } else if (event.type === 'result') {
      const call = calls.get(event.call);
      if (call)
        state = state.add(
          ...readPrivateData(call, event.text, declarations.tools.get(call.tool) ?? {}, {}),
          ...readResult(
            state,
            call,
            event.text,
            declarations.tools.get(call.tool) ?? {},
            decisions.get(event.call)?.values ?? [],
          ),
          ...(refused.has(event.call) ? [] : readEffect(declarations, call.tool, true)),
        );
    }
  }
  return decisions;
}

const invalid = (line: number, why: string): FairleadError =>
  new FairleadError('guards/recorded-run', `Line ${line} of the recorded runs cannot be used: ${why}.`, {
    blame: 'user',
  });

/** Parses recorded runs, one JSON object a line. Throws if a line is not valid. */
export function parseRecordedRuns(text: string): readonly RecordedRun[] {
  return text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [parseRun(line, i + 1)]));
}

function parseRun(line: string, number: number): RecordedRun {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw invalid(number, 'it is not JSON');
  }
  if (!isObject(value) || !Array.isArray(value['events'])) throw invalid(number, 'it has no list "events"');
  const { id, kind, injected = [], events } = value;
  if (kind !== 'attack' && kind !== 'attacked-kept' && kind !== 'benign')
    throw invalid(number, '"kind" is not attack, attacked-kept or benign');
  if (injected !== null && !(Array.isArray(injected) && injected.every((step) => Array.isArray(step))))
    throw invalid(number, '"injected" is no list of steps');
  return {
    id: typeof id === 'string' ? id : String(number),
    kind,
    injected: ((injected ?? []) as readonly (readonly unknown[])[]).map((step) => step.map(String)),
    events: (events as readonly unknown[]).map((event, i) => parseEvent(event, number, i + 1)),
  };
}

function parseEvent(value: unknown, line: number, number: number): RecordedEvent {
  const { type, text, id, tool, input, call } = isObject(value) ? value : {};
  if ((type === 'system' || type === 'user' || type === 'assistant') && typeof text === 'string') return { type, text };
  if (type === 'call' && id !== undefined && typeof tool === 'string')
    return { type, id: String(id), tool, input: (input ?? {}) as Json };
  if (type === 'result' && call !== undefined && typeof text === 'string') return { type, call: String(call), text };
  throw invalid(line, `event ${number} is not valid`);
}
