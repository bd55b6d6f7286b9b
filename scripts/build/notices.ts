// Third-party notices of the bundle: the licences require that their text is distributed with the code.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { BundledPackage } from '../supply-chain/packages.ts';

/** Returns the name, version and licence of every bundled package as one text. */
export function formatThirdPartyNotices(bundled: readonly BundledPackage[]): string {
  const texts = bundled.map(
    ({ name, version, licence, folder }) =>
      `${name} ${version} (${licence ?? 'licence not stated'})\n\n${readLicenceText(folder)}`,
  );
  return ['Fairlead holds code of the packages below, each under its own licence.', ...texts].join(
    `\n\n${'-'.repeat(80)}\n\n`,
  );
}

function readLicenceText(folder: string | undefined): string {
  const name = folder && readdirSync(folder).find((file) => /^licen[cs]e(\.|$)/i.test(file));
  return folder === undefined || name === undefined
    ? 'The package carries no licence text of its own.'
    : readFileSync(path.join(folder, name), 'utf8').trim();
}
