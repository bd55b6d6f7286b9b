// Commands about what the model may do unasked.
import type { SlashCommand } from './context.ts';

/** Whether changes are asked about, in words. */
export const formatApprovalMode = (auto: boolean): string =>
  auto
    ? 'Changes are made and commands are run without asking.'
    : 'You are asked before files are changed and commands are run.';

const autoCommand: SlashCommand = {
  name: 'auto',
  description: 'on: do not ask before files are changed and commands are run; off: ask',
  argumentHint: 'on|off',
  allowedDuringRun: true,
  complete: () => ['on', 'off'].map((value) => ({ value, label: value })),
  run(args, { conversation, refreshStatus, notify }) {
    const word = args.trim().toLowerCase();
    if (word !== 'on' && word !== 'off' && word !== '') return notify('It is /auto on or /auto off.', 'warning');
    if (word !== '') conversation.autoApprove = word === 'on';
    notify(formatApprovalMode(conversation.autoApprove));
    return refreshStatus();
  },
};

const permissionsCommand: SlashCommand = {
  name: 'permissions',
  description: 'what was allowed for this session; pick one to revoke it',
  allowedDuringRun: true,
  async run(_, { conversation, ui, notify, signal }) {
    const granted = conversation.grants.list();
    if (granted.length === 0)
      return notify(
        conversation.autoApprove
          ? 'Nothing is asked (/auto is on), so nothing was granted.'
          : 'Nothing was granted: every change is asked about.',
      );
    const kind = await ui.pick(
      'Allowed in this session. Pick one to revoke it.',
      granted.map((value) => ({ value, label: value })),
      signal,
    );
    if (kind === undefined) return notify('All grants stay.');
    conversation.grants.revoke(kind);
    return notify(`Revoked: ${kind}`);
  },
};

/** Commands about what the model may do. */
export const permissionCommands: readonly SlashCommand[] = [autoCommand, permissionsCommand];
