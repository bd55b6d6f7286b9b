// Formats branches as a numbered tree.
import type { Branch } from './branches.ts';
import { previewText } from './branch-path.ts';

/** A branch and its number. */
export type NumberedBranch = Branch & { readonly number: number };

/** Returns the branches to show: empty branches are omitted, except the current one. */
export const selectShownBranches = (branches: readonly Branch[]): readonly NumberedBranch[] =>
  branches
    .map((branch, i) => ({ ...branch, number: i + 1 }))
    .filter((branch) => !branch.isEmpty || branch.current || isParent(branches, branch.number - 1));

const isParent = (branches: readonly Branch[], index: number): boolean =>
  branches.some((each) => each.from?.branch === index && (!each.isEmpty || each.current));

const maxDepth = 12;

/** Formats the tree as lines. */
export function formatBranchTree(branches: readonly Branch[]): string {
  const shown = selectShownBranches(branches);
  const depths = new Map<number, number>();
  const lines: string[] = [];
  const open = shown.filter((each) => !each.from).toReversed();
  for (let branch = open.pop(); branch; branch = open.pop()) {
    const { number } = branch;
    const depth = branch.from ? (depths.get(branch.from.branch + 1) ?? 0) + 1 : 0;
    depths.set(number, depth);
    lines.push(formatBranch(branch, Math.min(depth, maxDepth)));
    for (const item of shown.filter((each) => each.from?.branch === number - 1).toReversed()) open.push(item);
  }
  return lines.join('\n');
}

const branchReasonTexts = { edited: 'edited', forked: 'forked', rewound: 'went back', returned: 'returned' } as const;

function formatBranch(branch: NumberedBranch, depth: number): string {
  const { number, from, reason, detail, turns, time, current } = branch;
  const preview =
    branch.preview === '' ? `(${branch.change ?? 'nothing said yet'})` : `"${previewText(branch.preview)}"`;
  const after = from?.after ? ` after "${previewText(from.after, 30)}"` : '';
  const origin = from
    ? `${reason ? branchReasonTexts[reason] : 'parted'}${after}${detail ? ` (${previewText(detail, 30)})` : ''}: `
    : '';
  const size = `${turns} answer${turns === 1 ? '' : 's'}, ${time.slice(0, 16).replace('T', ' ')}`;
  const indent = depth === 0 ? '' : `${'   '.repeat(depth - 1)}└─ `;
  return `${indent}${number}  ${origin}${preview}  ${size}${current ? '  ← here' : ''}`;
}
