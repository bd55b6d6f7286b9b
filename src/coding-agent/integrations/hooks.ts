// Shell hooks of the person and, once approved, of the folder; nothing of them is loaded where there are none.
import path from 'node:path';
import { findHookFiles } from '../../guards/hooks/locations.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** The hooks of a working folder. A folder's are put to the person with everything they run, once for each content. */
export async function loadHooks(ground: IntegrationContext): Promise<Integration> {
  const { paths, trust, prompter, hookFiles = true } = ground;
  if (hookFiles === false) return emptyIntegration;
  const named = hookFiles === true ? [] : hookFiles.map((file) => path.resolve(paths.cwd, file));
  const files = [...named.map((file) => ({ path: file, isUserOwned: true })), ...findHookFiles(paths)];
  if (files.length === 0) return emptyIntegration;
  const [{ readHooks, createHookIntegration }, { publicEnvironment }, { askWhenRulesMissing }] = await Promise.all([
    import('../../guards/hooks/index.ts'),
    import('../../workspace/environment.ts'),
    import('../../agent/index.ts'),
  ]);
  const { hooks, problems, failedFiles } = await readHooks({
    files,
    cwd: paths.cwd,
    trust,
    nonInteractive: prompter.isAbsent === true,
    ask: ({ path, text, changed }) => {
      const since = changed ? ' They changed since you allowed them.' : '';
      return prompter.confirm(`Run the hooks in ${path}? They run as you, outside of every sandbox.${since}`, text);
    },
  });
  const guard = failedFiles.length ? { gates: [askWhenRulesMissing(failedFiles)] } : {};
  const told = [...problems, ...failedFiles.map(({ path }) => `Until ${path} is mended, every call is asked about.`)];
  if (hooks.length === 0) return { ...emptyIntegration, problems: told, extension: guard };
  const ears = createHookIntegration({
    hooks,
    cwd: paths.cwd,
    env: publicEnvironment(process.env),
    transcriptPath: () => ground.transcriptFile?.(),
    permissionMode: () => (ground.autoApprove?.() ? 'bypassPermissions' : 'default'),
    notifyUser: (text) => prompter.notify(text),
  });
  const { views, stops, checks } = ears;
  return {
    ...emptyIntegration,
    problems: told,
    extension: { views, stops, checks, ...guard },
    wrapTool: (tool) => ears.wrapTool(tool),
    hooks: ears,
    close: () => ears.close(),
  };
}
