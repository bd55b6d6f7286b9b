// `/doctor`: the examination of `fairlead doctor`, of this conversation's own model and sandbox.
import { createTextStyles } from '../tui/ansi-style.ts';
import type { SlashCommand } from './context.ts';

/** The command that proves each part and says how to mend it. */
export const doctorCommand: SlashCommand = {
  name: 'doctor',
  description: 'prove that each part works, and say how to mend what does not; offline leaves the model away',
  argumentHint: 'offline',
  complete: () => [{ value: 'offline', label: 'offline' }],
  async run(args, { conversation: talk, showPage: page, notify: say, signal }) {
    const word = args.trim();
    if (word !== '' && word !== 'offline') return say('It is /doctor or /doctor offline.', 'warning');
    const { runDoctorChecks: examine } = await import('../doctor/run-checks.ts');
    const { formatCheckResult: findingText, formatCheckSummary: summaryText } =
      await import('../doctor/format-report.ts');
    const { createTargetModel: subject, endpointOfModel: whereIs } = await import('../doctor/target-model.ts');
    const { settings, model, agent: outfit } = talk;
    const all = [];
    const about = { endpoint: whereIs(model), model, reason: 'in use' };
    const options = {
      settings,
      target: subject(settings, about, async () => talk.session.agent.provider),
      commandSandbox: outfit,
      signal,
      offline: word !== '',
    };
    for await (const each of examine(options)) all.push(each);
    if (signal.aborted) return say('The examination was interrupted.', 'warning');
    const lines = all.map((each) => findingText(each, createTextStyles('none')));
    return page([...lines, '', summaryText(all)].join('\n'), 'Doctor');
  },
};
