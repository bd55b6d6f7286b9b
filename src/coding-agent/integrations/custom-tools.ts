// Tools that people wrote themselves, in their own folder and, once approved, in the project.
import { customToolDirs, loadCustomTools, type UnapprovedToolFile } from '../../agent/index.ts';
import { withNetwork } from '../../workspace/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** Tools that people wrote themselves. A project's file is put to the person with its whole text, once for each content. */
export async function loadCustomToolFiles(ground: IntegrationContext): Promise<Integration> {
  const { settings, paths: places, sandboxedWorkspace: confined, trust, prompter: person } = ground;
  const ask = ({ path, text, status: standing }: UnapprovedToolFile): Promise<boolean> => {
    const since = standing === 'changed' ? ' It changed since you allowed it.' : '';
    return person.confirm(`Run the tool that this folder brings along, ${path}? It runs as you.${since}`, text);
  };
  const { tools, problems } = await loadCustomTools({
    folders: customToolDirs(places),
    workspace: withNetwork(confined, { privateHosts: settings.privateHosts }),
    trust,
    ask,
  });
  return { ...emptyIntegration, tools, problems: problems.map(({ path, why }) => `${path}: ${why}`) };
}
