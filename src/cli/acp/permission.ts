// What a person at an editor can say to a question about a call, whichever version of the protocol carries it.
import type { PermissionOption } from '@agentclientprotocol/sdk';
import { alwaysLabel } from '../conversation/always.ts';
import type { Said } from '../conversation/asks.ts';

/** The answers to a question about a call of this kind; "always" says what it covers. */
export const answersFor = (kind: string): PermissionOption[] => [
  { optionId: 'once', name: 'Yes, this once', kind: 'allow_once' },
  { optionId: 'always', name: capital(alwaysLabel(kind)), kind: 'allow_always' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

/** The answers to a question with a yes and a no. */
export const yesOrNo = (): PermissionOption[] => [
  { optionId: 'once', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

const capital = (words: string): string => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;

/** What a person said by choosing an option; whatever is no clear yes is a no. */
export const saidBy = (option: unknown): Said => (option === 'once' || option === 'always' ? option : 'no');

/** The answer to a question, or nothing if it was left because the run was cancelled. */
export async function leftBy(signal: AbortSignal, ask: () => Promise<Said | undefined>): Promise<Said | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
