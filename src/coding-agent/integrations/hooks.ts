// Loads the shell hooks of the user and, once approved, of the project. Nothing is loaded if there are no hook files.
import path from 'node:path';
import { findHookFiles } from '../../guards/hooks/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** Loads the hooks of a working directory. Asks the user about hooks of the project, with everything they run, once for each content. */
export async function loadHooks(context: IntegrationContext): Promise<Integration> {
  const { paths, trust, prompter, hookFiles = true } = context;
  if (hookFiles === false) return emptyIntegration;
  const named = hookFiles === true ? [] : hookFiles.map((file) => path.resolve(paths.cwd, file));
  const files = [...named.map((file) => ({ path: file, isUserOwned: true })), ...findHookFiles(paths)];
  if (files.length === 0) return emptyIntegration;
  const [{ readHooks, createHookIntegration }, { publicEnvironment }, { askWhenRulesMissing }] = await Promise.all([
    import('../../guards/hooks/index.ts'),
    import('../../workspace/index.ts'),
    import('../../agent/index.ts'),
  ]);
  const { hooks, problems, failedFiles } = await readHooks({
    files,
    cwd: paths.cwd,
    trust,
    nonInteractive: prompter.isAbsent === true,
    ask: ({ path: file, text, changed }) => {
      const since = changed ? ' They changed since you allowed them.' : '';
      return prompter.confirm(`Run the hooks in ${file}? They run as you, outside of every sandbox.${since}`, text);
    },
  });
  const guard = failedFiles.length ? { gates: [askWhenRulesMissing(failedFiles)] } : {};
  const allProblems = [
    ...problems,
    ...failedFiles.map((file) => `Until ${file.path} is fixed, every call needs approval.`),
  ];
  if (hooks.length === 0) return { ...emptyIntegration, problems: allProblems, extension: guard };
  const integration = createHookIntegration({
    hooks,
    cwd: paths.cwd,
    env: publicEnvironment(process.env),
    transcriptPath: () => context.transcriptFile?.(),
    permissionMode: () => (context.autoApprove?.() ? 'bypassPermissions' : 'default'),
    notifyUser: (text) => prompter.notify(text),
  });
  const { views, stops, checks } = integration;
  return {
    ...emptyIntegration,
    problems: allProblems,
    extension: { views, stops, checks, ...guard },
    wrapTool: (tool) => integration.wrapTool(tool),
    hooks: integration,
    close: () => integration.close(),
  };
}
