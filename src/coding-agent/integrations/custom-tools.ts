// Loads custom tools: files of the user, and files of the project once they are approved.
import { customToolDirs, loadCustomTools, type UnapprovedToolFile } from '../../agent/index.ts';
import { withNetwork } from '../../workspace/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** Loads custom tools. Asks the user about a file of the project, with its full text, once for each content. */
export async function loadCustomToolFiles(context: IntegrationContext): Promise<Integration> {
  const { settings, paths, sandboxedWorkspace, trust, prompter } = context;
  const ask = ({ path, text, status }: UnapprovedToolFile): Promise<boolean> => {
    const changed = status === 'changed' ? ' It changed since you allowed it.' : '';
    return prompter.confirm(`Trust this project's tool ${path}? It runs with your permissions.${changed}`, text);
  };
  const { tools, problems } = await loadCustomTools({
    folders: customToolDirs(paths),
    workspace: withNetwork(sandboxedWorkspace, { privateHosts: settings.privateHosts }),
    trust,
    ask,
  });
  return { ...emptyIntegration, tools, problems: problems.map(({ path, why }) => `${path}: ${why}`) };
}
