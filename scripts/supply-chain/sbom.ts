// The software bill of materials of the package: a CycloneDX 1.6 document of what the bundle contains and what it loads at run time.
import { createHash } from 'node:crypto';
import type { LockedPackage, Lockfile } from '../lint-repo/lockfile.ts';
import type { BundledPackage } from './packages.ts';

/** The part of package.json that is read. */
export type ProductManifest = {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
};

/** Something that the product downloads when a user asks for it. */
export type DownloadedComponent = {
  readonly type: 'library' | 'machine-learning-model';
  readonly name: string;
  readonly version?: string;
  readonly licence: string;
  readonly purl?: string;
  readonly sha256?: string;
};

/** What a bill of materials is made of. */
export type SbomInput = {
  readonly manifest: ProductManifest;
  readonly lock: Lockfile;
  readonly bundled: readonly BundledPackage[];
  readonly downloads: readonly DownloadedComponent[];
  /** Names of the packages that transform the code. */
  readonly tools: readonly string[];
};

/** A component of a CycloneDX document. */
export type SbomComponent = {
  readonly type: string;
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version?: string;
  readonly scope?: 'required' | 'optional';
  readonly purl?: string;
  readonly licenses?: readonly unknown[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
};

/** A CycloneDX 1.6 document. It has no time, so that the same sources give the same file. */
export type Sbom = {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: Readonly<Record<string, unknown>> & { readonly component: SbomComponent };
  readonly components: readonly SbomComponent[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

/** Creates the bill of materials of the product. */
export function createSbom({ manifest, lock, bundled, downloads, tools }: SbomInput): Sbom {
  const product: SbomComponent = {
    type: 'application',
    'bom-ref': formatPurl(manifest.name, manifest.version),
    name: manifest.name,
    version: manifest.version,
    purl: formatPurl(manifest.name, manifest.version),
    licenses: formatLicences(manifest.license),
  };
  const runtime = Object.entries({
    ...manifest.peerDependencies,
    ...manifest.optionalDependencies,
    ...manifest.dependencies,
  });
  const components = uniqueByRef([
    ...bundled.map(toBundledComponent),
    ...runtime.map(([name, range]) => toRuntimeComponent(manifest, lock, name, range)),
    ...downloads.map(toDownloadComponent),
  ]);
  const body = {
    metadata: {
      lifecycles: [{ phase: 'build' }],
      tools: { components: tools.map((name) => toTool(lock, name)) },
      component: product,
    },
    components,
    dependencies: [
      { ref: product['bom-ref'], dependsOn: components.map((each) => each['bom-ref']) },
      ...listDependencies(lock, bundled),
    ],
  };
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: createSerialNumber(body), version: 1, ...body };
}

function toBundledComponent({ name, version, licence, locked, modules }: BundledPackage): SbomComponent {
  return {
    type: 'library',
    'bom-ref': formatPurl(name, version),
    name,
    version,
    scope: 'required',
    ...formatHashes(locked),
    licenses: formatLicences(licence),
    purl: formatPurl(name, version),
    properties: [
      { name: 'fairlead:inclusion', value: 'bundled' },
      { name: 'fairlead:modules', value: String(modules.length) },
      ...(locked === undefined ? [{ name: 'fairlead:origin', value: 'a helper that the bundler contains' }] : []),
    ],
  };
}

function toRuntimeComponent(manifest: ProductManifest, lock: Lockfile, name: string, range: string): SbomComponent {
  const properties = [
    { name: 'fairlead:inclusion', value: 'run-time dependency' },
    { name: 'fairlead:range', value: range },
  ];
  // An optional peer is installed by the user, in a version that is not locked.
  const isOptionalPeer = manifest.peerDependenciesMeta?.[name]?.optional === true;
  if (isOptionalPeer && lock.packages[`node_modules/${name}`] === undefined)
    return { type: 'library', 'bom-ref': `peer:${name}`, name, scope: 'optional', properties };
  const locked = getLocked(lock, name);
  return {
    type: 'library',
    'bom-ref': formatPurl(name, locked.version),
    name,
    version: locked.version,
    scope: manifest.dependencies?.[name] === undefined ? 'optional' : 'required',
    ...formatHashes(locked),
    licenses: formatLicences(locked.license),
    purl: formatPurl(name, locked.version),
    properties,
  };
}

function toDownloadComponent({ type, name, version, licence, purl, sha256 }: DownloadedComponent): SbomComponent {
  return {
    type,
    'bom-ref': purl ?? `download:${name}`,
    name,
    ...(version === undefined ? {} : { version }),
    scope: 'optional',
    ...(sha256 === undefined ? {} : { hashes: [{ alg: 'SHA-256', content: sha256 }] }),
    licenses: formatLicences(licence),
    ...(purl === undefined ? {} : { purl }),
    properties: [{ name: 'fairlead:inclusion', value: 'downloaded on demand' }],
  };
}

const toTool = (lock: Lockfile, name: string): SbomComponent => {
  const locked = getLocked(lock, name);
  const purl = formatPurl(name, locked.version);
  return {
    type: 'application',
    'bom-ref': `tool:${purl}`,
    name,
    version: locked.version,
    purl,
    ...formatHashes(locked),
  };
};

function getLocked(lock: Lockfile, name: string): LockedPackage & { readonly version: string } {
  const locked = lock.packages[`node_modules/${name}`];
  if (locked?.version === undefined) throw new Error(`package-lock.json does not contain ${name}.`);
  return { ...locked, version: locked.version };
}

/** Which bundled package depends on which other one. */
function listDependencies(lock: Lockfile, bundled: readonly BundledPackage[]): Sbom['dependencies'] {
  const refs = new Map(bundled.map((each) => [each.place, formatPurl(each.name, each.version)]));
  const edges = bundled.map(({ name, version, place, locked }) => {
    const names = Object.keys({
      ...locked?.dependencies,
      ...locked?.optionalDependencies,
      ...locked?.peerDependencies,
    });
    const targets = names.flatMap((each) => refs.get(resolvePlace(lock, place ?? '', each)) ?? []);
    return { ref: formatPurl(name, version), dependsOn: [...new Set(targets)].toSorted() };
  });
  return [...Map.groupBy(edges, ({ ref }) => ref)].map(([ref, group]) => ({
    ref,
    dependsOn: [...new Set(group.flatMap(({ dependsOn }) => dependsOn))],
  }));
}

/** The path where Node finds a package that another one imports. */
function resolvePlace(lock: Lockfile, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock.packages[place] !== undefined) return place;
    if (folder === '') return undefined;
  }
}

/** Returns the package URL of an npm package. */
export const formatPurl = (name: string, version: string): string =>
  `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`;

function formatLicences(licence: string | undefined): readonly unknown[] {
  if (licence === undefined) return [];
  return / (OR|AND|WITH) /.test(licence) ? [{ expression: licence }] : [{ license: { id: licence } }];
}

/** The hashes of the tarball that npm verifies; the lockfile has them in base64. */
function formatHashes(locked: LockedPackage | undefined): Pick<SbomComponent, 'hashes'> {
  const hashes = (locked?.integrity ?? '').split(' ').flatMap((each) => {
    const [, bits, content] = /^sha(256|384|512)-(.+)$/.exec(each) ?? [];
    return content === undefined
      ? []
      : [{ alg: `SHA-${bits}`, content: Buffer.from(content, 'base64').toString('hex') }];
  });
  return hashes.length === 0 ? {} : { hashes };
}

function uniqueByRef(components: readonly SbomComponent[]): readonly SbomComponent[] {
  return [...new Map(components.map((each) => [each['bom-ref'], each])).values()];
}

/** A UUID of the content, so that two documents have the same number only if they say the same. */
function createSerialNumber(body: unknown): string {
  const hex = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
