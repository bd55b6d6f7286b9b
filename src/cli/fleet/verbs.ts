// What can be done with runs and with a fleet, as tables that the commands, their help and the completions read.
import type { RunStatus } from '../../core/index.ts';

/** What a verb takes, and what it is for. */
export type Verb = { readonly usage: string; readonly about: string };

/** What can be done with runs. */
export const verbs: Readonly<Record<'list' | 'show' | 'answer' | 'cancel' | 'steer', Verb>> = {
  list: { usage: '', about: 'list runs, the latest first' },
  show: { usage: '<run> [--json]', about: 'everything about a run' },
  answer: { usage: '<run> yes|no|happened [--call <id>]', about: 'answer what a run waits for' },
  cancel: { usage: '<run>', about: 'end a run' },
  steer: { usage: '<run> <words> [--follow-up]', about: 'say something to a run that is under way' },
};

/** Where a run may stand. */
export const statuses: readonly RunStatus[] = ['queued', 'running', 'resting', 'ended'];

/** What can be done with a fleet. */
export const fleetVerbs: Readonly<Record<'status' | 'stop' | 'resume' | 'budget' | 'schedules', Verb>> = {
  status: { usage: '[--json]', about: 'what waits, who works, and whether it is stopped' },
  stop: { usage: '[<why>]', about: 'the kill-switch: every worker stops within two seconds, until it is let go on' },
  resume: { usage: '', about: 'let a stopped fleet go on' },
  budget: {
    usage: '[<tenant>] [--usd <n>] [--tokens <n>] [--period day|month|ever] [--remove <tenant>]',
    about: 'show and set what tenants may spend',
  },
  schedules: { usage: '[--remove <name>]', about: 'runs that come again by the clock' },
};
