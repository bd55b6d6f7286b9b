// Words that must not be committed: hosts and machine paths, unfinished business, and ways around the type checker.
import { lineAt, type HouseCheck } from './tree.ts';

type Ban = { readonly where: RegExp; readonly pattern: RegExp; readonly why: string };

const anywhere = /./;
const code = /^(src|test|examples|bench|scripts|web)\/.*\.m?tsx?$/;

const bans: readonly Ban[] = [
  {
    where: anywhere,
    pattern: /registry\.(npmjs|yarnpkg|npmmirror)\b/g,
    why: 'names a package registry; leave the host to npm',
  },
  {
    where: /package-lock\.json$/,
    pattern: /"resolved": "\w+:/g,
    why: 'names where a package came from; .npmrc omits that',
  },
  {
    where: anywhere,
    pattern: /(?<![\w.\-/])\/(work|root|home\/\w+|Users\/\w+)\//g,
    why: "is a path of somebody's machine",
  },
  { where: anywhere, pattern: /\b(TOD[O]|FIXM[E])\b/g, why: 'is unfinished business; finish it or open an issue' },
  {
    where: code,
    pattern: /(:|\bas|<|,)\s*any\b(?=\s*[;,)=>[\]|&{}]|$)/gm,
    why: 'switches types off; use unknown and narrow it',
  },
  { where: code, pattern: /@ts-(ignore|nocheck)\b/g, why: 'switches the type checker off' },
];

/** Fails on each banned word with its place and the reason. */
export const words: HouseCheck = (tree) =>
  tree.paths.filter(isText).flatMap((file) => {
    const text = tree.text(file);
    return bans
      .filter((ban) => ban.where.test(file))
      .flatMap((ban) =>
        [...text.matchAll(ban.pattern)].map(
          (hit) => `${file}:${lineAt(text, hit.index)} "${hit[0].trim()}" ${ban.why}.`,
        ),
      );
  });

function isText(file: string): boolean {
  return /(^|\/)(\.[\w-]+|[\w-]+)$|\.(m?[tj]sx?|jsonc?|md|txt|ya?ml|html|css|sh|svg)$/.test(file);
}
