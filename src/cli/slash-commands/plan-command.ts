// The slash command /plan: plans without changing anything, shows the progress of the plan, or offers the saved plan for approval.
import type { SlashCommand } from './slash-command.ts';

const usage =
  '/plan <task> plans without changing anything; /plan approve shows the saved plan and asks whether it is carried out; /plan shows its steps.';

/** The slash command `/plan`. */
export const planCommand: SlashCommand = {
  name: 'plan',
  description: 'plan a task without changing anything; approve: carry out the saved plan',
  argumentHint: '[<task>|approve]',
  complete: () => [{ value: 'approve', label: 'approve', description: 'carry out the saved plan' }],
  async run(args, context) {
    const task = args.trim();
    if (/^(?:--?help|-h)$/.test(task)) return context.notify(usage);
    const approval = await import('./plan-approval.ts');
    if (task === '') return approval.showPlanProgress(context);
    if (task === 'approve') return approval.offerSavedPlan(context);
    await context.conversation.setMode('plan');
    context.refreshStatus();
    return context.runAgent(task);
  },
};
