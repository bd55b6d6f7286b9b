// Permission options for approvals, shared by both protocol versions.
import type { PermissionOption } from '@agentclientprotocol/sdk';
import type { ApprovalChoice, ApprovalAnswer } from '../../coding-agent/index.ts';

/** Returns the kind of an option: one that grants something for later calls allows always. */
const permissionKind = ({ answer, grant }: ApprovalChoice): PermissionOption['kind'] =>
  grant ? 'allow_always' : answer === 'once' ? 'allow_once' : 'reject_once';

/** Display order: allowing options first, and the plain no last. */
const displayOrder = ({ answer, grant }: ApprovalChoice): number =>
  answer === 'once' ? 0 : grant ? 1 : answer === 'no' ? 3 : 2;

/** Returns the permission options of a call. */
export const toPermissionOptions = (choices: readonly ApprovalChoice[]): PermissionOption[] =>
  choices
    .toSorted((a, b) => displayOrder(a) - displayOrder(b))
    .map((choice) => ({ optionId: choice.answer, name: choice.label, kind: permissionKind(choice) }));

/** The permission options of a yes/no question. */
export const yesNoOptions = (): PermissionOption[] => [
  { optionId: 'once', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

/** Parses the chosen option; anything but one of the options is a no. */
const parsePermissionOption = (options: readonly { readonly optionId: string }[], chosen: unknown): ApprovalAnswer =>
  (options.find(({ optionId }) => optionId === chosen)?.optionId ?? 'no') as ApprovalAnswer;

type PermissionOutcome = { readonly outcome: string } & ({ readonly optionId?: unknown } | object);

/** Sends a permission request and parses its outcome; undefined if the request was cancelled. */
export async function requestPermission(
  signal: AbortSignal,
  options: readonly { readonly optionId: string }[],
  send: (how: {
    readonly cancellationSignal: AbortSignal;
    readonly stopWaitingOnCancel: true;
  }) => Promise<{ readonly outcome: PermissionOutcome }>,
): Promise<ApprovalAnswer | undefined> {
  try {
    const { outcome } = await send({ cancellationSignal: signal, stopWaitingOnCancel: true });
    if (outcome.outcome === 'cancelled') return undefined;
    return parsePermissionOption(options, 'optionId' in outcome ? outcome.optionId : undefined);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
