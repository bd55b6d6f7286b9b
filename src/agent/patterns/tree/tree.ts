// The tree of a search: states with their values and visits, selection by upper confidence bounds, and the values of their branches.
import type { Json } from '../../../core/index.ts';

/** A state of the tree. */
export type TreeNode<Action extends Json, W> = {
  readonly id: number;
  readonly parent: TreeNode<Action, W> | undefined;
  /** The actions from the start. */
  readonly actions: readonly Action[];
  readonly workspace: W | undefined;
  readonly children: TreeNode<Action, W>[];
  /** The value that the check gave. */
  value: number | undefined;
  solved: boolean;
  isDead: boolean;
  detail: string;
  /** Checks of this state and of those below it. */
  visits: number;
  /** The sum of their values. */
  total: number;
  /** Requests for proposals. */
  expansions: number;
};

/** The value of a state. */
type NodeValue = { readonly value: number | undefined; readonly solved: boolean; readonly detail: string };

/** A tree of states. */
export type Tree<Action extends Json, W> = {
  readonly nodes: readonly TreeNode<Action, W>[];
  add(parent: TreeNode<Action, W> | undefined, workspace: W, action: Action | undefined): TreeNode<Action, W>;
  setValue(node: TreeNode<Action, W>, value: NodeValue): void;
  /** Nothing is searched below the state. */
  kill(node: TreeNode<Action, W>, detail: string): void;
  expanded(node: TreeNode<Action, W>): void;
  /** The state to expand next; undefined if none is left. */
  select(): TreeNode<Action, W> | undefined;
  /** The best state: a solved one, else the one with the highest value, and of several the one with the fewest actions. */
  best(): TreeNode<Action, W> | undefined;
};

/** Options of createTree. */
type TreeOptions = {
  readonly exploration: number;
  readonly maxDepth: number;
  readonly retries: number;
  readonly random: () => number;
};

/** Creates an empty tree. */
export function createTree<Action extends Json, W>(options: TreeOptions): Tree<Action, W> {
  const { exploration, maxDepth, retries, random } = options;
  const nodes: TreeNode<Action, W>[] = [];

  /** Whether proposals may be requested for the state itself. */
  const isOpen = (node: TreeNode<Action, W>): boolean =>
    !node.isDead && node.actions.length < maxDepth && node.expansions <= retries;
  const hasOpen = (node: TreeNode<Action, W>): boolean => isOpen(node) || node.children.some(hasOpen);

  /** The upper confidence bound: a mean value, and more for what was visited seldom. */
  const boundOf = (mean: number, visits: number, above: number): number =>
    mean + exploration * Math.sqrt(Math.log(Math.max(1, above) + 1) / Math.max(1, visits));
  const bound = (node: TreeNode<Action, W>): number =>
    boundOf(node.total / Math.max(1, node.visits), node.visits, node.parent?.visits ?? 1);
  /** The bound of other proposals for a state that has branches: they are expected to be like the ones so far. */
  const againBound = ({ children, visits }: TreeNode<Action, W>): number =>
    boundOf(
      children.reduce((sum, { value }) => sum + (value ?? 0), 0) / Math.max(1, children.length),
      children.length,
      visits,
    );

  const pick = (candidates: readonly TreeNode<Action, W>[]): TreeNode<Action, W> | undefined => {
    let best: readonly TreeNode<Action, W>[] = [];
    let highest = Number.NEGATIVE_INFINITY;
    for (const node of candidates) {
      const value = bound(node);
      if (value > highest) [best, highest] = [[node], value];
      else if (value === highest) best = [...best, node];
    }
    return best.length > 1 ? best[Math.floor(random() * best.length)] : best[0];
  };

  return {
    nodes,
    add: (parent, workspace, action) => {
      const node: TreeNode<Action, W> = {
        id: nodes.length,
        parent,
        workspace,
        children: [],
        actions: [...(parent?.actions ?? []), ...(action === undefined ? [] : [action])],
        value: undefined,
        solved: false,
        isDead: false,
        detail: '',
        visits: 0,
        total: 0,
        expansions: 0,
      };
      parent?.children.push(node);
      nodes.push(node);
      return node;
    },
    setValue: (node, { value, solved, detail }) => {
      Object.assign(node, { value, solved, detail });
      if (value === undefined) return;
      for (let at: TreeNode<Action, W> | undefined = node; at; at = at.parent) {
        at.visits += 1;
        at.total += value;
      }
    },
    kill: (node, detail) => {
      Object.assign(node, { isDead: true, detail });
      // A branch that failed counts as a visit without value.
      if (node.value === undefined) for (let at = node.parent; at; at = at.parent) at.visits += 1;
    },
    expanded: (node) => {
      Object.assign(node, { expansions: node.expansions + 1 });
    },
    select: () => {
      let node = nodes[0];
      while (node && (node.expansions > 0 || !isOpen(node))) {
        const next = pick(node.children.filter(hasOpen));
        if (isOpen(node) && (!next || againBound(node) > bound(next))) return node;
        node = next;
      }
      return node;
    },
    best: () =>
      nodes
        .filter(({ value }) => value !== undefined)
        .reduce<TreeNode<Action, W> | undefined>((best, node) => {
          if (!best) return node;
          if (node.solved !== best.solved) return node.solved ? node : best;
          return (node.value ?? 0) > (best.value ?? 0) ? node : best;
        }, undefined),
  };
}
