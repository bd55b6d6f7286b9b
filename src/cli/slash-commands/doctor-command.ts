// `/doctor`: the examination of `fairlead doctor`, of this conversation's own model and sandbox.
import { createTextStyles } from '../tui/ansi-style.ts';
import type { SlashCommand } from './context.ts';

/** The command that proves each part and says how to mend it. */
export const doctorCommand: SlashCommand = {
  name: 'doctor',
  description: 'prove that each part works, and say how to mend what does not; offline leaves the model away',
  argumentHint: 'offline',
  complete: () => [{ value: 'offline', label: 'offline' }],
  async run(args, { conversation, showPage, notify, signal }) {
    const word = args.trim();
    if (word !== '' && word !== 'offline') return notify('It is /doctor or /doctor offline.', 'warning');
    const { runDoctorChecks } = await import('../doctor/run-checks.ts');
    const { formatCheckResult, formatCheckSummary } = await import('../doctor/format-report.ts');
    const { createTargetModel, endpointOfModel } = await import('../doctor/target-model.ts');
    const { settings, model, agent } = conversation;
    const all = [];
    const about = { endpoint: endpointOfModel(model), model, reason: 'in use' };
    const options = {
      settings,
      target: createTargetModel(settings, about, async () => conversation.session.agent.provider),
      commandSandbox: agent,
      signal,
      offline: word !== '',
    };
    for await (const each of runDoctorChecks(options)) all.push(each);
    if (signal.aborted) return notify('The examination was interrupted.', 'warning');
    const lines = all.map((each) => formatCheckResult(each, createTextStyles('none')));
    return showPage([...lines, '', formatCheckSummary(all)].join('\n'), 'Doctor');
  },
};
