// Replaces imports of bundled packages in the declarations by opaque types: users of the package do not have these packages.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const importStatement = /^import (?:type )?\{([^}]*)\} from '([^'.][^']*)';$/gm;

/** Rewrites every declaration file of a folder; `isBundled` says whether a package is part of the bundle. */
export function replaceBundledTypes(folder: string, isBundled: (id: string) => boolean): void {
  const names = new Map<string, boolean>();
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!entry.endsWith('.d.ts')) continue;
    const file = path.join(folder, entry);
    const text = readFileSync(file, 'utf8');
    const target = `${path.relative(path.dirname(file), folder).replaceAll('\\', '/') || '.'}/bundled-types.js`;
    const from = target.startsWith('.') ? target : `./${target}`;
    const rewritten = text.replaceAll(importStatement, (statement, list: string, id: string) => {
      if (id.startsWith('node:') || !isBundled(id)) return statement;
      const specifiers = list.split(',').map((each) => each.trim().replace(/^type /, ''));
      for (const name of specifiers.filter(Boolean).map((each) => each.split(' as ')[0] ?? ''))
        names.set(name, names.get(name) === true || new RegExp(`\\b${name}<`).test(text));
      return `import type { ${specifiers.filter(Boolean).join(', ')} } from '${from}';`;
    });
    if (rewritten !== text) writeFileSync(file, rewritten);
  }
  const declarations = [...names]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, isGeneric]) => declare(name, isGeneric));
  writeFileSync(path.join(folder, 'bundled-types.d.ts'), `${declarations.join('\n')}\nexport {};\n`);
}

const declare = (name: string, isGeneric: boolean): string =>
  `export type ${name}${isGeneric ? `<_A = unknown, _B = unknown, _C = unknown>` : ''} = unknown;`;
