// What a person at an editor can say to a question about a call, whichever version of the protocol carries it.
import type { PermissionOption } from '@agentclientprotocol/sdk';
import type { ApprovalChoice, ApprovalAnswer } from '../../coding-agent/approval-choices.ts';

const permissionKinds = {
  once: 'allow_once',
  always: 'allow_always',
  no: 'reject_once',
  happened: 'reject_once',
} as const;

/** How editors list them: what allows first. */
const displayOrder: readonly ApprovalAnswer[] = ['once', 'always', 'happened', 'no'];

/** The answers to a question about a call, as an editor shows them. */
export const toPermissionOptions = (choices: readonly ApprovalChoice[]): PermissionOption[] =>
  choices
    .toSorted((a, b) => displayOrder.indexOf(a.answer) - displayOrder.indexOf(b.answer))
    .map(({ answer, label }) => ({ optionId: answer, name: capitalize(label), kind: permissionKinds[answer] }));

/** The answers to a question with a yes and a no. */
export const yesNoOptions = (): PermissionOption[] => [
  { optionId: 'once', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

const capitalize = (words: string): string => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;

/** What a person said by choosing an option; whatever is no clear yes is a no. */
export const parsePermissionOption = (option: unknown): ApprovalAnswer =>
  option === 'once' || option === 'always' || option === 'happened' ? option : 'no';

/** The answer to a question, or nothing if it was left because the run was cancelled. */
export async function askUnlessAborted(
  signal: AbortSignal,
  ask: () => Promise<ApprovalAnswer | undefined>,
): Promise<ApprovalAnswer | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
