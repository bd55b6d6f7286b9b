// Tree search over actions (in the manner of LATS): selection by upper confidence bounds, expansion by proposals, a check that scores each state, and reflections on branches that failed.
import { errorMessage, type Json } from '../../../core/index.ts';
import { createRandom } from '../../../checks/calibration/index.ts';
import { assertWhole, badOptionError } from '../errors.ts';
import {
  assertIndependent,
  codeFamily,
  findDependence,
  resolveMember,
  type Member,
  type Participant,
} from '../participant.ts';
import {
  assertPatternOptions,
  withPatternRun,
  type PatternOptions,
  type PatternReport,
  type PatternRun,
  type PatternStop,
} from '../pattern-run.ts';
import { parseAction, type ForkableWorkspace } from './forkable-workspace.ts';
import { createTree, type TreeNode } from './tree.ts';
import {
  checkTask,
  proposerTask,
  reflectorTask,
  type CheckInput,
  type ProposerInput,
  type ReflectorInput,
  type StateCheck,
} from './tree-roles.ts';

/** Options of searchTree. */
export type TreeSearchOptions<Action extends Json, W extends ForkableWorkspace<Action>> = PatternOptions & {
  readonly task: string;
  /** The state that the search starts from. It is changed only with `adopt`. */
  readonly workspace: W;
  readonly proposer: Participant<ProposerInput<Action>, readonly unknown[]>;
  /** Scores a state: code that runs a test, or a model that is independent of the proposer. */
  readonly check: Participant<CheckInput<Action, W>, StateCheck>;
  /** Writes what a failed branch teaches; without it, the detail of the check is passed on. */
  readonly reflector?: Participant<ReflectorInput<Action>, string>;
  /** Actions proposed for a state at once; 3 by default. */
  readonly width?: number;
  /** Actions from the start to a state at most; 6 by default. */
  readonly maxDepth?: number;
  /** States at most, each of which is a fork until it fails or the search ends; 1,000 by default. */
  readonly maxStates?: number;
  /** How often proposals are requested again for one state, if its branches are not better; 2 by default. */
  readonly retries?: number;
  /** The weight of states that were visited seldom; 0.7 by default. */
  readonly exploration?: number;
  /** Ties are broken by it; 1 by default. */
  readonly seed?: number;
  /** Applies the actions of the best state to `workspace` at the end, if it is solved. */
  readonly adopt?: boolean;
};

/** A state of the search as data. */
export type SearchedState<Action extends Json> = {
  readonly id: number;
  /** The state that it was reached from; absent for the first. */
  readonly parent?: number;
  readonly actions: readonly Action[];
  /** Absent if it could not be checked. */
  readonly value?: number;
  readonly solved: boolean;
  /** `dead`: an action failed, the check failed or the state is known; nothing is searched below it. */
  readonly status: 'open' | 'dead';
  readonly visits: number;
  readonly detail: string;
};

/** The best state, and every state that was reached. */
export type TreeSearchResult<Action extends Json> = PatternReport & {
  readonly solved: boolean;
  /** The actions that lead to the best state; empty if none is better than the start. */
  readonly actions: readonly Action[];
  /** The value of the best state; undefined if no state could be checked. */
  readonly value: number | undefined;
  readonly states: readonly SearchedState<Action>[];
  readonly reflections: readonly string[];
  /** Whether the actions were applied to the workspace of the caller. */
  readonly adopted: boolean;
};

const maxReflections = 6;
const maxReflectionChars = 2000;

type Roles = { readonly proposer: Member; readonly check: Member; readonly reflector: Member | undefined };

