// `/doctor`: the examination of `fairlead doctor`, of this conversation's own model and sandbox.
import { paintOf } from '../face/paint.ts';
import type { SlashCommand } from './desk.ts';

/** The command that proves each part and says how to mend it. */
export const doctor: SlashCommand = {
  name: 'doctor',
  about: 'prove that each part works, and say how to mend what does not; offline leaves the model away',
  takes: 'offline',
  complete: () => [{ value: 'offline', label: 'offline' }],
  async run(args, { talk, page, say, signal }) {
    const word = args.trim();
    if (word !== '' && word !== 'offline') return say('It is /doctor or /doctor offline.', 'warning');
    const { examine } = await import('../doctor/examine.ts');
    const { findingText, summaryText } = await import('../doctor/report.ts');
    const { subject, whereIs } = await import('../doctor/subject.ts');
    const { settings, model, outfit } = talk;
    const all = [];
    const about = { place: whereIs(model), chosen: model, because: 'in use' };
    const options = {
      settings,
      subject: subject(settings, about, async () => talk.session.agent.provider),
      confined: outfit,
      signal,
      offline: word !== '',
    };
    for await (const each of examine(options)) all.push(each);
    if (signal.aborted) return say('The examination was interrupted.', 'warning');
    const lines = all.map((each) => findingText(each, paintOf('none')));
    return page([...lines, '', summaryText(all)].join('\n'), 'Doctor');
  },
};
