// Measures the effectiveness of rules on recorded sessions: how often each fired and whether the model complied.
import {
  unwrapDeferredCall,
  canonicalJson,
  runStateView,
  type DecisionSource,
  type Event,
  type Note,
  type RunState,
} from '../core/index.ts';
import { compileReminders, type GateRule, type ReminderDefinition, type RuleSet } from '../rules/index.ts';
import { getRuleName } from './recorded-sessions.ts';

/** Counts of one rule. A firing whose effect is not known because the session ended counts as neither obeyed nor ignored. */
export type RuleEffectiveness = { readonly fired: number; readonly obeyed: number; readonly ignored: number };

/** Number of turns after which the condition of a reminder is evaluated again. */
export const followUpTurns = 3;

type RuleCounts = Map<string, { fired: number; obeyed: number; ignored: number }>;

const incrementCount = (tally: RuleCounts, rule: string, what: 'fired' | 'obeyed' | 'ignored'): void => {
  const row = tally.get(rule) ?? { fired: 0, obeyed: 0, ignored: 0 };
  row[what]++;
  tally.set(rule, row);
};

/** Measures all rules in these sessions, by name. Rules outside the given sets are only counted. */
export async function measureRuleEffectiveness(
  sets: readonly RuleSet[],
  sessions: Iterable<readonly Event[]> | AsyncIterable<readonly Event[]>,
): Promise<ReadonlyMap<string, RuleEffectiveness>> {
  const tally: RuleCounts = new Map();
  const probe = createReminderProbe(sets);
  for await (const events of sessions) await countSession(events, probe, tally);
  return tally;
}

type ReminderProbe = {
  readonly whenTrue: ReturnType<typeof compileReminders>;
  readonly whenChecked: ReturnType<typeof compileReminders>;
  readonly views: Parameters<typeof runStateView>[1];
  readonly names: ReadonlySet<string>;
  readonly gates: readonly GateRule[];
};

/** Compiles the reminders twice: without cooldown, to see when their condition holds, and without condition, to see when they are evaluated. */
function createReminderProbe(sets: readonly RuleSet[]): ReminderProbe {
  const reminders = sets.flatMap((set) => set.reminders ?? []);
  const held = compileReminders('held', reminders.map(withoutCooldown));
  const looked = compileReminders(
    'looked',
    reminders.map(({ when: _, ...rest }) => ({ ...withoutCooldown(rest), message: 'x' })),
  );
  const gates = sets.flatMap((set) => set.gates ?? []);
  const all = [
    ...held.views,
    ...looked.views,
    ...gates.flatMap(({ views }) => views),
    ...sets.flatMap(({ views = [] }) => views),
  ];
  return {
    whenTrue: held,
    whenChecked: looked,
    views: [...new Map(all.map((view) => [view.name, view])).values()],
    names: new Set(reminders.map(({ name }) => name)),
    gates,
  };
}

const withoutCooldown = ({
  cooldown: _,
  once: __,
  expiresAfter: ___,
  ...rest
}: ReminderDefinition): ReminderDefinition => rest;

type ShownNote = { readonly key: string; readonly turn: number; last?: boolean };

type RecordedDenial = { readonly rule: string; readonly call: string; readonly run: string; again: boolean };

async function countSession(events: readonly Event[], probe: ReminderProbe, tally: RuleCounts): Promise<void> {
  const view = runStateView([], probe.views);
  const shown: ShownNote[] = [];
  const refusals: RecordedDenial[] = [];
  let state = view.initial;
  for (const event of events) {
    const before = state;
    state = view.on(state, event);
    recheckConditions(event, state, probe, shown);
    if (event.type === 'turn-started')
      for (const { key } of event.notes) {
        incrementCount(tally, getRuleName(key), 'fired');
        if (probe.names.has(getRuleName(key))) shown.push({ key, turn: event.turn });
      }
    if (event.type === 'approval-requested' && event.by?.kind === 'rule' && event.by.name !== undefined)
      incrementCount(tally, event.by.name, 'fired');
    if (event.type === 'tool-ended' && event.outcome === 'denied') countDenial(event, before, refusals, tally);
  }
  for (const { key, turn, last } of shown)
    if (last !== undefined) incrementCount(tally, getRuleName(key), last ? 'ignored' : 'obeyed');
    else if (state.turn >= turn + followUpTurns) incrementCount(tally, getRuleName(key), 'obeyed');
  for (const { rule, again } of refusals) incrementCount(tally, rule, again ? 'ignored' : 'obeyed');
}

/** Records for each shown note whether its condition held at the last evaluation in the window. */
function recheckConditions(
  event: Event,
  state: RunState,
  { whenTrue, whenChecked }: ReminderProbe,
  shown: readonly ShownNote[],
): void {
  const open = shown.filter(({ turn }) => state.turn <= turn + followUpTurns);
  if (open.length === 0) return;
  const keys = (probe: ReminderProbe['whenTrue']): ReadonlySet<string> =>
    new Set(probe.rules.flatMap((rule) => rule(event, state)).map(({ key }: Note) => key));
  const at = keys(whenChecked);
  if (at.size === 0) return;
  const holding = keys(whenTrue);
  for (const each of open) if (at.has(each.key)) each.last = holding.has(each.key);
}

/** The name of the rule or hook that denied a call or asked about it. */
const formatDecisionSource = (by: DecisionSource | undefined): string | undefined =>
  by?.kind === 'hook' ? by.name && `hook ${by.name}` : by?.name;

function countDenial(
  event: Event & { readonly type: 'tool-ended' },
  state: RunState,
  refusals: RecordedDenial[],
  tally: RuleCounts,
): void {
  const rule = formatDecisionSource(event.deniedBy);
  const open = state.calls.find(({ id }) => id === event.call);
  const aim = open && unwrapDeferredCall(open);
  if (rule === undefined || aim === undefined || typeof aim === 'string') return;
  incrementCount(tally, rule, 'fired');
  const call = `${aim.tool} ${canonicalJson(aim.input)}`;
  const run = state.run ?? '';
  for (const each of refusals) if (each.rule === rule && each.call === call && each.run === run) each.again = true;
  refusals.push({ rule, call, run, again: false });
}
