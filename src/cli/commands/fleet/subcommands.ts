// What can be done with runs and with a fleet, as tables that the commands, their help and the completions read.
import type { RunStatus } from '../../../core/index.ts';

/** What a verb takes, and what it is for. */
export type FleetSubcommand = { readonly usage: string; readonly description: string };

/** What can be done with runs. */
export const runsSubcommands: Readonly<Record<'list' | 'show' | 'answer' | 'cancel' | 'steer', FleetSubcommand>> = {
  list: { usage: '', description: 'list runs, the latest first' },
  show: { usage: '<run> [--json]', description: 'everything about a run' },
  answer: { usage: '<run> yes|no|happened [--call <id>]', description: 'answer what a run waits for' },
  cancel: { usage: '<run>', description: 'end a run' },
  steer: { usage: '<run> <words> [--follow-up]', description: 'say something to a run that is under way' },
};

/** Where a run may stand. */
export const runStatuses: readonly RunStatus[] = ['queued', 'running', 'waiting', 'ended'];

/** What can be done with a fleet. */
export const fleetSubcommands: Readonly<
  Record<'status' | 'stop' | 'resume' | 'budget' | 'schedules', FleetSubcommand>
> = {
  status: { usage: '[--json]', description: 'what waits, who works, and whether it is stopped' },
  stop: {
    usage: '[<why>]',
    description: 'the kill-switch: every worker stops within two seconds, until it is let go on',
  },
  resume: { usage: '', description: 'let a stopped fleet go on' },
  budget: {
    usage: '[<tenant>] [--usd <n>] [--tokens <n>] [--period day|month|ever] [--remove <tenant>]',
    description: 'show and set what tenants may spend',
  },
  schedules: { usage: '[--remove <name>]', description: 'runs that come again by the clock' },
};
