// Slash commands for automatic approval and granted permissions.
import {
  formatGrantRule,
  isPermissionMode,
  permissionModeDescriptions,
  permissionModes,
  type PermissionMode,
} from '../../guards/index.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';

/** Changes the permission mode of the conversation, if one is given, and shows the mode. */
export async function changePermissionMode(
  { conversation, refreshStatus, notify }: Pick<CommandContext, 'conversation' | 'refreshStatus' | 'notify'>,
  mode: PermissionMode | undefined,
): Promise<void> {
  if (mode !== undefined) await conversation.setMode(mode);
  notify(permissionModeDescriptions[conversation.mode]);
  refreshStatus();
}

const modeCommand: SlashCommand = {
  name: 'mode',
  description: 'show or change the permission mode: read-only, plan, ask, accept-edits, auto',
  argumentHint: '[mode]',
  allowedDuringRun: true,
  complete: () =>
    permissionModes.map((value) => ({ value, label: value, description: permissionModeDescriptions[value] })),
  async run(args, context) {
    const word = args.trim().toLowerCase();
    if (word !== '' && !isPermissionMode(word))
      return context.notify(`Usage: /mode ${permissionModes.join('|')}`, 'warning');
    return changePermissionMode(context, isPermissionMode(word) ? word : undefined);
  },
};

const autoCommand: SlashCommand = {
  name: 'auto',
  description: 'on: approve file changes and commands automatically; off: ask',
  argumentHint: 'on|off',
  allowedDuringRun: true,
  complete: () => ['on', 'off'].map((value) => ({ value, label: value })),
  async run(args, context) {
    const word = args.trim().toLowerCase();
    if (word !== 'on' && word !== 'off' && word !== '') return context.notify('Use /auto on or /auto off.', 'warning');
    return changePermissionMode(context, word === '' ? undefined : word === 'on' ? 'auto' : 'ask');
  },
};

const permissionsCommand: SlashCommand = {
  name: 'permissions',
  description: 'list what was allowed in this session and in this project; pick one to revoke it',
  allowedDuringRun: true,
  async run(_, { conversation, ui, notify, signal }) {
    const { grants } = conversation;
    await grants.refresh();
    const granted = grants.list();
    if (granted.length === 0)
      return notify(
        conversation.mode === 'auto'
          ? 'No permissions granted yet. /auto is on, so changes are not asked about.'
          : 'No permissions granted yet.',
      );
    const picked = await ui.pick(
      'Allowed. Pick one to revoke it.',
      granted.map(({ rule, duration }, index) => ({
        value: String(index),
        label: `${index + 1}. ${formatGrantRule(rule)} [${duration === 'session' ? 'this session' : 'kept for this project'}]`,
      })),
      { signal },
    );
    const grant = picked === undefined ? undefined : granted[Number(picked)];
    if (grant === undefined) return notify('Nothing was revoked.');
    await grants.revoke(grant.rule);
    return notify(`Revoked: ${formatGrantRule(grant.rule)}`);
  },
};

/** The slash commands for approval and permissions. */
export const permissionCommands: readonly SlashCommand[] = [modeCommand, autoCommand, permissionsCommand];
