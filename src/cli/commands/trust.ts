// The `trust` command: shows the settings that files of a project suggest, and trusts or revokes them by content.
import { parseArgs } from 'node:util';
import type { Command } from '../args/command.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { print, printAndReturn, printErr } from '../args/stdio.ts';
import { withUsage } from '../args/with-usage.ts';
import { createTtyPrompter } from '../print-mode/tty-prompter.ts';
import {
  formatTrustQuestion,
  readSettings,
  recordProjectTrust,
  revokeProjectTrust,
  type Settings,
} from '../../coding-agent/settings/index.ts';

const usage = `Usage: fairlead trust [--yes]: use the settings of this project where you have set none
       fairlead trust --revoke: no longer use them`;

/** Trusts the settings of this directory; exit code 0 done, 1 not trusted, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const options = {
    yes: { type: 'boolean' },
    revoke: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  return withUsage(usage, async () => {
    const { values } = parseArgs({ args: [...args], options });
    if (values.help) return printAndReturn(usage, exitCodes.answered);
    const settings = readSettings();
    if (settings.projectFiles.length === 0)
      return printAndReturn('No file of this project suggests settings.', exitCodes.answered);
    return values.revoke ? revokeTrust(settings) : askTrust(settings, values.yes === true);
  });
};

async function askTrust({ dirs, projectFiles }: Settings, yes: boolean): Promise<number> {
  const prompter = createTtyPrompter(printErr);
  let isAllTrusted = true;
  for (const file of projectFiles) {
    if (file.status === 'approved') {
      print(`${file.file} is trusted already.\n`);
      continue;
    }
    const [question, detail] = [formatTrustQuestion(file), file.lines.join('\n')];
    if (yes) printErr(`${question} yes\n${detail}\n`);
    else if (prompter.isAbsent) {
      printErr(
        `${question}\n${detail}\nNothing was trusted: there is no terminal to ask. Run it in a terminal, or add --yes.\n`,
      );
      return exitCodes.failed;
    }
    const isTrusted = yes || (await prompter.confirm(question, detail));
    recordProjectTrust(dirs.state, file, isTrusted);
    print(`${file.file} is ${isTrusted ? 'trusted' : 'not used'}.\n`);
    isAllTrusted &&= isTrusted;
  }
  return isAllTrusted ? exitCodes.answered : exitCodes.failed;
}

function revokeTrust({ dirs, projectFiles }: Settings): number {
  for (const file of projectFiles)
    print(`${file.file} ${revokeProjectTrust(dirs.state, file) ? 'is no longer trusted' : 'was not trusted'}.\n`);
  return exitCodes.answered;
}