/** Searches a tree of actions for the state that a check scores best. Each state is a fork; all forks are discarded at the end. */
export async function searchTree<Action extends Json, W extends ForkableWorkspace<Action>>(
  options: TreeSearchOptions<Action, W>,
): Promise<TreeSearchResult<Action>> {
  const { width = 3, maxDepth = 6, maxStates = 1000, retries = 2, exploration = 0.7, seed = 1 } = options;
  assertPatternOptions(options);
  assertWhole('width', width, 1, 50);
  assertWhole('maxDepth', maxDepth, 1, 1000);
  assertWhole('maxStates', maxStates, 1, 1_000_000);
  assertWhole('retries', retries, 0, 1000);
  assertWhole('seed', seed, 0, 2 ** 31);
  if (!Number.isFinite(exploration) || exploration < 0)
    throw badOptionError(`exploration must be a finite number of at least 0, not ${exploration}.`);
  const proposer = await resolveMember('proposer', options.proposer);
  const check = await resolveMember('check', options.check);
  const reflector = options.reflector === undefined ? undefined : await resolveMember('reflector', options.reflector);
  assertIndependent('check', [check], [proposer]);
  const members = [proposer, check, ...(reflector ? [reflector] : [])];

  return withPatternRun('search-tree', options, members, async (run) => {
    const tree = createTree<Action, W>({ exploration, maxDepth, retries, random: createRandom(seed) });
    try {
      const search = createSearch(run, options, { proposer, check, reflector }, tree, { width, maxStates });
      const end = await search.run();
      const best = tree.best();
      const isAdopting = options.adopt === true && best?.solved === true && run.ending() === undefined;
      const failure = isAdopting ? await adopt(options.workspace, best.actions, run.signal) : undefined;
      const detail = failure === undefined ? end.why : `${end.why} Its actions were not applied: ${failure}`;
      return {
        ...(await run.finish(end.stop, detail)),
        solved: best?.solved ?? false,
        actions: best?.actions ?? [],
        value: best?.value,
        states: tree.nodes.map(toState),
        reflections: search.reflections,
        adopted: isAdopting && failure === undefined,
      };
    } finally {
      await Promise.all(tree.nodes.map(async ({ workspace }) => workspace?.discard()));
    }
  });
}

/** Applies actions to the workspace of the caller. If one fails, none of them remains, and the reason is returned. */
async function adopt<Action extends Json>(
  workspace: ForkableWorkspace<Action>,
  actions: readonly Action[],
  signal: AbortSignal,
): Promise<string | undefined> {
  // What the caller did in the workspace before must not be rolled back.
  await workspace.checkpoint(signal);
  try {
    for (const action of actions) await workspace.apply(action, signal);
    return undefined;
  } catch (error) {
    await workspace.rollback(signal);
    return errorMessage(error).slice(0, 500);
  }
}

const toState = <Action extends Json, W>(node: TreeNode<Action, W>): SearchedState<Action> => ({
  id: node.id,
  ...(node.parent ? { parent: node.parent.id } : {}),
  actions: node.actions,
  ...(node.value === undefined ? {} : { value: node.value }),
  solved: node.solved,
  status: node.isDead ? 'dead' : 'open',
  visits: node.visits,
  detail: node.detail,
});

type End = { readonly stop: PatternStop; readonly why: string };

