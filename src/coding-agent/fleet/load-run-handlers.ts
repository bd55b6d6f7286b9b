// The run handlers of a worker of this machine: on releases as soon as there are any, otherwise with the config of the user.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { defaultObjectives } from '../../fleet/health/index.ts';
import type { RunHandler } from '../../fleet/index.ts';
import { getObjectives, readSettings } from '../settings/index.ts';
import { createRunHandlers, type RunAgentOptions, type RunKind } from './agent-factory.ts';

/** Creates the run handlers; the code of releases is loaded when the folder of releases exists, also if it is created while the worker runs. */
export async function loadRunHandlers(
  notify: (text: string) => void,
  agents: RunAgentOptions,
  folder?: string,
): Promise<Readonly<Record<RunKind, RunHandler>>> {
  const settings = readSettings();
  const releasesFolder = folder ?? path.join(settings.dirs.data, 'releases');
  const handlers = createRunHandlers(notify, agents);
  const load = async (): Promise<typeof handlers> => {
    const { createReleaseRunHandlers, openUserReleases } = await import('../releases/index.ts');
    return createReleaseRunHandlers({
      ...openUserReleases(settings, folder),
      agents,
      notify,
      canary: { objectives: { ...defaultObjectives, ...getObjectives(settings) } },
      onDecided: ({ entry, reason }) => notify(`The release ${entry?.release} was ${entry?.action}: ${reason}`),
      onError: (error) => notify(`The canary could not be checked: ${String(error)}`),
    });
  };
  // A worker that cannot read its releases does not start.
  let onReleases = existsSync(releasesFolder) ? await load() : undefined;
  const handle =
    (kind: RunKind): RunHandler =>
    async (run, context) => {
      if (!onReleases && existsSync(releasesFolder)) onReleases = await load();
      return (onReleases ?? handlers)[kind](run, context);
    };
  return { run: handle('run'), plan: handle('plan'), verify: handle('verify') };
}
