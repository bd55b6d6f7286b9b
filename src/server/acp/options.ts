// Session options of an editor: approval mode and model.
import { FairleadError } from '../../core/index.ts';
import type { Conversation } from '../../coding-agent/index.ts';
import {
  isPermissionMode,
  permissionModeDescriptions,
  permissionModes,
  type PermissionMode,
} from '../../guards/index.ts';

/** A value of an option. */
export type AcpOptionValue = { readonly value: string; readonly name: string; readonly description?: string };

/** A select option; each protocol version adds its id, which is the category. */
export type AcpOption = {
  readonly type: 'select';
  readonly category: 'mode' | 'model';
  readonly name: string;
  readonly currentValue: string;
  readonly options: AcpOptionValue[];
};

const modeNames: Readonly<Record<PermissionMode, string>> = {
  'read-only': 'Read only',
  plan: 'Plan',
  ask: 'Ask',
  'accept-edits': 'Accept edits',
  auto: 'Auto',
};

/** The permission modes. */
export const approvalModes: readonly AcpOptionValue[] = permissionModes.map((value) => ({
  value,
  name: modeNames[value],
  description: permissionModeDescriptions[value],
}));

/** Returns the approval mode of a session. */
export const getApprovalMode = (conversation: Conversation): string => conversation.mode;

/** Returns all options with current values. */
export function listAcpOptions(conversation: Conversation): readonly AcpOption[] {
  const { name } = conversation.model;
  const ids = conversation.models().map(({ id }) => id);
  return [
    {
      type: 'select',
      category: 'mode',
      name: 'Approval',
      currentValue: getApprovalMode(conversation),
      options: [...approvalModes],
    },
    {
      type: 'select',
      category: 'model',
      name: 'Model',
      currentValue: name,
      options: (ids.includes(name) ? ids : [name, ...ids]).map((value) => ({ value, name: value })),
    },
  ];
}

/** Sets an option. */
export async function setAcpOption(conversation: Conversation, id: string, value: unknown): Promise<void> {
  if (id === 'model' && typeof value === 'string') return conversation.useModel(value);
  if (id !== 'mode' || !isPermissionMode(value))
    throw new FairleadError('acp/no-choice', `There is no choice "${id}" of "${String(value)}".`, { blame: 'user' });
  return conversation.setMode(value);
}
