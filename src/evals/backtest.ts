// Back-tests rules on recorded sessions: which calls they would have denied or asked about, which notes and stops they would have added. Executes nothing.
import {
  unwrapDeferredCall,
  estimateTokens,
  selectNotes,
  errorMessage,
  runStateView,
  type ToolCall,
  type Event,
  type Gate,
  type Json,
  type NamedView,
  type Note,
  type Rule,
  type RunState,
} from '../core/index.ts';
import { compileRuleSet, type RuleSet } from '../rules/index.ts';
import { getRuleName } from './recorded-sessions.ts';

/** A call that a rule would have objected to. */
export type GateHit = {
  readonly turn: number;
  readonly tool: string;
  readonly input: Json;
  readonly decides: 'deny' | 'ask' | 'rewrite';
  readonly rule: string;
  readonly why: string;
};

/** A note that a rule would have sent, and its tokens. */
export type NoteHit = { readonly turn: number; readonly rule: string; readonly text: string; readonly tokens: number };

/** A run that a rule would have ended. */
export type StopHit = { readonly turn: number; readonly rule: string; readonly why: string };

/** What a set of rules would have done in a session. */
export type BacktestResult = {
  readonly calls: number;
  readonly turns: number;
  readonly objected: readonly GateHit[];
  readonly injected: readonly NoteHit[];
  readonly halted: readonly StopHit[];
};

/** The default token budget of the notes of a turn. */
const noteTokenBudget = 2000;

/** A gate under the name of its rule. */
type NamedGate = { readonly rule: string; readonly gate: Gate };

/** Rules compiled for back-tests, once for all sessions. */
export type BacktestRules = {
  readonly rules: readonly Rule[];
  readonly views: readonly NamedView<unknown>[];
  readonly gates: readonly NamedGate[];
  readonly stops: readonly { readonly rule: string; readonly halt: (state: RunState) => string | undefined }[];
};

/** Prepares rules for backtests. */
export function compileBacktestRules(sets: readonly RuleSet[]): BacktestRules {
  const parts = sets.map(compileRuleSet);
  const views = new Map(parts.flatMap((each) => each.views).map((view) => [view.name, view]));
  return {
    rules: parts.flatMap(({ rules }) => rules),
    views: [...views.values()],
    gates: sets.flatMap(({ gates = [] }) =>
      gates.flatMap(({ name, gates: own }) => own.map((gate) => ({ rule: name, gate }))),
    ),
    stops: sets.flatMap(({ stops = [] }) =>
      stops.map(({ name, evaluate }) => ({ rule: name, halt: (state: RunState) => evaluate(state)?.detail })),
    ),
  };
}

/** Returns what these rules would have done. Each call is evaluated as if everything before it had happened as recorded. */
export async function backtest(bench: BacktestRules, events: Iterable<Event>): Promise<BacktestResult> {
  const made = new WeakSet<Note>();
  const rules = bench.rules.map((rule): Rule => (event, state) => {
    const notes = rule(event, state);
    for (const note of notes) made.add(note);
    return notes;
  });
  const view = runStateView(rules, bench.views);
  const objected: GateHit[] = [];
  const injected: NoteHit[] = [];
  const halted: StopHit[] = [];
  const judged = new Set<string>();
  let over = false;
  let calls = 0;
  let turns = 0;
  let state = view.initial;
  for (const given of events) {
    const event =
      given.type === 'turn-started'
        ? { ...given, notes: selectNotes(state.queue, given.turn, noteTokenBudget) }
        : given;
    if (event.type === 'turn-started') {
      turns++;
      judged.clear();
      for (const item of event.notes.filter((note) => made.has(note)).map((note) => toNoteHit(note, event.turn)))
        injected.push(item);
    }
    if (
      (event.type === 'tool-started' || event.type === 'tool-ended' || event.type === 'approval-requested') &&
      !judged.has(event.call)
    ) {
      judged.add(event.call);
      calls++;
      const call = state.calls.find(({ id }) => id === event.call);
      if (call) for (const item of await findGateHits(call, state, bench.gates)) objected.push(item);
    }
    if (event.type === 'run-started') over = false;
    state = view.on(state, event);
    if (over || state.run === undefined || (event.type !== 'turn-ended' && event.type !== 'tool-ended')) continue;
    const halts = bench.stops.flatMap(({ rule, halt }) => findStopHits(rule, halt, state));
    over = halts.length > 0;
    halted.push(...halts.slice(0, 1));
  }
  return { calls, turns, objected, injected, halted };
}

const toNoteHit = ({ key, text }: Note, turn: number): NoteHit => ({
  turn,
  rule: getRuleName(key),
  text,
  tokens: estimateTokens(text),
});

/** Returns the strictest objection: a denial before a question. */
async function findGateHits(call: ToolCall, state: RunState, gates: readonly NamedGate[]): Promise<readonly GateHit[]> {
  const aim = unwrapDeferredCall(call);
  if (typeof aim === 'string' || gates.length === 0) return [];
  const { tool, input } = aim;
  const found: GateHit[] = [];
  for (const { rule, gate } of gates) {
    const about = { turn: state.turn, tool, input, rule };
    try {
      const decision = await gate(aim, state);
      if (decision.type === 'deny') return [{ ...about, decides: 'deny', why: decision.reason }];
      if (decision.type === 'ask') found.push({ ...about, decides: 'ask', why: decision.question });
      if (decision.type === 'rewrite')
        found.push({ ...about, decides: 'rewrite', why: JSON.stringify(decision.input) });
    } catch (error) {
      return [{ ...about, decides: 'deny', why: `The rule failed: ${errorMessage(error)}` }];
    }
  }
  return found.slice(0, 1);
}

function findStopHits(
  rule: string,
  halt: (state: RunState) => string | undefined,
  state: RunState,
): readonly StopHit[] {
  try {
    const why = halt(state);
    return why === undefined ? [] : [{ turn: state.turn, rule, why }];
  } catch (error) {
    return [{ turn: state.turn, rule, why: `The rule failed: ${errorMessage(error)}` }];
  }
}
