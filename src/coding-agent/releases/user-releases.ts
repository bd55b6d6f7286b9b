// The releases of the user of this machine, and the keys that they may be signed with.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Settings } from '../settings/index.ts';
import { parsePublicKeys } from './keys.ts';
import { openReleaseStore, type ReleaseStore } from './release-store.ts';

/** Releases, and the public keys that are trusted. */
export type UserReleases = { readonly releases: ReleaseStore; readonly trustedKeys: readonly string[] };

/** The folder of releases: the given one, or `releases` in the data directory. */
export const getReleasesFolder = ({ dirs }: Pick<Settings, 'dirs'>, folder?: string): string =>
  path.resolve(folder ?? path.join(dirs.data, 'releases'));

/** The file of trusted public keys, which may not exist. */
export const getTrustedKeysFile = ({ dirs }: Pick<Settings, 'dirs'>): string =>
  path.join(dirs.config, 'release-keys.pem');

/** Opens the releases of the user, or those of a folder. */
export function openUserReleases(settings: Pick<Settings, 'dirs'>, folder?: string): UserReleases {
  const keyFile = getTrustedKeysFile(settings);
  return {
    releases: openReleaseStore(getReleasesFolder(settings, folder)),
    trustedKeys: existsSync(keyFile) ? parsePublicKeys(readFileSync(keyFile, 'utf8')) : [],
  };
}
