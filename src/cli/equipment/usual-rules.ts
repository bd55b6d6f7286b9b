// The reminders that are on unless the person says otherwise: few, and only where a model is about to waste its turns.
import { builtInReminders, loop, type ReminderDefinition, type RuleSet } from '../../rules/index.ts';
import type { Settings } from '../settings/index.ts';

/** Names of built-in reminders that are on unless set. */
const usual: readonly string[] = ['failing-commands', 'much-edited-file'];

/** The same calls with the same results: a run that goes on so is ended soon after. */
const goingRound: ReminderDefinition = {
  name: 'going-round',
  on: 'tool-ended',
  cooldown: 6,
  when: ({ state }) => (loop(state)?.times ?? 0) >= 2,
  message: ({ state }) =>
    `The last calls (${loop(state)?.tools.join(', ')}) came back with the same results as before. Doing the same again will not help: change the approach, or say what is in the way.`,
  examples: [
    {
      title: 'a call that comes back the same',
      history: [{ said: 'go' }, { called: 'grep' }, { called: 'grep' }],
      fires: true,
    },
    {
      title: 'two calls that differ',
      history: [
        { said: 'go' },
        { called: 'grep', input: { pattern: 'a' } },
        { called: 'grep', input: { pattern: 'b' } },
      ],
      fires: false,
    },
  ],
};

/** Every reminder there is, by name. */
export const everyReminder = (): readonly ReminderDefinition[] => [goingRound, ...builtInReminders()];

/** The reminders that are on, and whether the person chose them. Those that are merely usual explain themselves, so that no request grows before one is needed. */
export function usualRules({ all }: Pick<Settings, 'all'>): { readonly set: RuleSet; readonly chosen: boolean } {
  const value = all.get('reminders')?.value;
  const words = typeof value === 'string' ? value.split(/\s+/) : ['usual'];
  const names = words.flatMap((word) =>
    word === 'usual' ? [goingRound.name, ...usual] : word === 'none' ? [] : [word],
  );
  const reminders = everyReminder().filter(({ name }) => names.includes('all') || names.includes(name));
  return { set: { name: 'fairlead', reminders }, chosen: words.some((word) => word !== 'usual' && word !== 'none') };
}
