// The `trust` command: shows the settings that files of a project suggest, its agents and its changed instruction files, and trusts or revokes them by content.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { parseArgs } from 'node:util';
import type { AgentFile } from '../../agent/agent-files/index.ts';
import { getAgentDirs } from '../../agent/project-files/index.ts';
import { maxOf } from '../../core/index.ts';
import type { TrustStore } from '../../guards/index.ts';
import type { Command } from '../args/command.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { print, printAndReturn, printErr } from '../args/stdio.ts';
import { withUsage } from '../args/with-usage.ts';
import { createTtyPrompter } from '../print-mode/tty-prompter.ts';
import {
  formatTrustQuestion,
  openApprovals,
  readSettings,
  recordProjectTrust,
  revokeProjectTrust,
  type Settings,
} from '../../coding-agent/settings/index.ts';
import {
  changeQuestion,
  formatInstructionChanges,
  loadProjectTexts,
  type AcceptInstructions,
} from '../../coding-agent/instructions/index.ts';

const usage = `Usage: fairlead trust [--yes]: use the settings of this project where you have set none, its agents and its changed instruction files
       fairlead trust --revoke: no longer use the settings and the agents`;

/** Trusts the settings, agents and instruction files of this directory; exit code 0 done, 1 not trusted, 2 invalid arguments. */
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
    const ask = createAsk(values.yes === true);
    const changed = values.revoke ? undefined : await askInstructions(settings, ask);
    const agents = await (values.revoke ? revokeAgents(settings) : askAgents(settings, ask));
    const asked = [changed, agents].flatMap((code) => code ?? []);
    if (settings.projectFiles.length === 0)
      return asked.length > 0
        ? maxOf(asked)
        : printAndReturn('No file of this project suggests settings.', exitCodes.answered);
    const answered = values.revoke ? revokeTrust(settings) : await askTrust(settings, ask);
    return maxOf([answered, ...asked]);
  });
};

/** Asks a question; undefined if no user can answer. */
type Ask = (question: string, detail: string) => Promise<boolean | undefined>;

function createAsk(yes: boolean): Ask {
  const prompter = createTtyPrompter(printErr);
  return async (question, detail) => {
    if (yes) printErr(`${question} yes\n${detail}\n`);
    else if (prompter.isAbsent) {
      printErr(
        `${question}\n${detail}\nNothing was trusted: there is no terminal to ask. Run it in a terminal, or add --yes.\n`,
      );
      return undefined;
    }
    return yes || prompter.confirm(question, detail);
  };
}

/** Shows the whole diff of changed instruction files, also of those that were refused; undefined if there are none. */
async function askInstructions(settings: Settings, ask: Ask): Promise<number | undefined> {
  let answer: number | undefined;
  const accept: AcceptInstructions = async (changes) => {
    const isAccepted = await ask(changeQuestion, await formatInstructionChanges(changes, Infinity));
    answer = isAccepted ? exitCodes.answered : exitCodes.failed;
    if (isAccepted !== undefined)
      for (const { file } of changes) print(`${file} is ${isAccepted ? 'accepted' : 'not used'}.\n`);
    return isAccepted;
  };
  await loadProjectTexts({
    settings,
    location: { cwd: process.cwd(), home: homedir(), configDir: settings.dirs.config },
    skillDirs: [],
    accept,
    asksAgain: true,
  });
  return answer;
}

/** The agent files of the project; empty if it has no directory of agents. */
async function findProjectAgents({ dirs }: Settings, trust: TrustStore): Promise<readonly AgentFile[]> {
  const location = { cwd: process.cwd(), home: homedir(), configDir: dirs.config };
  if (!getAgentDirs(location).some(({ folder, scope }) => scope === 'project' && existsSync(folder))) return [];
  const { findAgentFiles } = await import('../../agent/agent-files/index.ts');
  const { agents, problems } = await findAgentFiles(location, { trust });
  for (const { path, why } of problems) printErr(`${path}: ${why}\n`);
  return agents.filter(({ scope }) => scope === 'project');
}

/** Shows the whole text of each agent file of the project, also of those that were refused; undefined if there are none. */
async function askAgents(settings: Settings, ask: Ask): Promise<number | undefined> {
  const trust = openApprovals(settings.dirs.state);
  const agents = await findProjectAgents(settings, trust);
  if (agents.length === 0) return undefined;
  const { decideAgentFiles, formatAgentDetails, formatAgentQuestion } =
    await import('../../agent/agent-files/index.ts');
  let isAllTrusted = true;
  for (const agent of agents) {
    if (agent.status === 'trusted') {
      print(`The agent ${agent.name} is trusted already.\n`);
      continue;
    }
    const isTrusted = await ask(formatAgentQuestion([agent]), formatAgentDetails([agent], Infinity));
    if (isTrusted === undefined) return exitCodes.failed;
    decideAgentFiles(trust, [agent], isTrusted);
    print(`The agent ${agent.name} is ${isTrusted ? 'trusted' : 'not used'}.\n`);
    isAllTrusted &&= isTrusted;
  }
  return isAllTrusted ? exitCodes.answered : exitCodes.failed;
}

async function revokeAgents(settings: Settings): Promise<number | undefined> {
  const trust = openApprovals(settings.dirs.state);
  const agents = await findProjectAgents(settings, trust);
  if (agents.length === 0) return undefined;
  const { toAgentApproval } = await import('../../agent/agent-files/index.ts');
  for (const agent of agents) {
    const isRevoked = trust.revoke(toAgentApproval(agent).subject);
    print(`The agent ${agent.name} ${isRevoked ? 'is no longer trusted' : 'was not trusted'}.\n`);
  }
  return exitCodes.answered;
}

async function askTrust({ dirs, projectFiles }: Settings, ask: Ask): Promise<number> {
  let isAllTrusted = true;
  for (const file of projectFiles) {
    if (file.status === 'approved') {
      print(`${file.file} is trusted already.\n`);
      continue;
    }
    const isTrusted = await ask(formatTrustQuestion(file), file.lines.join('\n'));
    if (isTrusted === undefined) return exitCodes.failed;
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
