// The folder of releases, the user's key and the trusted keys, for the commands about releases.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { readSettings, type Settings } from '../../../coding-agent/settings/index.ts';
import { FairleadError } from '../../../core/index.ts';
import {
  createReleaseKey,
  getKeyId,
  getTrustedKeysFile,
  openUserReleases,
  type UserReleases,
} from '../../../coding-agent/releases/index.ts';

/** What the commands about releases work with. */
export type ReleaseContext = UserReleases & {
  readonly settings: Settings;
  /** The name of the user, for manifests and the history. */
  readonly user: string;
};

/** Opens the releases of a folder, by default those of the user. */
export function openReleaseContext(folder: string | undefined): ReleaseContext {
  const settings = readSettings();
  return { settings, ...openUserReleases(settings, folder), user: userInfo().username };
}

const getPrivateKeyFile = ({ dirs }: Settings): string => path.join(dirs.data, 'release-key.pem');

/** Reads the private key of the user; throws if there is none. */
export function readPrivateKey({ settings }: ReleaseContext): string {
  const file = getPrivateKeyFile(settings);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  throw new FairleadError('release/no-key', 'There is no key that signs releases.', {
    blame: 'user',
    hint: 'Create one with fairlead release key.',
  });
}

/** Creates the key of the user and trusts it; returns its id and its public part. Throws if there is a key. */
export function writeReleaseKey({ settings }: ReleaseContext): { readonly id: string; readonly publicKey: string } {
  const [privateFile, trustedFile] = [getPrivateKeyFile(settings), getTrustedKeysFile(settings)];
  if (existsSync(privateFile))
    throw new FairleadError('release/has-key', `There is a key in ${privateFile}.`, {
      blame: 'user',
      hint: 'Releases that it signed need it. Move it away to create another.',
    });
  const { privateKey, publicKey } = createReleaseKey();
  for (const file of [privateFile, trustedFile]) mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(privateFile, privateKey, { mode: 0o600, flag: 'wx', flush: true });
  writeFileSync(trustedFile, publicKey, { mode: 0o600, flag: 'a', flush: true });
  chmodSync(trustedFile, 0o600);
  return { id: getKeyId(publicKey), publicKey };
}
