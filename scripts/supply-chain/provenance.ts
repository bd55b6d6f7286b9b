// The table of provenance: one line for each bundled file of a package, with its hash.
import type { BundledPackage } from './packages.ts';

const columns = ['file of the bundle', 'package', 'file of the package', 'sha256 of that file'];

/** Returns the table as tab-separated text; the hash of each tarball is in the bill of materials. A helper of the bundler has no file. */
export function formatProvenance(bundled: readonly BundledPackage[]): string {
  const rows = bundled.flatMap(({ name, version, modules }) =>
    modules.map(({ output, path, sha256 }) =>
      [output, `${name}@${version}`, path, sha256 ?? 'inserted by the bundler'].join('\t'),
    ),
  );
  return [columns.join('\t'), ...rows].join('\n');
}
