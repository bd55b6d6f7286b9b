// Shell hooks of the person and, once approved, of the folder; nothing of them is loaded where there are none.
import { findHookFiles } from '../../guards/hooks/places.ts';
import { nothing, type Equipment, type Ground } from './ground.ts';

/** The hooks of a working folder. A folder's are put to the person with everything they run, once for each content. */
export async function hookEquipment(ground: Ground): Promise<Equipment> {
  const { places, trust, person } = ground;
  const files = findHookFiles(places);
  if (files.length === 0) return nothing;
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
    nonInteractive: person.absent === true,
    ask: ({ path, text, changed }) => {
      const since = changed ? ' They changed since you allowed them.' : '';
      return person.agrees(`Run the hooks in ${path}? They run as you, outside of every sandbox.${since}`, text);
    },
  });
  const guard = lost.length ? { gates: [guardOfLost(lost)] } : {};
  const told = [...problems, ...lost.map(({ path }) => `Until ${path} is mended, every call is asked about.`)];
  if (hooks.length === 0) return { ...nothing, problems: told, extension: guard };
  const ears = hooked({
    hooks,
    cwd: places.cwd,
    env: publicEnvironment(process.env),
    transcriptPath: () => ground.transcript?.(),
    permissionMode: () => (ground.auto?.() ? 'bypassPermissions' : 'default'),
    notifyUser: (text) => person.say(text),
  });
  const { views, stops, checks } = ears;
  return {
    ...nothing,
    problems: told,
    extension: { views, stops, checks, ...guard },
    around: (tool) => ears.wrapTool(tool),
    ears,
    close: () => ears.close(),
  };
}
