// The default reminders: few, and only for situations in which a model is about to waste turns.
import { isStuck } from '../../core/index.ts';
import { detectLoop } from '../../rules/session-stats/index.ts';
import type { ExampleStep, ReminderDefinition, RuleSet } from '../../rules/index.ts';
import { builtInReminders } from '../../rules/reminders/index.ts';
import type { Settings } from '../settings/index.ts';

/** The built-in reminders that are on by default. */
const defaultReminderNames: readonly string[] = ['failing-commands', 'much-edited-file'];

const repeatThreshold = 3;
const repeatedCalls: readonly ExampleStep[] = Array.from({ length: repeatThreshold }, () => ({ called: 'grep' }));

/** Reminds of repeated calls with the same results in one run; a run that continues in this way is ended soon after. */
const repeatedCallsReminder: ReminderDefinition = {
  name: 'going-round',
  on: 'tool-ended',
  cooldown: 6,
  // Calls that the user requests again are not a repetition: only complete rounds of this run count.
  when: ({ state }) => state.calls.every(({ result }) => result) && isStuck(state.callBatches, repeatThreshold),
  message: ({ state }) =>
    `The last calls (${detectLoop(state)?.tools.join(', ')}) returned the same results ${repeatThreshold} times. Doing the same again will not help: change the approach, or say what prevents progress.`,
  examples: [
    { title: 'a call that comes back the same three times', history: [{ said: 'go' }, ...repeatedCalls], fires: true },
    {
      title: 'the same calls, requested again by the user',
      history: [
        { said: 'go' },
        ...repeatedCalls.slice(1),
        { answered: 'Done.' },
        { said: 'again' },
        ...repeatedCalls.slice(1),
      ],
      fires: false,
    },
  ],
};

/** All reminders that can be switched on. */
export const listAllReminders = (): readonly ReminderDefinition[] => [repeatedCallsReminder, ...builtInReminders()];

/** The reminders that are on, and whether the user chose them. Default reminders explain themselves, so that they add nothing to a request before they are needed. */
export function getDefaultRules({ all }: Pick<Settings, 'all'>): { readonly set: RuleSet; readonly chosen: boolean } {
  const value = all.get('reminders')?.value;
  const values = typeof value === 'string' ? value.split(/\s+/) : ['usual'];
  const names = values.flatMap((each) =>
    each === 'usual' ? [repeatedCallsReminder.name, ...defaultReminderNames] : each === 'none' ? [] : [each],
  );
  const reminders = listAllReminders().filter(({ name }) => names.includes('all') || names.includes(name));
  return { set: { name: 'fairlead', reminders }, chosen: values.some((each) => each !== 'usual' && each !== 'none') };
}
