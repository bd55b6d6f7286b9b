// Writes what the package says about its parts: licence texts, bill of materials and provenance of every bundled file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runtimeVersion } from '../../src/providers/embedded/npm.ts';
import { tinyllama } from '../../src/providers/embedded/models.ts';
import type { Lockfile } from '../lint-repo/lockfile.ts';
import { isBundleLicence } from '../supply-chain/licences.ts';
import { listBundledPackages, type BundledModule } from '../supply-chain/packages.ts';
import { formatProvenance } from '../supply-chain/provenance.ts';
import { createSbom, formatPurl, type DownloadedComponent, type ProductManifest } from '../supply-chain/sbom.ts';
import { formatThirdPartyNotices } from './notices.ts';

/** What `embedded` downloads; npm verifies the runtime by the hash of the registry, and the product the model by its own. */
const downloads: readonly DownloadedComponent[] = [
  {
    type: 'library',
    name: 'node-llama-cpp',
    version: runtimeVersion,
    licence: 'MIT',
    purl: formatPurl('node-llama-cpp', runtimeVersion),
  },
  { type: 'machine-learning-model', name: tinyllama.name, licence: tinyllama.license, sha256: tinyllama.sha256 },
];

/** Writes `third-party.txt`, `sbom.cdx.json` and `provenance.tsv`; throws if a bundled package is not pinned or its licence is not allowed. */
export function writeBillOfMaterials(root: string, folder: string, modules: readonly BundledModule[]): void {
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as Lockfile;
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as ProductManifest;
  // A chunk of nothing but re-exports was inlined into the chunks that import it.
  const placed = modules.map(({ id, output }) => ({
    id,
    output: existsSync(path.join(folder, output)) ? output : 'inlined',
  }));
  const bundled = listBundledPackages(root, lock, placed);
  const refused = bundled.filter(({ licence }) => !isBundleLicence(licence));
  if (refused.length > 0)
    throw new Error(
      `the bundle may not contain ${refused.map(({ name, licence }) => `${name} (${licence ?? 'no licence'})`).join(', ')}; ` +
        'scripts/supply-chain/licences.ts lists the allowed licences.',
    );
  const sbom = createSbom({ manifest, lock, bundled, downloads, tools: ['rolldown', 'typescript', 'vite'] });
  const files = {
    'third-party.txt': formatThirdPartyNotices(bundled),
    'sbom.cdx.json': JSON.stringify(sbom, undefined, 1),
    'provenance.tsv': formatProvenance(bundled),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), `${text}\n`);
}
