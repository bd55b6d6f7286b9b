// Slash commands for automatic approval and granted permissions.
import { formatGrantRule } from '../../guards/index.ts';
import type { SlashCommand } from './slash-command.ts';

/** Describes the approval mode. */
export const formatApprovalMode = (auto: boolean): string =>
  auto
    ? 'File changes and commands are approved automatically.'
    : 'You are asked before files are changed and commands are run.';

const autoCommand: SlashCommand = {
  name: 'auto',
  description: 'on: approve file changes and commands automatically; off: ask',
  argumentHint: 'on|off',
  allowedDuringRun: true,
  complete: () => ['on', 'off'].map((value) => ({ value, label: value })),
  run(args, { conversation, refreshStatus, notify }) {
    const word = args.trim().toLowerCase();
    if (word !== 'on' && word !== 'off' && word !== '') return notify('Use /auto on or /auto off.', 'warning');
    if (word !== '') conversation.autoApprove = word === 'on';
    notify(formatApprovalMode(conversation.autoApprove));
    return refreshStatus();
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
        conversation.autoApprove
          ? 'No permissions granted yet. /auto is on, so changes are not asked about.'
          : 'No permissions granted yet.',
      );
    const picked = await ui.pick(
      'Allowed. Pick one to revoke it.',
      granted.map(({ rule, duration }, index) => ({
        value: String(index),
        label: `${index + 1}. ${formatGrantRule(rule)} [${duration === 'session' ? 'this session' : 'kept for this project'}]`,
      })),
      signal,
    );
    const grant = picked === undefined ? undefined : granted[Number(picked)];
    if (grant === undefined) return notify('Nothing was revoked.');
    await grants.revoke(grant.rule);
    return notify(`Revoked: ${formatGrantRule(grant.rule)}`);
  },
};

/** The slash commands for approval and permissions. */
export const permissionCommands: readonly SlashCommand[] = [autoCommand, permissionsCommand];
