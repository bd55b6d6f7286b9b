// Whether rules were heeded, read from recorded sessions: how often each spoke up, and what the model did after.
import {
  unwrapDeferredCall,
  canonicalJson,
  runStateView,
  type DecisionSource,
  type Event,
  type Note,
  type RunState,
} from '../../core/index.ts';
import { compileReminders, type GateRule, type ReminderDefinition, type RuleSet } from '../../rules/index.ts';
import { ruleOfKey } from './recorded.ts';

/** How a rule fared. What could not be told yet, because the session ended too soon, is neither obeyed nor ignored. */
export type Fared = { readonly fired: number; readonly obeyed: number; readonly ignored: number };

/** Turns after which a reminder's condition is looked at again. */
export const patience = 3;

type Tally = Map<string, { fired: number; obeyed: number; ignored: number }>;

const count = (tally: Tally, rule: string, what: 'fired' | 'obeyed' | 'ignored'): void => {
  const row = tally.get(rule) ?? { fired: 0, obeyed: 0, ignored: 0 };
  row[what]++;
  tally.set(rule, row);
};

/** How the rules fared in these sessions, by name. Rules that are not among the sets are counted and not judged. */
export async function fared(
  sets: readonly RuleSet[],
  sessions: Iterable<readonly Event[]> | AsyncIterable<readonly Event[]>,
): Promise<ReadonlyMap<string, Fared>> {
  const tally: Tally = new Map();
  const probe = probeOf(sets);
  for await (const events of sessions) await judge(events, probe, tally);
  return tally;
}

type Probe = {
  readonly held: ReturnType<typeof compileReminders>;
  readonly looked: ReturnType<typeof compileReminders>;
  readonly views: Parameters<typeof runStateView>[1];
  readonly names: ReadonlySet<string>;
  readonly gates: readonly GateRule[];
};

/** The reminders twice over: once without a pause, to see when their condition holds, and once without a condition, to see when they are looked at. */
function probeOf(sets: readonly RuleSet[]): Probe {
  const reminders = sets.flatMap((set) => set.reminders ?? []);
  const held = compileReminders('held', reminders.map(restless));
  const looked = compileReminders(
    'looked',
    reminders.map(({ when: _, ...rest }) => ({ ...restless(rest), message: 'x' })),
  );
  const gates = sets.flatMap((set) => set.gates ?? []);
  const all = [
    ...held.views,
    ...looked.views,
    ...gates.flatMap(({ views }) => views),
    ...sets.flatMap(({ views = [] }) => views),
  ];
  return {
    held,
    looked,
    views: [...new Map(all.map((view) => [view.name, view])).values()],
    names: new Set(reminders.map(({ name }) => name)),
    gates,
  };
}

const restless = ({ cooldown: _, once: __, expiresAfter: ___, ...rest }: ReminderDefinition): ReminderDefinition =>
  rest;

type Shown = { readonly key: string; readonly turn: number; last?: boolean };

type Refusal = { readonly rule: string; readonly call: string; readonly run: string; again: boolean };

async function judge(events: readonly Event[], probe: Probe, tally: Tally): Promise<void> {
  const view = runStateView([], probe.views);
  const shown: Shown[] = [];
  const refusals: Refusal[] = [];
  let state = view.initial;
  for (const event of events) {
    const before = state;
    state = view.on(state, event);
    lookAgain(event, state, probe, shown);
    if (event.type === 'turn-started')
      for (const { key } of event.notes) {
        count(tally, ruleOfKey(key), 'fired');
        if (probe.names.has(ruleOfKey(key))) shown.push({ key, turn: event.turn });
      }
    if (event.type === 'approval-requested' && event.by?.kind === 'rule' && event.by.name !== undefined)
      count(tally, event.by.name, 'fired');
    if (event.type === 'tool-ended' && event.outcome === 'denied') refuse(event, before, refusals, tally);
  }
  for (const { key, turn, last } of shown)
    if (last !== undefined) count(tally, ruleOfKey(key), last ? 'ignored' : 'obeyed');
    else if (state.turn >= turn + patience) count(tally, ruleOfKey(key), 'obeyed');
  for (const { rule, again } of refusals) count(tally, rule, again ? 'ignored' : 'obeyed');
}

/** Keeps for each note that was shown whether its condition held when it was last looked at, as long as that counts. */
function lookAgain(event: Event, state: RunState, { held, looked }: Probe, shown: readonly Shown[]): void {
  const open = shown.filter(({ turn }) => state.turn <= turn + patience);
  if (open.length === 0) return;
  const keys = (probe: Probe['held']): ReadonlySet<string> =>
    new Set(probe.rules.flatMap((rule) => rule(event, state)).map(({ key }: Note) => key));
  const at = keys(looked);
  if (at.size === 0) return;
  const holding = keys(held);
  for (const each of open) if (at.has(each.key)) each.last = holding.has(each.key);
}

/** The name of the rule or hook that denied a call or asked about it. */
const nameOf = (by: DecisionSource | undefined): string | undefined =>
  by?.kind === 'hook' ? by.name && `hook ${by.name}` : by?.name;

function refuse(
  event: Event & { readonly type: 'tool-ended' },
  state: RunState,
  refusals: Refusal[],
  tally: Tally,
): void {
  const rule = nameOf(event.deniedBy);
  const open = state.calls.find(({ id }) => id === event.call);
  const aim = open && unwrapDeferredCall(open);
  if (rule === undefined || aim === undefined || typeof aim === 'string') return;
  count(tally, rule, 'fired');
  const call = `${aim.tool} ${canonicalJson(aim.input)}`;
  const run = state.run ?? '';
  for (const each of refusals) if (each.rule === rule && each.call === call && each.run === run) each.again = true;
  refusals.push({ rule, call, run, again: false });
}
