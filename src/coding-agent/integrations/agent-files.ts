// Loads the agent files of a working directory. Asks the user once about the text of each file of the project.
import {
  decideAgentFiles,
  findAgentFiles,
  formatAgentDetails,
  formatAgentList,
  formatAgentQuestion,
  listUndecided,
  listUsableAgents,
  type AgentFile,
} from '../../agent/agent-files/index.ts';
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import type { TrustStore } from '../../guards/index.ts';
import type { Settings } from '../settings/index.ts';
import type { IntegrationContext } from './context.ts';

/** The agent files, the list for the system prompt, and what is not used, one sentence each. */
export type LoadedAgentFiles = {
  readonly files: readonly AgentFile[];
  readonly section: string;
  readonly problems: readonly string[];
};

/** Finds the agent files and asks about those that the user has not decided about. Without a user they are not used. */
export async function loadAgentFiles({
  paths,
  trust,
  prompter,
  settings,
}: Pick<IntegrationContext, 'paths' | 'trust' | 'prompter' | 'settings'>): Promise<LoadedAgentFiles> {
  const unreadable: string[] = [];
  const found = await findAgentFiles(paths, { trust: withoutErrors(trust, unreadable) });
  const problems = [...unreadable, ...found.problems.map(({ path, why }) => `${path}: ${why}`)];
  const undecided = listUndecided(found.agents);
  let decided: readonly AgentFile[] = [];
  if (undecided.length > 0 && prompter.isAbsent)
    problems.push(
      `The user has not trusted ${undecided.length === 1 ? `the agent ${undecided[0]?.name ?? ''}` : `${undecided.length} agents`} of this project, so ${undecided.length === 1 ? 'it is' : 'they are'} not used; "fairlead trust" shows ${undecided.length === 1 ? 'it' : 'them'}.`,
    );
  else if (undecided.length > 0)
    try {
      const isTrusted = await prompter.confirm(formatAgentQuestion(undecided), formatAgentDetails(undecided));
      decided = decideAgentFiles(trust, undecided, isTrusted);
    } catch (error) {
      problems.push(`The answer could not be saved, so these agents are not used. ${errorMessage(error)}`);
    }
  const files = found.agents.map((each) => decided.find(({ file }) => file === each.file) ?? each);
  return {
    files,
    section: formatAgentList(files),
    problems: [...problems, ...formatNotes(files), ...(await findUnknownModels(files, settings))],
  };
}

/** A trust store that trusts nothing while its file cannot be read: agents of the user still work. */
const withoutErrors = (trust: TrustStore, problems: string[]): Pick<TrustStore, 'check'> => ({
  check(item) {
    try {
      return trust.check(item);
    } catch (error) {
      if (problems.length === 0) problems.push(errorMessage(error));
      return 'new';
    }
  },
});

/** What of the files in use is not used. */
const formatNotes = (files: readonly AgentFile[]): readonly string[] =>
  listUsableAgents(files).flatMap(({ file, notes }) =>
    notes.length === 0 ? [] : [`${escapeInvisibleLine(file)}: ${notes.join(' ')}`],
  );

/** One sentence for each agent whose model is not known: it cannot be started. */
async function findUnknownModels(files: readonly AgentFile[], settings: Settings): Promise<readonly string[]> {
  const named = listUsableAgents(files).filter(({ model }) => model !== undefined);
  if (named.length === 0) return [];
  const { requireModel } = await import('../models/unknown-model.ts');
  return named.flatMap(({ name, model = '' }) => {
    try {
      requireModel(model, settings);
      return [];
    } catch (error) {
      const short = /^[\w-]+$/.test(model) ? ` "fairlead config set models.${model} <provider>/<model>" sets it.` : '';
      return [`The agent ${name} cannot be started: ${errorMessage(error)}${short}`];
    }
  });
}
