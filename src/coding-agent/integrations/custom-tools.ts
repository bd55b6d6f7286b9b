// Tools that people wrote themselves, in their own folder and, once approved, in the project.
import { customToolDirs, loadCustomTools, type UnapprovedToolFile } from '../../agent/index.ts';
import { withNetwork } from '../../workspace/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** Tools that people wrote themselves. A project's file is put to the person with its whole text, once for each content. */
export async function loadCustomToolFiles(ground: IntegrationContext): Promise<Integration> {
  const { settings, paths, sandboxedWorkspace, trust, prompter } = ground;
  const ask = ({ path, text, status }: UnapprovedToolFile): Promise<boolean> => {
    const since = status === 'changed' ? ' It changed since you allowed it.' : '';
    return prompter.confirm(`Run the tool that this folder brings along, ${path}? It runs as you.${since}`, text);
  };
  const { tools, problems } = await loadCustomTools({
    folders: customToolDirs(paths),
    workspace: withNetwork(sandboxedWorkspace, { privateHosts: settings.privateHosts }),
    trust,
    ask,
  });
  return { ...emptyIntegration, tools, problems: problems.map(({ path, why }) => `${path}: ${why}`) };
}