function createSearch<Action extends Json, W extends ForkableWorkspace<Action>>(
  run: PatternRun,
  { task, workspace }: TreeSearchOptions<Action, W>,
  { proposer, check, reflector }: Roles,
  tree: ReturnType<typeof createTree<Action, W>>,
  { width, maxStates }: { readonly width: number; readonly maxStates: number },
): { readonly run: () => Promise<End>; readonly reflections: string[] } {
  const reflections: string[] = [];
  const known = new Set<string>();
  const authors: Member[] = [proposer];

  /** Scores a state. Ends the search if it is solved, or if no call is left. */
  const score = async (node: TreeNode<Action, W>): Promise<End | undefined> => {
    const state = node.workspace;
    if (!state) return undefined;
    const description = check.family === codeFamily ? '' : await state.describe(run.signal);
    const input: CheckInput<Action, W> = { task, workspace: state, actions: node.actions, state: description };
    const found = await run.ask(check, checkTask<Action, W>(), input, {
      about: `state ${node.id}`,
      refuse: (answered) => {
        const why = authors.map((author) => findDependence(answered, author)).find((each) => each !== undefined);
        return why === undefined ? undefined : `The score does not count: ${why}.`;
      },
    });
    if (found.type === 'stopped') return found;
    if (found.type === 'failed') {
      await kill(node, `The check failed: ${found.why}`);
      return undefined;
    }
    const { value, solved = false, dead = false, detail = '' } = found.value;
    tree.setValue(node, { value, solved, detail });
    // A test fails in the start too; that is what the search is for.
    if (dead && !solved && node.parent) await kill(node, detail);
    return solved ? { stop: 'complete', why: `State ${node.id} is solved.` } : undefined;
  };

  const reflect = async (node: TreeNode<Action, W>): Promise<End | undefined> => {
    const last = JSON.stringify(node.actions.at(-1) ?? null).slice(0, 300);
    if (!reflector) {
      if (node.detail !== '') addReflection(`${last}: ${node.detail}`);
      return undefined;
    }
    const input: ReflectorInput<Action> = { task, actions: node.actions, detail: node.detail };
    const written = await run.ask(reflector, reflectorTask<Action>(), input, { about: `state ${node.id}` });
    if (written.type === 'stopped') return written;
    if (written.type === 'ok') addReflection(`${last}: ${written.value}`);
    return undefined;
  };
  const addReflection = (full: string): void => {
    const text = full.slice(0, maxReflectionChars);
    if (!reflections.includes(text)) reflections.push(text);
  };

  /** A dead state needs no fork. */
  const kill = async (node: TreeNode<Action, W>, why: string): Promise<void> => {
    tree.kill(node, why);
    await node.workspace?.discard();
  };

  /** Reaches a new state by one action in a fork. */
  const grow = async (parent: TreeNode<Action, W>, proposed: unknown): Promise<End | undefined> => {
    const parsed = parseAction(workspace, proposed);
    if ('problem' in parsed) {
      addReflection(`A proposal was refused: ${parsed.problem}`);
      await run.note('refused', { state: parent.id, why: parsed.problem });
      return undefined;
    }
    const { action } = parsed;
    const fork = (await parent.workspace?.fork(run.signal)) as W;
    const node = tree.add(parent, fork, action);
    try {
      tree.setValue(node, { value: undefined, solved: false, detail: await fork.apply(action, run.signal) });
      const print = await fork.fingerprint(run.signal);
      if (known.has(print)) {
        await kill(node, 'The state is known already.');
        return undefined;
      }
      known.add(print);
    } catch (error) {
      run.signal.throwIfAborted();
      await kill(node, `The action failed: ${errorMessage(error).slice(0, 500)}`);
      return reflect(node);
    }
    const end = await score(node);
    if (end) return end;
    const isWorse = node.isDead || (node.value ?? 0) <= (parent.value ?? 0);
    return isWorse ? reflect(node) : undefined;
  };

  const expand = async (node: TreeNode<Action, W>): Promise<End | undefined> => {
    const input: ProposerInput<Action> = {
      task,
      actions: node.actions,
      count: width,
      state: (await node.workspace?.describe(run.signal)) ?? '',
      detail: node.detail,
      reflections: reflections.slice(-maxReflections),
      tried: node.children.flatMap((child) => child.actions.slice(-1)),
    };
    const proposed = await run.ask(proposer, proposerTask<Action>(), input, { about: `state ${node.id}` });
    if (proposed.type === 'stopped') return proposed;
    tree.expanded(node);
    if (proposed.type === 'failed') return undefined;
    authors.push(proposed.by);
    for (const action of proposed.value.slice(0, width)) {
      const end = run.ending() ?? (await grow(node, action));
      if (end) return end;
      if (tree.nodes.length >= maxStates)
        return { stop: 'rounds', why: `The maximum of ${maxStates} states was reached.` };
    }
    return undefined;
  };

  const search = async (): Promise<End> => {
    const root = tree.add(undefined, (await workspace.fork(run.signal)) as W, undefined);
    known.add(await workspace.fingerprint(run.signal));
    let end = await score(root);
    if (root.isDead) return { stop: 'failed', why: `The start could not be searched: ${root.detail}` };
    while (!end) {
      const node = tree.select();
      if (!node) {
        const isFailed = tree.nodes.every(({ isDead, parent }) => isDead || !parent);
        return { stop: 'exhausted', why: isFailed ? 'Every branch failed.' : 'No state is left to expand.' };
      }
      end = run.ending() ?? (await expand(node));
    }
    return end;
  };

  return {
    reflections,
    run: async () => {
      try {
        return await search();
      } catch (error) {
        // A fork that the signal interrupted; any other failure of the workspace ends the search with its error.
        const ending = run.ending();
        if (ending) return ending;
        throw error;
      }
    },
  };
}
