// Checks that the core tools load, and names those that need something first.
import { withProgramName } from '../args/program-name.ts';
import { fail, ok, type DoctorCheck } from './check.ts';

/** Checks the core tools. */
export const toolsCheck: DoctorCheck = {
  name: 'tools',
  async run({ settings, toolNames }) {
    const { loadToolNames, reportCoreTools } = await import('../../coding-agent/index.ts');
    const { loaded, needing, missing } = reportCoreTools(toolNames ?? (await loadToolNames(settings)));
    const rest = needing.map(({ tool, needs }) => ` ${tool} needs ${withProgramName(needs)}.`).join('');
    if (missing.length > 0)
      return fail(
        `Core tools are missing: ${missing.join(', ')}.`,
        'Install the program again; if it stays, report this bug.',
      );
    return ok(`${loaded.length} core tools are loaded: ${loaded.join(', ')}.${rest}`);
  },
};
