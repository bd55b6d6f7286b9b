// Adds the keys and URLs of the settings to the environment that opens and lists models.
import { families, type Environment } from '../../providers/index.ts';
import type { Setting } from './settings.ts';

/** The environment with the configured keys and URLs. The URL of a `.env` file never gets a key that is not from that file. */
export function withConfiguredKeys(env: Environment, all: ReadonlyMap<string, Setting>): Environment {
  const urlOrigin = all.get('url')?.origin;
  const urlFile = urlOrigin?.type === 'env-file' ? urlOrigin.file : undefined;
  const result: Record<string, string | undefined> = { ...env };
  for (const { name, local, keyVariables, urlVariables } of families) {
    const configuredUrl = all.get(`urls.${name}`)?.value;
    const [urlVariable] = urlVariables.toReversed();
    if (configuredUrl !== undefined && urlVariable !== undefined && !urlVariables.some((each) => env[each]?.trim()))
      result[urlVariable] = String(configuredUrl);
    for (const variable of keyVariables) {
      const key = all.get(`keys.${variable}`);
      if (!key) continue;
      const isFromSameFile = key.origin.type === 'env-file' && key.origin.file === urlFile;
      result[variable] = urlFile !== undefined && local && !isFromSameFile ? undefined : String(key.value);
    }
  }
  return result;
}
