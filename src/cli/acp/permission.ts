// What a person at an editor can say to a question about a call, whichever version of the protocol carries it.
import type { PermissionOption } from '@agentclientprotocol/sdk';
import type { Choice, Said } from '../conversation/choices.ts';

const kinds = { once: 'allow_once', always: 'allow_always', no: 'reject_once', happened: 'reject_once' } as const;

/** How editors list them: what allows first. */
const order: readonly Said[] = ['once', 'always', 'happened', 'no'];

/** The answers to a question about a call, as an editor shows them. */
export const answersFor = (choices: readonly Choice[]): PermissionOption[] =>
  choices
    .toSorted((a, b) => order.indexOf(a.said) - order.indexOf(b.said))
    .map(({ said, label }) => ({ optionId: said, name: capital(label), kind: kinds[said] }));

/** The answers to a question with a yes and a no. */
export const yesOrNo = (): PermissionOption[] => [
  { optionId: 'once', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

const capital = (words: string): string => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;

/** What a person said by choosing an option; whatever is no clear yes is a no. */
export const saidBy = (option: unknown): Said =>
  option === 'once' || option === 'always' || option === 'happened' ? option : 'no';

/** The answer to a question, or nothing if it was left because the run was cancelled. */
export async function leftBy(signal: AbortSignal, ask: () => Promise<Said | undefined>): Promise<Said | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
