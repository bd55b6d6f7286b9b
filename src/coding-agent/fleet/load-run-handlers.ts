// The run handlers of a worker of this machine: on releases if there are any, otherwise with the config of the user.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { defaultObjectives } from '../../fleet/health/index.ts';
import type { RunHandler } from '../../fleet/index.ts';
import { getObjectives, readSettings } from '../settings/index.ts';
import { createRunHandlers, type RunAgentOptions } from './agent-factory.ts';

/** Creates the run handlers; the code of releases is loaded only if the folder of releases exists. */
export async function loadRunHandlers(
  notify: (text: string) => void,
  agents: RunAgentOptions,
  folder?: string,
): Promise<Readonly<Record<string, RunHandler>>> {
  const settings = readSettings();
  if (!existsSync(folder ?? path.join(settings.dirs.data, 'releases'))) return createRunHandlers(notify, agents);
  const { createReleaseRunHandlers, openUserReleases } = await import('../releases/index.ts');
  return createReleaseRunHandlers({
    ...openUserReleases(settings, folder),
    agents,
    notify,
    canary: { objectives: { ...defaultObjectives, ...getObjectives(settings) } },
    onDecided: ({ entry, reason }) => notify(`The release ${entry?.release} was ${entry?.action}: ${reason}`),
    onError: (error) => notify(`The canary could not be checked: ${String(error)}`),
  });
}
