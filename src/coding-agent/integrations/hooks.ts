// Shell hooks of the person and, once approved, of the folder; nothing of them is loaded where there are none.
import { findHookFiles } from '../../guards/hooks/locations.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** The hooks of a working folder. A folder's are put to the person with everything they run, once for each content. */
export async function loadHooks(ground: IntegrationContext): Promise<Integration> {
  const { paths: places, trust, prompter: person } = ground;
  const files = findHookFiles(places);
  if (files.length === 0) return emptyIntegration;
  const [{ readHooks, createHookIntegration: hooked }, { publicEnvironment }, { askWhenRulesMissing: guardOfLost }] =
    await Promise.all([
      import('../../guards/hooks/index.ts'),
      import('../../workspace/environment.ts'),
      import('../../agent/index.ts'),
    ]);
  const {
    hooks,
    problems,
    failedFiles: lost,
  } = await readHooks({
    files,
    cwd: places.cwd,
    trust,
    nonInteractive: person.isAbsent === true,
    ask: ({ path, text, changed }) => {
      const since = changed ? ' They changed since you allowed them.' : '';
      return person.confirm(`Run the hooks in ${path}? They run as you, outside of every sandbox.${since}`, text);
    },
  });
  const guard = lost.length ? { gates: [guardOfLost(lost)] } : {};
  const told = [...problems, ...lost.map(({ path }) => `Until ${path} is mended, every call is asked about.`)];
  if (hooks.length === 0) return { ...emptyIntegration, problems: told, extension: guard };
  const ears = hooked({
    hooks,
    cwd: places.cwd,
    env: publicEnvironment(process.env),
    transcriptPath: () => ground.transcriptFile?.(),
    permissionMode: () => (ground.autoApprove?.() ? 'bypassPermissions' : 'default'),
    notifyUser: (text) => person.notify(text),
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
