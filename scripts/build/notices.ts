// Third-party notices of the bundle: the licences require that their text is distributed with the code.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

type Manifest = { readonly name: string; readonly version: string; readonly license?: string };

/** Returns the name, version and licence of every bundled package as one text. */
export function formatThirdPartyNotices(modules: readonly string[]): string {
  const folders = new Set(
    modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll('\\', '/'))?.[0] ?? []),
  );
  const texts = [...folders].toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
    return `${name} ${version} (${license ?? 'licence not stated'})\n\n${readLicenceText(folder)}`;
  });
  return ['Fairlead holds code of the packages below, each under its own licence.', ...texts].join(
    `\n\n${'-'.repeat(80)}\n\n`,
  );
}

function readLicenceText(folder: string): string {
  const name = existsSync(folder) ? readdirSync(folder).find((file) => /^licen[cs]e(\.|$)/i.test(file)) : undefined;
  return name === undefined
    ? 'The package carries no licence text of its own.'
    : readFileSync(path.join(folder, name), 'utf8').trim();
}
