// Loads the shell hooks of the user and, once approved, of the project. Nothing is loaded if there are no hook files.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isObject, isPathInside } from '../../core/index.ts';
import type { Sandbox } from '../../guards/index.ts';
import { findHookFiles, type LoadedHooks } from '../../guards/hooks/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** Loads the hooks of a working directory. Asks the user about hooks of the project, with everything they run, once for each content. */
export async function loadHooks(context: IntegrationContext): Promise<Integration> {
  const { paths, trust, prompter, hookFiles = true } = context;
  if (hookFiles === false) return emptyIntegration;
  const named = hookFiles === true ? [] : hookFiles.map((file) => path.resolve(paths.cwd, file));
  const files = [...named.map((file) => ({ path: file, isUserOwned: true })), ...findHookFiles(paths)];
  if (files.length === 0) return emptyIntegration;
  const [
    { readHooks, createHookIntegration },
    { publicEnvironment },
    { askWhenRulesMissing },
    { completesInTime, foldersOutside },
  ] = await Promise.all([
    import('../../guards/hooks/index.ts'),
    import('../../workspace/index.ts'),
    import('../../agent/index.ts'),
    import('../../tools/index.ts'),
  ]);
  const { sandbox, workspace } = context;
  const unconfined = sandbox.name === 'none' || runsHooksOutside(paths.configDir, paths.cwd);
  const loaded = await readHooks({
    files,
    cwd: paths.cwd,
    trust,
    unconfined,
    completesInTime,
    nonInteractive: prompter.isAbsent === true,
    ask: ({ path: file, text, changed }) => {
      const since = changed ? ' They changed since you allowed them.' : '';
      return prompter.confirm(
        `Run the hooks in ${file}? ${formatConfinement(file, paths.cwd, unconfined)}${since}`,
        text,
      );
    },
  });
  const { hooks, problems, failedFiles } = sandbox.name === 'refused' ? withoutConfinedHooks(loaded, sandbox) : loaded;
  const guard = failedFiles.length ? { gates: [askWhenRulesMissing(failedFiles)] } : {};
  const allProblems = [
    ...problems,
    ...failedFiles.map((file) => `Until ${file.path} is fixed, every call needs approval.`),
  ];
  if (hooks.length === 0) return { ...emptyIntegration, problems: allProblems, extension: guard };
  const integration = createHookIntegration({
    hooks,
    cwd: paths.cwd,
    env: {
      ...publicEnvironment(process.env),
      // Programs in a home folder that is also the working folder stay usable: hooks of the user are there.
      ...(isPathInside(paths.cwd, paths.home)
        ? {}
        : { PATH: foldersOutside(paths.cwd, process.env['PATH']).join(path.delimiter) }),
    },
    execConfined: (argv, options) => sandbox.exec(argv, options, workspace.exec.bind(workspace)),
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

const formatConfinement = (file: string, cwd: string, unconfined: boolean): string =>
  unconfined || !isPathInside(cwd, file)
    ? 'They run as you, outside of every sandbox.'
    : 'They run in the sandbox, like the commands of the model.';

/** Removes the hooks of the project: without a sandbox they do not run, and until then every call needs approval. */
function withoutConfinedHooks({ hooks, problems, failedFiles }: LoadedHooks, sandbox: Sandbox): LoadedHooks {
  const confined = new Set(hooks.filter((hook) => hook.isConfined).map(({ source }) => source));
  const why = `its hooks run in the sandbox, and there is none: ${sandbox.description}`;
  return {
    hooks: hooks.filter((hook) => !hook.isConfined),
    problems: [...problems, ...[...confined].map((file) => `${file}: ${why}`)],
    failedFiles: [...failedFiles, ...[...confined].map((file) => ({ path: file, why }))],
  };
}

/** Whether the user's own hook file lets the hooks of a project run outside the sandbox: `"outsideSandbox": ["/path/of/project"]`. */
function runsHooksOutside(configDir: string, cwd: string): boolean {
  try {
    const data: unknown = JSON.parse(readFileSync(path.join(configDir, 'hooks.json'), 'utf8'));
    const folders: unknown = isObject(data) ? data['outsideSandbox'] : undefined;
    return Array.isArray(folders) && folders.includes(cwd);
  } catch {
    // A file that cannot be read allows nothing. readHooks reports the error.
    return false;
  }
}
