// Permission options for approvals, shared by both protocol versions.
import type { PermissionOption } from '@agentclientprotocol/sdk';
import type { ApprovalChoice, ApprovalAnswer } from '../../coding-agent/index.ts';

const permissionKinds = {
  once: 'allow_once',
  always: 'allow_always',
  no: 'reject_once',
  happened: 'reject_once',
} as const;

/** Display order: allowing options first. */
const displayOrder: readonly ApprovalAnswer[] = ['once', 'always', 'happened', 'no'];

/** Returns the permission options of a call. */
export const toPermissionOptions = (choices: readonly ApprovalChoice[]): PermissionOption[] =>
  choices
    .toSorted((a, b) => displayOrder.indexOf(a.answer) - displayOrder.indexOf(b.answer))
    .map(({ answer, label }) => ({ optionId: answer, name: capitalize(label), kind: permissionKinds[answer] }));

/** The permission options of a yes/no question. */
export const yesNoOptions = (): PermissionOption[] => [
  { optionId: 'once', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

const capitalize = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** Parses the chosen option; anything but a clear yes is a no. */
const parsePermissionOption = (option: unknown): ApprovalAnswer =>
  option === 'once' || option === 'always' || option === 'happened' ? option : 'no';

type PermissionOutcome = { readonly outcome: string } & ({ readonly optionId?: unknown } | object);

/** Sends a permission request and parses its outcome; undefined if the request was cancelled. */
export async function requestPermission(
  signal: AbortSignal,
  send: (options: {
    readonly cancellationSignal: AbortSignal;
    readonly stopWaitingOnCancel: true;
  }) => Promise<{ readonly outcome: PermissionOutcome }>,
): Promise<ApprovalAnswer | undefined> {
  try {
    const { outcome } = await send({ cancellationSignal: signal, stopWaitingOnCancel: true });
    if (outcome.outcome === 'cancelled') return undefined;
    return parsePermissionOption('optionId' in outcome ? outcome.optionId : undefined);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
