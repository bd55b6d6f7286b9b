// The reminders that are on unless the person says otherwise: few, and only where a model is about to waste its turns.
import { isStuck } from '../../core/index.ts';
import { detectLoop } from '../../rules/session-stats/selectors.ts';
import type { ExampleStep, ReminderDefinition, RuleSet } from '../../rules/index.ts';
import { builtInReminders } from '../../rules/reminders/built-in.ts';
import type { Settings } from '../settings/index.ts';

/** Names of built-in reminders that are on unless set. */
const defaultReminderNames: readonly string[] = ['failing-commands', 'much-edited-file'];

const repeatThreshold = 3;
const repeatedCalls: readonly ExampleStep[] = Array.from({ length: repeatThreshold }, () => ({ called: 'grep' }));

/** The same calls with the same results in one run: one that goes on so is ended soon after. */
const repeatedCallsReminder: ReminderDefinition = {
  name: 'going-round',
  on: 'tool-ended',
  cooldown: 6,
  // What a person asks for again is no circle: only the rounds of this run count, and only whole ones.
  when: ({ state }) => state.calls.every(({ result }) => result) && isStuck(state.rounds, repeatThreshold),
  message: ({ state }) =>
    `The last calls (${detectLoop(state)?.tools.join(', ')}) brought the same results ${repeatThreshold} times. Doing the same again will not help: change the approach, or say what is in the way.`,
  examples: [
    { title: 'a call that comes back the same three times', history: [{ said: 'go' }, ...repeatedCalls], fires: true },
    {
      title: 'the same, asked for again by the person',
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

/** Every reminder there is, by name. */
export const listAllReminders = (): readonly ReminderDefinition[] => [repeatedCallsReminder, ...builtInReminders()];

/** The reminders that are on, and whether the person chose them. Those that are merely usual explain themselves, so that no request grows before one is needed. */
export function getDefaultRules({ all }: Pick<Settings, 'all'>): { readonly set: RuleSet; readonly chosen: boolean } {
  const value = all.get('reminders')?.value;
  const words = typeof value === 'string' ? value.split(/\s+/) : ['usual'];
  const names = words.flatMap((word) =>
    word === 'usual' ? [repeatedCallsReminder.name, ...defaultReminderNames] : word === 'none' ? [] : [word],
  );
  const reminders = listAllReminders().filter(({ name }) => names.includes('all') || names.includes(name));
  return { set: { name: 'fairlead', reminders }, chosen: words.some((word) => word !== 'usual' && word !== 'none') };
}
