// The subcommands of `fairlead runs` and `fairlead fleet`, for the commands, their help and shell completion.
import type { RunStatus } from '../../../core/index.ts';

/** The arguments of a subcommand, and its description. */
export type FleetSubcommand = { readonly usage: string; readonly description: string };

/** The subcommands of `fairlead runs`. */
export const runsSubcommands: Readonly<Record<'list' | 'show' | 'answer' | 'cancel' | 'steer', FleetSubcommand>> = {
  list: { usage: '', description: 'list runs, the latest first' },
  show: { usage: '<run> [--json]', description: 'show all fields of a run' },
  answer: { usage: '<run> yes|no|happened [--call <id>]', description: 'answer the question of a waiting run' },
  cancel: { usage: '<run> [--step <id>]', description: 'cancel a run, or one step of a plan' },
  steer: {
    usage: '<run> <message> [--follow-up|--step <id>]',
    description: 'send a message to a run, or to one step of a plan',
  },
};

/** The statuses of a run. */
export const runStatuses: readonly RunStatus[] = ['queued', 'running', 'waiting', 'ended'];

/** The subcommands of `fairlead fleet`. */
export const fleetSubcommands: Readonly<
  Record<'status' | 'stop' | 'resume' | 'budget' | 'schedules', FleetSubcommand>
> = {
  status: { usage: '[--json]', description: 'show the queue, the workers, and the kill switch' },
  stop: {
    usage: '[<reason>]',
    description: 'turn the kill switch on: every worker stops within two seconds, until the fleet is resumed',
  },
  resume: { usage: '', description: 'turn the kill switch off' },
  budget: {
    usage: '[<tenant>] [--usd <n>] [--tokens <n>] [--period day|month|ever] [--remove <tenant>]',
    description: 'show and set the budgets of tenants',
  },
  schedules: { usage: '[--remove <name>]', description: 'list and remove schedules' },
};
