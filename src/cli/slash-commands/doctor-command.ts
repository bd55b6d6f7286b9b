// The slash command /doctor: runs the checks of `fairlead doctor` with the model and the sandbox of this conversation.
import { createTextStyles } from '../tui/ansi-style.ts';
import type { SlashCommand } from './slash-command.ts';

/** The slash command `/doctor`. */
export const doctorCommand: SlashCommand = {
  name: 'doctor',
  description: 'check the installation and suggest fixes; offline skips the model checks',
  argumentHint: 'offline',
  complete: () => [{ value: 'offline', label: 'offline' }],
  async run(args, { conversation, showPage, notify, signal }) {
    const word = args.trim();
    if (word !== '' && word !== 'offline') return notify('Use /doctor or /doctor offline.', 'warning');
    const { runDoctorChecks } = await import('../doctor/run-checks.ts');
    const { formatCheckResult, formatCheckSummary } = await import('../doctor/format-report.ts');
    const { createTargetModel, endpointOfModel } = await import('../doctor/target-model.ts');
    const { settings, model, agent } = conversation;
    const results = [];
    const resolved = { endpoint: endpointOfModel(model), model, reason: 'in use' };
    const options = {
      settings,
      target: createTargetModel(settings, resolved, async () => conversation.session.agent.provider),
      commandSandbox: agent,
      ...(model.tools === false ? {} : { toolNames: [...conversation.session.agent.tools.keys()] }),
      signal,
      offline: word !== '',
    };
    for await (const result of runDoctorChecks(options)) results.push(result);
    if (signal.aborted) return notify('The checks were interrupted.', 'warning');
    const lines = results.map((result) => formatCheckResult(result, createTextStyles('none')));
    return showPage([...lines, '', formatCheckSummary(results)].join('\n'), 'Doctor');
  },
};
