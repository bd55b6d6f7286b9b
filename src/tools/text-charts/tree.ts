// Draws trees: objects and arrays are branches, other values are leaves.
import { isObject, type Json } from '../../core/index.ts';
import { truncateToWidth } from './display-width.ts';

const maxLines = 500;
const maxDepth = 30;

/** Draws a tree, one line per node. */
export function drawTree(tree: Json, width: number): readonly string[] {
  const lines: string[] = [];
  let left = 0;
  grow(tree, '', 0);
  return left > 0 ? [...lines, `… ${left} more`] : lines;

  function grow(node: Json, indent: string, depth: number): void {
    const forks = childEntries(node);
    forks.forEach(([name, below], i) => {
      if (lines.length >= maxLines || depth > maxDepth) {
        left++;
        return;
      }
      const isLast = i === forks.length - 1;
      const leaf =
        childEntries(below).length > 0 || below === null || isObject(below) || Array.isArray(below)
          ? ''
          : `: ${String(below)}`;
      lines.push(truncateToWidth(`${indent}${isLast ? '└─ ' : '├─ '}${name}${leaf}`, width));
      grow(below, indent + (isLast ? '   ' : '│  '), depth + 1);
    });
  }
}

/** Returns the children of a node: the entries of an object, or the items of an array, strings as their own names. */
function childEntries(node: Json): readonly (readonly [string, Json])[] {
  if (Array.isArray(node))
    return node.map((item: Json, i) =>
      isObject(item) || Array.isArray(item) ? [String(i + 1), item] : [String(item), null],
    );
  return isObject(node) ? Object.entries(node) : [];
}
