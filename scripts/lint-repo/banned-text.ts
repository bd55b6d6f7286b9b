// Checks banned text: hosts and machine paths, unfinished work, bypasses of the type checker, and calls that fail for many arguments.
import { getLineNumber, type RepoCheck } from './source-tree.ts';

type BannedPattern = { readonly where: RegExp; readonly pattern: RegExp; readonly why: string };

const anyFile = /./;
const codeFiles = /^(src|test|examples|bench|scripts|web)\/.*\.m?tsx?$/;

const bannedPatterns: readonly BannedPattern[] = [
  {
    where: anyFile,
    pattern: /registry\.(npmjs|yarnpkg|npmmirror)\b/g,
    why: 'names a package registry; leave the host to npm',
  },
  {
    where: /package-lock\.json$/,
    pattern: /"resolved": "\w+:/g,
    why: 'names where a package came from; .npmrc omits that',
  },
  {
    where: anyFile,
    pattern: /(?<![\w.\-/])\/(work|root|home\/\w+|Users\/\w+)\//g,
    why: "is a path of somebody's machine",
  },
  { where: anyFile, pattern: /\b(TOD[O]|FIXM[E])\b/g, why: 'is unfinished business; finish it or open an issue' },
  {
    where: codeFiles,
    pattern: /(:|\bas|<|,)\s*any\b(?=\s*[;,)=>[\]|&{}]|$)/gm,
    why: 'switches types off; use unknown and narrow it',
  },
  { where: codeFiles, pattern: /@ts-(ignore|nocheck)\b/g, why: 'switches the type checker off' },
  {
    where: /^src\/(?!.*\.test\.ts$)/,
    pattern: /\b(?:Math\.(?:max|min)|String\.from(?:CharCode|CodePoint))\(\s*(?:[\w.]+,\s*)?\.\.\./g,
    why: 'throws a RangeError for about 120,000 values; use maxOf, minOf or a loop',
  },
];

/** Reports each banned word with its location and the reason. */
export const checkBannedText: RepoCheck = (tree) =>
  tree.paths.filter(isTextFile).flatMap((file) => {
    const text = tree.text(file);
    return bannedPatterns
      .filter((ban) => ban.where.test(file))
      .flatMap((ban) =>
        [...text.matchAll(ban.pattern)].map(
          (hit) => `${file}:${getLineNumber(text, hit.index)} "${hit[0].trim()}" ${ban.why}.`,
        ),
      );
  });

function isTextFile(file: string): boolean {
  return /(^|\/)(\.[\w-]+|[\w-]+)$|\.(m?[tj]sx?|jsonc?|md|txt|ya?ml|html|css|sh|svg)$/.test(file);
}
